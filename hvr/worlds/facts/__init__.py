"""Worlds of facts: any PDDL domain as an environment to plan and act in."""
