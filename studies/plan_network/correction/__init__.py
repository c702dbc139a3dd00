"""Correction of plans over tools, by search or by a language model."""
