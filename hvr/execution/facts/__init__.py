"""Executing plans in worlds of facts: acting, detection, words."""
