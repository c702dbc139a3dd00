"""The paper's policy: a language model writes macro actions and blocks, and PDDL checks them."""
