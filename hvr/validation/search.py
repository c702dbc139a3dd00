"""Search for the shortest action sequence that makes a condition true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

from hvr.errors import InconsistentEffectError, NumberTooLargeError, UndefinedValueError
from hvr.pddl import Atom, Comparison, Expression, GroundAction, NumericEffect, State, Task
from hvr.pddl.formulas import functions_of, walk
from hvr.pddl.state import Conjunction, Operator, Values
from hvr.pddl.task import applicable_actions
from hvr.validation.relaxation import Deadline, Relaxation, achievers

LONGEST = 20

_MOST_STATES = 20_000
_MOST_STATES_TO_SHORTEN = 2_000
"""The budget for shortening an answer is smaller than the budget for finding one."""
_MOST_ANSWERS = 40

Steps: TypeAlias = tuple[GroundAction, ...]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search.

    Attributes:
        answers: Action sequences of equal length, in the order found.
        why: The reason why the search gave up, or "".
        hopeless: Whether it is proven that no sequence exists.
    """

    answers: tuple[Steps, ...] = ()
    why: str = ""
    hopeless: bool = False


def search(start: State, target: Conjunction, clock: Deadline) -> SearchOutcome:
    """Search for short sequences of instantaneous actions that make a condition true.

    Single steps are searched among all actions. Longer sequences are found by A*, guided by the
    length of relaxed plans: first among the helpful actions, then for a shorter sequence among all
    relevant actions. The results are nearly always shortest, but this is not guaranteed.

    The condition must not hold in `start`.
    """
    single = tuple(_single_steps(start, target, clock))
    if single:
        return SearchOutcome(single)
    numeric = read_functions(start.task)
    relaxation = Relaxation(start, target, numeric, clock)
    result = _search_among(relaxation, start, target, numeric, clock)
    if result is None and not relaxation.complete:
        # The actions of the first layers are not sufficient: try all of them.
        relaxation = Relaxation(start, target, numeric, clock, beyond=None)
        result = _search_among(relaxation, start, target, numeric, clock)
    if result is not None:
        return result
    if relaxation.complete:
        return SearchOutcome(hopeless=True)
    return SearchOutcome(why=_given_up(clock, "there are too many actions to try"))


def _search_among(
    relaxation: Relaxation,
    start: State,
    target: Conjunction,
    numeric: frozenset[str],
    clock: Deadline,
) -> SearchOutcome | None:
    if not relaxation.reachable:
        return None
    astar = _AStar(start, target, relaxation, numeric, clock)
    answers, _ = astar.run(helpful=True, most=_MOST_STATES, bound=LONGEST)
    if answers:
        bound = len(answers[0])
        better, _ = astar.run(helpful=False, most=_MOST_STATES_TO_SHORTEN, bound=bound)
        if better and len(better[0]) < bound:
            return SearchOutcome(tuple(better))
        return SearchOutcome(tuple(dict.fromkeys([*answers, *better])))
    answers, drained = astar.run(helpful=False, most=_MOST_STATES, bound=LONGEST)
    if answers:
        return SearchOutcome(tuple(answers))
    if drained:
        return None
    away = relaxation.estimate(start.bits)
    if away is not None and away[0] > LONGEST:
        return SearchOutcome(why=_given_up(clock, f"it is estimated to be {away[0]} steps away"))
    return SearchOutcome(why=_given_up(clock, f"{astar.states} states were searched"))


def read_functions(task: Task) -> frozenset[str]:
    """Return the numeric functions on which conditions depend; empty if all are constant."""
    if not task.fluent_functions:
        return frozenset()
    formulas: list[Expression] = [task.problem.goal, *(rule.body for rule in task.domain.derived)]
    formulas += [action.precondition for action in task.domain.actions.values()]
    formulas += [action.effect for action in task.domain.actions.values()]
    functions: set[str] = set()
    for formula in formulas:
        for part in walk(formula):
            if isinstance(part, Comparison):
                for side in (part.left, part.right):
                    functions.update(term.function for term in functions_of(side))
    # An effect on a relevant number may itself read other numbers.
    changes = [
        part
        for action in task.domain.actions.values()
        for part in walk(action.effect)
        if isinstance(part, NumericEffect)
    ]
    known = 0
    while known < len(functions):
        known = len(functions)
        for change in changes:
            if change.fluent.function in functions:
                functions.update(term.function for term in functions_of(change.amount))
    return frozenset(functions)


def _given_up(clock: Deadline, why: str) -> str:
    if clock.expired:
        return f"no sequence of up to {LONGEST} steps was found within {clock.seconds:g} s"
    return f"no sequence of up to {LONGEST} steps was found: {why}"


def _single_steps(start: State, target: Conjunction, clock: Deadline) -> Iterator[Steps]:
    task = start.task
    # Only actions that achieve some literal of the target are tried, wherever it occurs in the
    # target. If the target contains numbers or derived atoms, all actions are tried.
    literals: dict[Atom, bool] | None = {}
    for part in target.parts():
        if part.tests:
            literals = None
            break
        for true, wanted in ((part.positive & ~start.bits, True), (part.negative, False)):
            _collect(task, true, wanted, literals)
        for clause in part.clauses:
            _collect(task, clause.positive, True, literals)
            _collect(task, clause.negative, False, literals)
    if literals is not None and any(a.predicate in task.derived_predicates for a in literals):
        literals = None
    candidates = applicable_actions(start) if literals is None else achievers(start, literals)
    answers = 0
    for number, action in enumerate(candidates):
        if number % 32 == 31 and clock.expired:
            return
        after = execute(task, task.ground(action), start.bits, start.values)
        if after is not None and holds(target, *after):
            yield (action,)
            answers += 1
            if answers == _MOST_ANSWERS:
                return


