"""Worlds: any PDDL domain as a place to plan and act in."""
