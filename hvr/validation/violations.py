"""The literals to blame when a condition does not hold, and who made them so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from hvr.nested import Steps, finish
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    GroundAction,
    Imply,
    Not,
    Or,
    Preference,
    Task,
    TypedName,
    substitute,
)
from hvr.pddl.facts import bindings, match_row
from hvr.pddl.model import functions_of
from hvr.pddl.numeric import Values, is_another, rounded
from hvr.validation.report import StepRef, UnmetLiteral, ValidationReport
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.calendar import TimedEvent

Blame = dict[Expression, bool]
"""Ground formulas that have the wrong value, with the value that is wanted."""

Binding = Mapping[str, str]

_MOST_INSTANCES = 10_000
_DEEPEST_RULE = 4


class StateChange(Value):
    """What one step did: the bits that it flipped, the numbers before and after it.

    `gradual`: not at once, but while a process or a durative action went on.
    """

    step: StepRef
    bits: tuple[int, ...]
    before: Values
    after: Values
    gradual: bool = False


class LastChanges:
    """Which event of a timed plan last changed each bit and number.

    Args:
        ref: makes a reference to a step of the plan, by its number and whether it is its end.
    """

    def __init__(self, ref: Callable[[int, bool], StepRef]) -> None:
        self._ref = ref
        # Of a step twice its number, and one more for its end: a reference would be far larger.
        self._bits: dict[int, int | StepRef] = {}
        self._numbers: dict[int, int | StepRef] = {}

    def note(self, event: TimedEvent, bits: Iterable[int], numbers: Iterable[int]) -> None:
        """Note what an event has changed."""
        number = event.number
        by = event.ref if number is None else 2 * number + (event.end is not None)
        self.note_step(by, bits, numbers)

    def note_step(self, by: int | StepRef, bits: Iterable[int], numbers: Iterable[int]) -> None:
        """Note what a step, a process or an event of the world has changed."""
        for index in bits:
            self._bits[index] = by
        for index in numbers:
            self._numbers[index] = by

    def fork(self) -> LastChanges:
        """Return a copy that can be noted in without changing this."""
        copy = LastChanges(self._ref)
        copy._bits, copy._numbers = dict(self._bits), dict(self._numbers)
        return copy

    def of(
        self, bits: Iterable[int], numbers: Iterable[int]
    ) -> tuple[dict[int, StepRef], dict[int, StepRef]]:
        """Return which steps last changed some bits and numbers, those that any has changed."""
        changed = {i: self._read(self._bits[i]) for i in bits if i in self._bits}
        recount = {i: self._read(self._numbers[i]) for i in numbers if i in self._numbers}
        return changed, recount

    def _read(self, by: int | StepRef) -> StepRef:
        return self._ref(by // 2, by % 2 == 1) if isinstance(by, int) else by


def unmet_literals(
    task: Task,
    bits: int,
    values: Values,
    formula: Expression,
    binding: Binding,
    newest_first: Iterable[StateChange] | LastChanges,
    *,
    wanted: bool = True,
) -> tuple[UnmetLiteral, ...]:
    """Return the fewest literals that keep a formula from holding (or failing), and their past.

    A conjunction gives those of all its parts, a disjunction or `exists` those of the part with
    fewest, of a part that actions can mend if there is one. Empty when the formula holds.

    Args:
        task: the task.
        bits, values: the state.
        formula: the formula, whose free variables `binding` binds.
        newest_first: what has been done, to find who gave the literals their values.
        wanted: the value that the formula should have.

    Raises:
        GroundingLimitError: a quantifier has too many instances.
    """
    blame = _Blamer(task, bits, values).blame(formula, binding, wanted)
    literals = [_literal(task, bits, values, f, w, _DEEPEST_RULE) for f, w in blame.items()]
    return _with_history(task, literals, newest_first)


def _literal(
    task: Task, bits: int, values: Values, formula: Expression, wanted: bool, depth: int
) -> UnmetLiteral:
    because: tuple[UnmetLiteral, ...] = ()
    numbers: tuple[tuple[FunctionTerm, Fraction | None], ...] = ()
    if isinstance(formula, Atom) and formula.predicate in task.derived_predicates and depth:
        blamer = _Blamer(task, bits, values)
        because = tuple(
            _literal(task, bits, values, f, w, depth - 1)
            for f, w in blamer.rules(formula, wanted).items()
            if f != formula
        )
    if isinstance(formula, Comparison):
        terms = dict.fromkeys([*functions_of(formula.left), *functions_of(formula.right)])
        present = {term: task.number(term, values) for term in terms}
        numbers = tuple([(t, None if v is None else rounded(v)) for t, v in present.items()])
    fixed = is_fixed(task, formula)
    return UnmetLiteral(formula, wanted, fixed, None, numbers, because)


def _with_history(
    task: Task,
    literals: list[UnmetLiteral],
    newest_first: Iterable[StateChange] | LastChanges,
) -> tuple[UnmetLiteral, ...]:
    """Fill in who changed the literals and those that explain them."""
    bits: dict[int, None] = {}
    numbers: dict[int, None] = {}
    for literal in _all(literals):
        if literal.fixed:
            continue
        if isinstance(literal.formula, Atom):
            bits[task.index(literal.formula)] = None
        for term, _ in literal.numbers:
            if term.function in task.fluent_functions:
                numbers[task.number_index(term)] = None
    if isinstance(newest_first, LastChanges):
        changed, recount = newest_first.of(bits, numbers)
    else:
        changed, recount = _latest(newest_first, bits, numbers)

    def complete(literal: UnmetLiteral) -> UnmetLiteral:
        because = tuple(complete(inner) for inner in literal.because)
        step: StepRef | None = None
        if isinstance(literal.formula, Atom) and not literal.fixed:
            step = changed.get(task.index(literal.formula))
        for term, _ in literal.numbers:
            if term.function in task.fluent_functions:
                last_change = recount.get(task.number_index(term))
                if last_change is not None and (step is None or _later(last_change, step)):
                    step = last_change
        return UnmetLiteral(
            literal.formula, literal.wanted, literal.fixed, step, literal.numbers, because
        )

    return tuple(complete(literal) for literal in literals)


def _latest(
    newest_first: Iterable[StateChange], bits: dict[int, None], numbers: dict[int, None]
) -> tuple[dict[int, StepRef], dict[int, StepRef]]:
    """Return which steps last changed some bits and numbers."""
    changed: dict[int, StepRef] = {}
    recount: dict[int, StepRef] = {}
    for change in newest_first:
        if not bits and not numbers:
            break
        for index in change.bits:
            if index in bits:
                del bits[index]
                changed[index] = change.step
        if numbers and change.before is not change.after:
            for index in list(numbers):
                old = change.before[index] if index < len(change.before) else None
                if index < len(change.after) and is_another(change.after[index], old):
                    del numbers[index]
                    recount[index] = change.step
    return changed, recount


def with_steps(
    report: ValidationReport, step_at: Callable[[int], GroundAction], base: int
) -> ValidationReport:
    """Return a report in which the steps to blame know where they were read.

    Args:
        report: the report.
        step_at: reads a step of the plan by its number, counted from 1.
        base: how many steps were executed before the plan.
    """

    def placed(literal: UnmetLiteral) -> UnmetLiteral:
        step = literal.changed_by
        if step is not None and step.number is not None and step.number > base:
            step = step.replace(action=step_at(step.number - base))
        because = tuple(map(placed, literal.because))
        return literal.replace(changed_by=step, because=because)

    return report.replace(
        failures=tuple(
            [
                failure.replace(literals=tuple(map(placed, failure.literals)))
                for failure in report.failures
            ]
        )
    )


def _all(literals: Iterable[UnmetLiteral]) -> Iterator[UnmetLiteral]:
    for literal in literals:
        yield literal
        yield from _all(literal.because)


def _later(one: StepRef, two: StepRef) -> bool:
    return (one.time or 0, one.number or 0) > (two.time or 0, two.number or 0)


class _Blamer:
    def __init__(self, task: Task, bits: int, values: Values) -> None:
        self.task = task
        self.bits = bits
        self.values = values

    def blame(self, formula: Expression, binding: Binding, positive: bool) -> Blame:
        return finish(self._blame(formula, binding, positive))

    def _blame(self, formula: Expression, binding: Binding, positive: bool) -> Steps[Blame]:
        match formula:
            case Atom() | Equal() | Comparison():
                ground = substitute(formula, binding)
                return {} if self._has_value(ground, positive) else {ground: positive}
            case Preference():
                return {}
            case Not(operand):
                blame: Blame = yield self._blame(operand, binding, not positive)
                return blame
            case And(operands) | Or(operands):
                parts = [(operand, positive) for operand in operands]
                all_ = isinstance(formula, And) == positive
            case Imply(left, right):
                parts = [(left, not positive), (right, positive)]
                all_ = not positive
            case Forall(_, body) | Exists(_, body):
                quantified: Blame = yield self._quantified(formula, body, binding, positive)
                return quantified
            case _:
                raise TypeError(f"an effect is not a formula: {formula}")
        found: list[Blame] = []
        for operand, sign in parts:
            part = yield self._blame(operand, binding, sign)
            if not part and not all_:
                return {}
            found.append(part)
        if all_:
            return self._all(found)
        best = min(found, key=self._badness, default=None)
        return {substitute(formula, binding): positive} if best is None else best

    def _quantified(
        self, formula: Forall | Exists, body: Expression, binding: Binding, positive: bool
    ) -> Steps[Blame]:
        variables = formula.variables
        if isinstance(formula, Forall) == positive:
            every: list[Blame] = []
            for instance in self.task.instances(variables, body, not positive, binding):
                every.append((yield self._blame(body, instance, positive)))
            return self._all(every)
        instances = self.task.instances(variables, body, positive, binding)
        best = yield self._best_instance(body, instances, positive)
        if best is None or formula_only(best):
            # No instance is possible: show what the best impossible one lacks.
            instances = self._unfiltered(variables, binding)
            best = yield self._best_instance(body, instances, positive)
        return {substitute(formula, binding): positive} if best is None else best

    def rules(self, atom: Atom, wanted: bool) -> Blame:
        """Blame the bodies of the rules of a derived atom: the best one, or all that hold."""
        parts: list[Blame] = []
        for rule in self.task.domain.derived:
            if rule.predicate != atom.predicate:
                continue
            head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
            binding = match_row(head, atom.args)
            if binding is not None:
                parts.append(self.blame(rule.body, binding, wanted))
        if not wanted:
            return self._all(parts)
        return min(parts, key=self._badness, default={})

    def _has_value(self, ground: Expression, wanted: bool) -> bool:
        condition = self.task.condition(ground if wanted else Not(ground))
        return condition.holds(self.bits, self.values)

    def _all(self, parts: Iterable[Blame]) -> Blame:
        result: Blame = {}
        for part in parts:
            result |= part
        return result

    def _best_instance(
        self, body: Expression, instances: Iterable[Binding], positive: bool
    ) -> Steps[Blame | None]:
        """Return the best instance of a quantifier; of equally good ones that of which more is
        true.

        "The egg is in the fridge, which is closed" says more than "the egg is not on the chair".
        """
        best: Blame | None = None
        badness: tuple[bool, int] = (True, 0)
        support = 0
        for binding in instances:
            part: Blame = yield self._blame(body, binding, positive)
            if not part:
                return part
            measure = self._badness(part)
            if best is not None and measure > badness:
                continue
            held = self._support(body, binding) if positive else 0
            if best is None or measure < badness or held > support:
                best, badness, support = part, measure, held
        return best

    def _support(self, formula: Expression, binding: Binding) -> int:
        """Return how many atoms of a formula that can change are true."""
        count = 0
        stack = [formula]
        while stack:
            match stack.pop():
                case Atom() as atom if not self.task.is_static(atom.predicate):
                    count += self._has_value(substitute(atom, binding), True)
                case And(operands) | Or(operands):
                    stack += operands
                case _:
                    pass
        return count

    def _badness(self, part: Blame) -> tuple[bool, int]:
        """Order parts: those that actions can mend first, then those with fewest literals."""
        return any(is_fixed(self.task, formula) for formula in part), len(part)

    def _unfiltered(
        self, variables: tuple[TypedName, ...], binding: Binding
    ) -> Iterator[dict[str, str]]:
        task = self.task
        every = bindings(variables, (), binding, task.static_facts.relation, task.members)
        return islice(every, _MOST_INSTANCES)


def formula_only(part: Blame) -> bool:
    """Say whether the blame falls on a quantified formula as a whole."""
    return any(isinstance(f, Exists | Forall) for f in part)


def is_fixed(task: Task, formula: Expression) -> bool:
    """Say whether no action can change the value of a ground literal."""
    if isinstance(formula, Comparison):
        terms = [*functions_of(formula.left), *functions_of(formula.right)]
        return all(term.function not in task.fluent_functions for term in terms)
    return not isinstance(formula, Atom) or task.is_static(formula.predicate)
