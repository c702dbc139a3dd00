"""Repair of a plan with the fewest insertions, with lower bounds from landmark cuts."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from hvr.errors import UndefinedValueError
from hvr.judging.evidence import TraceState, execute, holds
from hvr.pddl import State, Task
from hvr.pddl.state import Conjunction, NumericTest, Operator, evaluate, set_bits
from hvr.validation.minimise import reads_of
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import read_functions

# Lower bounds -------------------------------------------------------------------------------------
# A lower bound on the number of missing steps, from landmark cuts over the places of a plan.
#
# In this relaxation the remaining steps are free, each at its own place; any other action costs
# one, wherever it is inserted; and a true literal stays true. As long as the free actions do not
# reach the goal, a landmark is cut: a set of insertions that every repair draws from (Helmert and
# Domshlak 2009, "Landmarks, Critical Paths and Abstractions"). Its members become free, and the
# number of cuts is the bound. Conditional effects share the cost of their action, derivation rules
# are free, and a numeric comparison may become true once a number in it has changed.

DerivationRule: TypeAlias = tuple[Conjunction, int]
"""Body of a ground rule, and the bit that it derives."""

_MOST_FREE = 1000
"""Maximum number of free units to examine. Beyond it, a further cut costs more than it gains."""

Cut: TypeAlias = Mapping[int, int]
"""Numbers of operators, each with the last place at which it may be inserted."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """An effect with its condition; `owner` is the number of the inserted operator, -1 if none."""

    owner: int
    need: int
    clauses: tuple[tuple[int, tuple[int, ...]], ...]
    gives: int

    def possible(self, reached: int) -> bool:
        if self.need & ~reached:
            return False
        return all(
            any_of & reached or any(not part & ~reached for part in parts)
            for any_of, parts in self.clauses
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A lower bound on the number of insertions.

    Args:
        least: Minimum number of insertions in every repair.
        helpful: Numbers of the operators in the landmarks; inserting any other operator first
            leaves the bound unchanged.
    """

    least: int
    helpful: frozenset[int]


