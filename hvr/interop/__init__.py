"""Other planning libraries: problems and plans to and from unified-planning.

Nothing else of hvr imports this room, so that unified-planning is loaded only for those who ask.
"""
