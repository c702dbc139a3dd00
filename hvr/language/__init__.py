"""Read a request: a sentence becomes a goal in PDDL, or an error that suggests known words.

The grammar is a set of rules over the words of an ontology and names no class and no predicate.
`Reader.goal` returns a `Goal`: stages, each a PDDL condition with its constraints, and notes.

Begin with `Reader` in `grammar.py` and follow a sentence: `lexicon` and `cursor` (words),
`clauses` and `noun_phrases` (the values of `syntax`), `verb_phrases` and its neighbours (a
`Meaning`), `class_choice` and `object_choice` (objects of the scene), `goal_builder` (PDDL),
`paraphrase` (the goal in words). Words that cannot be read raise `LanguageError`, and goals that
the scene rules out raise `ImpossibleGoalError`, from whichever function notices.

New words are data: `ontology/language.ttl`, or the `words.ttl` of a world. `make_reader` chooses
between the grammar and the learnt reader (`learnt/`). `hvr.execution.facts.sentences` reads goals
of worlds of facts, either as simple sentences or, if the words of the world include verbs, with
this grammar.
"""
