"""Language models: one small protocol, providers, and what is put around them."""
