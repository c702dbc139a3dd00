"""Training and test data for the kitchen verifier."""
