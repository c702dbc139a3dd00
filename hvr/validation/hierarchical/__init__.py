"""Validation of hierarchical plans: HDDL plans with their decomposition."""
