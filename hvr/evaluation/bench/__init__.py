"""Many plans, measured: tasks x settings x models x seeds."""
