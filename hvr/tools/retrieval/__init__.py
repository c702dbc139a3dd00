"""Retrieval of tools: which tools for which steps, with and without training."""
