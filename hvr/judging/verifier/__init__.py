"""The plan verifier: plans as graphs, scored by a graph neural network."""
