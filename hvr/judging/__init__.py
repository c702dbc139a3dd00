"""Judge plans: which steps are redundant or missing, and whether the plan fits the request.

The symbolic judge proves its findings by execution and hands on a `PlanVerdict` (`verdict.py`).
Begin with `judge` in `symbolic.py`; `reduction.py` finds the cheapest part of a plan that works,
`repair.py` the fewest insertions. `tool_calls.py` judges plans of tool calls, and `model_judge.py`
adds the opinion of a language model.

`verifier/` holds an opinion, not a proof: how plausible it is that a plan is what was asked. Past
plans judge it for any tools (`verifier/judgement/`), a graph network for the kitchen
(`verifier/kitchen/`).
"""
