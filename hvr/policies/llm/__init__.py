"""The policy of the paper: a language model writes macro actions and blocks, PDDL checks them."""
