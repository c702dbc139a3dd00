"""Validating hierarchical plans: HDDL plans with their decomposition."""
