"""Plans for any PDDL problem: suitable planners run in parallel, and every plan is validated."""
