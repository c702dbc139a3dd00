"""The graph neural network: layers, losses, training, inference."""
