"""Entry points of hvr: the command line, Python functions, and servers for other programs.

No other package imports this one. An entry point reads options, calls a function of another
package, and prints the result.

Begin with the table of commands in `cli/main.py` or, for programs, with the table of operations in
`schema.py`, which declares their requests and answers. `operations.py` executes them in the
processes of `worker.py`, and `service.py` adds files, sessions and limits. `mcp/` and `http/` serve
the operations, `python.py` contains functions of `import hvr`, and `stand_in/` answers AI2-THOR's
Python client.
"""
