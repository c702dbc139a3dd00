"""Happenings of timed plans: their order, and interference between steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush, merge
from itertools import combinations, product, repeat
from math import lcm
from typing import TypeVar

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    TRUE,
    Atom,
    Comparison,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    GroundAction,
    Misfit,
    Not,
    NumericExpression,
    State,
    Task,
    TimedAction,
    TypedName,
    When,
)
from hvr.pddl.compiler import Binding, value
from hvr.pddl.durative import DurativeOperator, ground_durative
from hvr.pddl.facts import match_row
from hvr.pddl.formulas import And, NumericEffect, functions_of, parts_of
from hvr.pddl.state import Operator, Rational, Values, exact
from hvr.pddl.task import binding_of
from hvr.validation.report import StepRef
from hvr.values import Value

# Calendar -----------------------------------------------------------------------------------------
# The events of a timed plan in temporal order, created when they are due. A plan may have hundreds
# of thousands of steps, but few run at any time, so only the pending ends are kept.

_MOST_UNIT_BITS = 4096
"""Times with a longer common denominator are compared as fractions."""


_T = TypeVar("_T")


def with_next(items: Iterable[_T]) -> Iterator[tuple[_T, bool]]:
    """Yield each item, and whether another item follows it."""
    waiting: list[_T] = []
    for item in items:
        if waiting:
            yield waiting.pop(), True
        waiting.append(item)
    for item in waiting:
        yield item, False


class TimedEvent(Value):
    """A timed start, end, instantaneous step or timed initial literal.

    Attributes:
        number: 1-based number of the step, or None if no step is the cause.
        start, end: The durative action that starts or ends, if any.
    """

    time: Fraction
    number: int | None
    operator: Operator
    binding: Binding
    precondition: Expression
    effect: Expression
    start: DurativeOperator | None = None
    end: DurativeOperator | None = None
    action: GroundAction | None = None
    duration: Rational | None = None

    @property
    def ref(self) -> StepRef:
        return StepRef(self.number, self.action, self.time)


_Entry = tuple[Rational, int, TimedEvent]
"""The time in ticks, the rank among events of that time, the event."""


_End = tuple[Rational, int, int, TimedAction, DurativeOperator]
"""The time in ticks, the rank, and the number, step and operator of an end that is not yet due."""


class Calendar:
    """The events of a plan and of the timed initial literals, in order of time.

    Args:
        unfit: The 1-based numbers of steps to omit.
        until: The time of an additional final event without effects, if any.
    """

    def __init__(
        self,
        task: Task,
        plan: Sequence[TimedAction],
        epsilon: Fraction,
        unfit: Collection[int] = (),
        until: Fraction | None = None,
    ) -> None:
        self._task = task
        self._plan = plan
        self._epsilon = epsilon
        self._unfit = unfit
        self._until = until
        self.events = 0
        self._rising = True
        self._backwards = False
        self._unit = self._look()

    def _look(self) -> int | None:
        units = {self._epsilon.denominator}
        units.update(timed.time.as_integer_ratio()[1] for timed in self._task.problem.timed_init)
        if self._until is not None:
            units.add(self._until.denominator)
        before = Fraction(0)
        for _, step in self._fit(self._plan):
            units.add(step.start.denominator)
            if step.duration is not None:
                units.add(step.duration.denominator)
                self._backwards |= step.duration < 0
            self._rising &= before <= step.start
            before = step.start
            self.events += 1 if step.action.name in self._task.domain.actions else 2
        # As multiples of one unit, times are integers, which compare far faster than fractions.
        unit = lcm(*units)
        return unit if unit.bit_length() <= _MOST_UNIT_BITS else None

    def happenings(self) -> Iterator[list[TimedEvent]]:
        """Yield the happenings, each as a list of events in order of time.

        A happening contains the events within epsilon of its first event. If distances were
        measured from event to event, a chain of close events would become one happening of any
        length.
        """
        width = self._ticks(self._epsilon)
        together: list[TimedEvent] = []
        end: Rational = -1
        for tick, _, event in self._entries():
            if not together or tick > end:
                if together:
                    yield together
                together = []
                end = tick + width
            together.append(event)
        if together:
            yield together

    def _ticks(self, time: Fraction) -> Rational:
        if self._unit is None:
            return time
        return time.numerator * (self._unit // time.denominator)

    def _fit(self, plan: Iterable[TimedAction]) -> Iterator[tuple[int, TimedAction]]:
        return (item for item in enumerate(plan, 1) if item[0] not in self._unfit)

    def _entries(self) -> Iterator[_Entry]:
        if self._backwards:
            # Some step ends before it starts.
            steps = iter(sorted(self._paired(self._fit(self._plan)), key=lambda e: e[:2]))
        elif self._rising:
            steps = self._starts_and_ends(self._fit(self._plan))
        else:
            ticks = [self._ticks(step.start) for step in self._plan]
            order = sorted(range(len(ticks)), key=ticks.__getitem__)
            del ticks
            fit = ((i + 1, self._plan[i]) for i in order if i + 1 not in self._unfit)
            steps = self._starts_and_ends(fit)
        # Ranks are unique at each time, so the events themselves are never compared.
        return merge(steps, self._literals(), self._last())

    def _paired(self, steps: Iterable[tuple[int, TimedAction]]) -> Iterator[_Entry]:
        for number, step in steps:
            start, end = self._events_of(number, step)
            yield start
            if end is not None:
                yield self._end(end)

    def _starts_and_ends(self, steps: Iterable[tuple[int, TimedAction]]) -> Iterator[_Entry]:
        pending: list[_End] = []
        for number, step in steps:
            start, end = self._events_of(number, step)
            while pending and pending[0][:2] < start[:2]:
                yield self._end(heappop(pending))
            yield start
            if end is not None:
                heappush(pending, end)
        while pending:
            yield self._end(heappop(pending))

    def _events_of(self, number: int, step: TimedAction) -> tuple[_Entry, _End | None]:
        task, action = self._task, step.action
        tick, place = self._ticks(step.start), 2 * number
        schema = task.domain.actions.get(action.name)
        if schema is not None:
            operator = task.try_ground(action)
            assert not isinstance(operator, Misfit)
            binding = binding_of(schema, action)
            formulas = schema.precondition, schema.effect
            event = TimedEvent(step.start, number, operator, binding, *formulas, action=action)
            return (tick, place, event), None
        assert step.duration is not None
        duration = exact(step.duration)
        durative = ground_durative(task, action, duration)
        template = durative.template
        event = TimedEvent(
            step.start,
            number,
            durative.start,
            durative.binding,
            template.conditions["at start"],
            template.effects["at start"],
            durative,
            None,
            action,
            duration,
        )
        last = self._ticks(step.start + step.duration)
        return (tick, place, event), (last, place + 1, number, step, durative)

    def _end(self, end: _End) -> _Entry:
        tick, place, number, step, durative = end
        assert step.duration is not None
        template = durative.template
        event = TimedEvent(
            step.start + step.duration,
            number,
            durative.end,
            durative.binding,
            template.conditions["at end"],
            template.effects["at end"],
            None,
            durative,
            step.action,
            exact(step.duration),
        )
        return tick, place, event

    def _literals(self) -> Iterator[_Entry]:
        timed = self._task.problem.timed_init
        first = 2 * len(self._plan) + 2
        for place in sorted(range(len(timed)), key=lambda place: timed[place].time):
            effect: Expression = timed[place].effect
            operator = self._task.operator(GroundAction("at"), {}, TRUE, effect)
            time = Fraction(timed[place].time)
            event = TimedEvent(time, None, operator, {}, TRUE, effect)
            yield self._ticks(time), first + place, event

    def _last(self) -> Iterator[_Entry]:
        if self._until is None:
            return
        nothing = self._task.operator(GroundAction("at"), {}, TRUE, TRUE)
        place = 2 * len(self._plan) + 2 + len(self._task.problem.timed_init)
        event = TimedEvent(self._until, None, nothing, {}, TRUE, TRUE)
        yield self._ticks(self._until), place, event


# Interference -------------------------------------------------------------------------------------
# Which steps may not be simultaneous: PDDL 2.1's rule of no moving targets.
#
# Two steps interfere if one changes an atom or number that the other reads, or if both change one,
# unless both add it, both delete it, or both only increase or decrease it (Fox & Long 2003,
# section 8.2). Every atom in a condition counts as read, whether or not it matters.


class StepParts(Value):
    """The conditions and effects of a step, from which `access` derives its reads and writes.

    Attributes:
        effect: The effect; only its parts with satisfied conditions count.
        operators: The compiled step, which gives the writes.
        numbers: Further numbers that the step reads, such as the bounds of its duration.
        further: Further conditions and effects, each with the values of its variables.
    """

    binding: Binding
    precondition: Expression
    effect: Expression
    operators: tuple[Operator, ...]
    numbers: tuple[NumericExpression, ...] = ()
    further: tuple[tuple[Expression, Expression, Binding], ...] = ()


class Access:
    """The reads and writes of one step: masks of atoms, and sets of indexes of numbers."""

    __slots__ = ("added", "assigned", "deleted", "increased", "numbers_read", "read")

    def __init__(self) -> None:
        self.read = 0
        self.added = 0
        self.deleted = 0
        self.numbers_read: set[int] = set()
        self.increased: set[int] = set()
        self.assigned: set[int] = set()


def access(state: State, step: StepParts) -> Access:
    bits, values = state.bits, state.values
    result = Access()
    # Reads come from the source: compiled conditions have lost the literals that cannot matter,
    # but the rule is about the written ones.
    reader = _Reader(state.task, result)
    reader.formula(step.precondition, step.binding)
    reader.effect(step.effect, step.binding, bits, values)
    for number in step.numbers:
        reader.number(number, step.binding)
    for condition, effect, binding in step.further:
        reader.formula(condition, binding)
        reader.effect(effect, binding, bits, values)
    for operator in step.operators:
        result.added |= operator.add
        result.deleted |= operator.delete
        for guard, add, delete in operator.conditional:
            if guard.holds(bits, values):
                result.added |= add
                result.deleted |= delete
        for guard, (symbol, index, _) in operator.numeric:
            if guard.holds(bits, values):
                additive = symbol in ("increase", "decrease")
                (result.increased if additive else result.assigned).add(index)
    return result


def interferences(task: Task, steps: list[Access]) -> Iterator[tuple[int, int, str]]:
    """Yield each pair of interfering steps: their indexes, and the contested atom or fluent."""
    for (i, one), (j, two) in combinations(enumerate(steps), 2):
        # Two adds, two deletes or two increases commute.
        atoms = (
            one.read & (two.added | two.deleted)
            | two.read & (one.added | one.deleted)
            | one.added & two.deleted
            | one.deleted & two.added
        )
        if atoms:
            yield i, j, str(task.fluent((atoms & -atoms).bit_length() - 1))
            continue
        written_one, written_two = one.increased | one.assigned, two.increased | two.assigned
        numbers = (
            (one.numbers_read & written_two)
            | (two.numbers_read & written_one)
            | (one.assigned & written_two)
            | (two.assigned & written_one)
        )
        if numbers:
            yield i, j, str(task.term(min(numbers)))


class _Reader:
    def __init__(self, task: Task, into: Access) -> None:
        self.task = task
        self.into = into
        self._rules: set[Atom] = set()

    def formula(self, formula: Expression, binding: Binding) -> None:
        task = self.task
        # An explicit stack of iterators, because formulas may be nested deeply.
        stack: list[Iterator[tuple[Expression, Binding]]] = [iter([(formula, binding)])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            part, own = item
            match part:
                case Atom(predicate, args):
                    if predicate not in task.fluent_predicates:
                        continue
                    row = tuple([own[a] if a[0] == "?" else a for a in args])
                    if predicate in task.derived_predicates:
                        self._derived(Atom(predicate, row))
                    else:
                        self.into.read |= 1 << task.index_of(predicate, row)
                case Comparison(_, left, right):
                    self.number(left, own)
                    self.number(right, own)
                case Forall(variables, body) | Exists(variables, body):
                    stack.append(zip(repeat(body), self._instances(variables, own)))
                case _:
                    stack.append(zip(parts_of(part), repeat(own)))

    def _instances(self, variables: tuple[TypedName, ...], binding: Binding) -> Iterator[Binding]:
        names = [v.name for v in variables]
        for row in product(*(self.task.members(v.types) for v in variables)):
            yield {**binding, **dict(zip(names, row, strict=True))}

    def effect(self, effect: Expression, binding: Binding, bits: int, values: Values) -> None:
        run_trampoline(self._effect(effect, binding, bits, values))

    def _effect(
        self, effect: Expression, binding: Binding, bits: int, values: Values
    ) -> Steps[None]:
        match effect:
            case When(condition, body):
                # Read in either case: flattened, the action has the condition or its negation
                # among its preconditions (Fox & Long 2003, definition 7).
                self.formula(condition, binding)
                if self.task.condition(condition, binding).holds(bits, values):
                    yield self._effect(body, binding, bits, values)
            case Forall(variables, body):
                for instance in self.task.instances(variables, And(()), True, binding):
                    yield self._effect(body, instance, bits, values)
            case And(operands):
                for operand in operands:
                    if not isinstance(operand, Atom | Not):
                        yield self._effect(operand, binding, bits, values)
            case NumericEffect(_, _, amount):
                self.number(amount, binding)
            case _:
                pass

    def number(self, expression: NumericExpression, binding: Binding) -> None:
        for term in functions_of(expression):
            if term.function in self.task.fluent_functions:
                args = tuple([value(a, binding) for a in term.args])
                ground = FunctionTerm(term.function, args)
                self.into.numbers_read.add(self.task.number_index(ground))

    def _derived(self, atom: Atom) -> None:
        # No action changes a derived atom directly: reading it means reading its rules.
        if atom in self._rules:
            return
        self._rules.add(atom)
        for rule in self.task.domain.derived:
            if rule.predicate == atom.predicate:
                head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
                binding = match_row(head, atom.args)
                if binding is not None:
                    self.formula(rule.body, binding)
