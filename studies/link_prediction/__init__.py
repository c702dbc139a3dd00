"""Predictors of unobserved links between tools: cosine, counts, networks."""
