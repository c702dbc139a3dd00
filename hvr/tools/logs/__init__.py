"""Logs of agents in the formats of their frameworks, read as plans over tools."""
