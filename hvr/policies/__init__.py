"""The policies that plan, from the built-in symbolic one to language models."""
