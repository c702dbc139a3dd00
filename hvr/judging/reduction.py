"""Reduction of a plan to its cheapest part that reaches the goal, by a search with a relaxation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.errors import InconsistentEffectError, NumberTooLargeError, UndefinedValueError
from hvr.pddl import GroundAction, State, Task
from hvr.pddl.state import Operator, Values, is_satisfiable
from hvr.validation.minimise import reads_of
from hvr.validation.search import read_functions

# Relaxed ------------------------------------------------------------------------------------------
# An over-approximation of the effects of a plan from which steps may be left out.
#
# An abstract state is two sets of bits: those that may be true and those that may be false. An
# optional step adds to both; a step that every solution keeps replaces them. Whatever this
# abstraction cannot reach, no part of the plan reaches. If a few steps may be inserted as well,
# there is an abstract state for each number of insertions.

PossibleValues: TypeAlias = tuple[int, int]
"""Bits that may be true, and bits that may be false."""

Levels: TypeAlias = tuple[PossibleValues, ...]
"""Possible values after at most 0, 1, 2, ... insertions."""

Insertion: TypeAlias = tuple[int, int]
"""A place in the plan, and the number of an operator to insert there."""


class RelaxedEffects:
    """Effects of a step in the relaxation, restricted to bits that are read."""

    __slots__ = ("add", "delete", "makes", "perhaps", "precondition", "spoils")

    def __init__(self, operator: Operator, read: int) -> None:
        self.precondition = operator.precondition
        self.makes = makes_of(operator) & read
        self.spoils = spoils_of(operator) & read
        self.add = operator.add & read
        self.delete = operator.delete & ~operator.add & read
        further = [
            (condition, add & read, delete & ~operator.add & read)
            for condition, add, delete in operator.conditional
        ]
        self.perhaps = [change for change in further if change[1] or change[2]]


@dataclass(frozen=True)
class Decided:
    """Decisions about the steps that hold for every solution.

    Args:
        kept: Indexes of steps that every solution keeps.
        dropped: Indexes of steps that no solution keeps.
        useless: Insertions that no solution contains.
    """

    kept: frozenset[int]
    dropped: frozenset[int]
    useless: frozenset[Insertion]


class RelaxedSteps:
    """The steps of a plan and the operators that may be inserted, in the relaxation."""

    def __init__(
        self,
        task: Task,
        operators: Sequence[Operator],
        others: Sequence[Operator] = (),
        offers: Sequence[Sequence[int]] = (),
        budget: int = 0,
    ) -> None:
        self.task = task
        self.operators = operators
        self.offers = offers or [()] * (len(operators) + 1)
        self.budget = budget
        self.reads = [reads_of(operator) for operator in operators]
        read = task.goal.mentioned()
        # Derived atoms get their bits when a condition that mentions them is compiled: goal first.
        self.derived = task.derived_bits
        for mask in (*self.reads, *map(reads_of, others)):
            read |= mask
        if read & self.derived:
            # The bodies of rules are not analysed, so any bit may matter.
            read = -1
        self.effects = [RelaxedEffects(operator, read) for operator in operators]
        self.other_effects = [RelaxedEffects(operator, read) for operator in others]

    def forced(self, bits: int) -> Decided | None:
        """Decide which steps all solutions keep or drop; return None if the goal is unreachable.

        A step is kept if the relaxed plan cannot reach the goal without it, and dropped if it
        cannot reach the goal with it.
        """
        kept: set[int] = set()
        dropped: set[int] = set()
        useless: set[Insertion] = set()
        more = True
        # Each decision tightens the abstraction, so repeat until nothing changes.
        while more:
            more = False
            decided = Decided(frozenset(kept), frozenset(dropped), frozenset(useless))
            trace = self._trace(bits, decided)
            if trace is None:
                return None
            for step in range(len(self.operators)):
                if step in kept or step in dropped:
                    continue
                levels = self._offered(step, trace[step], decided)
                if not self._reaches(trace, step, levels, decided):
                    kept.add(step)
                    more = True
                elif not self._reaches(trace, step, self._after(step, levels, True), decided):
                    dropped.add(step)
                    more = True
            for place, numbers in enumerate(self.offers if self.budget else ()):
                for number in numbers:
                    if (place, number) in useless:
                        continue
                    if not self._helps(trace[place], place, number, decided):
                        useless.add((place, number))
                        more = True
        return Decided(frozenset(kept), frozenset(dropped), frozenset(useless))

    def reachable(self, bits: int, begin: int, decided: Decided, spent: int = 0) -> bool:
        """Return whether the relaxed plan reaches the goal from step `begin`.

        Args:
            bits: State before that step.
            spent: Number of insertions already made.
        """
        levels = ((bits | self.derived, ~bits),) * (self.budget - spent + 1)
        return self._goes_on(begin, levels, decided)

    def _goes_on(self, begin: int, levels: Levels | None, decided: Decided) -> bool:
        for place in range(begin, len(self.operators)):
            assert levels is not None
            levels = self._offered(place, levels, decided)
            if place not in decided.dropped:
                levels = self._after(place, levels, place in decided.kept)
                if levels is None:
                    return False
        assert levels is not None
        return self._goal(self._offered(len(self.operators), levels, decided))

    def _trace(self, bits: int, decided: Decided) -> list[Levels] | None:
        levels: Levels = ((bits | self.derived, ~bits),) * (self.budget + 1)
        trace = [levels]
        for place in range(len(self.operators)):
            levels = self._offered(place, levels, decided)
            if place not in decided.dropped:
                after = self._after(place, levels, place in decided.kept)
                if after is None:
                    return None
                levels = after
            trace.append(levels)
        return trace if self._goal(self._offered(len(self.operators), levels, decided)) else None

    def _reaches(
        self, trace: list[Levels], probed: int, levels: Levels | None, decided: Decided
    ) -> bool:
        for place in range(probed + 1, len(self.operators) + 1):
            if levels is None:
                return False
            # The rest proceeds as in the trace, which reached the goal.
            if levels == trace[place]:
                return True
            if place == len(self.operators):
                break
            levels = self._offered(place, levels, decided)
            if place not in decided.dropped:
                levels = self._after(place, levels, place in decided.kept)
        return levels is not None and self._goal(
            self._offered(len(self.operators), levels, decided)
        )

    def _helps(self, levels: Levels, place: int, number: int, decided: Decided) -> bool:
        effects = self.other_effects[number]
        before = self._offered(place, levels, decided)[:-1]
        after = [self._once(effects, state, True) for state in before]
        possible = tuple([state for state in after if state is not None])
        return bool(possible) and self._goes_on(place, possible, decided)

    def _offered(self, place: int, levels: Levels, decided: Decided) -> Levels:
        if len(levels) == 1 or not self.offers[place]:
            return levels
        effects = [
            self.other_effects[number]
            for number in self.offers[place]
            if (place, number) not in decided.useless
        ]
        # Level k draws on level k - 1, since an insertion costs one.
        result = [levels[0]]
        for here in levels[1:]:
            true, false = here
            below = result[-1]
            for one in effects:
                if one.makes & ~true or one.spoils & ~false:
                    more = self._once(one, below, False)
                    if more is not None:
                        true |= more[0]
                        false |= more[1]
            result.append((true, false))
        return tuple(result)

    def _after(self, step: int, levels: Levels, certain: bool) -> Levels | None:
        effects = self.effects[step]
        states = [self._once(effects, state, certain) for state in levels]
        after = [state for state in states if state is not None]
        if not after:
            return None
        # At the lower levels the step is not executable without a further insertion before it.
        return (*(_NOTHING,) * (len(levels) - len(after)), *after)

    def _once(
        self, effects: RelaxedEffects, state: PossibleValues, certain: bool
    ) -> PossibleValues | None:
        """Return the relaxed state after a step; None if the step is certain but not executable."""
        true, false = state
        # An optional step that adds nothing new leaves the state unchanged.
        if not certain and not (effects.makes & ~true or effects.spoils & ~false):
            return state
        if state == _NOTHING or not is_satisfiable(
            effects.precondition, true, false | self.derived
        ):
            return None if certain else state
        new_true, new_false = true, false
        if certain:
            # A certain step fixes the bits that it requires and those that it changes.
            stored = ~self.derived
            new_false &= ~(effects.precondition.positive & stored) & ~effects.add
            new_true &= ~(effects.precondition.negative & stored) & ~effects.delete
        new_true |= effects.add
        new_false |= effects.delete
        for condition, add, delete in effects.perhaps:
            if (add & ~new_true or delete & ~new_false) and is_satisfiable(
                condition, true, false | self.derived
            ):
                new_true |= add
                new_false |= delete
        return new_true, new_false

    def _goal(self, levels: Levels) -> bool:
        true, false = levels[-1]
        return levels[-1] != _NOTHING and is_satisfiable(self.task.goal, true, false | self.derived)


_NOTHING: PossibleValues = (0, 0)
"""Placeholder for an unreachable abstract state."""


def makes_of(operator: Operator) -> int:
    mask = operator.add
    for _, add, _ in operator.conditional:
        mask |= add
    return mask


def spoils_of(operator: Operator) -> int:
    mask = operator.delete & ~operator.add
    for _, _, delete in operator.conditional:
        mask |= delete & ~operator.add
    return mask


# Reduction ----------------------------------------------------------------------------------------
# The cheapest part of a plan that is executable and reaches the goal, found exactly.
#
# The problem is NP-hard (Nakhost & Müller 2010; Balyo, Chrpa & Kilani 2014). The search proceeds
# step by step. Each layer holds the states that parts of the plan so far lead to, with the least
# cost of each. States are equal if they agree on everything that a later step or the goal reads, so
# that most paths merge. A state is dropped if it lacks a literal that a kept step will need, if the
# relaxed rest of the plan does not reach the goal, or if a cheaper solution is known.

MAX_EXACT_STEPS = 60
"""Maximum number of steps for which a reduction is proven to be the smallest."""

MAX_REDUCTION_STATES = 60_000
MAX_ALTERNATIVES = 24

_Cannot = (UndefinedValueError, InconsistentEffectError, NumberTooLargeError)
_Key: TypeAlias = tuple[object, ...]

_LEFT_OUT, _KEPT = -2, -1
_Parent: TypeAlias = tuple["_Node", int]
"""A predecessor and a move: `_LEFT_OUT`, `_KEPT`, or the number of an inserted operator."""
_RANK = {_LEFT_OUT: 0, _KEPT: 2}


@dataclass(frozen=True)
class Reduction:
    """A part of a plan, with insertions.

    Args:
        kept: Indexes of the kept steps; None if no part reaches the goal.
        proven: Whether it is proven that no part is cheaper or, if `kept` is None, that no part
            reaches the goal.
        alternatives: Other sets of steps that may be left out at the same cost with the same
            insertions, but not all if there are many.
        inserted: Pairs (index of the following step, inserted operator), in order.
    """

    kept: tuple[int, ...] | None
    proven: bool
    alternatives: tuple[frozenset[int], ...] = ()
    inserted: tuple[tuple[int, Operator], ...] = ()


def smallest_reduction(
    start: State,
    operators: Sequence[Operator],
    *,
    offers: Sequence[Sequence[Operator]] = (),
    budget: int = 0,
    most: int = MAX_REDUCTION_STATES,
) -> Reduction:
    """Return the cheapest part of a plan that reaches the goal, preferring early steps.

    Insertions cost most: their number is minimised first, then the number of kept steps.

    Args:
        offers: For each position, the operators that may be inserted there, in any order; the last
            position is after the last step.
        budget: Maximum number of insertions.
        most: Maximum number of states in the search.
    """
    return _Search(start, operators, offers, budget, most).run()


class _Node:
    """A state before a step, with its least cost (insertions, kept steps) and its predecessors."""

    __slots__ = ("bits", "cost", "parents", "useful", "values")

    def __init__(self, bits: int, values: Values, cost: tuple[int, int]) -> None:
        self.bits = bits
        self.values = values
        self.cost = cost
        self.parents: list[_Parent] = []
        self.useful = False


_Layer: TypeAlias = dict[_Key, _Node]


class _Search:
    def __init__(
        self,
        start: State,
        operators: Sequence[Operator],
        offers: Sequence[Sequence[Operator]],
        budget: int,
        most: int,
    ) -> None:
        self.task = start.task
        self.operators = operators
        numbers: dict[GroundAction, int] = {}
        self.others: list[Operator] = []
        self.offers: list[list[int]] = [[] for _ in range(len(operators) + 1)]
        # An action may be offered at several places: number it once.
        for place, offered in enumerate(offers if budget else ()):
            for operator in offered:
                if operator.action not in numbers:
                    numbers[operator.action] = len(self.others)
                    self.others.append(operator)
                self.offers[place].append(numbers[operator.action])
        self.steps = RelaxedSteps(self.task, operators, self.others, self.offers, budget)
        self.other_reads = [reads_of(operator) for operator in self.others]
        self.budget = budget
        self.most = most
        self.first = start.bits & ~self.task.derived_bits, start.values
        self.live = self._live()
        functions = read_functions(self.task)
        changed = {
            change[1] for operator in (*operators, *self.others) for _, change in operator.numeric
        }
        self.read_numbers = sorted(i for i in changed if self.task.term(i).function in functions)

    def run(self) -> Reduction:
        decided = self.steps.forced(self.first[0])
        if decided is None:
            return Reduction(None, True)
        self.decided = decided
        self._needs()
        layer = {self._key(0, *self.first): _Node(*self.first, (0, 0))}
        layers = [layer]
        looked = 0
        for place in range(len(self.operators) + 1):
            self._put_in(place, layer)
            looked += len(layer)
            if place < len(self.operators):
                layer = self._next(place, layer)
                layers.append(layer)
            if looked > self.most:
                return Reduction(None, False)
        ends = [node for node in layer.values() if self._reached(node)]
        if not ends:
            return Reduction(None, True)
        least = min(node.cost for node in ends)
        return self._unrolled(layers, [node for node in ends if node.cost == least])

    # Before the search --------------------------------------------------------------------------

    def _live(self) -> list[int]:
        count = len(self.operators)
        mask = self.task.goal.mentioned()
        masks = [mask] * (count + 1)
        for place in range(count, -1, -1):
            for number in self.offers[place]:
                mask |= self.other_reads[number]
            if place < count:
                mask |= self.steps.reads[place]
            masks[place] = mask
        if mask & self.task.derived_bits:
            # The bodies of rules are not analysed, so any bit may matter.
            return [-1] * (count + 1)
        return masks

    def _needs(self) -> None:
        count = len(self.operators)
        stored = ~self.task.derived_bits
        goal = self.task.goal
        # Going backwards, whatever a step may add need not hold before it.
        true, false = goal.positive & stored, goal.negative & stored
        self.true, self.false = [true] * (count + 1), [false] * (count + 1)
        for place in range(count, -1, -1):
            if place < count:
                if place not in self.decided.dropped:
                    true &= ~self.steps.effects[place].makes
                    false &= ~self.steps.effects[place].spoils
                if place in self.decided.kept:
                    operator = self.operators[place]
                    true |= operator.positive & stored
                    false |= operator.negative & stored
            for number in self._offered(place):
                true &= ~self.steps.other_effects[number].makes
                false &= ~self.steps.other_effects[number].spoils
            self.true[place], self.false[place] = true, false

    def _offered(self, place: int) -> list[int]:
        return [n for n in self.offers[place] if (place, n) not in self.decided.useless]

    # The search ---------------------------------------------------------------------------------

    def _put_in(self, place: int, layer: _Layer) -> None:
        numbers = self._offered(place)
        dropped: set[tuple[_Key, int]] = set()
        for spent in range(self.budget if numbers else 0):
            # Iterate over a copy, since insertions extend the layer.
            for node in [node for node in layer.values() if node.cost[0] == spent]:
                for number in numbers:
                    reads = self.other_reads[number]
                    done = self._execute(self.others[number], reads, node)
                    if done is not None and self._differs(place, node, done):
                        cost = node.cost[0] + 1, node.cost[1]
                        self._arrive(place, layer, dropped, done, cost, (node, number))

    def _next(self, step: int, layer: _Layer) -> _Layer:
        after: _Layer = {}
        dropped: set[tuple[_Key, int]] = set()
        must = step in self.decided.kept
        for node in layer.values():
            if not must:
                here = node.bits, node.values
                self._arrive(step + 1, after, dropped, here, node.cost, (node, _LEFT_OUT))
            if step in self.decided.dropped:
                continue
            done = self._execute(self.operators[step], self.steps.reads[step], node)
            # A step is not worth keeping if it changes nothing that is read.
            if done is not None and (must or self._differs(step + 1, node, done)):
                cost = node.cost[0], node.cost[1] + 1
                self._arrive(step + 1, after, dropped, done, cost, (node, _KEPT))
        return after

    def _arrive(
        self,
        place: int,
        layer: _Layer,
        dropped: set[tuple[_Key, int]],
        mark: tuple[int, Values],
        cost: tuple[int, int],
        parent: _Parent,
    ) -> None:
        bits, values = mark
        # A literal that must hold here is missing.
        if self.true[place] & ~bits or self.false[place] & bits:
            return
        key = self._key(place, bits, values)
        node = layer.get(key)
        if node is None:
            spent = cost[0]
            if (key, spent) in dropped:
                return
            if not self.steps.reachable(bits, place, self.decided, spent):
                dropped.add((key, spent))
                return
            node = layer[key] = _Node(bits, values, cost)
        elif cost > node.cost:
            return
        elif cost < node.cost:
            node.bits, node.values, node.cost = bits, values, cost
            node.parents.clear()
        node.parents.append(parent)

    def _differs(self, place: int, node: _Node, done: tuple[int, Values]) -> bool:
        return self._key(place, *done) != self._key(place, node.bits, node.values)

    def _execute(self, operator: Operator, reads: int, node: _Node) -> tuple[int, Values] | None:
        bits, values = node.bits, node.values
        derived = self.task.derived_bits
        try:
            if reads & derived:
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
        numbers = (values[i] if i < known else None for i in self.read_numbers)
        return (bits & self.live[place], *numbers)

    def _reached(self, node: _Node) -> bool:
        try:
            bits = self.task.close(node.bits, node.values)
            return self.task.goal.holds(bits, node.values)
        except UndefinedValueError:
            return False

    # After the search ---------------------------------------------------------------------------

    def _unrolled(self, layers: list[_Layer], ends: list[_Node]) -> Reduction:
        """Return the solution that keeps the earliest steps, and other equally cheap solutions."""
        forward: dict[int, list[_Parent]] = {}
        last = {id(node) for node in ends}
        for node in ends:
            node.useful = True
        # From the goal backwards, mark the nodes on optimal paths.
        for layer in reversed(layers):
            for node in sorted(layer.values(), key=lambda n: n.cost, reverse=True):
                if node.useful:
                    for parent, move in node.parents:
                        parent.useful = True
                        forward.setdefault(id(parent), []).append((node, move))
        first = next(node for node in layers[0].values() if node.cost == (0, 0))
        ways: list[tuple[tuple[int, ...], tuple[Insertion, ...]]] = []
        stack: list[tuple[_Node, int, tuple[int, ...], tuple[Insertion, ...]]] = [
            (first, 0, (), ())
        ]
        while stack and len(ways) <= MAX_ALTERNATIVES:
            node, place, taken, more = stack.pop()
            if id(node) in last:
                ways.append((taken, more))
                continue
            # Paths that keep the step are pushed last and therefore explored first.
            for after, move in sorted(forward[id(node)], key=lambda way: _RANK.get(way[1], 1)):
                if move == _LEFT_OUT:
                    stack.append((after, place + 1, taken, more))
                elif move == _KEPT:
                    stack.append((after, place + 1, (*taken, place), more))
                else:
                    stack.append((after, place, taken, (*more, (place, move))))
        kept, put_in = ways[0]
        everything = frozenset(range(len(self.operators)))
        others = [everything.difference(way) for way, more in ways[1:] if more == put_in]
        return Reduction(
            kept,
            True,
            tuple(dict.fromkeys(other for other in others if other != everything.difference(kept))),
            tuple([(place, self.others[number]) for place, number in put_in]),
        )
