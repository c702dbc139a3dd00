"""Carry out plans: execute, compare each step with its prediction, and recover.

The input is a plan and a world; the output is a stream of run events (`events.py`). The last event,
`Finished`, says whether the goal was reached and what is missing.

Start with `Executor` in `executor.py`, the loop for all worlds. It knows a world only through the
protocol `ExecutionWorld` in `recovery.py`, which also holds the recovery strategies. `world.py`
implements the protocol for kitchens and `facts/` for any PDDL domain; `facts/sentences.py` parses
goals in plain language. `monitor.py` finds differences, and `deviations.py` describes them in
words.
"""
