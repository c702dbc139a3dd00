"""The policies: what plans for a request, from classical search to language models.

Each is a class with the methods of `hvr.planning.plans.Policy`; `registry.py` lists them by name.
A policy hands on what it plans for (`understand`) and plans (`plan`); it never sees the ground
truth of a task.

Begin with `SymbolicPolicy` in `symbolic.py`: grammar and ontology make the goal, search the plan.
`llm/` is the policy of the paper, in which a language model writes macro actions and blocks. In
`goal/` a model writes the goal and search the plan. `facts.py` lets models plan in worlds of
facts, and `world_checks.py` checks a world's folder for mismatches.
"""
