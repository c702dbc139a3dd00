"""Keys, and what looks like one, taken out of texts."""
