"""HTTP service: the operations of `hvr.doors.schema` as requests and as jobs.

Begin with `application.py`, which lists the routes. `guards.py` refuses illegitimate
requests, `jobs.py` keeps accepted jobs in files, `planning_api.py` speaks to editors that know
planning-as-a-service, and `openapi.py` describes it all.
"""
