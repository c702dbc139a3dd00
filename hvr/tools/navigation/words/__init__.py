"""Requests in words, read without a language model."""
