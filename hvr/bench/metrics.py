"""The paper's metrics as functions (section 4.1). All ratios are shares: 1.0 is 100 %."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice, permutations, product
from statistics import fmean

from hvr.pddl import And, Atom, Equal, Exists, Expression, GroundAction, Not, State
from hvr.pddl.model import TypedName, parts_of, substitute
from hvr.policies.llm.record import BlockRecord, MacroCheck
from hvr.runs.tasks import GroundTruth

# Conditions ---------------------------------------------------------------------------------------
# Goal-condition success: the share of a goal's conditions that hold.

_IMPOSSIBLE = -1


@dataclass(frozen=True)
class _Part:
    """A conjunct.

    Args:
        formula: the condition.
        variables: those to bind that it mentions.
        counts: it is a condition to bring about, not a restriction of the bindings.
    """

    formula: Expression
    variables: frozenset[str]
    counts: bool


def goal_condition_success(state: State, goal: Expression) -> float:
    """Return the share of the conditions of a goal that hold, with the best choice of objects.

    Of `(exists (variables) (and conditions))`, the greatest number of conditions that hold
    under one binding of the variables, divided by the number of conditions. Equalities only
    restrict the bindings: `(not (= ?a ?b))` asks for two things and is no condition to bring
    about. A condition that is no literal (a disjunction, an inner quantifier) counts as one.
    The measure is ALFRED's goal-condition success (Shridhar et al., CVPR 2020, section 5).

    Exact: variables are bound one after the other, those in most conditions first; conditions
    that share no unbound variable are then maximised apart, and a part is left as soon as all
    its conditions hold.

    Returns:
        0 to 1; 1 for a goal without conditions. 0 if a variable has no object or no binding
        respects the equalities.
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
    """Yield the conditions of a goal; add variables bound by an outer `exists` to `variables`."""
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
        """Return how many counting parts can hold together; _IMPOSSIBLE if an equality cannot."""
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
        # The variable in most conditions first: binding it separates the others soonest.
        chosen = max(sorted(set(unbound)), key=unbound.count)
        most = sum(part.counts for part in parts)
        best = _IMPOSSIBLE
        for name in self.domains[chosen]:
            best = max(best, self.best(parts, {**binding, chosen: name}))
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
    """Return parts grouped so that those of different groups share no unbound variable."""
    groups: list[tuple[set[str], list[_Part]]] = []
    for part in parts:
        names = set(part.variables - binding.keys())
        joined, apart = [part], []
        for known, members in groups:
            if known & names:
                names |= known
                joined = members + joined
            else:
                apart.append((known, members))
        groups = [*apart, (names, joined)]
    return [members for _, members in groups]


# Correctness --------------------------------------------------------------------------------------
# Plan correctness: how far a plan follows the ground truth.

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


def rename_objects(truth: GroundTruth, names: Names) -> GroundTruth:
    """Return the ground truth with other objects; names that are not mapped stay."""
    blocks = tuple(
        tuple(GroundAction(a.name, tuple(names.get(n, n) for n in a.args)) for a in block)
        for block in truth.blocks
    )
    return truth.replace(blocks=blocks)


def _renamed(plan: Steps, truth: GroundTruth) -> Iterator[GroundTruth]:
    choices = [ways for _, ways in _choices(plan, truth)]
    for chosen in islice(product(*choices), 1, RENAMINGS):
        yield rename_objects(truth, {a: b for names in chosen for a, b in names.items()})


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
    return [
        GroundAction(a.name, tuple(_class(n) if _class(n) in kinds else n for n in a.args))
        for a in plan
    ]


def _abstract_truth(truth: GroundTruth, names: Names, kinds: Container[str]) -> GroundTruth:
    objects = {n for a in truth.steps for n in a.args}
    return rename_objects(truth, {**{n: _class(n) for n in objects if _class(n) in kinds}, **names})


