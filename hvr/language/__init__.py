"""From a sentence to a goal: lexicon (words), grammar (meaning), goals (PDDL)."""
