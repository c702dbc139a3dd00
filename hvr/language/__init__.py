"""Read a request: a sentence becomes a goal in PDDL, or an error that suggests known words.

The grammar is a set of rules over the words of an ontology and names no class and no predicate.
`Reader.goal` returns a `Goal`: stages, each a PDDL condition with its constraints, and notes.

Begin with `Reader` in `grammar.py` and follow a sentence: `lexicon` and `cursor` (words), `clauses`
and `noun_phrases` (the values of `syntax`), `verb_phrases` and its neighbours (a `Meaning`),
`class_choice` and `object_choice` (objects of the scene), `goal_builder` (PDDL), `paraphrase` (the
goal in words). A function that finds a word it cannot read raises `LanguageError`; one that finds a
goal impossible in the scene raises `ImpossibleGoalError`.

New words are data: `ontology/language.ttl`, or the `words.ttl` of a world. `make_reader` selects
the grammar, the learnt reader (`learnt/`), or both. `hvr.execution.facts.sentences` reads goals of
PDDL worlds, either as simple sentences or, if the words of the world include verbs, with this
grammar.
"""
