"""The ways into hvr: the command line, Python functions, and a stand-in for AI2-THOR's Unity.

No other room imports this one. A door reads options, calls a function of another room and prints
the result.

Begin with the table of commands in `cli/__init__.py`, which names the module of each command.
`cli/main.py` runs them and turns errors into messages and exit codes. `python.py` has the
functions of `import hvr` that take texts or files. `stand_in/` answers AI2-THOR's Python client.
"""
