"""PDDL worlds: any PDDL domain as an environment to plan and act in."""
