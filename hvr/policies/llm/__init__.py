"""The policy of the paper: a language model writes macro actions and blocks for PDDL to check."""
