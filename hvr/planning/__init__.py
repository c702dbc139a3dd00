"""Plans as values, the contract of the policies that make them, and the search for plans.

`plans.py` defines `Plan` and the protocol `Policy`, which `hvr.policies` implements. `search/`
finds shortest plans on hvr's own grounding (`search/ground.py`); `search/planners.py` lists the
planners by name. `solving/` races several planners on any PDDL problem and judges every plan they
find.

Begin with `plans.py`, then `search/planners.py` or `solve` in `solving/solve.py`.
`macro_actions.py` cuts a plan into blocks, `library/` learns such blocks and finds them again,
`problems/` generates graded problems, and `interop/` speaks to unified-planning.
"""
