"""The command line; `main.py` contains the table of commands and dispatches to them."""
