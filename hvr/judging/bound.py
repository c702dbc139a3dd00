"""A lower bound on the steps that a plan lacks: landmark cuts over the places of the plan.

From a state before a step, the rest of the plan is free, each step at its own place, and every
other action costs one wherever it is inserted. Nothing that was once true ceases to be. While the
goal is out of reach for free, a landmark is cut: a set of insertions that every repair draws
from (Helmert and Domshlak 2009, "Landmarks, Critical Paths and Abstractions"). Its members
become free, and the number of cuts is the bound. The conditional effects of an action share its
cost, rules are free, and a comparison of numbers may come true once a number in it is changed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.errors import UndefinedValueError
from hvr.judging.course import Mark
from hvr.pddl import Task
from hvr.pddl.conditions import Conjunction, Operator, set_bits
from hvr.pddl.numeric import NumericTest, evaluate

Rule: TypeAlias = tuple[Conjunction, int]
"""The body of a ground rule, and the bit that it derives."""

_MOST_FREE = 1000
"""How many free changes are looked at: with more, the next cut costs more than it tells."""

Cut: TypeAlias = Mapping[int, int]
"""Numbers of operators, each with the last place where inserting it counts."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A change of literals and what it needs; `owner` is the number of the inserted operator."""

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
    """A bound with its proof.

    Args:
        least: Number of steps that every repair inserts.
        helpful: Numbers of the operators in the landmarks. Inserting any other one first leaves
            the bound as it is.
    """

    least: int
    helpful: frozenset[int]


class Bound:
    """Bounds for the states before the steps of one plan.

    Args:
        task: Task with the goal.
        plan: Steps of the plan.
        operators: Actions that may be inserted; all that may help.
        rules: Ground rules of the derived predicates.
        start: State before the first step.

    Attributes:
        work: Number of conditions that were tested so far.
    """

    def __init__(
        self,
        task: Task,
        plan: Sequence[Operator],
        operators: Sequence[Operator],
        rules: Sequence[Rule],
        start: Mark,
    ) -> None:
        self.work = 0
        self.task = task
        self._count = len(plan)
        everything = [*plan, *operators]
        conditions = [task.goal, *[body for body, _ in rules]]
        conditions += [c for operator in everything for c in _conditions(operator)]
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

    def estimate(self, place: int, mark: Mark) -> Estimate | None:
        """Return the bound from a state before a step; None where the goal is out of reach."""
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
                free[number] = max(last, free.get(number, last))
            cuts += 1
            if sum(len(self._inserts[number]) for number in free) > _MOST_FREE:
                return Estimate(cuts, frozenset(free))

    # What is reached for free -------------------------------------------------------------------

    def _reached(self, place: int, start: int, free: Cut) -> list[int]:
        """Return the literals reached for free before each step, and at the end."""
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
                after = now
                self.work += len(self._steps[here])
                for unit in self._steps[here]:
                    if unit.gives & ~now and unit.possible(now):
                        after |= unit.gives
                grown = after != now
                now = after
        return trace

    def _layered(self, start: int) -> list[int]:
        """Return the literals reached in each layer when any action may be taken at any time."""
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

    # What is wanting ----------------------------------------------------------------------------

    def _cut(self, place: int, reached: Sequence[int], free: Cut) -> dict[int, int]:
        """Return a landmark: a set of insertions that every way to the goal draws from.

        From the end to the beginning, `zone` collects literals. At least one must come true at this
        place or before, and each free change that makes one true needs another one.
        """
        zone = self._wanting(self._goal, reached[-1])
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
                        zone |= self._wanting(unit, now)
                        grown = True
                    else:
                        rest.append(item)
                open_ = rest
            for literal in set_bits(zone & ~seen):
                for unit in self._givers.get(literal, ()):
                    self.work += 1
                    # What needs a literal of the zone is not the first to make one true.
                    if not unit.need & zone and free.get(unit.owner, -1) < here:
                        cut.setdefault(unit.owner, here)
            seen = zone
            if here > place:
                before, after = reached[here - 1 - place], zone
                for unit in self._steps[here - 1]:
                    if unit.gives & after:
                        zone |= self._wanting(unit, before)
        return cut

    def _wanting(self, unit: _Unit, reached: int) -> int:
        """Return unreached literals, at least one of them needed: the hardest by layers."""
        missing = unit.need & ~reached
        if missing:
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
        raise AssertionError("a unit that lacks nothing was applied for free")

    # Literals -----------------------------------------------------------------------------------

    def _literals(self, mark: Mark) -> int:
        bits = mark[0] & self._all
        # Why a derived atom is false is not looked into.
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
                # The bits of comparisons follow the literals.
                units.append(self._unit(owner, (before, condition), self._readers[index], 0))
        return units


def _conditions(operator: Operator) -> Iterator[Conjunction]:
    yield operator.precondition
    for condition, _, _ in operator.conditional:
        yield condition
    for condition, _ in operator.numeric:
        yield condition


class _Recorder(tuple[int, ...]):
    """Numbers, all 1, that remember which of them were read."""

    def __init__(self) -> None:
        self.read: set[int] = set()

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, index: object) -> int:  # type: ignore[override]
        assert isinstance(index, int)
        self.read.add(index)
        return 1


def _read_by(test: NumericTest) -> set[int] | None:
    """Return the indexes of the numbers that a comparison reads; None where that is unknown."""
    recorder = _Recorder()
    for side in (test.left, test.right):
        try:
            evaluate(side, recorder)
        except UndefinedValueError:
            # It divides by zero for these numbers, before all of it was read.
            return None
    return recorder.read
