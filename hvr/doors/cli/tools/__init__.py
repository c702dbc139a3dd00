"""`hvr tools`: plan and run requests to tool worlds; find the tools for a plan."""
