"""Predictors of links between tools that no call has shown: cosine, counts, networks."""
