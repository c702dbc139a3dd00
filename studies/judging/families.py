"""Plans of competition domains with errors that are typical of people and models.

A label is the inverse of the damage: remove the inserted steps and restore the omitted ones. A
judge may find a cheaper repair, but never needs a costlier one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType

from hvr.judging.evidence import execute
from hvr.judging.reduction import MAX_EXACT_STEPS
from hvr.pddl import GroundAction, Misfit, Task, parse_domain, parse_problem, read_plan
from hvr.validation.sequences import action_of
from studies.judging.corpus import Case, Missing
from studies.judging.damage import Items, applicable_at, marks_of
from studies.judging.making import reduced
from studies.judging.oracle import Item

HARD = frozenset({"conditional-effects", "derived-predicates", "numeric-fluents"})
_BEYOND = frozenset({"durative-actions", "preferences", "constraints", "timed-initial-literals",
                     "processes", "events"})  # fmt: skip
_TRIES = 20

Damage = Callable[[Task, Items, Random], Items | None]


def _walk(task: Task, items: Items, rng: Random, place: int, length: int) -> Items | None:
    """Insert steps that are applicable in sequence, whatever they do to the rest of the plan."""
    mark = marks_of(task, items)[place]
    steps: list[Item] = []
    for _ in range(length):
        for action in applicable_at(task, mark, rng):
            # An effect may have an undefined value.
            after = execute(task, task.ground(action), mark)
            if after is not None:
                break
        else:
            return None
        steps.append(Item(action, kind="walk"))
        mark = after
    return (*items[:place], *steps, *items[place:])


def look_about(task: Task, items: Items, rng: Random) -> Items | None:
    """Insert a needless step at each of two places."""
    for _ in range(2):
        more = _walk(task, items, rng, rng.randrange(len(items) + 1), 1)
        items = more or items
    return items


def walk(task: Task, items: Items, rng: Random) -> Items | None:
    """Insert a random walk of three to six steps."""
    return _walk(task, items, rng, rng.randrange(len(items) + 1), rng.randint(3, 6))


def go_on(task: Task, items: Items, rng: Random) -> Items | None:
    """Append one to four steps after the goal has been reached."""
    return _walk(task, items, rng, len(items), rng.randint(1, 4))


def _moved(items: Items, place: int, to: int, kind: str) -> Items:
    action = items[place].action
    gone = (*items[:place], Item(action, True, kind), *items[place + 1 :])
    return (*gone[:to], Item(action, kind=kind), *gone[to:])


def _sound(items: Items, place: int) -> bool:
    return not (items[place].dropped or items[place].kind)


def early(task: Task, items: Items, rng: Random) -> Items | None:
    """Move a step to an earlier place where it is applicable."""
    marks = marks_of(task, items)
    for _ in range(_TRIES):
        place = rng.randrange(len(items))
        to = rng.randrange(place + 1)
        operator = task.ground(items[place].action)
        if _sound(items, place) and place - to > 1 and execute(task, operator, marks[to]):
            return _moved(items, place, to, "early")
    return None


def late(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    place = rng.randrange(len(items))
    if not _sound(items, place) or place + 2 > len(items) - 1:
        return None
    return _moved(items, place, rng.randint(place + 2, len(items)), "late")


def swap(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    places = [p for p in range(len(items) - 1) if _sound(items, p) and _sound(items, p + 1)]
    if not places:
        return None
    place = rng.choice(places)
    return _moved(items, place, place + 2, "swap")


def _dropped(items: Items, places: Sequence[int], kind: str) -> Items | None:
    if not places or len(places) >= len(items):
        return None
    return tuple([Item(i.action, True, kind) if p in places else i for p, i in enumerate(items)])


def first(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    places = [p for p in range(min(rng.randint(1, 2), len(items))) if _sound(items, p)]
    return _dropped(items, places, "first")


def last(task: Task, items: Items, rng: Random) -> Items | None:
    del task
    count = len(items)
    places = [p for p in range(max(0, count - rng.randint(1, 2)), count) if _sound(items, p)]
    return _dropped(items, places, "last")


def enabling(task: Task, items: Items, rng: Random) -> Items | None:
    """Omit a step that the next step needs."""
    marks = marks_of(task, items)
    places = [
        p for p in range(len(items) - 1)
        if _sound(items, p) and _sound(items, p + 1)
        and not execute(task, task.ground(items[p + 1].action), marks[p])
    ]  # fmt: skip
    return _dropped(items, [rng.choice(places)], "enabling") if places else None


def missing(task: Task, items: Items, rng: Random) -> Items | None:
    """Omit one to three arbitrary steps."""
    del task
    places = [p for p in range(len(items)) if _sound(items, p)]
    return _dropped(items, rng.sample(places, min(rng.randint(1, 3), len(places))), "missing")


def other_object(task: Task, items: Items, rng: Random) -> Items | None:
    """Replace an object by a different one of the same class."""
    for _ in range(_TRIES):
        place = rng.randrange(len(items))
        action = items[place].action
        if not _sound(items, place) or not action.args:
            continue
        position = rng.randrange(len(action.args))
        old = action.args[position]
        alike = [n for n in task.objects if n != old and task.objects[n] == task.objects[old]]
        if not alike:
            continue
        args = list(action.args)
        args[position] = rng.choice(alike)
        wrong = GroundAction(action.name, tuple(args))
        if isinstance(task.try_ground(wrong), Misfit):
            continue
        gone = Item(action, True, "object")
        return (*items[:place], Item(wrong, kind="object"), gone, *items[place + 1 :])
    return None


_SINGLE: Mapping[str, Damage] = MappingProxyType({
    "look about": look_about, "walk": walk, "go on": go_on, "early": early, "late": late,
    "swap": swap, "first": first, "last": last, "enabling": enabling, "missing": missing,
    "object": other_object,
})  # fmt: skip


def several(task: Task, items: Items, rng: Random) -> Items | None:
    for name in rng.sample(sorted(_SINGLE), rng.randint(2, 4)):
        items = _SINGLE[name](task, items, rng) or items
    return items


KINDS: Mapping[str, Damage] = MappingProxyType({"none": lambda _, items, __: items, **_SINGLE,
                                                "several": several})  # fmt: skip


def cases(folder: Path, seed: int = 0) -> Iterator[Case]:
    """Yield one case per kind of error for each valid plan of the hard families."""
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        features = set(row["features"]) if "features" in row else set()
        sound = row.get("val") == "valid" and row.get("mutation") is None
        if not sound or not features & HARD or features & _BEYOND or row["set"] == "long":
            continue
        domain = parse_domain(folder / row["domain"])
        problem = parse_problem(folder / row["problem"], domain)
        plan = tuple(map(action_of, read_plan(folder / row["plan"], lenient=True).steps))
        if not 2 <= len(plan) <= MAX_EXACT_STEPS:
            continue
        task = Task(domain, problem)
        base = reduced(task, plan)
        if base is None or len(base) < 2:
            continue
        for kind, damage in KINDS.items():
            rng = Random(f"{row['id']} {kind} {seed}")
            items = damage(task, tuple(map(Item, base)), rng)
            if items is not None:
                family = Path(row["domain"]).stem
                yield _case(f"{row['id']} {kind}", family, row, items, len(base), kind)


def _case(
    name: str, family: str, row: Mapping[str, str], items: Items, base: int, kind: str
) -> Case:
    plan: list[str] = []
    added: dict[str, str] = {}
    gone: list[Missing] = []
    for item in items:
        if item.dropped:
            gone.append(Missing(len(plan) + 1, str(item.action), kind))
            continue
        plan.append(str(item.action))
        if item.kind:
            added[str(len(plan))] = kind
    return Case(
        name, family, row["domain"], row["problem"], tuple(plan), (kind,),
        (tuple(map(int, added)),), tuple(gone), base, added, len(gone), base, oracle="damage",
    )  # fmt: skip
