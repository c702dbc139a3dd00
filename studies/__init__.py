"""Experiments on hvr that are not part of the installed package."""
