"""Correct tool plans by search or with a language model."""
