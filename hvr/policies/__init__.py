"""Policies: components that plan for a request, from classical search to language models.

Each policy is a class with the methods of `hvr.planning.plans.Policy`, listed by name in
`registry.py`. It turns a request into goals (`understand`) and plans for them (`plan`), and never
sees a task's ground truth.

Begin with `SymbolicPolicy` in `symbolic.py`, where grammar and ontology produce the goal, and
search finds the plan. In `llm/`, the paper's policy, a language model writes macro actions and
blocks. In `goal/`, a model writes the goal and search finds the plan. `facts.py` lets models plan
in PDDL worlds, and `world_checks.py` checks a world's folder for mismatches.
"""
