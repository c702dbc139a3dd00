"""Plans without steps, which are correct only if the goal holds initially."""

from __future__ import annotations

from hvr.judging.verifier.kitchen.linked_plan import INITIAL_STATE, Fact, LinkedPlan, Need
from hvr.judging.verifier.kitchen.mentions import FAMILIES

_PLACED = frozenset({"on", "in"})
_ENABLED = frozenset({"opened", "toggled", "dirty", "filled"})


def nothing_done(plan: LinkedPlan) -> LinkedPlan:
    return _standing(plan, plan.start)


def done_already(plan: LinkedPlan) -> LinkedPlan:
    facts = {(f.predicate, f.args): f for f in plan.start}
    for step in plan.steps:
        facts |= {(f.predicate, f.args): f for f in step.makes}
    kept = (f for f in facts.values() if f.predicate in FAMILIES or f.predicate in _PLACED)
    return _standing(plan, tuple(sorted(f for f in kept if f.positive or f.predicate in _ENABLED)))


def _standing(plan: LinkedPlan, start: tuple[Fact, ...]) -> LinkedPlan:
    ends = tuple(Need(f, INITIAL_STATE) for f in start if f.predicate in _PLACED and f.positive)
    return LinkedPlan((), ends, plan.types, start)
