"""Training of GNNVerifier's network (arXiv 2603.14730), and model-based correction of plans."""
