"""`hvr llm`: does a model answer, and what did a run use."""
