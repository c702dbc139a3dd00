"""Language server: PDDL, PDDL+, HDDL and plans in any editor.

`server.py` connects the editor's requests with the modules that answer them. `syntax.py` reads a
text that may be incomplete, `symbols.py` indexes its names, and `models.py` finds the domain,
problems and plans that belong together. `analysis.py` runs `hvr lint` and `hvr validate` in a
separate process, so that a slow model never delays an answer; `analyst.py` supervises it.
"""
