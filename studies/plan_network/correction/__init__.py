"""Correction of tool plans by search or with a language model."""
