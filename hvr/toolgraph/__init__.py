"""Graphs of tools: datasets, retrieval of the tools of a plan, and planning on them."""
