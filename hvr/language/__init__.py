"""Read a request: from a sentence to a goal in PDDL, or to an error that names known words.

The grammar is rules over the words of an ontology; it names no class and no predicate.
`Reader.goal` hands on a `Goal`: stages, each one PDDL condition with its constraints, and notes.

Begin with `Reader` in `grammar.py` and follow a sentence: `lexicon` and `cursor` (words),
`clauses` and `noun_phrases` (the values of `syntax`), `verb_phrases` and its neighbours (a
`Meaning`), `class_choice` and `object_choice` (objects of the scene), `goal_builder` (PDDL),
`paraphrase` (the goal in words). New words are data: `ontology/language.ttl`, or the `words.ttl`
of a world. `readers.py` chooses between the grammar and the learnt reader (`learnt/`).
`hvr.execution.facts.sentences` reads goals of worlds of facts: as simple sentences, and with this
grammar where the words of the world have verbs.
"""
