"""The HTTP service: the operations of `hvr.doors.schema` as requests and as jobs.

Begin with `application.py`, which defines and describes the routes, including those for editors
that use planning-as-a-service. `guards.py` rejects unauthorised requests, and `jobs.py` stores
accepted jobs in files.
"""
