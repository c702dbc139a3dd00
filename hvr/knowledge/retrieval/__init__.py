"""Retrieval of the part of a graph that a task needs: the inventory and the relevant objects."""
