"""Retrieval of the part of a graph that a task needs: inventory and relevant objects."""
