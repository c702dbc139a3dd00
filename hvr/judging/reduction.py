"""The cheapest part of a plan that is executable and reaches the goal, exactly.

Finding it is NP-hard (Nakhost & Müller 2010; Balyo, Chrpa & Kilani 2014). Here the plan is gone
through step by step; before each step stand the states that its parts lead to, each with the least
weight that leads there. States are told apart by what a later step or the goal reads, so that most
ways meet again, and a state is dropped as soon as it cannot lead to the goal: it lacks what a step
that every solution keeps will need, the relaxed rest of the plan does not reach the goal, or it
costs more than a solution that is known.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.errors import InconsistentEffectError, NumberTooLargeError, UndefinedValueError
from hvr.judging.relaxed import Steps
from hvr.pddl import State
from hvr.pddl.conditions import Operator
from hvr.pddl.numeric import Values
from hvr.validation.search import read_functions

EXACT_STEPS = 60
"""Up to how many steps a reduction is proven to be smallest."""

MOST_STATES = 60_000
MOST_ALTERNATIVES = 24

_Cannot = (UndefinedValueError, InconsistentEffectError, NumberTooLargeError)
_Key: TypeAlias = tuple[object, ...]
_Parent: TypeAlias = tuple["_Node", bool]


@dataclass(frozen=True)
class Reduction:
    """A part of a plan.

    Args:
        kept: indexes of the steps that are kept; None where no part reaches the goal.
        proven: no part is cheaper, or it is certain that none reaches the goal.
        alternatives: other sets of steps that may be left out instead, of the same weight; some
            of them where there are many.
    """

    kept: tuple[int, ...] | None
    proven: bool
    alternatives: tuple[frozenset[int], ...] = ()


def smallest(
    start: State,
    operators: Sequence[Operator],
    *,
    dear: Collection[int] = frozenset(),
    budget: int | None = None,
    most: int = MOST_STATES,
) -> Reduction:
    """Return the cheapest part of a plan that reaches the goal; of several, the earliest.

    Args:
        start: the state to begin in.
        operators: the steps.
        dear: indexes of steps of which as few as possible are to be kept, before all else.
        budget: how many of them may be kept; all if None.
        most: how many states to look at.
    """
    return _Search(start, operators, frozenset(dear), budget, most).run()


class _Node:
    """A state before a step, the least weight that leads to it, and from where."""

    __slots__ = ("bits", "cost", "parents", "useful", "values")

    def __init__(self, bits: int, values: Values, cost: int) -> None:
        self.bits = bits
        self.values = values
        self.cost = cost
        self.parents: list[_Parent] = []
        self.useful = False


class _Search:
    def __init__(
        self,
        start: State,
        operators: Sequence[Operator],
        dear: frozenset[int],
        budget: int | None,
        most: int,
    ) -> None:
        self.task = start.task
        limited = (frozenset[int](), 0) if budget is None else (dear, budget)
        self.steps = Steps(self.task, operators, *limited)
        self.operators = operators
        self.dearest = len(operators) + 1
        self.weights = [self.dearest if i in dear else 1 for i in range(len(operators))]
        self.budget = budget
        self.most = most
        self.first = start.bits & ~self.task.derived_bits, start.values
        self.live = self._live()
        functions = read_functions(self.task)
        changed = {change[1] for operator in operators for _, change in operator.numeric}
        self.read_numbers = sorted(i for i in changed if self.task.term(i).function in functions)

    def run(self) -> Reduction:
        decided = self.steps.forced(self.first[0])
        if decided is None:
            return Reduction(None, True)
        self.kept, self.gone = decided
        self._needs()
        layer = {self._key(0, *self.first): _Node(*self.first, 0)}
        layers = [layer]
        looked = 0
        for step in range(len(self.operators)):
            layer = self._next(step, layer)
            layers.append(layer)
            looked += len(layer)
            if looked > self.most:
                return Reduction(None, False)
        ends = [node for node in layer.values() if self._reached(node)]
        if not ends:
            return Reduction(None, True)
        least = min(node.cost for node in ends)
        return self._unrolled(layers, [node for node in ends if node.cost == least])

    # Before the search --------------------------------------------------------------------------

    def _live(self) -> list[int]:
        """Return, for each place, the bits that anything after it reads."""
        count = len(self.operators)
        mask = self.task.goal.mentioned()
        masks = [mask] * (count + 1)
        for step in range(count - 1, -1, -1):
            mask |= self.steps.reads[step]
            masks[step] = mask
        if mask & self.task.derived_bits:
            # What a derived atom follows from is not looked into.
            return [-1] * (count + 1)
        return masks

    def _needs(self) -> None:
        """Find the literals that must hold before each step, and the least weight of the rest."""
        count = len(self.operators)
        stored = ~self.task.derived_bits
        goal = self.task.goal
        true, false, rest = goal.positive & stored, goal.negative & stored, 0
        self.true, self.false = [true] * (count + 1), [false] * (count + 1)
        self.rest = [0] * (count + 1)
        for step in range(count - 1, -1, -1):
            if step not in self.gone:
                true &= ~self.steps.makes[step]
                false &= ~self.steps.spoils[step]
            if step in self.kept:
                operator = self.operators[step]
                true |= operator.positive & stored
                false |= operator.negative & stored
                rest += self.weights[step]
            self.true[step], self.false[step], self.rest[step] = true, false, rest

    # The search ---------------------------------------------------------------------------------

    def _next(self, step: int, layer: dict[_Key, _Node]) -> dict[_Key, _Node]:
        """Return the states after a step."""
        after: dict[_Key, _Node] = {}
        dropped: set[tuple[_Key, int]] = set()
        weight, must = self.weights[step], step in self.kept

        def arrive(bits: int, values: Values, cost: int, parent: _Parent) -> None:
            place = step + 1
            spent = 0
            if self.budget is not None:
                spent = cost // self.dearest
                if spent + self.rest[place] // self.dearest > self.budget:
                    return
            if self.true[place] & ~bits or self.false[place] & bits:
                return
            key = self._key(place, bits, values)
            node = after.get(key)
            if node is None:
                if (key, spent) in dropped:
                    return
                if not self.steps.reachable(bits, place, self.kept, self.gone, spent):
                    dropped.add((key, spent))
                    return
                node = after[key] = _Node(bits, values, cost)
            elif cost > node.cost:
                return
            elif cost < node.cost:
                node.bits, node.values, node.cost = bits, values, cost
                node.parents.clear()
            node.parents.append(parent)

        for node in layer.values():
            if not must:
                arrive(node.bits, node.values, node.cost, (node, False))
            if step in self.gone:
                continue
            done = self._execute(step, node)
            # A step that changes nothing that is read is never kept.
            if done is not None and (must or self._differs(step + 1, node, done)):
                arrive(*done, node.cost + weight, (node, True))
        return after

    def _differs(self, place: int, node: _Node, done: tuple[int, Values]) -> bool:
        return self._key(place, *done) != self._key(place, node.bits, node.values)

    def _execute(self, step: int, node: _Node) -> tuple[int, Values] | None:
        operator = self.operators[step]
        bits, values = node.bits, node.values
        derived = self.task.derived_bits
        try:
            if self.steps.reads[step] & derived:
                bits = self.task.close(bits, values)
            if not operator.precondition.holds(bits, values):
                return None
            numbers = operator.apply_numbers(bits, values)
            return operator.apply(bits, values) & ~derived, numbers
        except _Cannot:
            return None

    def _key(self, place: int, bits: int, values: Values) -> _Key:
        if not self.read_numbers:
            return (bits & self.live[place],)
        known = len(values)
        return (
            bits & self.live[place],
            *(values[i] if i < known else None for i in self.read_numbers),
        )

    def _reached(self, node: _Node) -> bool:
        try:
            bits = self.task.close(node.bits, node.values)
            return self.task.goal.holds(bits, node.values)
        except UndefinedValueError:
            return False

    # After the search ---------------------------------------------------------------------------

    def _unrolled(self, layers: list[dict[_Key, _Node]], ends: list[_Node]) -> Reduction:
        """Return the solution that keeps the earliest steps, and others that are as good."""
        forward: dict[int, list[_Parent]] = {}
        for node in ends:
            node.useful = True
        for layer in reversed(layers[1:]):
            for node in layer.values():
                if node.useful:
                    for parent, kept in node.parents:
                        parent.useful = True
                        forward.setdefault(id(parent), []).append((node, kept))
        (first,) = layers[0].values()
        ways: list[tuple[int, ...]] = []
        stack: list[tuple[_Node, int, tuple[int, ...]]] = [(first, 0, ())]
        while stack and len(ways) <= MOST_ALTERNATIVES:
            node, place, taken = stack.pop()
            if place == len(self.operators):
                ways.append(taken)
                continue
            # The way that keeps the step is looked at first: it was pushed last.
            for after, kept in sorted(forward[id(node)], key=lambda way: way[1]):
                stack.append((after, place + 1, (*taken, place) if kept else taken))
        everything = frozenset(range(len(self.operators)))
        others = tuple(dict.fromkeys(everything.difference(way) for way in ways[1:]))
        return Reduction(ways[0], True, others)
