"""Plans as graphs: what a GNN verifier reads, learns from and mends (extra `gnn`)."""
