"""Entry points of hvr: the command line, Python functions, and servers for programs.

No other room imports this one. A door reads options, calls a function of another room and prints
the result.

Begin with the table of commands in `cli/__init__.py`, or, for programs, with the table of
operations in `schema.py`, which declares their requests and answers. `operations.py` answers them,
`worker.py` does so in processes of `workers.py`, and `service.py` adds files, sessions and limits;
`mcp/` serves them to agents. `python.py` and `asynchronous.py` are functions of `import hvr`.
`stand_in/` answers AI2-THOR's Python client.
"""
