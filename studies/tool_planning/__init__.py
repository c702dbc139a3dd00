"""Baselines of planning on tool graphs (GNN4Plan), without training."""