class Bound:
    """Lower bounds on the insertions that a plan needs; `work` counts the conditions tested."""

    def __init__(
        self,
        task: Task,
        plan: Sequence[Operator],
        operators: Sequence[Operator],
        rules: Sequence[DerivationRule],
        start: TraceState,
    ) -> None:
        self.work = 0
        self.task = task
        self._count = len(plan)
        everything = [*plan, *operators]
        conditions = [task.goal, *[body for body, _ in rules]]
        conditions += [c for operator in everything for c in _conditions(operator)]
        # The width covers all bits that can occur; bits of negative literals follow them.
        mask = start[0] | task.derived_bits
        for operator in everything:
            mask |= operator.add | operator.delete
            for _, add, delete in operator.conditional:
                mask |= add | delete
        for condition in conditions:
            mask |= condition.mentioned()
        self._width = mask.bit_length()
        self._all = (1 << self._width) - 1
        self._tests = {
            test: 1 << 2 * self._width + number
            for number, test in enumerate(
                dict.fromkeys(t for c in conditions for p in c.parts() for t in p.tests)
            )
        }
        changed = {index for o in everything for _, (_, index, _) in o.numeric}
        self._readers: dict[int, int] = {}
        for test, bit in self._tests.items():
            read = _read_by(test)
            for index in changed if read is None else changed & read:
                self._readers[index] = self._readers.get(index, 0) | bit
        self._goal = self._unit(-1, (task.goal,), 0, 0)
        self._rules = [self._unit(-1, (body,), bit, 0) for body, bit in rules]
        self._steps = [self._units(-1, operator) for operator in plan]
        self._inserts = [self._units(n, operator) for n, operator in enumerate(operators)]
        self._givers: dict[int, list[_Unit]] = {}
        for unit in [unit for units in self._inserts for unit in units]:
            for literal in set_bits(unit.gives):
                self._givers.setdefault(literal, []).append(unit)
        self._layers = self._layered(self._literals(start))

    def estimate(self, place: int, mark: TraceState) -> Estimate | None:
        """Return the lower bound from a state before a step; None if the goal is unreachable."""
        start = self._literals(mark)
        free: dict[int, int] = {}
        cuts = 0
        while True:
            reached = self._reached(place, start, free)
            if self._goal.possible(reached[-1]):
                return Estimate(cuts, frozenset(free))
            cut = self._cut(place, reached, free)
            if not cut:
                return None
            for number, last in cut.items():
                # The operator is free up to the last place at which a landmark has it.
                free[number] = max(last, free.get(number, last))
            cuts += 1
            if sum(len(self._inserts[number]) for number in free) > _MOST_FREE:
                return Estimate(cuts, frozenset(free))

    # Free reachability --------------------------------------------------------------------------

    def _reached(self, place: int, start: int, free: Cut) -> list[int]:
        waiting = [(self._count, rule) for rule in self._rules]
        waiting += [(last, unit) for number, last in free.items() for unit in self._inserts[number]]
        now, trace = start, []
        grown = True
        for here in range(place, self._count + 1):
            while grown:
                grown, rest = False, []
                self.work += len(waiting)
                for item in waiting:
                    last, unit = item
                    if last < here or not unit.gives & ~now:
                        continue
                    if unit.possible(now):
                        now |= unit.gives
                        grown = True
                    else:
                        rest.append(item)
                waiting = rest
            trace.append(now)
            if here < self._count:
                # All effects of a plan step read the state before it.
                after = now
                self.work += len(self._steps[here])
                for unit in self._steps[here]:
                    if unit.gives & ~now and unit.possible(now):
                        after |= unit.gives
                grown = after != now
                now = after
        return trace

    def _layered(self, start: int) -> list[int]:
        """Return the literals reached in each layer if any action is available at any position."""
        waiting = [*self._rules, *[u for units in (*self._inserts, *self._steps) for u in units]]
        layers = [start]
        while True:
            now, rest, after = layers[-1], [], layers[-1]
            self.work += len(waiting)
            for unit in waiting:
                if unit.possible(now):
                    after |= unit.gives
                else:
                    rest.append(unit)
            if after == now:
                return layers
            waiting = rest
            layers.append(after)

    # Landmark cuts ------------------------------------------------------------------------------

    def _cut(self, place: int, reached: Sequence[int], free: Cut) -> dict[int, int]:
        """Return a landmark: insertions such that every repair contains at least one of them."""
        # Going backwards, `zone` collects unreached literals. At least one of them must become true
        # at or before the current place, and every free unit that could add one needs another
        # literal of it.
        zone = self._precondition_zone(self._goal, reached[-1])
        open_ = [(self._count, rule) for rule in self._rules]
        open_ += [(last, unit) for number, last in free.items() for unit in self._inserts[number]]
        cut: dict[int, int] = {}
        seen = 0
        for here in range(self._count, place - 1, -1):
            now = reached[here - place]
            grown = True
            while grown:
                grown, rest = False, []
                self.work += len(open_)
                for item in open_:
                    last, unit = item
                    if last >= here and unit.gives & zone:
                        zone |= self._precondition_zone(unit, now)
                        grown = True
                    else:
                        rest.append(item)
                open_ = rest
            for literal in set_bits(zone & ~seen):
                for unit in self._givers.get(literal, ()):
                    self.work += 1
                    # A unit that needs a literal of the zone cannot be the first to add one.
                    if not unit.need & zone and free.get(unit.owner, -1) < here:
                        cut.setdefault(unit.owner, here)
            seen = zone
            # Cross a plan step: an effect of it that adds a zone literal needs its own conditions.
            if here > place:
                before, after = reached[here - 1 - place], zone
                for unit in self._steps[here - 1]:
                    if unit.gives & after:
                        zone |= self._precondition_zone(unit, before)
        return cut

    def _precondition_zone(self, unit: _Unit, reached: int) -> int:
        """Return the unreached literals that block a unit, which needs at least one of them."""
        missing = unit.need & ~reached
        if missing:
            # Choose a literal first reached in a late layer: few actions add it, so the cut is
            # small.
            for layer in reversed(self._layers):
                if missing & ~layer:
                    missing &= ~layer
                    break
            return missing & -missing
        for any_of, parts in unit.clauses:
            if not any_of & reached and all(part & ~reached for part in parts):
                wanted = any_of
                for part in parts:
                    missing = part & ~reached
                    wanted |= missing & -missing
                return wanted
        raise AssertionError("a unit was left out although its conditions hold")

    # Literals -----------------------------------------------------------------------------------

    def _literals(self, mark: TraceState) -> int:
        bits = mark[0] & self._all
        # The relaxation cannot derive that a derived atom is false.
        literals = bits | (~bits & self._all | self.task.derived_bits) << self._width
        for test, bit in self._tests.items():
            if test.holds(mark[1]):
                literals |= bit
        return literals

    def _needs(self, condition: Conjunction) -> int:
        needs = condition.positive | condition.negative << self._width
        for test in condition.tests:
            needs |= self._tests[test]
        return needs

    def _unit(
        self, owner: int, conditions: Iterable[Conjunction], gives: int, spoils: int
    ) -> _Unit:
        need = 0
        clauses: list[tuple[int, tuple[int, ...]]] = []
        for condition in conditions:
            need |= self._needs(condition)
            for clause in condition.clauses:
                any_of = clause.positive | clause.negative << self._width
                clauses.append((any_of, tuple([self._needs(part) for part in clause.parts])))
        return _Unit(owner, need, tuple(clauses), gives | spoils << self._width)

    def _units(self, owner: int, operator: Operator) -> list[_Unit]:
        before = operator.precondition
        units = [self._unit(owner, (before,), operator.add, operator.delete & ~operator.add)]
        for condition, add, delete in operator.conditional:
            units.append(self._unit(owner, (before, condition), add, delete))
        for condition, (_, index, _) in operator.numeric:
            if index in self._readers:
                # Comparisons are numbered after the literals.
                units.append(self._unit(owner, (before, condition), self._readers[index], 0))
        return units


