"""From problem to plan: grounding, reductions, classical planners."""
