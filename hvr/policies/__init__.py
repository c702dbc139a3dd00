"""The policies: components that plan for a request, from classical search to language models.

Each policy is a class with the methods of `hvr.planning.plans.Policy`, listed by name in
`registry.py`. It turns the request into goals (`understand`) and plans for them (`plan`) without
ever seeing a task's ground truth.

Begin with `SymbolicPolicy` in `symbolic.py`: grammar and ontology make the goal, search finds the
plan. In `llm/`, the policy of the paper, a language model writes macro actions and blocks. In
`goal/` a model writes the goal and search finds the plan. `facts.py` lets models plan in worlds of
facts, and `world_checks.py` checks a world's folder for mismatches.
"""
