"""The policy `goal`: a language model says what shall hold, a classical planner how to get there.

The idea is LLM+P's (Liu et al. 2023), with three differences: the goal is structured output over
the predicates and kinds of the world instead of PDDL text, it is checked against the scene and sent
back with what is wrong, and the plan is proven as any other of hvr's.
"""
