"""The paper's policy: a language model writes macro actions and blocks; hvr checks them as PDDL."""
