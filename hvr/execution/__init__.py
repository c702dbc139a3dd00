"""Carry out a plan, watch each step, and recover when the world differs from the prediction.

This room takes a plan and a world, and hands on the events of the run (`events.py`); the last one,
`Finished`, says whether the goal was reached and what is missing.

Begin with `Executor` in `executor.py`, the loop for all worlds. It knows a world only through the
protocol `ExecutionWorld` of `recovery.py`, which also holds the recovery strategies. `world.py`
implements the protocol for kitchens and `facts/` for any PDDL domain; `facts/sentences.py` reads
goals in words there. `detection.py` and `deviations.py` say what differs, `explanation.py` why.
"""
