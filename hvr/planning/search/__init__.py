"""Search for plans: grounding, reductions and classical planners."""
