"""Readers of requests in words that need no language model."""
