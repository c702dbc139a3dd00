"""Training of GNNVerifier's network (arXiv 2603.14730), and its corrections by a language model."""
