"""The command line. `main.py` has the table of commands, and dispatches to them."""
