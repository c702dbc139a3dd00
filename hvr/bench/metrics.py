"""The paper's metrics (section 4.1), as shares: 1.0 is 100 %."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice, permutations

from hvr.pddl import And, Atom, Equal, Exists, Expression, GroundAction, Not, State
from hvr.pddl.formulas import TypedName, parts_of, substitute
from hvr.policies.llm.record import BlockRecord, MacroCheck
from hvr.runs.tasks import GroundTruth

# Conditions ---------------------------------------------------------------------------------------

_IMPOSSIBLE = -1


@dataclass(frozen=True)
class _Part:
    formula: Expression
    variables: frozenset[str]
    counts: bool


def goal_condition_success(state: State, goal: Expression) -> float:
    """Return the share of a goal's conditions that hold, under the best binding of its variables.

    For `(exists (variables) (and conditions))`, this is the maximum number of conditions that hold
    under one binding of the variables, divided by the number of conditions. Equalities only
    restrict the bindings: `(not (= ?a ?b))` requires two objects and is not counted. A condition
    that is not a literal (a disjunction or an inner quantifier) counts as one. The measure is
    ALFRED's goal-condition success (Shridhar et al., CVPR 2020, section 5).

    The result is exact. Variables are bound one by one, starting with the variable that occurs in
    the largest number of conditions. Conditions that share no unbound variable are then maximised
    separately.

    Returns:
        A share from 0 to 1; 1 for a goal without conditions; 0 if a variable has no object, or if
        no binding satisfies the equalities.
    """
    variables: dict[str, TypedName] = {}
    parts = list(_conjuncts(goal, variables))
    total = sum(part.counts for part in parts)
    domains = {name: tuple(state.task.members(v.types)) for name, v in variables.items()}
    if not all(domains.values()):
        return 0.0
    best = _Search(state, domains).best(parts, {})
    if total == 0:
        return 0.0 if best == _IMPOSSIBLE else 1.0
    return max(best, 0) / total


def _conjuncts(goal: Expression, variables: dict[str, TypedName]) -> Iterator[_Part]:
    """Yield the conditions of a goal; add the variables of its outer `exists` to `variables`."""
    match goal:
        case Exists(bound, body) if not any(v.name in variables for v in bound):
            variables.update((v.name, v) for v in bound)
            yield from _conjuncts(body, variables)
        case And(operands):
            for operand in operands:
                yield from _conjuncts(operand, variables)
        case _:
            counts = not isinstance(goal, Equal) and not (
                isinstance(goal, Not) and isinstance(goal.operand, Equal)
            )
            yield _Part(goal, frozenset(_free(goal)) & variables.keys(), counts)


def _free(formula: Expression) -> Iterator[str]:
    match formula:
        case Atom():
            yield from (a for a in formula.args if a.startswith("?"))
        case Equal(left, right):
            yield from (a for a in (left, right) if a.startswith("?"))
        case _:
            inner = {v.name for v in getattr(formula, "variables", ())}
            for part in parts_of(formula):
                yield from (name for name in _free(part) if name not in inner)


class _Search:
    def __init__(self, state: State, domains: Mapping[str, Sequence[str]]) -> None:
        self.state = state
        self.domains = domains
        self.atoms = state.atoms(static=True)

    def best(self, parts: Sequence[_Part], binding: Mapping[str, str]) -> int:
        """Return how many conditions can hold at once, or _IMPOSSIBLE if an equality fails."""
        score = 0
        for group in _groups(parts, binding):
            holding = self._group(group, binding)
            if holding == _IMPOSSIBLE:
                return _IMPOSSIBLE
            score += holding
        return score

    def _group(self, parts: Sequence[_Part], binding: Mapping[str, str]) -> int:
        unbound = [v for part in parts for v in part.variables if v not in binding]
        if not unbound:
            return self._value(parts[0], binding)
        # Bind the variable in most conditions first, since this separates the others soonest.
        chosen = max(sorted(set(unbound)), key=unbound.count)
        most = sum(part.counts for part in parts)
        best = _IMPOSSIBLE
        for name in self.domains[chosen]:
            best = max(best, self.best(parts, {**binding, chosen: name}))
            # no other binding can be better
            if best == most:
                break
        return best

    def _value(self, part: _Part, binding: Mapping[str, str]) -> int:
        formula = substitute(part.formula, binding)
        if isinstance(formula, Atom):
            return int(formula in self.atoms)
        holds = self.state.holds(formula)
        if part.counts:
            return int(holds)
        return 0 if holds else _IMPOSSIBLE


def _groups(parts: Sequence[_Part], binding: Mapping[str, str]) -> list[list[_Part]]:
    groups: list[tuple[set[str], list[_Part]]] = []
    for part in parts:
        names = set(part.variables - binding.keys())
        joined, apart = [part], []
        # Merge all groups that share a variable with this part.
        for known, members in groups:
            if known & names:
                names |= known
                joined = members + joined
            else:
                apart.append((known, members))
        groups = [*apart, (names, joined)]
    return [members for _, members in groups]


# Correctness --------------------------------------------------------------------------------------

RENAMINGS = 5_000
"""Maximum number of renamings of a ground truth to try for a plan."""

Steps = Sequence[GroundAction]
Names = Mapping[str, str]


def plan_correctness(plan: Steps, truth: GroundTruth) -> float:
    """Return PC: the share of the ground truth that a plan completes in order (paper, section 4.1).

    The steps of the ground truth are matched as a subsequence, so redundant steps of the plan do
    not count against it. PC is the index of the furthest matched step divided by the number of
    steps. If the ground truth is partially ordered, the best linearisation counts (paper, B.3):
    blocks may swap where `truth.order` permits, but their steps are not interleaved.

    The result is exact: for every set of blocks that can be completed first, only the earliest plan
    position by which it can be complete matters. The work grows with the number of these sets (at
    most 2 to the number of blocks), not with the number of linearisations.

    Returns:
        A share from 0 to 1; 0 for an empty plan, 1 for an empty ground truth.
    """
    total = len(truth.steps)
    if total == 0:
        return 1.0
    places = _places(plan)
    before = [0] * len(truth.blocks)
    for first, second in truth.order:
        before[second - 1] |= 1 << (first - 1)
    # Finished blocks as bits, with their earliest end and their number of steps.
    reached: dict[int, tuple[int, int]] = {0: (0, 0)}
    best = 0
    while reached:
        further: dict[int, tuple[int, int]] = {}
        for done, (position, steps) in reached.items():
            best = max(best, steps)
            for number, block in enumerate(truth.blocks):
                # The block is finished, or a block that must precede it is not.
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
    """Return PC against the best renaming of the ground truth within object classes.

    A plan that makes coffee in `mug-2` is as correct as one that uses `mug-1` if the ground truth
    also works with `mug-2`.

    The search is best-first, one object class at a time. The bound of a partial renaming is the PC
    if the objects of each class not yet renamed are treated as one object. If RENAMINGS expansions
    find no better variant, the ground truth itself is returned.

    Args:
        truth: Ground truth, which must be valid.
        valid: Function that tests whether a renamed ground truth is a valid plan for the goal in
            the scene.

    Returns:
        The best PC, and the ground truth or the valid variant that attains it.
    """
    own = plan_correctness(plan, truth)
    choices = _choices(plan, truth)
    # Among equal bounds, prefer the most complete renaming, then the one that changes least.
    queue: list[tuple[float, int, int, Names]] = [(-1.0, 0, 0, {})]
    numbers = count(1)
    for _ in range(RENAMINGS):
        if not queue:
            break
        bound, further, _, names = heappop(queue)
        if -bound <= own:
            break
        if -further == len(choices):
            variant = rename_objects(truth, names)
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


def rename_objects(truth: GroundTruth, names: Names) -> GroundTruth:
    """Return the ground truth with its objects renamed; names without a mapping are kept."""
    blocks = tuple(
        tuple(GroundAction(a.name, tuple(names.get(n, n) for n in a.args)) for a in block)
        for block in truth.blocks
    )
    return truth.replace(blocks=blocks)


def _choices(plan: Steps, truth: GroundTruth) -> list[tuple[str, Sequence[Names]]]:
    """Return the object classes of the ground truth in order of first use, with their renamings."""
    used = _roles(truth.steps)
    offered = _roles(plan)
    by_class: dict[str, list[str]] = {}
    for name in used:
        by_class.setdefault(_class(name), []).append(name)
    choices = []
    for kind, names in by_class.items():
        places = set().union(*(used[n] for n in names))
        others = [n for n, r in offered.items() if _class(n) == kind and r & places]
        choices.append((kind, _injections(sorted(names), sorted({*names, *others}))))
    return choices


def _abstract_plan(plan: Steps, kinds: Container[str]) -> Steps:
    return [
        GroundAction(a.name, tuple(_class(n) if _class(n) in kinds else n for n in a.args))
        for a in plan
    ]


def _abstract_truth(truth: GroundTruth, names: Names, kinds: Container[str]) -> GroundTruth:
    objects = {n for a in truth.steps for n in a.args}
    return rename_objects(truth, {**{n: _class(n) for n in objects if _class(n) in kinds}, **names})


def _injections(names: Sequence[str], pool: Sequence[str]) -> Sequence[Names]:
    """Return at most RENAMINGS injective mappings into the pool, fewest changed names first."""
    # Sorting needs all of them; plans with many objects of one class are not expected.
    ways = islice(permutations(pool, len(names)), RENAMINGS * 10)
    injections = [dict(zip(names, way, strict=True)) for way in ways]
    same = dict(zip(names, names, strict=True))
    injections = [same, *(way for way in injections if way != same)]
    return sorted(injections, key=lambda way: sum(a != b for a, b in way.items()))[:RENAMINGS]


def _roles(steps: Iterable[GroundAction]) -> dict[str, set[tuple[str, int]]]:
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
    """Return how many steps of a block match the plan from a position, and where the match ends."""
    for matched, action in enumerate(block):
        positions = places.get((action.name, action.args), ())
        index = bisect_left(positions, position)
        if index == len(positions):
            return matched, position
        position = positions[index] + 1
    return len(block), position


# Metrics ------------------------------------------------------------------------------------------


def execution_success(correctness: float, executed: int, truth_length: int) -> float | None:
    """Return ES: the share of a correct plan that can be executed (paper, section 4.1).

    ES is the number of steps executed before the first failure, divided by the number of steps of
    the ground truth, which must be positive. A plan may be longer than the ground truth, so the
    ratio is capped at 1. A longer plan that fails late can therefore have an ES of 1.

    Returns:
        A share from 0 to 1; None if the plan is not correct.
    """
    return None if correctness < 1 else min(1.0, executed / truth_length)


def length_discrepancy(plan_length: int, truth_length: int) -> float:
    """Return LD: the relative difference in length from the ground truth (paper, 4.1 and table 7).

    1.0 means that the plan is twice as long; a negative value, that it is shorter. The LD of an
    empty plan is -1.
    """
    return (plan_length - truth_length) / truth_length


def expanded_plan_verification(verified: int, total: int) -> float:
    """Return EPV: the share of steps before the first inapplicable one (paper, section 4.1).

    Args:
        verified: Number of applicable steps at the start of the plan, after all corrections.
        total: Number of steps. If 0, EPV is 0, because an empty plan is not a success.
    """
    return verified / total if total else 0.0


def macro_plan_verification(check: MacroCheck | None) -> float | None:
    """Return MPV: the share of macro actions before the first inapplicable one (paper, 4.1).

    MPV is 0 for an empty macro plan, and None if there is no macro plan (settings without H).
    """
    if check is None:
        return None
    return check.verified / check.total if check.total else 0.0


@dataclass(frozen=True)
class BlockVerification:
    """AABV before and after correction.

    Args:
        before: Share of blocks that were verified as first written.
        after: Share of blocks verified in the final plan; None if the setting does not verify.
    """

    before: float
    after: float | None


def block_verification(blocks: Sequence[BlockRecord], macro_actions: int) -> BlockVerification:
    """Return AABV: the share of macro actions whose block is verified (paper, section 4.1).

    A block is verified if its actions are applicable in sequence. A macro action that never got a
    block counts as unverified. If there are no macro actions, AABV is 0.
    """
    total = max(macro_actions, len(blocks))
    if total == 0:
        return BlockVerification(0.0, None)
    before = sum(block.verified_before for block in blocks) / total
    checked = [block.verified_after for block in blocks if block.verified_after is not None]
    return BlockVerification(before, sum(checked) / total if checked else None)
