"""Plans, the protocol of the policies that make them, and the search for plans.

`plans.py` defines `Plan` and the protocol `Policy`, which `hvr.policies` implements. `search/`
finds shortest plans on hvr's own grounding (`search/ground.py`); `search/planners.py` lists the
planners by name. `solving/` runs several planners in parallel on any PDDL problem and validates
every plan they find.

Start with `plans.py`, then `search/planners.py` or `solve` in `solving/solve.py`. `library/` learns
and retrieves macro actions, `problems/` generates graded problems, and `interop/` converts to and
from unified-planning.
"""
