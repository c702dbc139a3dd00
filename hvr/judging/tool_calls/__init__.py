"""Judging plans of tool calls by the flow of values, effects and arguments."""
