"""Tools that are called: environments that hold them, calls, and what comes back."""
