"""Logs of agents, in the formats of their frameworks, read as tool plans."""
