"""The policy `goal`: a language model writes the goal, a classical planner finds the plan.

It follows LLM+P (Liu et al. 2023) with three differences: the goal is structured output over the
world's predicates and kinds instead of PDDL text, it is checked against the scene and sent back
with its problems, and the plan is proven like any other plan of hvr.
"""
