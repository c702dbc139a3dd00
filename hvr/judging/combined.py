"""A model's opinion of a plan, of which only that is accepted which can be proven.

A step that the model would remove goes only if the plan without it reaches the same goal and the
same end state, but for the objects of the steps that go. What it misses is put in only if it can be
executed there, nothing takes it back without having needed it, and the plan comes nearer to its
goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from hvr.judging.course import Course, holds, unmet_parts
from hvr.judging.evidence import Evidence
from hvr.judging.model import Opinion, Wish
from hvr.pddl import GroundAction, Misfit, State
from hvr.pddl.conditions import set_bits

_MOST_TRIALS = 400


@dataclass(frozen=True)
class Checked:
    """What is accepted of an opinion.

    Args:
        plan: with what was accepted done.
        removed: numbers of the steps that go, from 1, in the plan that was judged.
        inserted: (number of the step that it comes before, step).
        rejected: what was not accepted, and why.
    """

    plan: tuple[GroundAction, ...]
    removed: tuple[int, ...] = ()
    inserted: tuple[tuple[int, GroundAction], ...] = ()
    rejected: tuple[str, ...] = ()


Measure = tuple[int, int]
"""How far a plan is from being as it should: failing steps and unmet parts of the goal, then its
length. Each round makes it less."""


def measure(start: State, plan: Sequence[GroundAction]) -> Measure:
    """Return the measure of a plan."""
    course = Course.of(start, plan)
    unmet = unmet_parts(start.task.goal, course.marks[-1])
    return len(course.failing) + unmet, len(plan)


def check(start: State, plan: Sequence[GroundAction], opinion: Opinion) -> Checked:
    """Return what can be proven of an opinion.

    Args:
        start: where the plan begins.
        plan: the plan.
        opinion: what a model says of it.
    """
    course = Course.of(start, plan)
    rejected: list[str] = []
    inserted: list[tuple[int, GroundAction]] = []
    for wish in opinion.missing:
        place = _place(start, plan, tuple(inserted), wish)
        if place is None:
            rejected.append(f"#MISSING {wish.text}: it does not bring the plan nearer to its goal")
        else:
            inserted += [(place, action) for action in wish.actions]
            inserted.sort(key=lambda item: item[0])
    flagged = [number - 1 for number, _ in opinion.remove]
    longer = with_steps(plan, inserted)
    removed = _removable(start, plan, inserted, flagged)
    for number, reason in opinion.remove:
        if number - 1 not in removed:
            rejected.append(f"#REMOVE {number} {plan[number - 1]}: not proven ({reason})")
    left = tuple([action for index, action in longer if index not in removed])
    if measure(start, left) >= measure(start, course.plan):
        return Checked(tuple(plan), rejected=tuple(rejected))
    numbers = tuple(sorted(index + 1 for index in removed))
    shown = tuple((place + 1, action) for place, action in inserted)
    return Checked(left, numbers, shown, tuple(rejected))


def with_steps(
    plan: Sequence[GroundAction], inserted: Sequence[tuple[int, GroundAction]]
) -> list[tuple[int, GroundAction]]:
    """Return a plan with steps put in, each with its index, -1 for what was put in."""
    merged: list[tuple[int, GroundAction]] = []
    waiting = list(inserted)
    for place in range(len(plan) + 1):
        while waiting and waiting[0][0] == place:
            merged.append((-1, waiting.pop(0)[1]))
        if place < len(plan):
            merged.append((place, plan[place]))
    return merged


def _place(
    start: State,
    plan: Sequence[GroundAction],
    inserted: tuple[tuple[int, GroundAction], ...],
    wish: Wish,
) -> int | None:
    """Return where the steps of a wish bring a plan nearer to its goal; None where nowhere."""
    task = start.task
    if not wish.actions or any(isinstance(task.try_ground(a), Misfit) for a in wish.actions):
        return None
    now = measure(start, [action for _, action in with_steps(plan, inserted)])
    places = list(range(len(plan) + 1))
    if wish.index is not None:
        # Where the model says first, then near to that.
        places.sort(key=lambda place: abs(place + 1 - (wish.index or 0)))
    for place in places:
        more = sorted(
            [*inserted, *[(place, action) for action in wish.actions]], key=lambda item: item[0]
        )
        merged = with_steps(plan, more)
        course = Course.of(start, [action for _, action in merged])
        new = [i for i, (index, _) in enumerate(merged) if index < 0]
        defects = len(course.failing) + unmet_parts(task.goal, course.marks[-1])
        if defects < now[0] and not course.failing & set(new) and not _undone(course, new):
            return place
    return None


def _undone(course: Course, new: Sequence[int]) -> bool:
    """Say whether what a new step makes is taken back before anything read it."""
    evidence = Evidence(course, range(len(course.plan)))
    for index in new:
        changes = evidence.changes(index)
        if changes and all(c.undone_by is not None and not c.readers for c in changes):
            return True
    return False


def _removable(
    start: State,
    plan: Sequence[GroundAction],
    inserted: Sequence[tuple[int, GroundAction]],
    flagged: Sequence[int],
) -> frozenset[int]:
    """Return as many of some steps as can go together."""
    merged = with_steps(plan, inserted)
    whole = Course.of(start, [action for _, action in merged])
    removed: frozenset[int] = frozenset()
    trials = 0
    more = True
    while more:
        more = False
        waiting = [index for index in flagged if index not in removed]
        for group in _groups(plan, waiting):
            trials += 1
            if trials > _MOST_TRIALS:
                return removed
            if _can_go(start, merged, whole, removed | group):
                removed |= group
                more = True
                break
    return removed


def _groups(plan: Sequence[GroundAction], waiting: Sequence[int]) -> Iterator[frozenset[int]]:
    """Yield sets of steps, the most promising first: all, those on one object, pairs, singles."""
    yield from [frozenset(waiting)] if waiting else []
    for name in dict.fromkeys(name for index in waiting for name in plan[index].args):
        group = frozenset(index for index in waiting if name in plan[index].args)
        if len(group) > 1:
            yield group
    for size in (1, 2, 3):
        for some in combinations(waiting, size):
            yield frozenset(some)


def _can_go(
    start: State,
    merged: Sequence[tuple[int, GroundAction]],
    whole: Course,
    removed: frozenset[int],
) -> bool:
    """Say whether nothing is lost without some steps, but for their own objects."""
    left = Course.of(start, [action for index, action in merged if index not in removed])
    kept = [i for i, (index, _) in enumerate(merged) if index not in removed]
    if any(place not in whole.failing for i in left.failing if (place := kept[i]) >= 0):
        return False
    task = start.task
    if holds(task.goal, whole.marks[-1]):
        if not holds(task.goal, left.marks[-1]):
            return False
    elif unmet_parts(task.goal, left.marks[-1]) > unmet_parts(task.goal, whole.marks[-1]):
        return False
    own = {name for index, action in merged if index in removed for name in action.args}
    changed = (left.marks[-1][0] ^ whole.marks[-1][0]) & ~task.derived_bits
    atoms = [task.fluent(bit) for bit in set_bits(changed)]
    return all(not atom.args or own & set(atom.args) for atom in atoms)
