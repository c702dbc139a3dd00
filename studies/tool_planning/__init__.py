"""Baselines for planning on tool graphs that need no training (GNN4Plan)."""
