"""Planning: from a ground task to a plan, by search, by engines, by learnt macro actions."""
