"""A rule-based baseline judge that does not execute the plan.

* A step is repeated if it occurred before and no other step has touched its objects since.
* Two adjacent steps on the same first object cancel if their verbs are inverse.
* All steps on an object are irrelevant if they only go to it, take it and put it down, and the goal
  names neither the object nor its type.
* A step whose verb inverts another needs that other step before it on the same object.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Problem

_PAIRS = (
    ("pick", "put"), ("open", "close"), ("toggle_on", "toggle_off"), ("load", "unload"),
    ("board", "debark"), ("unstack", "stack"), ("switch_on", "switch_off"), ("pick", "drop"),
)  # fmt: skip
_MOVES = ("navigate", "go", "move", "drive", "walk", "fly")
_CARRIES = (*_MOVES, "pick", "put")


def judge(plan: Sequence[GroundAction], problem: Problem) -> PlanVerdict:
    """Judge a plan by these rules, without proofs or repairs."""
    removed = {i for i in range(len(plan)) if _repeated(plan, i)}
    for i in range(len(plan) - 1):
        if not {i, i + 1} & removed and _undoes(plan[i], plan[i + 1]):
            removed |= {i, i + 1}
    goal = str(problem.goal)
    types = {o.name: o.types[0] for o in problem.objects}
    for name in {action.args[0] for action in plan if action.args}:
        mine = [i for i, action in enumerate(plan) if action.args[:1] == (name,)]
        if name in goal or types.get(name, "-") in goal:
            continue
        pick = any(plan[i].name.startswith("pick") for i in mine)
        if pick and all(plan[i].name.startswith(_CARRIES) for i in mine):
            removed |= set(mine)
    critiques = [Critique(CritiqueKind.REMOVE, i + 1, (plan[i],), "rule") for i in removed]
    critiques += [
        Critique(CritiqueKind.MISSING, i + 1, (action,), "rule")
        for i in range(len(plan))
        if (action := _lacking(plan, i)) is not None
    ]
    return PlanVerdict(tuple(plan), tuple(critiques))


def _verb(action: GroundAction) -> str:
    return action.name.replace("-", "_")


def _undoes(first: GroundAction, second: GroundAction) -> bool:
    a, b = _verb(first), _verb(second)
    same = first.args[:1] == second.args[:1]
    return same and any(
        (a.startswith(x) and b.startswith(y)) or (a.startswith(y) and b.startswith(x))
        for x, y in _PAIRS
    )


def _repeated(plan: Sequence[GroundAction], index: int) -> bool:
    action = plan[index]
    moves = _verb(action).startswith(_MOVES)
    for earlier in reversed(plan[:index]):
        if earlier == action:
            return True
        if moves and _verb(earlier).startswith(_MOVES):
            return False
        if set(earlier.args) & set(action.args):
            return False
    return False


def _lacking(plan: Sequence[GroundAction], index: int) -> GroundAction | None:
    action = plan[index]
    verb = _verb(action)
    for x, y in (("open", "close"), ("toggle_on", "toggle_off"), ("pick", "put")):
        if verb.startswith(y):
            for earlier in reversed(plan[:index]):
                if earlier.args[:1] == action.args[:1]:
                    if _verb(earlier).startswith(x):
                        return None
                    if _verb(earlier).startswith(y):
                        break
            name = {"open": "open_obj", "toggle_on": "toggle_on", "pick": "pick_up"}[x]
            return GroundAction(name, action.args[:1])
    return None
