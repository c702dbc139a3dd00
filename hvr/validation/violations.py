"""Explanations of violated conditions: the literals responsible, and the steps that caused them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import ContinuousChangeError, GroundingLimitError
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
    NumberTooLargeError,
    Or,
    Preference,
    Task,
    TypedName,
    substitute,
)
from hvr.pddl.compiler import Parts
from hvr.pddl.facts import bindings, match_row, necessary_literals
from hvr.pddl.formulas import functions_of, parts_of, walk
from hvr.pddl.state import Values, is_assigned_anew, rounded
from hvr.validation.report import StepRef, UnmetLiteral, UnmetLiterals, ValidationReport
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.happenings import TimedEvent

Blame = dict[Expression, bool]
"""Ground formulas that have the wrong value, with the required value."""

Binding = Mapping[str, str]

_MOST_INSTANCES = 10_000
_UNDECIDED = (ContinuousChangeError, GroundingLimitError, NumberTooLargeError)
_DEEPEST_RULE = 4


class StateChange(Value):
    """The changes of one step: the flipped bits, and the numbers before and after the step.

    `gradual` means that a process or durative action changed the numbers over time.
    """

    step: StepRef
    bits: tuple[int, ...]
    before: Values
    after: Values
    gradual: bool = False


class LastChanges:
    """For each bit and number, the event of a timed plan that changed it last.

    `ref` creates a reference to a step from its number and whether the event is the step's end.
    """

    def __init__(self, ref: Callable[[int, bool], StepRef]) -> None:
        self._ref = ref
        # Twice the step number, plus one for its end: a StepRef would take far more memory.
        self._bits: dict[int, int | StepRef] = {}
        self._numbers: dict[int, int | StepRef] = {}

    def note(self, event: TimedEvent, bits: Iterable[int], numbers: Iterable[int]) -> None:
        number = event.number
        by = event.ref if number is None else 2 * number + (event.end is not None)
        self.note_step(by, bits, numbers)

    def note_step(self, by: int | StepRef, bits: Iterable[int], numbers: Iterable[int]) -> None:
        for index in bits:
            self._bits[index] = by
        for index in numbers:
            self._numbers[index] = by

    def fork(self) -> LastChanges:
        copy = LastChanges(self._ref)
        copy._bits, copy._numbers = dict(self._bits), dict(self._numbers)
        return copy

    def of(
        self, bits: Iterable[int], numbers: Iterable[int]
    ) -> tuple[dict[int, StepRef], dict[int, StepRef]]:
        """Return the last change of each bit and number, by index; unchanged ones are omitted."""
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
) -> UnmetLiterals:
    """Return a smallest set of literals that keep a formula from having the value `wanted`.

    The literals are computed on first access.

    A conjunction contributes the literals of all its parts. A disjunction or `exists` contributes
    only the part with the fewest literals, preferably one that actions can repair. The result is
    empty if the formula has the value.

    `newest_first` contains the changes so far and may be iterated several times.
    """
    finder = _Finder(task, bits, values, newest_first)
    return UnmetLiterals(lambda: finder.all(formula, binding, wanted))


class _Finder:
    def __init__(
        self,
        task: Task,
        bits: int,
        values: Values,
        newest_first: Iterable[StateChange] | LastChanges,
    ) -> None:
        self._task = task
        self._values = values
        self._newest_first = newest_first
        self._blamer = _Blamer(task, bits, values)
        self._flips = _Flips(() if isinstance(newest_first, LastChanges) else newest_first)

    def all(self, formula: Expression, binding: Binding, wanted: bool) -> Iterable[UnmetLiteral]:
        try:
            return self._literals(self._blamer.blame(formula, binding, wanted), _DEEPEST_RULE)
        except _UNDECIDED:
            return ()

    def _causes(self, atom: Atom, wanted: bool, depth: int) -> Iterable[UnmetLiteral]:
        try:
            blame = self._blamer.rules(atom, wanted)
        except _UNDECIDED:
            return ()
        return self._literals({f: w for f, w in blame.items() if f != atom}, depth)

    def _literals(self, blame: Blame, depth: int) -> Iterator[UnmetLiteral]:
        task = self._task
        terms = {f: _terms(f) for f in blame if isinstance(f, Comparison)}
        changed, recount = self._changes(blame, terms)
        for formula, wanted in blame.items():
            because: Sequence[UnmetLiteral] = ()
            numbers: tuple[tuple[FunctionTerm, Fraction | None], ...] = ()
            step: StepRef | None = None
            if isinstance(formula, Atom):
                if formula.predicate in task.derived_predicates and depth:
                    because = UnmetLiterals(partial(self._causes, formula, wanted, depth - 1))
                if not task.is_static(formula.predicate):
                    step = changed.get(task.index(formula))
            elif isinstance(formula, Comparison):
                present = {term: task.number(term, self._values) for term in terms[formula]}
                numbers = tuple(
                    [(t, None if v is None else rounded(v)) for t, v in present.items()]
                )
                for term in terms[formula]:
                    if term.function in task.fluent_functions:
                        last_change = recount.get(task.number_index(term))
                        if last_change is not None and (step is None or _later(last_change, step)):
                            step = last_change
            fixed = is_fixed(task, formula)
            yield UnmetLiteral(formula, wanted, fixed, step, numbers, because)

    def _changes(
        self, blame: Blame, terms: Mapping[Comparison, Iterable[FunctionTerm]]
    ) -> tuple[dict[int, StepRef], dict[int, StepRef]]:
        task = self._task
        atoms = [f for f in blame if isinstance(f, Atom) and not task.is_static(f.predicate)]
        bits = dict.fromkeys([task.index(atom) for atom in atoms])
        fluents = [t for of in terms.values() for t in of if t.function in task.fluent_functions]
        numbers = dict.fromkeys([task.number_index(term) for term in fluents])
        if isinstance(self._newest_first, LastChanges):
            return self._newest_first.of(bits, numbers)
        return self._flips.of(bits), _latest(self._newest_first, numbers)


def _terms(comparison: Comparison) -> Iterable[FunctionTerm]:
    return dict.fromkeys([*functions_of(comparison.left), *functions_of(comparison.right)])


class _Flips:
    """The last flip of each bit. Past steps are read once, and only as far back as needed."""

    def __init__(self, newest_first: Iterable[StateChange]) -> None:
        self._left = iter(newest_first)
        self._by: dict[int, StepRef] = {}

    def of(self, bits: Iterable[int]) -> dict[int, StepRef]:
        missing = {index for index in bits if index not in self._by}
        while missing:
            change = next(self._left, None)
            if change is None:
                break
            for index in change.bits:
                self._by.setdefault(index, change.step)
            missing.difference_update(change.bits)
        return self._by


def _latest(newest_first: Iterable[StateChange], numbers: Iterable[int]) -> dict[int, StepRef]:
    missing = set(numbers)
    recount: dict[int, StepRef] = {}
    for change in newest_first if missing else ():
        if change.before is not change.after:
            for index in list(missing):
                old = change.before[index] if index < len(change.before) else None
                if index < len(change.after) and is_assigned_anew(change.after[index], old):
                    missing.discard(index)
                    recount[index] = change.step
            if not missing:
                break
    return recount


def with_step_locations(
    report: ValidationReport, step_at: Callable[[int], GroundAction], base: int
) -> ValidationReport:
    """Return a report in which steps that caused a failure have their locations in the plan file.

    `step_at` returns the located step with a 0-based index in the plan; `base` is the number of
    steps executed before the plan.
    """

    def placed(literal: UnmetLiteral) -> UnmetLiteral:
        step = literal.changed_by
        if step is not None and step.number is not None and step.number > base:
            step = step.replace(action=step_at(step.number - base))
        because = placed_all(literal.because)
        return literal.replace(changed_by=step, because=because)

    def placed_all(literals: Sequence[UnmetLiteral]) -> Sequence[UnmetLiteral]:
        return (
            UnmetLiterals(lambda: map(placed, literals))
            if isinstance(literals, UnmetLiterals)
            else literals
        )

    failures = [f.replace(literals=placed_all(f.literals)) for f in report.failures]
    return report.replace(failures=tuple(failures))


def _later(one: StepRef, two: StepRef) -> bool:
    return (one.time or 0, one.number or 0) > (two.time or 0, two.number or 0)


_Measure = tuple[bool, int]
"""Badness of a part: whether actions cannot repair it, and the number of its literals."""


class _Blamer:
    """Finds the literals that are responsible for a violation in one state.

    It uses branch and bound: a part worse than the best one so far is abandoned. Shared parts are
    evaluated once, because a rule for a derived atom may be queried for every pair of objects.
    """

    def __init__(self, task: Task, bits: int, values: Values) -> None:
        self.task = task
        self.bits = bits
        self.values = values
        # For each quantified part: its blame, or a lower bound of its badness.
        self._known: dict[tuple[object, ...], Blame | _Measure] = {}
        self._without_instances: dict[int, bool] = {}
        self._outer_literals: dict[int, list[tuple[Atom, bool]]] = {}
        self._parts = Parts()

    def blame(self, formula: Expression, binding: Binding, positive: bool) -> Blame:
        found = run_trampoline(self._blame(formula, binding, positive, None))
        assert found is not None
        return found

    def rules(self, atom: Atom, wanted: bool) -> Blame:
        parts: list[Blame] = []
        for rule in self.task.domain.derived:
            if rule.predicate != atom.predicate:
                continue
            head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
            binding = match_row(head, atom.args)
            if binding is not None:
                parts.append(self.blame(rule.body, binding, wanted))
        if not wanted:
            return _union(parts)
        return min(parts, key=self._badness, default={})

    def _blame(
        self, formula: Expression, binding: Binding, positive: bool, bound: _Measure | None
    ) -> Steps[Blame | None]:
        # None: worse than the bound.
        match formula:
            case Atom() | Equal() | Comparison():
                return self._literal(formula, binding, positive)
            case Preference():
                return {}
            case Not(operand):
                denied: Blame | None = yield self._blame(operand, binding, not positive, bound)
                return denied
            case And(operands) | Or(operands):
                parts = [(operand, positive) for operand in operands]
                all_ = isinstance(formula, And) == positive
            case Imply(left, right):
                parts = [(left, not positive), (right, positive)]
                all_ = not positive
            case Forall() | Exists():
                quantified: Blame | None = yield self._quantified(formula, binding, positive, bound)
                return quantified
            case _:
                raise TypeError(f"an effect is not a formula: {formula}")
        if all_:
            every: Blame | None = yield self._every(parts, binding, bound)
            return every
        best: Blame | None = None
        for operand, sign in parts:
            part: Blame | None = yield self._blame(operand, binding, sign, bound)
            if part is None:
                continue
            if not part:
                return {}
            measure = self._badness(part)
            if bound is None or measure < bound:
                best, bound = part, measure
            elif best is None and measure == bound:
                best = part
        if best is None and not parts:
            return {substitute(formula, binding): positive}
        return best

    def _every(
        self, parts: list[tuple[Expression, bool]], binding: Binding, bound: _Measure | None
    ) -> Steps[Blame | None]:
        found: list[Blame] = [{}] * len(parts)
        later: list[int] = []
        # Literals first: they are cheap and may already exceed the bound.
        for place, (part, sign) in enumerate(parts):
            if isinstance(part, Atom | Equal | Comparison):
                found[place] = self._literal(part, binding, sign)
            elif isinstance(part, Not) and isinstance(part.operand, Atom | Equal | Comparison):
                found[place] = self._literal(part.operand, binding, not sign)
            else:
                later.append(place)
        so_far = _union(found)
        measure = self._badness(so_far)
        for place in later:
            if bound is not None and measure > bound:
                return None
            part, sign = parts[place]
            blame: Blame | None = yield self._blame(part, binding, sign, bound)
            if blame is None:
                return None
            found[place] = blame
            so_far |= blame
            measure = measure[0] or self._badness(blame)[0], len(so_far)
        return None if bound is not None and measure > bound else _union(found)

    def _literal(
        self, formula: Atom | Equal | Comparison, binding: Binding, positive: bool
    ) -> Blame:
        if isinstance(formula, Atom):
            row = tuple([binding.get(a, a) for a in formula.args])
            if self._is_true(formula.predicate, row) == positive:
                return {}
            return {Atom(formula.predicate, row, formula.location): positive}
        ground = substitute(formula, binding)
        condition = self.task.condition(ground if positive else Not(ground))
        return {} if condition.holds(self.bits, self.values) else {ground: positive}

    def _is_true(self, predicate: str, row: tuple[str, ...]) -> bool:
        if self.task.is_static(predicate):
            return row in self.task.static_facts.relation(predicate)
        return bool(self.bits >> self.task.index_of(predicate, row) & 1)

    def _quantified(
        self, formula: Forall | Exists, binding: Binding, positive: bool, bound: _Measure | None
    ) -> Steps[Blame | None]:
        if bound is not None and self._may_lack_instances(formula):
            # Blaming the whole quantifier may be better than blaming its parts: the bound is not
            # valid.
            bound = None
        exists = isinstance(formula, Exists) == positive
        if bound is not None and not bound[0] and exists and self._impossible(formula, binding):
            return None
        key = self._parts.key(formula, binding, positive)
        known = self._known.get(key)
        if isinstance(known, dict):
            return known
        if known is not None and bound is not None and bound <= known:
            return None
        found: Blame | None = yield self._instances(formula, binding, positive, bound)
        if found is not None:
            self._known[key] = found
        elif bound is not None:
            self._known[key] = bound
        return found

    def _instances(
        self, formula: Forall | Exists, binding: Binding, positive: bool, bound: _Measure | None
    ) -> Steps[Blame | None]:
        variables, body = formula.variables, formula.body
        if isinstance(formula, Forall) == positive:
            every: Blame = {}
            fixed = False
            for instance in self.task.instances(variables, body, not positive, binding):
                part: Blame | None = yield self._blame(body, instance, positive, bound)
                if part is None:
                    return None
                every |= part
                fixed = fixed or self._badness(part)[0]
                if bound is not None and (fixed, len(every)) > bound:
                    return None
            return every
        instances = self.task.instances(variables, body, positive, binding)
        best, any_ = yield self._best_instance(body, instances, positive, bound)
        if not any_ or (best is not None and formula_only(best)):
            # No instance is possible: show what the best impossible one lacks.
            instances = self._unfiltered(variables, binding)
            best, any_ = yield self._best_instance(body, instances, positive, bound)
        return best if any_ else {substitute(formula, binding): positive}

    def _best_instance(
        self, body: Expression, instances: Iterable[Binding], positive: bool, bound: _Measure | None
    ) -> Steps[tuple[Blame | None, bool]]:
        # Among equally good instances, the one with more true atoms wins: "The egg is in the
        # fridge, which is closed" says more than "the egg is not on the chair".
        best: Blame | None = None
        support = 0
        any_ = False
        for binding in instances:
            any_ = True
            part: Blame | None = yield self._blame(body, binding, positive, bound)
            if part is None:
                continue
            if not part:
                return part, True
            measure = self._badness(part)
            if bound is not None and measure > bound:
                continue
            held = self._support(body, binding) if positive else 0
            if best is None or bound is None or measure < bound or held > support:
                best, bound, support = part, measure, held
        return best, any_

    def _impossible(self, formula: Forall | Exists, binding: Binding) -> bool:
        literals = self._outer_literals.get(id(formula))
        if literals is None:
            inner = {variable.name for variable in formula.variables}
            literals = self._outer_literals[id(formula)] = [
                (literal, sign)
                for literal, sign in necessary_literals(formula.body, isinstance(formula, Exists))
                if isinstance(literal, Atom)
                and self.task.is_static(literal.predicate)
                and inner.isdisjoint(literal.args)
            ]
        return any(self._literal(literal, binding, sign) for literal, sign in literals)

    def _may_lack_instances(self, formula: Expression) -> bool:
        known = self._without_instances
        if id(formula) not in known:
            # Innermost first: each part needs the answers for its own parts.
            for part in reversed([*walk(formula)]):
                variables = part.variables if isinstance(part, Forall | Exists) else ()
                known[id(part)] = any(known[id(inner)] for inner in parts_of(part)) or any(
                    not self.task.members(variable.types) for variable in variables
                )
        return known[id(formula)]

    def _support(self, formula: Expression, binding: Binding) -> int:
        count = 0
        stack = [formula]
        while stack:
            match stack.pop():
                case Atom(predicate, args) if not self.task.is_static(predicate):
                    count += self._is_true(predicate, tuple([binding.get(a, a) for a in args]))
                case And(operands) | Or(operands):
                    stack += operands
                case _:
                    pass
        return count

    def _badness(self, part: Blame) -> tuple[bool, int]:
        return any(is_fixed(self.task, formula) for formula in part), len(part)

    def _unfiltered(
        self, variables: tuple[TypedName, ...], binding: Binding
    ) -> Iterator[dict[str, str]]:
        task = self.task
        every = bindings(variables, (), binding, task.static_facts.relation, task.members)
        return islice(every, _MOST_INSTANCES)


def _union(parts: Iterable[Blame]) -> Blame:
    result: Blame = {}
    for part in parts:
        result |= part
    return result


def formula_only(part: Blame) -> bool:
    return any(isinstance(f, Exists | Forall) for f in part)


def is_fixed(task: Task, formula: Expression) -> bool:
    """Return whether no action can change the value of a ground literal."""
    if isinstance(formula, Comparison):
        terms = [*functions_of(formula.left), *functions_of(formula.right)]
        return all(term.function not in task.fluent_functions for term in terms)
    return not isinstance(formula, Atom) or task.is_static(formula.predicate)