def _conditions(operator: Operator) -> Iterator[Conjunction]:
    yield operator.precondition
    for condition, _, _ in operator.conditional:
        yield condition
    for condition, _ in operator.numeric:
        yield condition


class _Recorder(tuple[int, ...]):
    """A tuple of values that are all 1, which records the indexes that are read."""

    def __init__(self) -> None:
        self.read: set[int] = set()

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, index: object) -> int:  # type: ignore[override]
        assert isinstance(index, int)
        self.read.add(index)
        return 1


def _read_by(test: NumericTest) -> set[int] | None:
    recorder = _Recorder()
    for side in (test.left, test.right):
        try:
            evaluate(side, recorder)
        except UndefinedValueError:
            # A division by zero ended the evaluation before everything was read.
            return None
    return recorder.read


# Repair -------------------------------------------------------------------------------------------
# Repair with the fewest insertions, by search over places and states.
#
# A node is a state before a step of the plan. The step is kept or left out, or another action is
# inserted before it. Repairs are compared by their insertions first and by their length second.
# Deletions are free; a move or a replacement is a deletion and an insertion. Restarting weighted A*
# finds repairs. The bound is admissible, so the last round, with weight 1, proves its result. A
# repair without a proof is improved: some insertions are removed, and the rest is repaired with
# fewer.

MAX_CONDITION_TESTS = 40_000_000
"""Maximum number of condition tests per plan, which take about twenty seconds of CPU time."""

_WEIGHTS = (5, 2, 1)
"""Weights of the bound: the first rounds find any repair, the last one the best."""
_SHARE = 4
"""An early round or an improvement uses at most this fraction (1/N) of the remaining work."""

PlacedStep: TypeAlias = tuple[int | None, Operator]
"""A step with its index in the plan, or None for an insertion."""

_Key: TypeAlias = tuple[int, int, tuple[object, ...]]
_Cost: TypeAlias = tuple[int, int]
"""Number of insertions, and number of steps."""
_Path: TypeAlias = "tuple[_Path, int | None, Operator] | None"
"""The steps so far as a linked list, last step first."""


@dataclass(frozen=True)
class PlanRepair:
    """The result of searching for a repair.

    Args:
        steps: Steps of the repaired plan; None if no repair was found.
        least: Proven lower bound on the number of insertions in any repair.
        smallest: Whether the repair is proven minimal: no other repair has fewer insertions, or
            equally many insertions and fewer steps.
        hopeless: Whether it is proven that there is no repair.
    """

    steps: tuple[PlacedStep, ...] | None
    least: int
    smallest: bool = False
    hopeless: bool = False


