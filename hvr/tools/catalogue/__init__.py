"""Catalogues of tools, read from the formats that describe them."""
