"""Policies in worlds of facts: a model writes the plan or the goal alone."""
