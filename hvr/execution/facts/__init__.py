"""Execution in PDDL worlds: acting, detecting deviations, and reading goals."""
