"""Measures of plans."""
