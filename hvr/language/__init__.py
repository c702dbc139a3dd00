"""The reading of requests: lexicon (words), grammar (meaning), goals (PDDL)."""
