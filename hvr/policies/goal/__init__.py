"""The policy `goal`: a language model writes the goal, and a classical planner finds the plan.

It follows LLM+P (Liu et al. 2023) with three differences. The goal is structured output with the
world's predicates and kinds instead of PDDL text. It is checked against the scene, and the model is
asked to correct errors. And the plan is proven like any other plan of hvr.
"""