def _collect(task: Task, mask: int, wanted: bool, into: dict[Atom, bool] | None) -> None:
    assert into is not None
    for atom in task.atoms_in(mask):
        into[atom] = wanted


def execute(task: Task, operator: Operator, bits: int, values: Values) -> tuple[int, Values] | None:
    """Return the state after an operator, or None if it is not applicable or a number is unusable.

    A number is unusable if it is undefined, too large or assigned twice.
    """
    if bits & operator.positive != operator.positive or bits & operator.negative:
        return None
    try:
        if not operator.plain and not operator.precondition.holds(bits, values):
            return None
        after = operator.apply(bits, values)
        numbers = operator.apply_numbers(bits, values)
        return task.close(after, numbers), numbers
    except (UndefinedValueError, InconsistentEffectError, NumberTooLargeError):
        return None


def holds(condition: Conjunction, bits: int, values: Values) -> bool:
    """Return whether a condition holds; a condition that reads an undefined number is false."""
    try:
        return condition.holds(bits, values)
    except UndefinedValueError:
        return False


_Node: TypeAlias = tuple[int, int, int, int, tuple[int, Values], tuple[object, ...]]
"""f, h, a sequence number, g, the state, and the path to it: (path before, number of the last
operator).

Nodes are compared from the left: among equally promising ones, the one nearer to the target comes
first, then the older one, so that results are deterministic. Paths share their prefixes.
"""


class _AStar:
    def __init__(
        self,
        start: State,
        target: Conjunction,
        relaxation: Relaxation,
        numeric: frozenset[str],
        clock: Deadline,
    ) -> None:
        self.task = start.task
        self.start = start
        self.target = target
        self.relaxation = relaxation
        self.clock = clock
        self.states = 0
        self._key = self._key_of(numeric)
        # None means unreachable.
        self._estimates: dict[int, tuple[int, list[int]] | None] = {}

    def run(self, *, helpful: bool, most: int, bound: int) -> tuple[list[Steps], bool]:
        operators = self.relaxation.operators
        everything = range(len(operators))
        order = count()
        first = self._estimate(self.start.bits, self.start.values)
        if first is None:
            return [], True
        begin = self.start.bits, self.start.values
        queue: list[_Node] = [(first[0], first[0], next(order), 0, begin, ())]
        best = {self._key(*begin): 0}
        answers: list[Steps] = []
        drained = True
        generated = 0
        while queue:
            f, _, _, g, (bits, values), path = heappop(queue)
            if f > bound:
                drained = False
                break
            # A stale entry: a shorter way to this state was found after it was queued.
            if best[self._key(bits, values)] < g:
                continue
            if generated >= most or self.clock.expired:
                return answers, False
            if path and holds(self.target, bits, values):
                # Nodes come in the order of f: later answers are not shorter.
                bound = g
                answers.append(_unroll(operators, path))
                if len(answers) == _MOST_ANSWERS:
                    break
                continue
            estimate = self._estimate(bits, values)
            if estimate is None or g >= bound:
                drained = drained and estimate is None
                continue
            numbers = estimate[1] if helpful and estimate[1] else everything
            for number, after in self._successors(numbers, bits, values):
                key = self._key(*after)
                if best.get(key, LONGEST + 1) <= g + 1:
                    continue
                best[key] = g + 1
                generated += 1
                self.states += 1
                if generated % 16 == 0 and self.clock.expired:
                    return answers, False
                ahead = self._estimate(*after)
                if ahead is not None:
                    h = ahead[0]
                    heappush(queue, (g + 1 + h, h, next(order), g + 1, after, (path, number)))
        return answers, drained and not helpful

    def _successors(
        self, numbers: Iterable[int], bits: int, values: Values
    ) -> Iterator[tuple[int, tuple[int, Values]]]:
        for number in numbers:
            after = execute(self.task, self.relaxation.operators[number], bits, values)
            if after is not None:
                yield number, after

    def _estimate(self, bits: int, values: Values) -> tuple[int, list[int]] | None:
        # Cached by bits alone, because the relaxation ignores numbers.
        estimate = self._estimates.get(bits, ())
        if estimate == ():
            estimate = self._estimates[bits] = self.relaxation.estimate(bits)
        assert estimate is None or len(estimate) == 2
        if estimate is not None and estimate[0] == 0 and not holds(self.target, bits, values):
            # Numeric or derived parts of the target do not hold yet; the estimate ignores them.
            return 1, []
        return estimate

    def _key_of(self, numeric: frozenset[str]) -> Callable[[int, Values], object]:
        # Numbers that no condition reads do not distinguish states.
        task = self.task
        if not numeric & task.fluent_functions:
            return lambda bits, _: bits

        def key(bits: int, values: Values) -> object:
            parts = [v for i, v in enumerate(values) if task.term(i).function in numeric]
            return bits, tuple(parts)

        return key


def _unroll(operators: list[Operator], path: object) -> Steps:
    steps: list[GroundAction] = []
    while path:
        assert isinstance(path, tuple)
        path, number = path
        steps.append(operators[number].action)
    return tuple(reversed(steps))
