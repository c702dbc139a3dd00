"""Problem to plan: grounding, reduction, classical planners, macro actions."""
