"""Judges of plans: they find redundant and missing steps, and compare plans with requests.

The symbolic judge proves its findings by execution and returns a `PlanVerdict` (`verdict.py`).
Start with `judge` in `symbolic.py`; `reduction.py` finds the cheapest sufficient part of a plan,
and `repair.py` a repair with the fewest insertions. `tool_calls.py` judges plans of tool calls, and
`model_judge.py` adds the opinion of a language model.

`verifier/` estimates how plausible it is that a plan fulfils its request, without a proof. It uses
past plans for any tools (`verifier/judgement/`), and a graph network for the kitchen
(`verifier/kitchen/`).
"""
