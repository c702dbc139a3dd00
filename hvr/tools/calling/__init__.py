"""Tool environments, calls and their outcomes."""
