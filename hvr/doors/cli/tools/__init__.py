"""`hvr tools`: plan and run requests to worlds of tools; find the tools for a plan."""
