"""Hard negatives: executable plans that miss the request.

They are derived from plans that reach the goal. The symbolic validator accepts all their steps;
only the goal, which a verifier does not see, reveals the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from hvr.pddl.formulas import Atom
from hvr.pddl.model import GroundAction
from hvr.pddl.task import Task
from hvr.planning.plans import macro_blocks

WRONG_OBJECT = "wrong object"
WRONG_PLACE = "wrong place"
MISSING_END = "missing end"
MISSING_MIDDLE = "missing middle"
OTHER_REQUEST = "another request"
KINDS = (WRONG_OBJECT, WRONG_PLACE, MISSING_END, MISSING_MIDDLE, OTHER_REQUEST)

Steps = tuple[GroundAction, ...]
_PIECES = ("sliced", "cracked")
_HANDLED = frozenset({"pick_up", "slice_obj", "crack_obj"})
_PUT = {"put_on": "put_in", "put_in": "put_on"}
_DOORS = frozenset({"open_obj", "close_obj"})
_USES = ("pickupable", "sliceable", "crackable", "cutting_tool")
_LONGEST = 14
_TRIES = 14


@dataclass(frozen=True)
class Miss:
    """A plan that misses the request; `kind` is one of `KINDS`."""

    kind: str
    actions: Steps


def misses(
    task: Task,
    actions: Sequence[GroundAction],
    draw: Random,
    others: Sequence[Steps] = (),
    each: int = 1,
) -> list[Miss]:
    """Return plans that miss the goal of a task.

    Args:
        task: Task with the goal; more objects permit more substitutions.
        others: Plans for other requests in the same world.
        each: Maximum number of plans per kind.
    """
    plan = tuple(actions)
    ways: dict[str, Callable[[], Iterator[Steps]]] = {
        WRONG_OBJECT: lambda: other_objects(task, plan, draw),
        WRONG_PLACE: lambda: other_places(task, plan, draw),
        MISSING_END: lambda: _ends(task, plan, draw),
        MISSING_MIDDLE: lambda: _middles(plan, draw),
        OTHER_REQUEST: lambda: iter(draw.sample(list(others), len(others))),
    }
    negatives: list[Miss] = []
    seen = {plan}
    for kind, way in ways.items():
        count = 0
        for steps in islice(way(), _TRIES):
            if count >= each:
                break
            if steps and steps not in seen and _misses(task, steps):
                seen.add(steps)
                count += 1
                negatives.append(Miss(kind, steps))
    return negatives


def carried_out(task: Task, actions: Steps) -> int | None:
    bits = task.initial.bits
    for action in actions:
        if task.misfit(action) is not None:
            return None
        operator = task.ground(action)
        if not operator.applicable(bits):
            return None
        bits = operator.apply(bits)
    return bits


def _misses(task: Task, actions: Steps) -> bool:
    state = carried_out(task, actions)
    return state is not None and not task.goal.holds(state)


def other_objects(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield plans with a handled object replaced throughout by an object of a different class."""
    start = _Start(task)
    handled = list(dict.fromkeys(a.args[0] for a in plan if a.name in _HANDLED))
    handled = [h for h in handled if _piece_of(_kind(task, h)) is None]
    pairs = [
        (a, b)
        for a in handled
        for b in task.objects
        if _kind(task, a) != _kind(task, b) and start.could_stand_for(a, b, plan)
    ]
    draw.shuffle(pairs)
    for old, new in pairs:
        yield renamed(task, plan, old, new)


def other_places(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield plans that put objects on or in a different receptacle."""
    start = _Start(task)
    puts = [a for a in plan if a.name in _PUT]
    places = list(dict.fromkeys(a.args[1] for a in puts))
    pairs = [
        (a, b)
        for a in places
        for b in task.objects
        if _kind(task, a) != _kind(task, b)
        and all(start.has("fits", p.args[0], b) for p in puts if p.args[1] == a)
        and not (start.closed(b) and not start.closed(a))
    ]
    draw.shuffle(pairs)
    # The request usually names the last place.
    pairs.sort(key=lambda p: p[0] != places[-1])
    for old, new in pairs:
        put = "put_in" if start.has("container", new) else "put_on"
        steps = [
            GroundAction(put, a.args) if a.name in _PUT and a.args[1] == new else a
            for a in renamed(task, plan, old, new)
        ]
        if not start.has("openable", new):
            steps = [a for a in steps if a.name not in _DOORS or a.args[0] != new]
        yield tuple(steps)


class _Start:
    def __init__(self, task: Task) -> None:
        self._facts = {(a.predicate, *a.args) for a in task.problem.init if isinstance(a, Atom)}
        self._inside = {f[1]: f[2] for f in self._facts if f[0] == "in"}

    def has(self, *fact: str) -> bool:
        return fact in self._facts

    def closed(self, name: str) -> bool:
        return self.has("openable", name) and not self.has("opened", name)

    def could_stand_for(self, old: str, new: str, plan: Steps) -> bool:
        if any(self.has(u, old) and not self.has(u, new) for u in _USES):
            return False
        place = self._inside.get(new)
        if place is not None and self.closed(place) and self._inside.get(old) != place:
            return False
        return all(
            self.has("fits", new, a.args[1]) for a in plan if a.name in _PUT and a.args[0] == old
        )


def _ends(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    blocks = [b.actions for b in macro_blocks(task, plan)]
    cuts = [sum(map(len, blocks[:i])) for i in range(1, len(blocks))]
    cuts += range(max(1, len(plan) - 4), len(plan))
    cuts = sorted(set(cuts), reverse=True)
    late = cuts[:4]
    draw.shuffle(late)
    for cut in (*late, *cuts[4:]):
        yield plan[:cut]


def _middles(plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield plans without a run of steps, such as washing, heating or slicing."""
    spans = [
        (first, last)
        for first in range(len(plan))
        for last in range(first + 2, min(len(plan), first + _LONGEST))
    ]
    draw.shuffle(spans)
    for first, last in spans:
        yield (*plan[:first], *plan[last:])


def renamed(task: Task, plan: Steps, old: str, new: str) -> Steps:
    """Return a plan with an object and its pieces replaced by another object and its pieces."""
    a, b = _kind(task, old), _kind(task, new)
    names = {old: new}
    for name in task.objects:
        if _piece_of(_kind(task, name)) == a:
            piece = b + _kind(task, name)[len(a) :]
            names[name] = f"{piece}-{name.rpartition('-')[2]}"
    return tuple(GroundAction(x.name, tuple(names.get(arg, arg) for arg in x.args)) for x in plan)


def _kind(task: Task, name: str) -> str:
    return task.objects[name][0]


def _piece_of(kind: str) -> str | None:
    """Return the class from which a piece is cut: `tomato` for `tomatosliced`; else None."""
    for ending in _PIECES:
        if kind.endswith(ending):
            return kind.removesuffix(ending)
    return None
