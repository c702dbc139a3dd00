"""Hierarchical planning: HDDL, and plans with the decomposition that they come from."""
