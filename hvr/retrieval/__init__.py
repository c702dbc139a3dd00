"""What of the graph a task needs: an inventory of the scene and the relevant objects."""
