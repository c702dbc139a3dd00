"""The two heuristic searches of NaviAgent for chains of calls, beside hvr's proven one."""
