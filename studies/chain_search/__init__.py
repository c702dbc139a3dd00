"""NaviAgent's two heuristic searches for call chains, as baselines for hvr's exact search."""
