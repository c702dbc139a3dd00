"""Plan correctness: how far a plan follows the ground truth."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count, islice, permutations, product

from hvr.pddl import GroundAction
from hvr.runs.tasks import GroundTruth

RENAMINGS = 5_000
"""Greatest number of renamings of a ground truth that are tried for a plan."""

Steps = Sequence[GroundAction]
Names = Mapping[str, str]


def plan_correctness(plan: Steps, truth: GroundTruth) -> float:
    """Return PC: the share of the ground truth that a plan gets done, in order (paper, section
    4.1).

    The furthest step of the ground truth that is reached in order, divided by its number of
    steps; superfluous steps of the plan do not count against it, so the steps are matched as a
    subsequence. Of a partial order, the best linearization counts (paper, B.3): blocks may
    change places where `truth.order` allows it, their steps are not interleaved.

    Exact: for every set of blocks that can be finished first, the earliest position of the
    plan by which it is; an earlier end is never worse for what follows. The work grows with
    the number of such sets (at most 2 to the number of blocks), not of linearizations.

    Returns:
        0 to 1. An empty plan has 0; an empty ground truth is always reached: 1.
    """
    total = len(truth.steps)
    if total == 0:
        return 1.0
    places = _places(plan)
    before = [0] * len(truth.blocks)
    for first, second in truth.order:
        before[second - 1] |= 1 << (first - 1)
    # Finished blocks as bits: (the earliest end, how many steps they have).
    reached: dict[int, tuple[int, int]] = {0: (0, 0)}
    best = 0
    while reached:
        further: dict[int, tuple[int, int]] = {}
        for done, (position, steps) in reached.items():
            best = max(best, steps)
            for number, block in enumerate(truth.blocks):
                if done >> number & 1 or before[number] & ~done:
                    continue
                matched, end = _match(block, places, position)
                best = max(best, steps + matched)
                if matched == len(block):
                    grown = done | 1 << number
                    known = further.get(grown)
                    if known is None or end < known[0]:
                        further[grown] = end, steps + matched
        reached = further
    return best / total


def best_correctness(
    plan: Steps, truth: GroundTruth, valid: Callable[[GroundTruth], bool]
) -> tuple[float, GroundTruth]:
    """Return PC against the best-fitting renaming of the ground truth within object classes.

    A plan that makes coffee in `mug-2` is as correct as one that does so in `mug-1` if the
    ground truth works with `mug-2`, too: the greatest PC over `truth_variants`.

    Exact, by best-first search over one class after the other; what a partial renaming may
    still reach is the PC with all objects of the other classes taken for the same. After
    RENAMINGS partial or whole renamings it ends with the best that is certain until then.

    Args:
        plan: the plan.
        truth: the ground truth; it counts without a test.
        valid: says whether a renamed ground truth is a valid plan for the goal in the scene.

    Returns:
        The best PC, and the ground truth or the valid variant that it was reached with.
    """
    own = plan_correctness(plan, truth)
    choices = _choices(plan, truth)
    # Among equal bounds the most complete renaming comes first, then the one that changes least.
    queue: list[tuple[float, int, int, Names]] = [(-1.0, 0, 0, {})]
    numbers = count(1)
    for _ in range(RENAMINGS):
        if not queue:
            break
        bound, further, _, names = heappop(queue)
        if -bound <= own:
            break
        if -further == len(choices):
            variant = rename(truth, names)
            if valid(variant):
                return -bound, variant
            continue
        open_classes = {kind for kind, _ in choices[1 - further :]}
        abstract = _abstract_plan(plan, open_classes)
        for more in choices[-further][1]:
            grown = {**names, **more}
            possible = plan_correctness(abstract, _abstract_truth(truth, grown, open_classes))
            if possible > own:
                heappush(queue, (-possible, further - 1, next(numbers), grown))
    return own, truth


def truth_variants(
    plan: Steps, truth: GroundTruth, valid: Callable[[GroundTruth], bool]
) -> Iterator[GroundTruth]:
    """Yield the ground truth and its valid renamings that a plan may follow.

    Names are exchanged within a class (the name without its number) among the objects that the
    ground truth uses and those that the plan uses in the same place of the same action; others
    cannot make a plan more correct. Complete up to RENAMINGS renamings, those that
    change fewer names of a class first.

    Args:
        plan: the plan.
        truth: the ground truth; it is yielded first, without a test.
        valid: says whether a renamed one, in its given order, is a valid plan for the goal.
    """
    yield truth
    yield from filter(valid, _renamed(plan, truth))


def rename(truth: GroundTruth, names: Names) -> GroundTruth:
    """Return the ground truth with other objects; names that are not mapped stay."""
    blocks = tuple(
        tuple(GroundAction(a.name, tuple(names.get(n, n) for n in a.args)) for a in block)
        for block in truth.blocks
    )
    return truth.replace(blocks=blocks)


def _renamed(plan: Steps, truth: GroundTruth) -> Iterator[GroundTruth]:
    """Yield all renamings but the one that changes nothing."""
    choices = [ways for _, ways in _choices(plan, truth)]
    for chosen in islice(product(*choices), 1, RENAMINGS):
        yield rename(truth, {a: b for names in chosen for a, b in names.items()})


def _choices(plan: Steps, truth: GroundTruth) -> list[tuple[str, Sequence[Names]]]:
    """Return each class of the ground truth, in order of its first use, with its renamings."""
    used = _roles(truth.steps)
    offered = _roles(plan)
    by_class: dict[str, list[str]] = {}
    for name in used:
        by_class.setdefault(_class(name), []).append(name)
    choices = []
    for kind, names in by_class.items():
        wanted = set().union(*(used[n] for n in names))
        others = [n for n, r in offered.items() if _class(n) == kind and r & wanted]
        choices.append((kind, _injections(sorted(names), sorted({*names, *others}))))
    return choices


def _abstract_plan(plan: Steps, kinds: Container[str]) -> Steps:
    """Return the plan with all objects of each of some classes taken as one."""
    return [
        GroundAction(a.name, tuple(_class(n) if _class(n) in kinds else n for n in a.args))
        for a in plan
    ]


def _abstract_truth(truth: GroundTruth, names: Names, kinds: Container[str]) -> GroundTruth:
    """Return the ground truth, renamed, with the objects of the other classes taken as one."""
    objects = {n for a in truth.steps for n in a.args}
    return rename(truth, {**{n: _class(n) for n in objects if _class(n) in kinds}, **names})


def _injections(names: Sequence[str], pool: Sequence[str]) -> Sequence[Names]:
    """Return all ways to give each name another of the pool, the one that changes nothing first."""
    # Sorting needs all of them; a class with this many objects in one plan has not been seen.
    ways = islice(permutations(pool, len(names)), RENAMINGS * 10)
    injections = [dict(zip(names, way, strict=True)) for way in ways]
    same = dict(zip(names, names, strict=True))
    injections = [same, *(way for way in injections if way != same)]
    return sorted(injections, key=lambda way: sum(a != b for a, b in way.items()))[:RENAMINGS]


def _roles(steps: Iterable[GroundAction]) -> dict[str, set[tuple[str, int]]]:
    """Return for each object the actions and argument places that it is used in."""
    roles: dict[str, set[tuple[str, int]]] = {}
    for action in steps:
        for place, name in enumerate(action.args):
            roles.setdefault(name, set()).add((action.name, place))
    return roles


def _class(name: str) -> str:
    stem, dash, number = name.rpartition("-")
    return stem if dash and number.isdigit() else name


def _places(plan: Steps) -> dict[tuple[str, tuple[str, ...]], list[int]]:
    places: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for position, action in enumerate(plan):
        places.setdefault((action.name, action.args), []).append(position)
    return places


def _match(
    block: Steps, places: Mapping[tuple[str, tuple[str, ...]], list[int]], position: int
) -> tuple[int, int]:
    """Return how many steps of a block follow from a position on, and the position after them."""
    for matched, action in enumerate(block):
        positions = places.get((action.name, action.args), ())
        index = bisect_left(positions, position)
        if index == len(positions):
            return matched, position
        position = positions[index] + 1
    return len(block), position
