"""Tools as values: tool graphs, plans over tools, their files and metrics."""
