"""Judges of plans: they find redundant and missing steps, and compare plans with requests.

The symbolic judge proves its findings by execution and returns a `PlanVerdict` (`verdict.py`).
Start with `judge` in `symbolic.py`; `reduction.py` finds the cheapest part of a plan that still
reaches the goal, and `repair.py` the fewest insertions that make a plan valid. `tool_calls.py`
judges plans of tool calls, and `model_judge.py` adds the opinion of a language model.

`verifier/` estimates, without a proof, how plausible it is that a plan fulfils its request. It uses
past plans for any tools (`verifier/judgement/`), and a graph network for the kitchen
(`verifier/kitchen/`).
"""
