"""Continuous change: processes, events and continuous effects (PDDL+)."""
