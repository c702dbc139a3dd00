"""Training of GNNVerifier's network (arXiv 2603.14730)."""
