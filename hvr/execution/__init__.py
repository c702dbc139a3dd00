"""Carrying out a plan, watching every step, and going on when something differs."""
