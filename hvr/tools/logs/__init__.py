"""Logs of agents in the formats that their frameworks write, read as plans over tools."""
