"""Repair of invalid plans: inserted steps, and changes of single steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice

from hvr.base.printable import short
from hvr.errors import HvrError
from hvr.pddl import Atom, Expression, GroundAction, GroundingLimitError, Misfit, Step, TimedAction
from hvr.pddl.durative import ground_durative
from hvr.pddl.facts import bindings, match_row, necessary_literals
from hvr.pddl.formulas import And, Comparison, ContinuousEffect, Equal, NumericEffect, Timed, walk
from hvr.pddl.model import ActionSchema, DurativeActionSchema
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import FALSE, Conjunction, evaluate
from hvr.validation.relaxation import Deadline
from hvr.validation.report import Failure, FailureKind, Repair, UnmetLiteral, ValidationReport
from hvr.validation.search import search
from hvr.validation.sequences import action_of, sequence_order
from hvr.validation.validator import Validator, with_times

# Insertions ---------------------------------------------------------------------------------------
# Steps that establish what the first failing step or the goal lacks (`search.py`). If they do not
# make the plan valid, and for timed plans, changes of single steps are tried (below).

_MISFITS = (
    FailureKind.UNKNOWN_ACTION,
    FailureKind.UNKNOWN_OBJECT,
    FailureKind.WRONG_ARITY,
    FailureKind.WRONG_TYPE,
)
_NAMED = 3


def find_suggestions(
    validator: Validator, plan: Sequence[Step], report: ValidationReport, *, seconds: float = 5.0
) -> tuple[Repair | None, str]:
    """Search for a repair of a plan: steps to insert, or a change of one step.

    Changes are tried in timed plans, and in other plans if inserting steps does not make them
    valid. See `find_repair` for the result.
    """
    clock = Deadline(seconds)
    repair, note = find_repair(validator, plan, report, seconds=seconds)
    failure = report.failure
    if failure is None or failure.kind in _MISFITS or (repair is not None and repair.completes):
        return repair, note
    order = sequence_order(validator.task, plan, validator.epsilon)
    if order is None:
        change = edit_timed(validator, with_times(plan), failure, clock)
        note = "found no change of a single step that makes the plan valid"
    else:
        change = edit_sequence(validator, [action_of(plan[i]) for i in order], failure, clock)
    return change or repair, "" if change or repair else note


def find_repair(
    validator: Validator, plan: Sequence[Step], report: ValidationReport, *, seconds: float = 5.0
) -> tuple[Repair | None, str]:
    """Search for steps to insert before the first failing step of a sequence, or at its end.

    The shortest insertion found is returned; among equally short ones, an insertion that makes the
    whole plan valid is preferred. If none was found, the second result is the reason.
    """
    failure = report.failure
    if failure is None:
        return None, report.reason or "the plan is valid"
    if failure.kind in _MISFITS:
        return None, _misfit(failure)
    order = sequence_order(validator.task, plan, validator.epsilon)
    if order is None:
        return None, "steps can only be inserted into sequences of instantaneous actions"
    if failure.kind not in (FailureKind.PRECONDITION, FailureKind.GOAL):
        return None, "inserted steps can only repair violated preconditions and missed goals"
    steps = [action_of(plan[i]) for i in order]
    try:
        return _Advice(validator, steps, failure).find(Deadline(seconds))
    except GroundingLimitError as error:
        return None, str(error)


class _Advice:
    def __init__(self, validator: Validator, steps: list[GroundAction], failure: Failure) -> None:
        base = validator.step_number
        self.failure = failure
        self.place = len(steps) if failure.step is None else failure.step - 1 - base
        self.here = validator.fork()
        for action in steps[: self.place]:
            self.here.apply(action)
        self.rest = steps[self.place :]

    def find(self, clock: Deadline) -> tuple[Repair | None, str]:
        target = self._target()
        if target is FALSE:
            return None, _never(self.failure.literals)
        result = search(self.here.state, target, clock)
        if result.hopeless:
            return None, _hopeless(self.failure)
        usable: Repair | None = None
        for answer in result.answers:
            repair = self._judged(answer)
            if repair is not None and repair.completes:
                return repair, ""
            usable = usable or repair
            if usable is not None and clock.expired:
                break
        if usable is None:
            return (
                None,
                result.why or "every sequence that achieves the condition violates a constraint",
            )
        return usable, ""

    def _target(self) -> Conjunction:
        task = self.here.task
        if self.failure.step is None:
            return task.goal
        return task.ground(self.rest[0]).precondition

    def _judged(self, answer: tuple[GroundAction, ...]) -> Repair | None:
        ahead = self.here.fork()
        try:
            if not all(ahead.apply(action).ok for action in answer):
                return None
            report = ahead.check(self.rest)
        except HvrError:
            return None
        failure = report.failure
        # Steps appended at the end must make the plan valid; steps before a failing one must at
        # least make it executable.
        if failure is not None:
            later = failure.step is None or failure.step > ahead.step_number + 1
            if self.failure.step is None or not later or not report.executed:
                return None
        return Repair(self.failure.step, answer, report.valid)


def _misfit(failure: Failure) -> str:
    sentence = failure.message
    if failure.suggestion:
        sentence += f" Did you mean {failure.suggestion!r}?"
    return sentence


def _never(literals: Sequence[UnmetLiteral]) -> str:
    fixed = [literal for literal in literals if literal.fixed]
    if not fixed:
        return "the condition can never hold"
    verb = "is" if len(fixed) == 1 else "are"
    values = sorted({"true" if literal.actual else "false" for literal in fixed})
    always = f" always {values[0]}" if len(values) == 1 else " fixed"
    return f"the condition can never hold: {_named(fixed, whole=True)} {verb}{always}"


def _hopeless(failure: Failure) -> str:
    missing = f"; missing: {_named(failure.literals, whole=False)}" if failure.literals else ""
    if failure.step is None:
        return f"no sequence of actions after the last step reaches the goal{missing}"
    return f"no sequence of actions makes step {failure.step} executable{missing}"


def _named(literals: Sequence[UnmetLiteral], *, whole: bool) -> str:
    texts = [str(literal.formula if whole else literal) for literal in literals]
    shown = texts[:_NAMED] + (["others"] if len(texts) > _NAMED else [])
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)


# Edits --------------------------------------------------------------------------------------------
# Changes of single steps: moved, swapped, removed or with another duration. A change is suggested
# only if the validator proves the changed plan valid.

_MOST_INSERTED = 60
_MOST_TIMES = 200
_MOST_PLACES = 100
"""Search limits: ground actions that establish one literal, times of one step in a timed plan,
places of one step in a sequence.
"""

_Schema = ActionSchema | DurativeActionSchema
_Candidate = tuple[str, list[Step]]
"""A description of the change, and the changed plan."""


def edit_sequence(
    validator: Validator, plan: Sequence[Step], failure: Failure, clock: Deadline
) -> Repair | None:
    """Return a change of one step that makes a sequence valid, or None if none was found."""
    count = len(plan)
    place = count - 1 if failure.step is None else failure.step - 1 - validator.step_number
    return _first_valid(validator, _sequence_edits(plan, place), clock)


def edit_timed(
    validator: Validator, plan: Sequence[TimedAction], failure: Failure, clock: Deadline
) -> Repair | None:
    """Return one change or insertion that makes a timed plan valid, or None if none was found."""
    return _first_valid(validator, _Timed(validator, plan, failure).candidates(), clock)


def _first_valid(
    validator: Validator, candidates: Iterable[_Candidate], clock: Deadline
) -> Repair | None:
    for change, plan in candidates:
        if clock.expired:
            return None
        try:
            valid = validator.check(plan).valid
        except HvrError:
            continue
        if valid:
            return Repair(None, (), True, change, tuple(plan))
    return None


# Sequences ----------------------------------------------------------------------------------


def _sequence_edits(plan: Sequence[Step], place: int) -> Iterator[_Candidate]:
    steps = list(plan)
    number = place + 1
    if not 0 <= place < len(steps):
        return
    yield (f"step {number} removed", steps[:place] + steps[number:])
    others = sorted((i for i in range(len(steps)) if i != place), key=lambda i: abs(i - place))
    del others[_MOST_PLACES:]
    for other in others:
        swapped = [*steps]
        swapped[place], swapped[other] = swapped[other], swapped[place]
        one, two = sorted((place, other))
        yield (f"steps {one + 1} and {two + 1} swapped", swapped)
        rest = steps[:place] + steps[number:]
        words = f"step {number} moved to position {other + 1}"
        yield (words, [*rest[:other], steps[place], *rest[other:]])
        rest = steps[:other] + steps[other + 1 :]
        words = f"step {other + 1} moved to position {number}"
        yield (words, [*rest[:place], steps[other], *rest[place:]])
    for other in others:
        yield (f"step {other + 1} removed", steps[:other] + steps[other + 1 :])


# Timed plans --------------------------------------------------------------------------------


class _Timed:
    def __init__(self, validator: Validator, plan: Sequence[TimedAction], failure: Failure) -> None:
        self.validator = validator
        self.task = validator.task
        self.plan = list(plan)
        self.failure = failure
        # Steps further apart than epsilon are not simultaneous.
        self.gap = 2 * validator.epsilon or Fraction(1, 1000)
        self.end = max((step.start + (step.duration or 0) for step in plan), default=Fraction(0))

    def candidates(self) -> Iterator[_Candidate]:
        failing = None if self.failure.step is None else self.failure.step - 1
        if failing is not None:
            yield from self._durations(failing)
        subjects = [] if failing is None else [failing]
        for literal in self.failure.literals:
            by = literal.changed_by
            if by is not None and by.number is not None and by.number - 1 not in subjects:
                subjects.append(by.number - 1)
        for place in subjects:
            yield from self._moved(place)
        yield from self._inserted(failing)
        for place in subjects:
            words = f"step {place + 1} removed"
            yield (words, [*self.plan[:place], *self.plan[place + 1 :]])
        for place in subjects:
            yield from self._exchanged(place)

    def _durations(self, place: int) -> Iterator[_Candidate]:
        step = self.plan[place]
        for duration in self._demanded(step.action):
            if duration != step.duration:
                changed: list[Step] = [*self.plan]
                changed[place] = step.replace(duration=duration)
                yield (f"the duration {decimal_text(duration)} for step {place + 1}", changed)

    def _demanded(self, action: GroundAction) -> list[Fraction]:
        if action.name not in self.task.domain.durative_actions or self.task.misfit(action):
            return []
        result: dict[Fraction, None] = {}
        for test in ground_durative(self.task, action, None).tests:
            try:
                # A bound may depend on fluents; their initial values are only a guess.
                bound = Fraction(evaluate(test.bound, self.validator.state.values))
            except HvrError:
                continue
            if bound >= 0:
                result[bound] = None
        return list(result)

    def _moved(self, place: int) -> Iterator[_Candidate]:
        step, number = self.plan[place], place + 1
        length = step.duration or Fraction(0)
        marks: set[Fraction] = set()
        for index, other in enumerate(self.plan):
            if index != place:
                marks |= {other.start, other.start + (other.duration or 0)}
        marks |= {Fraction(timed.time) for timed in self.task.problem.timed_init}
        times = {m + self.gap for m in marks} | {m - self.gap for m in marks} | marks
        times |= {m - self.gap - length for m in marks}
        usable = [time for time in times if time >= 0 and time != step.start]
        for time in sorted(usable, key=lambda t: (abs(t - step.start), t))[:_MOST_TIMES]:
            alone: list[Step] = [*self.plan]
            alone[place] = step.replace(start=time)
            yield (f"step {number} at time {decimal_text(time)}", alone)
            if time > step.start:
                delay = time - step.start
                words = f"step {number} and all later steps postponed by {decimal_text(delay)}"
                yield (words, self._later(step.start, delay))

    def _later(self, begin: Fraction, by: Fraction) -> list[Step]:
        return [s.replace(start=s.start + by) if s.start >= begin else s for s in self.plan]

    def _exchanged(self, place: int) -> Iterator[_Candidate]:
        step = self.plan[place]
        others = sorted(
            (i for i in range(len(self.plan)) if i != place),
            key=lambda i: (abs(self.plan[i].start - step.start), i),
        )
        for other in others:
            changed: list[Step] = [*self.plan]
            changed[place] = step.replace(start=self.plan[other].start)
            changed[other] = self.plan[other].replace(start=step.start)
            one, two = sorted((place + 1, other + 1))
            yield (f"the times of steps {one} and {two} swapped", changed)

    def _inserted(self, failing: int | None) -> Iterator[_Candidate]:
        at = self.end + self.gap if self.failure.time is None else self.failure.time
        if failing is None:
            at = self.end + self.gap
        for literal in _leaves(self.failure.literals):
            for action, delay, duration in self._suppliers(literal):
                for start in (at - self.gap - delay, at):
                    if start >= 0:
                        step = TimedAction(action, start, duration)
                        yield f"{short(step)} inserted", [*self.plan, step]
                if failing is None:
                    continue
                # There may be no room for it: postpone the steps after it.
                step, by = TimedAction(action, at + self.gap, duration), delay + 2 * self.gap
                words = (
                    f"{short(step)} inserted, and all steps from {decimal_text(at)} on postponed by"
                )
                yield (f"{words} {decimal_text(by)}", [*self._later(at, by), step])

    def _suppliers(
        self, literal: UnmetLiteral
    ) -> Iterator[tuple[GroundAction, Fraction, Fraction | None]]:
        """Yield each action that makes the literal true, its delay, and its duration (or None)."""
        # For a comparison, yield actions that change one of its numbers in either direction.
        if literal.fixed:
            return
        domain = self.task.domain
        schemas: list[_Schema] = [*domain.actions.values(), *domain.durative_actions.values()]
        for schema in schemas:
            for seed, when in _seeds(schema, literal):
                own = {p.name: seed[p.name] for p in schema.parameters if p.name in seed}
                for action in islice(self._groundings(schema, own), _MOST_INSERTED):
                    if isinstance(schema, ActionSchema):
                        yield action, Fraction(0), None
                        continue
                    for duration in self._demanded(action)[:2]:
                        if when != "at start":
                            yield action, duration, duration
                        if when != "at end":
                            yield action, Fraction(0), duration

    def _groundings(self, schema: _Schema, seed: dict[str, str]) -> Iterator[GroundAction]:
        task = self.task
        condition = schema.precondition if isinstance(schema, ActionSchema) else _untimed(schema)
        literals = [
            (literal, sign)
            for literal, sign in necessary_literals(condition)
            if isinstance(literal, Equal) or task.is_static(literal.predicate)
        ]
        left = [p for p in schema.parameters if p.name not in seed]
        relation, members = task.static_facts.relation, task.members
        for binding in bindings(left, literals, seed, relation, members):
            action = GroundAction(schema.name, tuple([binding[p.name] for p in schema.parameters]))
            if not isinstance(task.misfit(action), Misfit):
                yield action


def _leaves(literals: Iterable[UnmetLiteral]) -> Iterator[UnmetLiteral]:
    for literal in literals:
        if literal.because:
            yield from _leaves(literal.because)
        else:
            yield literal


def _untimed(schema: DurativeActionSchema) -> And:
    bodies = [part.body for part in walk(schema.condition) if isinstance(part, Timed)]
    return And(tuple(bodies))


def _seeds(schema: _Schema, literal: UnmetLiteral) -> Iterator[tuple[dict[str, str], str]]:
    formula = literal.formula
    if isinstance(formula, Atom):
        for atom, when in _changes(schema, literal.wanted):
            if atom.predicate == formula.predicate:
                seed = match_row(atom, formula.args)
                if seed is not None:
                    yield seed, when
    elif isinstance(formula, Comparison):
        for part, when in _effects(schema):
            for effect in walk(part):
                if not isinstance(effect, NumericEffect):
                    continue
                for term, _ in literal.numbers:
                    if effect.fluent.function == term.function:
                        # Reuse the matching of atoms for function terms.
                        seed = match_row(Atom(term.function, effect.fluent.args), term.args)
                        if seed is not None:
                            yield seed, when


def _effects(schema: _Schema) -> Iterator[tuple[Expression, str]]:
    if isinstance(schema, ActionSchema):
        yield schema.effect, "at start"
        return
    for part in walk(schema.effect):
        if isinstance(part, Timed):
            yield part.body, part.when
        elif isinstance(part, ContinuousEffect):
            yield part, ""


def _changes(schema: _Schema, wanted: bool) -> Iterator[tuple[Atom, str]]:
    for effect, when in _effects(schema):
        for atom, sign in necessary_literals(effect):
            if isinstance(atom, Atom) and sign is wanted:
                yield atom, when