def repair(
    start: State, plan: Sequence[Operator | None], work: int = MAX_CONDITION_TESTS
) -> PlanRepair:
    """Find a repair of a plan with as few insertions as possible.

    Args:
        plan: Operators of the steps; None for a step that is not an action of the task.
        work: Maximum number of conditions to test.
    """
    return _Repairs(start, [(i, o) for i, o in enumerate(plan) if o is not None], work).run()


class _Repairs:
    def __init__(self, start: State, steps: list[PlacedStep], work: int) -> None:
        self.start = start
        self.task = start.task
        self.steps = steps
        self.left = work
        numeric = read_functions(self.task)
        # Grounding is limited by the number of actions instead of time.
        relaxation = Relaxation(start, self.task.goal, numeric, Deadline(math.inf), beyond=None)
        self.complete = relaxation.complete
        self.operators = relaxation.operators
        self.rules = relaxation.rules

    def run(self) -> PlanRepair:
        search = self._search(self.steps)
        first = search.estimate(0, search.begin)
        if first is None:
            return PlanRepair(None, 0, hopeless=self.complete)
        # The bound proves nothing if grounding was incomplete.
        least = first.least if self.complete else 0
        best: tuple[PlacedStep, ...] | None = None
        exhausted = False
        for weight in _WEIGHTS:
            most = self.left if weight == 1 else self.left // _SHARE
            found, ended = self._run(search, weight, _inserted(best), most)
            best = best if found is None else found
            exhausted = ended and (weight == 1 or found is None)
            if best is not None and _inserted(best) == least:
                break
        if best is None:
            return PlanRepair(None, max(least, search.least), hopeless=exhausted and self.complete)
        if self.complete:
            least = _inserted(best) if exhausted else max(least, search.least)
        if _inserted(best) > least:
            return PlanRepair(self._improved(best), least)
        # The number of insertions is proven: now minimise the length (weight 0).
        shorter, exhausted = self._run(search, 0, _inserted(best), self.left, len(best))
        return PlanRepair(best if shorter is None else shorter, least, exhausted and self.complete)

    def _search(self, steps: Sequence[PlacedStep]) -> _Search:
        return _Search(self.start, steps, self.operators, self.rules)

    def _run(
        self, search: _Search, weight: int, bound: int, most: int, length: int = sys.maxsize
    ) -> tuple[tuple[PlacedStep, ...] | None, bool]:
        before = search.work
        found = search.run(weight, (bound, length), before + most)
        self.left -= search.work - before
        return found

    def _improved(self, best: tuple[PlacedStep, ...]) -> tuple[PlacedStep, ...]:
        """Replace runs of adjacent insertions by fewer insertions, until none can be improved."""
        for size in range(2, _inserted(best)):
            places = [place for place, (index, _) in enumerate(best) if index is None]
            for begin in range(len(places) - size + 1):
                gone = places[begin : begin + size]
                rest = [step for place, step in enumerate(best) if place not in gone]
                search = self._search(rest)
                found, _ = self._run(search, 1, size, self.left // _SHARE)
                if found is not None:
                    return self._improved(found)
        return best


def _inserted(steps: Sequence[PlacedStep] | None) -> int:
    return sys.maxsize if steps is None else sum(index is None for index, _ in steps)


class _Search:
    def __init__(
        self,
        start: State,
        steps: Sequence[PlacedStep],
        operators: Sequence[Operator],
        rules: Sequence[DerivationRule],
    ) -> None:
        self.task: Task = start.task
        self.steps = steps
        self.operators = operators
        self.begin: TraceState = (start.bits, start.values)
        plan = [operator for _, operator in steps]
        self.bound = Bound(self.task, plan, operators, rules, self.begin)
        self.least = 0
        self.work = 0
        read = self.task.goal.mentioned()
        for operator in (*plan, *operators):
            read |= reads_of(operator)
        # The bodies of rules are not analysed, so any bit may matter.
        derived = self.task.derived_bits
        self._read = (-1 if read & derived else read) & ~derived
        functions = read_functions(self.task)
        changed = {i for o in (*plan, *operators) for _, (_, i, _) in o.numeric}
        self._numbers = sorted(i for i in changed if self.task.term(i).function in functions)
        self._known: dict[_Key, Estimate | None] = {}

    def estimate(self, place: int, mark: TraceState) -> Estimate | None:
        key = self._key(place, mark)
        if key not in self._known:
            before = self.bound.work
            self._known[key] = self.bound.estimate(place, mark)
            self.work += self.bound.work - before
        return self._known[key]

    def run(
        self, weight: int, most: _Cost, work: int
    ) -> tuple[tuple[PlacedStep, ...] | None, bool]:
        """Return a repair cheaper than `most`, if any, and whether the search was complete.

        `weight` is the weight of the lower bound in the priority; 0 minimises the plan's length.
        """
        order = count()
        queue: list[tuple[tuple[int, ...], int, bool, _Cost, int, TraceState, _Path]] = []
        best: dict[_Key, _Cost] = {}

        def useless(cost: _Cost, ahead: int) -> bool:
            if weight:
                return cost[0] + ahead >= most[0]
            return cost[0] + ahead > most[0] or cost[1] >= most[1]

        def push(
            cost: _Cost, ahead: int, place: int, mark: TraceState, path: _Path, rest: bool
        ) -> None:
            key = self._key(place, mark)
            if not rest and best.get(key, (sys.maxsize, 0)) <= cost:
                return
            if useless(cost, ahead + rest):
                return
            if not rest:
                best[key] = cost
            priority = _priority(weight, cost, ahead + rest, place)
            heappush(queue, (priority, next(order), rest, cost, place, mark, path))

        push((0, 0), 0, 0, self.begin, None, False)
        while queue:
            if self.work > work:
                return None, False
            priority, _, rest, cost, place, mark, path = heappop(queue)
            self.work += 1
            if best[self._key(place, mark)] < cost:
                continue
            estimate = self.estimate(place, mark)
            if estimate is None or useless(cost, estimate.least + rest):
                continue
            exact = _priority(weight, cost, estimate.least + rest, place)
            if exact > priority:
                # The priority came from the parent's lower bound: requeue with the exact one.
                heappush(queue, (exact, next(order), rest, cost, place, mark, path))
                continue
            if weight == 1:
                self.least = max(self.least, cost[0] + estimate.least + rest)
            if not rest and place == len(self.steps) and holds(self.task.goal, mark):
                return _unrolled(path), True
            for more, ahead, at, after, way in self._successors(estimate, rest, place, mark, path):
                push((cost[0] + more[0], cost[1] + more[1]), ahead, at, after, way, False)
            # Unhelpful insertions leave the bound unchanged: expand them separately, one higher.
            if not rest:
                push(cost, estimate.least, place, mark, path, True)
        return None, True

    def _successors(
        self, estimate: Estimate, rest: bool, place: int, mark: TraceState, path: _Path
    ) -> Iterator[tuple[_Cost, int, int, TraceState, _Path]]:
        least = estimate.least
        if not rest and place < len(self.steps):
            index, operator = self.steps[place]
            after = execute(self.task, operator, mark)
            if after is not None:
                yield (0, 1), least, place + 1, after, (path, index, operator)
            yield (0, 0), least, place + 1, mark, path
        numbers = estimate.helpful
        if rest:
            numbers = frozenset(range(len(self.operators))) - numbers
            self.work += len(numbers)
        for number in sorted(numbers):
            operator = self.operators[number]
            after = execute(self.task, operator, mark)
            if after is not None and after != mark:
                ahead = least if rest else max(0, least - 1)
                yield (1, 1), ahead, place, after, (path, None, operator)

    def _key(self, place: int, mark: TraceState) -> _Key:
        bits, values = mark
        known = len(values)
        numbers = tuple([values[i] if i < known else None for i in self._numbers])
        return place, bits & self._read, numbers


def _priority(weight: int, cost: _Cost, ahead: int, place: int) -> tuple[int, ...]:
    if not weight:
        return (cost[1], cost[0], -place)
    left_out = place - (cost[1] - cost[0])
    return (cost[0] + weight * ahead, ahead, left_out, -place)


def _unrolled(path: _Path) -> tuple[PlacedStep, ...]:
    steps: list[PlacedStep] = []
    while path is not None:
        path, index, operator = path
        steps.append((index, operator))
    return tuple(reversed(steps))
