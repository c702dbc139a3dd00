"""Distance estimates over facts and numbers: relaxed plans whose actions may be repeated.

This is the additive heuristic for facts and simple numeric conditions, with the relaxed plan of its
best supporters (Scala, Haslum, Thiébaux & Ramirez 2020, "Subgoaling techniques for satisficing and
optimal numeric planning", JAIR 68; Scala, Saetti, Serina & Gerevini 2020, "Search-guidance
mechanisms for numeric planning through subgoaling relaxation", ICAPS). An unsatisfied comparison is
achieved by repeating one action that increases its excess, as often as necessary. Deletes are
ignored. Rules for derived predicates are zero-cost actions, and derived atoms that may become false
count as false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import floor, inf

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import HvrError
from hvr.pddl import Task
from hvr.pddl.state import (
    Conjunction,
    Disjunction,
    NumericChange,
    NumericTest,
    Operator,
    Rational,
    Values,
    change_numbers,
    evaluate,
    set_bits,
)

_UNKNOWN_COST = 20.0
"""Cost of a comparison that no action helps now, but some may once other numbers change."""
_MOST_REPEATS = 1000


@dataclass
class _Supporter:
    """An action, a conditional effect or a rule (`operator` -1), with numbers of conditions."""

    operator: int
    needs: tuple[int, ...]
    gives: tuple[int, ...]
    changes: tuple[NumericChange, ...] = ()


@dataclass
class _Comparison:
    """A comparison `excess >= 0`, or `excess > 0` if it is strict.

    Args:
        sign: 1 if the left side must be larger, -1 if the right side must be larger.
        strict: Whether equality is insufficient.
        varies: Whether some action changes the excess by a state-dependent amount.
    """

    test: NumericTest
    sign: int
    strict: bool
    varies: bool = False

    def excess(self, values: Values) -> float | None:
        try:
            return float(
                self.sign * (evaluate(self.test.left, values) - evaluate(self.test.right, values))
            )
        except (HvrError, OverflowError):
            return None

    def repeats(self, excess: float, gain: float) -> float:
        times = -excess / gain
        whole = floor(times)
        return whole + 1 if self.strict or whole < times else max(whole, 1)


class _Reads:
    def __init__(self, values: Values) -> None:
        self.values = values
        self.indexes: set[int] = set()

    def __len__(self) -> int:
        return 1 << 62

    def __getitem__(self, index: int) -> Rational:
        self.indexes.add(index)
        value = self.values[index] if index < len(self.values) else None
        return 1 if value is None else value


def _reads(test: NumericTest, values: Values) -> set[int]:
    reads = _Reads(values)
    for side in (test.left, test.right):
        try:
            evaluate(side, reads)  # type: ignore[arg-type]
        except HvrError:
            continue
    return reads.indexes


@dataclass(frozen=True)
class Distance:
    """The estimated distance of a state to the goal, as the number of steps of a relaxed plan.

    `helpful` lists the applicable actions of this plan, each with its number of repetitions.
    """

    steps: float
    helpful: tuple[tuple[int, int], ...]


class Subgoals:
    """An estimator of the distance to a condition.

    Each rule is a pair of a body and the bit of the derived atom.
    """

    def __init__(
        self,
        task: Task,
        operators: Sequence[Operator],
        rules: Iterable[tuple[Conjunction, int]],
        goal: Conjunction,
    ) -> None:
        self._values = task.initial.values
        self._derived = task.derived_bits
        self._facts: dict[tuple[int, bool], int] = {}
        self._comparisons: dict[int, _Comparison] = {}
        self._count = 0
        self._units: list[_Supporter] = []
        for number, operator in enumerate(operators):
            self._add_operator(number, operator)
        for body, bit in rules:
            gives = tuple([self._fact(place, True) for place in set_bits(bit)])
            self._units.append(_Supporter(-1, self._needs(body), gives))
        self._goal = self._needs(goal)
        self._link()

    # Setting up -----------------------------------------------------------------------------

    def _new_condition(self) -> int:
        self._count += 1
        return self._count - 1

    def _fact(self, bit: int, positive: bool) -> int:
        number = self._facts.get((bit, positive))
        if number is None:
            number = self._facts[bit, positive] = self._new_condition()
        return number

    def _needs(self, condition: Conjunction) -> tuple[int, ...]:
        return run_trampoline(self._all_of(condition))

    def _all_of(self, condition: Conjunction) -> Steps[tuple[int, ...]]:
        needs = [self._fact(bit, True) for bit in set_bits(condition.positive)]
        needs += [self._fact(bit, False) for bit in set_bits(condition.negative)]
        for clause in condition.clauses:
            needs.append((yield self._any_of(clause)))
        for test in condition.tests:
            if test.symbol == "=" and test.positive:
                needs += [self._comparison(test, 1, False), self._comparison(test, -1, False)]
            elif test.symbol == "=":
                either = self._new_condition()
                for sign in (1, -1):
                    self._units.append(
                        _Supporter(-1, (self._comparison(test, sign, True),), (either,))
                    )
                needs.append(either)
            else:
                sign = 1 if test.symbol[0] == ">" else -1
                strict = len(test.symbol) == 1
                if not test.positive:
                    sign, strict = -sign, not strict
                needs.append(self._comparison(test, sign, strict))
        return tuple(needs)

    def _any_of(self, clause: Disjunction) -> Steps[int]:
        number = self._new_condition()
        options: list[tuple[int, ...]] = [
            (self._fact(bit, True),) for bit in set_bits(clause.positive)
        ]
        options += [(self._fact(bit, False),) for bit in set_bits(clause.negative)]
        for part in clause.parts:
            options.append((yield self._all_of(part)))
        self._units += [_Supporter(-1, option, (number,)) for option in options]
        return number

    def _comparison(self, test: NumericTest, sign: int, strict: bool) -> int:
        number = self._new_condition()
        self._comparisons[number] = _Comparison(test, sign, strict)
        return number

    def _add_operator(self, number: int, operator: Operator) -> None:
        needs = self._needs(operator.precondition)
        always = tuple([change for guard, change in operator.numeric if guard.is_empty])
        self._units.append(
            _Supporter(number, needs, self._effects(operator.add, operator.delete), always)
        )
        for guard, add, delete in operator.conditional:
            more = (*needs, *self._needs(guard))
            self._units.append(_Supporter(number, more, self._effects(add, delete)))
        for guard, change in operator.numeric:
            if not guard.is_empty:
                more = (*needs, *self._needs(guard))
                self._units.append(_Supporter(number, more, (), (change,)))

    def _effects(self, add: int, delete: int) -> tuple[int, ...]:
        given = [self._fact(bit, True) for bit in set_bits(add)]
        given += [self._fact(bit, False) for bit in set_bits(delete & ~add)]
        return tuple(given)

    def _link(self) -> None:
        facts = sorted(self._facts.items())
        self._positive = [(bit, number) for (bit, positive), number in facts if positive]
        self._negative = [(bit, number) for (bit, positive), number in facts if not positive]
        self._width = 1 + max((bit for (bit, _), _ in facts), default=0)
        self._unconditional = [place for place, unit in enumerate(self._units) if not unit.needs]
        self._needed_by: list[list[int]] = [[] for _ in range(self._count)]
        self._open = [0] * len(self._units)
        changers: dict[int, list[int]] = {}
        for place, unit in enumerate(self._units):
            self._open[place] = len(set(unit.needs))
            for need in set(unit.needs):
                self._needed_by[need].append(place)
            for _, index, _ in unit.changes:
                changers.setdefault(index, []).append(place)
        self._helped: list[list[tuple[int, float]]] = [[] for _ in self._units]
        for number, comparison in self._comparisons.items():
            reads = _reads(comparison.test, self._values)
            places = dict.fromkeys(place for index in reads for place in changers.get(index, ()))
            for place in places:
                gain = self._constant_gain(comparison, self._units[place])
                comparison.varies |= gain is None
                if gain is None or gain > 0:
                    self._helped[place].append((number, gain or 0.0))

    def _constant_gain(self, comparison: _Comparison, unit: _Supporter) -> float | None:
        # Expressions are compiled functions, so the gain is compared in three states. Equal gains
        # are not a proof, but an error affects only estimates.
        gains = []
        size = 1 + max([len(self._values) - 1, *(index for _, index, _ in unit.changes)])
        for factor, offset in ((1, 1), (3, 17), (7, 5)):
            values = tuple([factor * ((index * 37) % 101) + offset for index in range(size)])
            gains.append(_gain(comparison, unit, values))
        first = gains[0]
        if first is None or any(gain is None or abs(gain - first) > 1e-9 for gain in gains):
            return None
        return first

    # Estimates ------------------------------------------------------------------------------

    def estimate(self, bits: int, values: Values) -> Distance | None:
        """Return the estimated distance to the goal, or None if it is proven unreachable."""
        costs = [inf] * self._count
        supporters: list[tuple[int, float]] = [(-1, 0.0)] * self._count
        queue: list[tuple[float, int]] = []

        def reach(condition: int, cost: float, unit: int, repeats: float) -> None:
            if cost < costs[condition]:
                costs[condition] = cost
                supporters[condition] = unit, repeats
                heappush(queue, (cost, condition))

        for number in self._true_literals(bits):
            costs[number] = 0.0
            queue.append((0.0, number))
        missing: dict[int, float] = {}
        for number, comparison in self._comparisons.items():
            excess = comparison.excess(values)
            if excess is not None and (excess > 0 or (excess == 0 and not comparison.strict)):
                costs[number] = 0.0
                queue.append((0.0, number))
            else:
                missing[number] = -inf if excess is None else excess
                # An action may help in another state, so the comparison is not proven unreachable.
                if comparison.varies:
                    reach(number, _UNKNOWN_COST, -1, 0.0)
        # A sorted list is a heap. Conditions are settled in the order of their costs, as in
        # Dijkstra's algorithm; a supporter fires once all its conditions are settled.
        queue.sort()
        open_ = list(self._open)
        sums = [0.0] * len(self._units)

        def fire(place: int) -> None:
            unit, base = self._units[place], sums[place]
            cost = base + 1.0 if unit.operator >= 0 else base
            for fact in unit.gives:
                reach(fact, cost, place, 1.0)
            for number, gain in self._helped[place]:
                if number in missing:
                    repeats = self._repeats(number, missing[number], gain, unit, values)
                    if repeats:
                        reach(number, base + repeats, place, repeats)

        for place in self._unconditional:
            fire(place)
        done = bytearray(self._count)
        while queue:
            cost, condition = heappop(queue)
            if done[condition]:
                continue
            done[condition] = 1
            for place in self._needed_by[condition]:
                open_[place] -= 1
                sums[place] += cost
                if not open_[place]:
                    fire(place)
        if any(costs[condition] == inf for condition in self._goal):
            return None
        return self._relaxed_plan(costs, supporters)

    def _true_literals(self, bits: int) -> Iterator[int]:
        # Via text, because shifting a long integer once per bit copies it every time.
        text = f"{bits:b}"[::-1].ljust(self._width, "0")
        for bit, number in self._positive:
            if text[bit] == "1":
                yield number
        for bit, number in self._negative:
            if text[bit] == "0" or self._derived >> bit & 1:
                yield number

    def _repeats(
        self, number: int, excess: float, gain: float, unit: _Supporter, values: Values
    ) -> float:
        """Return how often a supporter must be applied to satisfy a comparison; 0 if useless."""
        comparison = self._comparisons[number]
        if not gain:
            if excess == -inf:
                return float(_after(comparison, unit, values) is not None)
            gain = _gain(comparison, unit, values) or 0.0
        return comparison.repeats(excess, gain) if gain > 0 and excess > -inf else 0.0

    def _relaxed_plan(
        self, costs: Sequence[float], supporters: Sequence[tuple[int, float]]
    ) -> Distance:
        # Trace the best supporters back from the goal; an action counts once, however often needed.
        plan: dict[int, float] = {}
        at_once: dict[int, float] = {}
        unknown = 0.0
        seen = set(self._goal)
        stack = list(self._goal)
        while stack:
            condition = stack.pop()
            if not costs[condition]:
                continue
            place, repeats = supporters[condition]
            if place < 0:
                unknown += _UNKNOWN_COST
                continue
            unit = self._units[place]
            if unit.operator >= 0:
                plan[unit.operator] = max(repeats, plan.get(unit.operator, 0.0))
                if all(not costs[need] for need in unit.needs):
                    at_once[unit.operator] = max(repeats, at_once.get(unit.operator, 0.0))
            new = [need for need in unit.needs if need not in seen]
            seen.update(new)
            stack += new
        helpful = [(number, int(min(times, _MOST_REPEATS))) for number, times in at_once.items()]
        return Distance(sum(plan.values()) + unknown, tuple(sorted(helpful)))


def _after(comparison: _Comparison, unit: _Supporter, values: Values) -> float | None:
    try:
        return comparison.excess(change_numbers(unit.changes, values, values))
    except HvrError:
        return None


def _gain(comparison: _Comparison, unit: _Supporter, values: Values) -> float | None:
    before, after = comparison.excess(values), _after(comparison, unit, values)
    return None if before is None or after is None else after - before