def _injections(names: Sequence[str], pool: Sequence[str]) -> Sequence[Names]:
    """Return all ways to give each name another of the pool, the one that changes nothing first."""
    # Sorting needs all of them; a class with this many objects in one plan has not been seen.
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
    """Return how many steps of a block follow from a position on, and the position after them."""
    for matched, action in enumerate(block):
        positions = places.get((action.name, action.args), ())
        index = bisect_left(positions, position)
        if index == len(positions):
            return matched, position
        position = positions[index] + 1
    return len(block), position


# Metrics ------------------------------------------------------------------------------------------
# The paper's metrics as functions (section 4.1). All ratios are shares: 1.0 is 100 %.


def execution_success(correctness: float, executed: int, truth_length: int) -> float | None:
    """Return ES: how far a correct plan can be executed (paper, section 4.1).

    Steps executed before the first failure, divided by the steps of the ground truth. Plans
    may be longer than the ground truth, so the ratio is capped at 1; a longer plan that fails
    late can therefore have an ES of 1.

    Args:
        correctness: PC of the plan; ES is for correct plans only.
        executed: steps before the first failure.
        truth_length: steps of the ground truth; positive.

    Returns:
        0 to 1; None when the plan is not correct.
    """
    return None if correctness < 1 else min(1.0, executed / truth_length)


def length_discrepancy(plan_length: int, truth_length: int) -> float:
    """Return LD: how much longer a plan is than the ground truth (paper, section 4.1 and table 7).

    The difference in steps, divided by the steps of the ground truth: 1.0 is twice as long,
    negative is shorter, and an empty plan has -1.
    """
    return (plan_length - truth_length) / truth_length


@dataclass(frozen=True)
class LengthSummary:
    """Length discrepancies of several plans, as in tables 2, 7 and 13 of the paper.

    Args:
        minimum: the least.
        maximum: the greatest.
        mean: with signs; too long and too short cancel out.
        absolute: mean of the absolute values.
    """

    minimum: float
    maximum: float
    mean: float
    absolute: float


def length_summary(values: Sequence[float]) -> LengthSummary | None:
    """Summarise length discrepancies; None when there are none."""
    if not values:
        return None
    return LengthSummary(min(values), max(values), fmean(values), fmean(map(abs, values)))


def expanded_plan_verification(verified: int, total: int) -> float:
    """Return EPV: the share of a plan's steps that are verified (paper, section 4.1).

    Steps up to the first that is not applicable, divided by all steps of the plan, after all
    corrections.

    Args:
        verified: applicable steps from the first on.
        total: steps of the plan. An empty plan has an EPV of 0: no answer is no success.
    """
    return verified / total if total else 0.0


def macro_plan_verification(check: MacroCheck | None) -> float | None:
    """Return MPV: the share of the macro plan that is verified (paper, section 4.1).

    Macro actions from the first on whose preconditions hold, divided by all. Computed before
    and after correction.

    Returns:
        0 to 1; 0 for an empty macro plan, None when there is none (without H).
    """
    if check is None:
        return None
    return check.verified / check.total if check.total else 0.0


@dataclass(frozen=True)
class BlockVerification:
    """AABV before and after correction.

    Args:
        before: share of blocks verified as written.
        after: the same in the plan; None without verification.
    """

    before: float
    after: float | None


def block_verification(blocks: Sequence[BlockRecord], macro_actions: int) -> BlockVerification:
    """Return AABV: the share of macro actions whose block is verified (paper, section 4.1).

    A block is verified when each of its actions was applicable, one after the other. Macro
    actions that never got a block count as not verified.

    Args:
        blocks: how each block came about.
        macro_actions: macro actions of the plan; without any, AABV is 0.
    """
    total = max(macro_actions, len(blocks))
    if total == 0:
        return BlockVerification(0.0, None)
    before = sum(block.verified_before for block in blocks) / total
    checked = [block.verified_after for block in blocks if block.verified_after is not None]
    return BlockVerification(before, sum(checked) / total if checked else None)
