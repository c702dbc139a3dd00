"""Validation of timed plans: happenings, invariants, durations, timed initial literals.

The semantics follow PDDL 2.1 (Fox & Long 2003, section 8) and 2.2. Steps no further apart than
epsilon form one happening: all their conditions are evaluated in the state before it, they must not
interfere, and deletes come before adds. Over-all conditions are checked in every state strictly
between the start and the end of their action.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from hvr.base.printable import short, short_names
from hvr.errors import InconsistentEffectError, UndefinedValueError
from hvr.pddl import TRUE, Atom, Expression, GroundAction, Location, Not, State, TimedAction
from hvr.pddl.compiler import Binding
from hvr.pddl.durative import DurativeOperator, SpanningEffect
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import (
    NumericChange,
    Rational,
    Values,
    change_numbers,
    evaluate,
    is_assigned_anew,
    rounded,
    set_bits,
)
from hvr.validation.happenings import (
    Calendar,
    StepParts,
    TimedEvent,
    access,
    interferences,
    with_next,
)
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    StepRef,
    UnmetLiteral,
    ValidationReport,
    place_of,
)
from hvr.validation.stepper import KINDS, MOST_FAILURES, MOST_KEPT, goal_preferences
from hvr.validation.trajectory import Constraints, Violation
from hvr.validation.violations import LastChanges, StateChange, unmet_literals
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.timeline import Curve, Phase, ProcessSpan
    from hvr.validation.validator import Validator


class Happening(Value):
    time: Fraction
    steps: tuple[StepRef, ...]
    bits: int
    values: Values


_NONE: list[bool] = []
"""Shared by all actions without spanning effects, which are the majority."""


class _Running:
    """A durative action that has started.

    Attributes:
        effects: For each of the operator's `spanning` effects, whether it is still possible.
        violated: The indexes of the operator's preferences that are violated.
    """

    __slots__ = ("effects", "invariant_failed", "number", "operator", "violated")

    def __init__(
        self, number: int, operator: DurativeOperator, effects: list[bool], violated: frozenset[int]
    ) -> None:
        self.number = number
        self.operator = operator
        self.effects = effects
        self.violated = violated
        self.invariant_failed = False


class TemporalRun:
    """Judges one timed plan."""

    def __init__(self, validator: Validator, plan: Sequence[TimedAction]) -> None:
        self.task = validator.task
        self.tolerance = validator.tolerance
        self.epsilon = validator.epsilon
        self.plan = plan
        self.before = validator.state
        # The time at which the run ends, if later than the last event.
        self._until: Fraction | None = None
        self.bits = validator.state.bits
        self.values = validator.state.values
        # Whether to keep all changes, for traces and certificates. For a verdict, the last change
        # of each fact is enough.
        self._keeps = False
        # Whether to keep running actions without conditions over time.
        self._runs_all = False
        self.happenings: list[Happening] = []
        self.process_spans: list[ProcessSpan] = []
        self._changes: list[StateChange] = []
        self._last = LastChanges(self._ref)
        self._last_time = Fraction(0)
        self._failures: list[Failure] = []
        self._skipped: set[int] = set()
        # The running actions that matter, usually only actions with conditions over time.
        self._running: dict[int, _Running] = {}
        # The running actions with conditions over time.
        self._guarded: dict[int, _Running] = {}
        self._finished = 0
        self._violated: dict[str, int] = dict.fromkeys(self.task.preference_names, 0)
        self._on_failure = OnFailure.STOP
        self._constraints = Constraints(self.task)

    def run(self, on_failure: OnFailure) -> ValidationReport:
        self._on_failure = on_failure
        calendar = self._calendar()
        if self._constraints:
            self._constrain(
                self._constraints.observe(Fraction(0), self.bits, self.values), Fraction(0)
            )
        interesting = self.values
        total_time = Fraction(0)
        waiting = calendar.events
        happenings = () if self._stopped else calendar.happenings()
        for events, more in with_next(happenings):
            if self._stopped:
                break
            time = events[0].time
            self._advance(time)
            if self._stopped:
                break
            self._happen(time, events)
            if not self._stopped:
                self._respond(last=not more)
            # Nothing changes until the next happening, so one check covers the interval in between.
            if not self._stopped and self._guarded:
                self._check_invariants(time)
            if not self._stopped and self._constraints:
                self._constrain(self._constraints.observe(time, self.bits, self.values), time)
            if waiting or not time:
                # Changes of the world after the last step do not count in the metric.
                interesting, total_time = self.values, time
                waiting -= sum(event.number is not None for event in events)
        return self._report(interesting, total_time)

    def trace(
        self,
    ) -> Iterator[
        tuple[int | None, Fraction | None, GroundAction | None, tuple[Atom, ...], tuple[Atom, ...]]
    ]:
        bits = self.bits
        self._keeps = True
        self.run(OnFailure.STOP)
        for change in self._changes:
            if change.gradual:
                continue
            added: list[Atom] = []
            deleted: list[Atom] = []
            for index in change.bits:
                (deleted if bits >> index & 1 else added).append(self.task.fluent(index))
                bits ^= 1 << index
            step = change.step
            yield step.number, step.time, step.action, tuple(added), tuple(deleted)

    def state_after(self, number: int) -> State:
        """Return the state after the last executed part of a step: its end, or only its start.

        If the step is not executed at all, return the initial state.
        """
        state = State(self.task, self.bits, self.values)
        self._keeps = True
        self.run(OnFailure.STOP)
        for happening in self.happenings:
            if any(ref.number == number for ref in happening.steps):
                state = State(self.task, happening.bits, happening.values)
        return state

    def evidence(self) -> ValidationReport:
        """Judge the plan up to the first failure, and record the states in `happenings`."""
        self._keeps = True
        return self.run(OnFailure.STOP)

    def next_events(self) -> list[TimedEvent]:
        """Return the events of the happening at which `evidence` stopped."""
        happenings = self._calendar().happenings()
        return next(islice(happenings, len(self.happenings), None), [])

    def contentions(
        self, events: Sequence[TimedEvent]
    ) -> Iterator[tuple[TimedEvent, TimedEvent, str]]:
        """Yield (event, event, atom or numeric fluent) for each interfering pair in this state."""
        state = State(self.task, self.bits, self.values)
        steps = [access(state, self._parts(event)) for event in events]
        for i, j, over in interferences(self.task, steps):
            yield events[i], events[j], over

    def operator_of(self, number: int) -> DurativeOperator:
        return self._running[number].operator

    def curves(self) -> tuple[Curve, ...]:
        """Judge the plan and return its numbers over time, up to the first failure."""
        from hvr.validation.timeline import Phase, curves_of

        self._keeps = True
        self.run(OnFailure.STOP)
        stretches = list(self._stretches())
        time = max(
            [stretch.end for stretch in stretches] + [h.time for h in self.happenings],
            default=Fraction(0),
        )
        return curves_of(self.task, stretches, Phase(time, time, time, self.values))

    def _stretches(self) -> Iterable[Phase]:
        from hvr.validation.timeline import Phase

        first = Happening(Fraction(0), (), self.before.bits, self.before.values)
        for one, two in pairwise((first, *self.happenings)):
            yield Phase(one.time, two.time, one.time, one.values)

    @property
    def _stopped(self) -> bool:
        limit = 1 if self._on_failure is OnFailure.STOP else MOST_FAILURES
        return len(self._failures) >= limit

    def _report(self, values: Values, total_time: Fraction) -> ValidationReport:
        count = len(self.plan)
        if self._stopped:
            return ValidationReport(Outcome.INVALID, count, self._finished, tuple(self._failures))
        problem = self.task.problem
        if not self.task.goal.holds(self.bits, self.values):
            self._failures.append(
                Failure(
                    FailureKind.GOAL,
                    "The goal is not reached.",
                    literals=self._unmet(problem.goal, {}),
                    condition=place_of(problem.goal),
                )
            )
        for name in goal_preferences(self.task, self.bits, self.values):
            self._violated[name] += 1
        if self._constraints:
            self._constrain(self._constraints.finish(), self._last_time)
            for preferred in self._constraints.preferred:
                self._violated[preferred.name] += preferred.violated
        cost: Fraction | None = None
        if self._finished == count:
            if problem.metric is None and not self.task.domain.durative_actions:
                total_time = Fraction(count)
            cost = self.task.metric_value(values, total_time, self._violated)
        return ValidationReport(
            Outcome.INVALID if self._failures else Outcome.VALID,
            count,
            self._finished,
            tuple(self._failures),
            cost,
            tuple(self._violated.items()),
        )

    # Events ---------------------------------------------------------------------------------

    def _calendar(self) -> Calendar:
        unfit: set[int] = set()
        for number, step in enumerate(self.plan, 1):
            if not self._fits(number, step):
                unfit.add(number)
                if self._stopped:
                    break
        return Calendar(self.task, self.plan, self.epsilon, unfit, self._until)

    def _fits(self, number: int, step: TimedAction) -> bool:
        misfit = self.task.misfit(step.action)
        if misfit is not None:
            self._fail(
                number,
                KINDS[misfit.kind],
                f"is not a step of this task: {misfit.message}",
                suggestion=misfit.suggestion,
            )
        elif step.start < 0:
            self._fail(number, FailureKind.START_TIME, "starts before time 0")
        elif step.duration is None and step.action.name not in self.task.domain.actions:
            message = "has no duration; write [duration] after it"
            self._fail(number, FailureKind.DURATION, message)
        else:
            return True
        return False

    # Happenings -----------------------------------------------------------------------------

    def _advance(self, time: Fraction) -> None:
        """Apply the changes that happen by themselves before a time; `HybridRun` overrides this."""

    def _respond(self, *, last: bool) -> None:
        """Apply a happening's immediate consequences; after the `last` one, no time passes."""

    def _happen(self, time: Fraction, events: list[TimedEvent]) -> None:
        possible: list[TimedEvent] = []
        for event in events:
            if event.number in self._skipped:
                continue
            if self._possible(event) or self._on_failure is OnFailure.FORCE:
                possible.append(event)
            elif event.number is not None:
                self._skipped.add(event.number)
                self._leave(event.number)
            if self._stopped:
                return
        # The start of a skipped step may come after its own end in the list.
        possible = [e for e in possible if e.number not in self._skipped]
        if len(possible) > 1:
            self.check_interference(time, possible)
            if self._stopped:
                return
        self._execute(time, possible)

    def _possible(self, event: TimedEvent) -> bool:
        number = event.number
        try:
            ok = True
            durative = event.start or event.end
            if durative is not None:
                when = "at start" if event.start else "at end"
                ok = self._check_duration(event, durative, when)
            if not event.operator.precondition.holds(self.bits, self.values):
                assert number is not None
                kind = FailureKind.END_CONDITION if event.end else FailureKind.PRECONDITION
                what = (
                    "cannot end: its at-end condition does not hold"
                    if event.end
                    else "cannot be executed: its precondition does not hold"
                )
                self._fail(
                    number,
                    kind,
                    what,
                    time=event.time,
                    literals=self._unmet(event.precondition, event.binding),
                    condition=place_of(event.precondition),
                )
                ok = False
            return ok
        except UndefinedValueError as error:
            assert number is not None
            message = f"cannot be executed: {error}"
            self._fail(number, FailureKind.UNDEFINED_VALUE, message, time=event.time)
            return False

    def _check_duration(self, event: TimedEvent, durative: DurativeOperator, when: str) -> bool:
        assert event.number is not None and event.duration is not None
        for test in durative.tests:
            if test.when != when:
                continue
            bound = evaluate(test.bound, self.values)
            fits = _fits_bound(test.symbol, event.duration - bound, self.tolerance)
            if not fits:
                self._fail(
                    event.number,
                    FailureKind.DURATION,
                    f"has the duration {decimal_text(Fraction(event.duration))}, but "
                    f"(?duration {test.symbol} {decimal_text(rounded(bound))}) is required",
                    time=event.time,
                    condition=test.text.location,
                )
                return False
        return True

    def check_interference(self, time: Fraction, events: list[TimedEvent]) -> None:
        """Record failures for events of a happening that interfere; subclasses may override it."""
        state = State(self.task, self.bits, self.values)
        steps = [access(state, self._parts(event)) for event in events]
        for i, j, over in interferences(self.task, steps):
            one, two = events[i], events[j]
            if two.number is None:
                one, two = two, one
            if two.number is None:
                # A timed literal may be listed twice, like a fact.
                if one.effect != two.effect:
                    self._fail_literals(time, one, two, over)
                if self._stopped:
                    return
                continue
            self._fail(
                two.number,
                FailureKind.INTERFERENCE,
                f"interferes with {one.ref}: both happen at {decimal_text(time)}, and one "
                f"changes {over}, which the other reads or changes",
                time=time,
            )
            if self._stopped:
                return

    def _fail_literals(self, time: Fraction, one: TimedEvent, two: TimedEvent, over: str) -> None:
        one, two = sorted((one, two), key=lambda event: event.time)
        effect = two.effect.operand if isinstance(two.effect, Not) else two.effect
        message = (
            f"The timed initial literals at {decimal_text(one.time)} and "
            f"{decimal_text(two.time)} interfere: they are within epsilon "
            f"({decimal_text(self.epsilon)}) and give {over} different values."
        )
        place = place_of(effect)
        self._failures.append(
            Failure(FailureKind.INTERFERENCE, message, time=time, condition=place)
        )

    def _parts(self, event: TimedEvent) -> StepParts:
        written = event.binding, event.precondition, event.effect
        durative = event.start or event.end
        if durative is None:
            return StepParts(*written, (event.operator,))
        when = "at start" if event.start else "at end"
        bounds = [test.text.right for test in durative.tests if test.when == when]
        if event.start is not None:
            read = [(s.condition_at_start, TRUE, s.binding) for s in durative.spanning]
            return StepParts(*written, (event.operator,), tuple(bounds), tuple(read))
        operators = [event.operator]
        further: list[tuple[Expression, Expression, Binding]] = []
        for spanning in self._pending(event):
            fires = spanning.end.holds(self.bits, self.values)
            operators += [spanning.effects] * fires
            effect = spanning.effect if fires else TRUE
            further.append((spanning.condition, effect, spanning.binding))
        return StepParts(*written, tuple(operators), tuple(bounds), tuple(further))

    def _pending(self, event: TimedEvent) -> list[SpanningEffect]:
        assert event.number is not None and event.end is not None
        running = self._running.get(event.number)
        return [
            effect
            for place, effect in enumerate(event.end.spanning)
            # An action that ends with its start has no states in between.
            if (running is None or running.effects[place])
            and (running is not None or effect.start.holds(self.bits, self.values))
        ]

    def _firing(self, event: TimedEvent) -> list[SpanningEffect]:
        return [s for s in self._pending(event) if s.end.holds(self.bits, self.values)]

    def _execute(self, time: Fraction, events: list[TimedEvent]) -> None:
        # Every event reads the state before the happening, not the effects of the others.
        bits, values = self.bits, self.values
        add = delete = 0
        changes: list[tuple[TimedEvent, list[NumericChange]]] = []
        for event in events:
            operators = [event.operator]
            if event.end is not None:
                operators += [s.effects for s in self._firing(event)]
            numeric: list[NumericChange] = []
            for operator in operators:
                # Deletes come before adds, even across steps.
                add |= operator.add
                delete |= operator.delete
                for condition, more_add, more_delete in operator.conditional:
                    if condition.holds(bits, values):
                        add |= more_add
                        delete |= more_delete
                for guard, change in operator.numeric:
                    if guard.holds(bits, values):
                        numeric.append(change)
            changes.append((event, numeric))
            for name, preference in event.operator.preferences:
                self._violated[name] += not preference.holds(bits, values)
        after_values = self._numbers_after(time, changes)
        if self._stopped:
            return
        self.bits = self.task.close(bits & ~delete | add, after_values)
        self.values = after_values
        self._note(time, events, bits, values)
        self._end_and_start(events, bits, values)

    def _numbers_after(
        self, time: Fraction, changes: list[tuple[TimedEvent, list[NumericChange]]]
    ) -> Values:
        # A step whose changes fail leaves the numbers unchanged.
        values = after = self.values
        for event, numeric in changes:
            try:
                after = change_numbers(numeric, values, after)
            except (UndefinedValueError, InconsistentEffectError) as error:
                if event.number is not None:
                    kind = (
                        FailureKind.UNDEFINED_VALUE
                        if isinstance(error, UndefinedValueError)
                        else FailureKind.INTERFERENCE
                    )
                    self._fail(event.number, kind, f"cannot be executed: {error}", time=time)
                if self._stopped:
                    break
        return after

    def _end_and_start(self, events: list[TimedEvent], bits: int, values: Values) -> None:
        for event in events:
            if event.end is not None and event.number is not None:
                running = self._leave(event.number)
                self._finished += 1
                self._count_preferences(event.end, running, bits, values)
            elif event.start is None and event.number is not None:
                self._finished += 1
        ended = {event.number for event in events if event.end is not None}
        for event in events:
            # An action with no duration, or one within epsilon, has no states in between.
            if event.start is None or event.number is None or not event.duration:
                continue
            if event.number not in ended:
                started = [e.start.holds(bits, values) for e in event.start.spanning]
                preferences = enumerate(event.start.preferences)
                violated = frozenset(i for i, w in preferences if not w.start.holds(bits, values))
                if not (event.start.is_guarded or self._keeps or self._runs_all):
                    continue
                running = _Running(event.number, event.start, started or _NONE, violated)
                self._running[event.number] = running
                if event.start.is_guarded:
                    self._guarded[event.number] = running

    def _leave(self, number: int) -> _Running | None:
        self._guarded.pop(number, None)
        return self._running.pop(number, None)

    def _count_preferences(
        self, operator: DurativeOperator, running: _Running | None, bits: int, values: Values
    ) -> None:
        for place, preference in enumerate(operator.preferences):
            before = (
                place in running.violated if running else not preference.start.holds(bits, values)
            )
            self._violated[preference.name] += before or not preference.end.holds(bits, values)

    def _note(self, time: Fraction, events: list[TimedEvent], bits: int, values: Values) -> None:
        self._last_time = time
        if self._keeps:
            refs = tuple([event.ref for event in events])
            self.happenings.append(Happening(time, refs, self.bits, self.values))
        flipped = bits ^ self.bits
        for event in events:
            # A change that several events may have caused is credited to the first of them.
            operator = event.operator
            possible_flips = operator.add | operator.delete
            for _, add, delete in operator.conditional:
                possible_flips |= add | delete
            # Only events with numeric effects are credited with changed numbers.
            touched = {change[1] for _, change in operator.numeric}
            own = flipped & possible_flips
            flipped &= ~own
            self._credit_event(event, own, touched, values)
        if flipped and events:
            # The rest are derived atoms and effects that span the action.
            self._credit_event(events[0], flipped, set(), values)

    def _credit_event(
        self, event: TimedEvent, flipped: int, touched: set[int], values: Values
    ) -> None:
        if not self._keeps:
            changed = [i for i in touched if is_assigned_anew(_at(self.values, i), _at(values, i))]
            self._last.note(event, set_bits(flipped), changed)
            return
        after = values
        if touched:
            before = [*values, *[None] * (len(self.values) - len(values))]
            after = tuple([v if i in touched else before[i] for i, v in enumerate(self.values)])
        self._changes.append(StateChange(event.ref, tuple(set_bits(flipped)), values, after))

    def _ref(self, number: int, at_end: bool) -> StepRef:
        step = self.plan[number - 1]
        later = step.duration if at_end else None
        return StepRef(number, step.action, step.start + (later or 0))

    def _check_invariants(self, time: Fraction) -> None:
        self._check_running(time, list(self._guarded.values()))

    def _check_running(self, time: Fraction, actions: list[_Running]) -> None:
        bits, values = self.bits, self.values
        for running in actions:
            operator = running.operator
            ok = operator.invariant.holds(bits, values)
            for place, effect in enumerate(operator.spanning):
                running.effects[place] &= effect.between.holds(bits, values)
            preferences = enumerate(operator.preferences)
            running.violated |= {i for i, w in preferences if not w.between.holds(bits, values)}
            if ok or running.invariant_failed:
                continue
            self._break(running, time)
            if self._stopped:
                return

    def _break(self, running: _Running, time: Fraction, after: Fraction | None = None) -> None:
        running.invariant_failed = True
        operator = running.operator
        invariant = operator.template.conditions["over all"]
        self._fail(
            running.number,
            FailureKind.INVARIANT,
            f"cannot continue after {decimal_text(time if after is None else after)}: its over-all "
            "condition does not hold",
            time=time,
            literals=self._unmet(invariant, operator.binding),
            condition=place_of(invariant),
        )
        if self._on_failure is OnFailure.SKIP:
            # The start has already happened; only the end is skipped.
            self._skipped.add(running.number)
            self._leave(running.number)

    # Failures -------------------------------------------------------------------------------

    def _constrain(self, violation: Violation | None, time: Fraction) -> None:
        if violation is None:
            return
        self._constraints.forget(violation)
        literals: Sequence[UnmetLiteral] = ()
        if violation.blamed is not None:
            formula, wanted = violation.blamed
            literals = self._unmet(formula, violation.binding, wanted=wanted)
        self._failures.append(
            Failure(
                FailureKind.CONSTRAINT,
                f"The trajectory constraint {violation.text} is violated at {decimal_text(time)}: "
                f"{violation.why}.",
                literals=literals,
                time=time,
                condition=violation.location,
            )
        )

    def _fail(
        self,
        number: int,
        kind: FailureKind,
        why: str,
        *,
        time: Fraction | None = None,
        literals: Sequence[UnmetLiteral] = (),
        suggestion: str = "",
        condition: Location | None = None,
    ) -> None:
        action = self.plan[number - 1].action
        at = self.plan[number - 1].start if time is None else time
        self._failures.append(
            Failure(
                kind,
                short_names(f"Step {number} {short(action)} {why}."),
                number,
                action,
                literals,
                suggestion,
                action.location,
                at,
                condition,
            )
        )

    def _unmet(
        self, formula: Expression, binding: Binding, *, wanted: bool = True
    ) -> Sequence[UnmetLiteral]:
        past = self._changes[::-1] if self._keeps else self._last
        reasons = unmet_literals(
            self.task, self.bits, self.values, formula, binding, past, wanted=wanted
        )
        # If the run continues, lazy reasons would credit changes to later steps.
        later = self._on_failure is OnFailure.STOP and len(self.plan) <= MOST_KEPT
        return reasons if later else reasons.settled()


def _at(values: Values, index: int) -> Rational | None:
    return values[index] if index < len(values) else None


def _fits_bound(symbol: str, excess: Rational, tolerance: Fraction) -> bool:
    match symbol:
        case "=":
            return -tolerance <= excess <= tolerance
        case "<=":
            return excess <= tolerance
        case "<":
            return excess < tolerance
        case ">=":
            return excess + tolerance >= 0
        case _:
            return excess + tolerance > 0
