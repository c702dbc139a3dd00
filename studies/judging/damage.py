"""Inject errors of the taxonomy's kinds (docs/how-to/judging.md) into valid plans.

Each function takes the items of a plan and returns them with one more error, or None if the kind
does not apply. All kinds except R3, R4 and C1 apply to any domain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from hvr.judging.evidence import TraceState, executable, execute, holds
from hvr.pddl import GroundAction, Misfit, State, Task, applicable_actions
from hvr.pddl.state import Operator
from studies.judging.oracle import Item

Items: TypeAlias = tuple[Item, ...]
Damage: TypeAlias = Callable[[Task, Items, Random], Items | None]
_TRIES = 12
_ENABLING = ("open_obj", "navigate_to_obj", "pick_up")


def marks_of(task: Task, items: Sequence[Item]) -> list[TraceState]:
    """Return the state before each item and at the end; errors of kind C1 are not executed."""
    marks: list[TraceState] = [(task.initial.bits, task.initial.values)]
    for item in items:
        operator = task.try_ground(item.action)
        after = None if isinstance(operator, Misfit) else execute(task, operator, marks[-1])
        marks.append(after or marks[-1])
    return marks


def _still_good(task: Task, items: Sequence[Item]) -> bool:
    operators = [task.ground(item.action) for item in items]
    end = executable(task, (task.initial.bits, task.initial.values), operators)
    return end is not None and holds(task.goal, end)


def _inserted(items: Items, place: int, kind: str, *actions: GroundAction) -> Items:
    return (*items[:place], *[Item(action, kind=kind) for action in actions], *items[place:])


def applicable_at(task: Task, mark: TraceState, rng: Random) -> list[GroundAction]:
    actions = list(applicable_actions(State(task, *mark)))
    rng.shuffle(actions)
    return actions


def repeat(task: Task, items: Items, rng: Random) -> Items | None:
    """Repeat a step that has no effect the second time (R1)."""
    places = list(range(1, len(items) + 1))
    rng.shuffle(places)
    for place in places[:_TRIES]:
        more = _inserted(items, place, "R1", items[place - 1].action)
        if _still_good(task, more):
            return more
    return None


def cancel(task: Task, items: Items, rng: Random) -> Items | None:
    """Insert a step and a second one that undoes it (R2)."""
    return _there_and_back(task, items, rng, "R2", 1)


def wander(task: Task, items: Items, rng: Random) -> Items | None:
    """Leave and return, in three or four steps (R3, any domain)."""
    return _there_and_back(task, items, rng, "R3", 2) or _there_and_back(task, items, rng, "R3", 3)


def _there_and_back(task: Task, items: Items, rng: Random, kind: str, away: int) -> Items | None:
    marks = marks_of(task, items)
    for _ in range(_TRIES):
        place = rng.randrange(len(items) + 1)
        steps: list[GroundAction] = []
        mark = marks[place]
        for _ in range(away):
            actions = [a for a in applicable_at(task, mark, rng)[:20] if a.name != "drop_obj"]
            if not actions:
                break
            steps.append(actions[0])
            after = execute(task, task.ground(actions[0]), mark)
            assert after is not None
            mark = after
        if len(steps) < away or marks[place] == mark:
            continue
        for back in applicable_at(task, mark, rng)[:40]:
            more = _inserted(items, place, kind, *steps, back)
            if not _still_good(task, _inserted(items, place, kind, *steps)) and _still_good(
                task, more
            ):
                return more
    return None


def carry_other(task: Task, items: Items, rng: Random) -> Items | None:
    """Carry an object that is irrelevant to the goal elsewhere (R3, kitchen)."""
    named = {name for item in items for name in item.action.args}
    return _carried(task, items, rng, "R3", [n for n in task.objects if n not in named])


def fetch_early(task: Task, items: Items, rng: Random) -> Items | None:
    """Carry an object that is needed later to another place first (R4, kitchen)."""
    wanted = [item.action.args[0] for item in items if item.action.name == "pick_up"]
    return _carried(task, items, rng, "R4", wanted)


def _carried(
    task: Task, items: Items, rng: Random, kind: str, things: Sequence[str]
) -> Items | None:
    marks = marks_of(task, items)
    places = [name for name in task.objects if name.startswith(("countertop", "diningtable"))]
    if not things or not places:
        return None
    for _ in range(_TRIES * 3):
        place = rng.randrange(len(items) + 1)
        thing, there = rng.choice(list(things)), rng.choice(places)
        steps = [
            GroundAction("navigate_to_obj", (thing,)),
            GroundAction("pick_up", (thing,)),
            GroundAction("navigate_to_obj", (there,)),
            GroundAction("put_on", (thing, there)),
        ]
        if any(isinstance(task.try_ground(step), Misfit) for step in steps):
            continue
        if executable(task, marks[place], [task.ground(step) for step in steps]) is None:
            continue
        back = [i.action for i in items[:place] if i.action.name == "navigate_to_obj"][-1:]
        for more in (steps, [*steps, *back]):
            changed = _inserted(items, place, kind, *more)
            if _still_good(task, changed):
                return changed
    return None


def premature(task: Task, items: Items, rng: Random) -> Items | None:
    """Switch off before switching on, or close before putting in (C1, kitchen)."""
    marks = marks_of(task, items)
    candidates = []
    for place, item in enumerate(items):
        if item.action.name == "toggle_on":
            candidates.append((place, GroundAction("toggle_off", item.action.args)))
        if item.action.name in ("put_in", "put_on"):
            candidates.append((place, GroundAction("close_obj", item.action.args[1:])))
    rng.shuffle(candidates)
    for place, action in candidates:
        operator = task.try_ground(action)
        if not isinstance(operator, Operator):
            continue
        closes = action.name == "close_obj"
        if (execute(task, operator, marks[place]) is None) == closes:
            continue
        return _inserted(items, place, "C1", action)
    return None


def impossible(task: Task, items: Items, rng: Random) -> Items | None:
    """Insert a step of the plan where it is not applicable (C1, any domain)."""
    marks = marks_of(task, items)
    for _ in range(_TRIES):
        place, action = rng.randrange(len(items) + 1), rng.choice(items).action
        if execute(task, task.ground(action), marks[place]) is None:
            return _inserted(items, place, "C1", action)
    return None


def undo(task: Task, items: Items, rng: Random) -> Items | None:
    """Undo the effect of a step and redo it (C2)."""
    marks = marks_of(task, items)
    places = list(range(1, len(items) + 1))
    rng.shuffle(places)
    for place in places[:_TRIES]:
        again = items[place - 1].action
        for action in applicable_at(task, marks[place], rng)[:40]:
            if action.name == "drop_obj" or action == again:
                continue
            changed = _inserted(items, place, "C2", action, again)
            # The undoing step alone must break the plan, and redoing the step must repair it.
            if not _still_good(task, _inserted(items, place, "C2", action)) and _still_good(
                task, changed
            ):
                return changed
    return None


def wrong_object(task: Task, items: Items, rng: Random) -> Items | None:
    """Replace an argument by a different object, possibly of a different type (C3)."""
    for _ in range(_TRIES):
        place = rng.randrange(len(items))
        item = items[place]
        if item.kind or item.dropped or not item.action.args:
            continue
        position = rng.randrange(len(item.action.args))
        other = rng.choice([n for n in task.objects if n not in item.action.args])
        args = tuple([other if i == position else a for i, a in enumerate(item.action.args)])
        wrong = GroundAction(item.action.name, args)
        if isinstance(task.try_ground(wrong), Misfit):
            continue
        gone = Item(item.action, True, "C3")
        return (*items[:place], Item(wrong, kind="C3"), gone, *items[place + 1 :])
    return None


def drop(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    places = [i for i, item in enumerate(items) if not item.kind]
    return _dropped(items, [rng.choice(places)], "M1") if len(places) > 1 else None


def truncate(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    count = rng.randint(1, 4)
    places = [i for i in range(max(0, len(items) - count), len(items)) if not items[i].kind]
    return _dropped(items, places, "M2") if places and len(items) > len(places) + 1 else None


def drop_enabling(task: Task, items: Items, rng: Random) -> Items | None:
    """Omit a step that makes a later step applicable (M3, kitchen)."""
    del task
    places = [i for i, item in enumerate(items) if not item.kind and item.action.name in _ENABLING]
    return _dropped(items, [rng.choice(places)], "M3") if places else None


def _dropped(items: Items, places: Sequence[int], kind: str) -> Items:
    return tuple(
        [Item(item.action, True, kind) if i in places else item for i, item in enumerate(items)]
    )


KITCHEN: Mapping[str, Damage] = MappingProxyType({
    "R1": repeat, "R2": cancel, "R3": carry_other, "R4": fetch_early, "C1": premature, "C2": undo,
    "C3": wrong_object, "M1": drop, "M2": truncate, "M3": drop_enabling,
})  # fmt: skip
"""Damage kinds for kitchen plans. Kinds that omit steps are applied last."""

ANY_DOMAIN: Mapping[str, Damage] = MappingProxyType({
    "R1": repeat, "R2": cancel, "R3": wander, "C1": impossible, "C2": undo, "C3": wrong_object,
    "M1": drop, "M2": truncate,
})  # fmt: skip
"""Damage kinds for plans of any domain."""

_LAST = ("C1", "C3", "M1", "M3", "M2")


def damaged(
    task: Task, plan: Sequence[GroundAction], kinds: Mapping[str, Damage], count: int, rng: Random
) -> Items:
    """Return a plan with up to `count` errors of uniformly drawn kinds."""
    items: Items = tuple([Item(action) for action in plan])
    chosen = [rng.choice(sorted(kinds)) for _ in range(count)]
    for kind in sorted(chosen, key=lambda k: _LAST.index(k) if k in _LAST else -1):
        items = kinds[kind](task, items, rng) or items
    return items
