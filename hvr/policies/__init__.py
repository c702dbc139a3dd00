"""Policies: who plans, from the built-in symbolic one to language models."""
