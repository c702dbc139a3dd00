"""Retrieval of the tools for the steps of a plan, with and without training."""
