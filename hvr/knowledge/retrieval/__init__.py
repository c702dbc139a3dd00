"""The part of the graph that a task needs: an inventory of the scene and the relevant objects."""
