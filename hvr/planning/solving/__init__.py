"""Plans for anybody's PDDL: which planners can, side by side, and every plan judged."""
