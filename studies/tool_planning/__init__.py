"""Training-free baselines for planning on tool graphs (GNN4Plan)."""
