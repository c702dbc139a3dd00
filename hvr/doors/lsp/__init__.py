"""The language server: PDDL, PDDL+, HDDL and plans in any editor.

`server.py` connects the editor's requests with the modules that answer them. `symbols.py` reads
texts that may be incomplete and indexes their names, and `models.py` finds the domain, problems and
plans that belong together. `analysis.py` runs `hvr lint` and `hvr validate` in a separate process,
which `actions.py` supervises, so that a slow model never delays an answer.
"""
