"""Hierarchical planning: HDDL, and plans with their decomposition."""
