"""Damaged plans with known errors for measuring judges: generation, labels, scoring."""
