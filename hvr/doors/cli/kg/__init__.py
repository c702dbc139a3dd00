"""`hvr kg`: look into the knowledge graph of a run or of a scene."""
