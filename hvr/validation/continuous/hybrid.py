"""Execute plans with processes, events and continuous effects.

The semantics follow PDDL+ (Fox & Long, "Modelling mixed discrete-continuous domains for planning",
JAIR 27, 2006). Between happenings the numbers follow a `Motion`. A process is active while its
condition holds. An event happens as soon as its condition holds, and may trigger other events at
the same time. The state at a time is the state after all events at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar, cast

from hvr.errors import ContinuousChangeError, UndefinedValueError
from hvr.pddl import TRUE, State, TimedAction
from hvr.pddl.plan import decimal_text
from hvr.pddl.state import Conjunction, Rational, Values, exact, is_assigned_anew, set_bits
from hvr.validation.continuous.dynamics import (
    Dynamics,
    EventFailure,
    GroundEvent,
    GroundProcess,
    apply_events,
)
from hvr.validation.continuous.motion import (
    Motion,
    MovingState,
    Numbers,
    Segment,
    SegmentSample,
    approximate,
    exact_time,
    values_at,
)
from hvr.validation.continuous.polynomials import Moment, Root, compare
from hvr.validation.happenings import TimedEvent
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    StepRef,
    ValidationReport,
    place_of,
)
from hvr.validation.temporal import Happening, TemporalRun
from hvr.validation.timeline import Phase, ProcessSpan
from hvr.validation.trajectory import Violation
from hvr.validation.violations import StateChange

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity
    from hvr.validation.validator import Validator

_T = TypeVar("_T")

MOST_MOMENTS = 10_000
"""Limit on the moments of events and processes, against Zeno behaviour such as a bouncing ball."""


class HybridRun(TemporalRun):
    """Judges one plan for a task with processes, events or continuous effects."""

    def __init__(
        self, validator: Validator, plan: Sequence[TimedAction], dynamics: Dynamics
    ) -> None:
        super().__init__(validator, plan)
        self._dynamics = dynamics
        self._origin = Fraction(0)
        self._moment: Moment = 0
        self._motion = Motion(self.values, 0, (), self.task.term)
        # Whether the condition of each process holds just after the moment.
        self._holding: dict[GroundProcess, bool] = {}
        self._active: tuple[GroundProcess, ...] = ()
        self._effects: dict[int, tuple[GroundProcess, ...]] = {}
        self._happened: set[GroundEvent] = set()
        self._fresh: frozenset[int] = frozenset()
        self._moments = 0
        self._recorded: list[Phase] = []
        self._until = validator.until
        # An action without conditions over time may still have continuous effects: keep it.
        self._runs_all = True

    def run(self, on_failure: OnFailure) -> ValidationReport:
        """Validate the plan; raise a ContinuousChangeError if the change cannot be enclosed."""
        self._on_failure = on_failure
        times = [step.start for step in self.plan]
        times += [Fraction(timed.time) for timed in self.task.problem.timed_init]
        times += [] if self._until is None else [self._until]
        try:
            self._settle(list(self.values), 0, onward=min(times, default=Fraction(0)) > 0)
            return super().run(on_failure)
        except UndefinedValueError as error:
            # At a rational time, the step or event reports this itself as a failure.
            raise ContinuousChangeError(f"a changing number has no value: {error}") from None

    def state_after(self, number: int) -> State:
        state = super().state_after(number)
        times = [h.time for h in self.happenings if any(r.number == number for r in h.steps)]
        for happening in self.happenings:
            if times and happening.time == times[-1]:
                state = State(self.task, happening.bits, happening.values)
        return state

    def _note(self, time: Fraction, events: list[TimedEvent], bits: int, values: Values) -> None:
        # Leave out entries that only mark a time.
        caused = [e for e in events if e.number is not None or e.effect != TRUE]
        super()._note(time, caused, bits, values)

    # The passage of time --------------------------------------------------------------------

    def _advance(self, time: Fraction) -> None:
        while not self._stopped:
            end = exact(time - self._origin)
            if compare(self._moment, end) >= 0:
                break
            state = self._moving(self._motion)
            moment = self._next(state, end)
            self._motion.follow(end if moment is None else moment)
            self._watch(Segment(self._motion, state, self._origin, self._moment, moment or end))
            if self._stopped:
                return
            self._record(moment or end)
            self._credit(self._motion.at(moment or end), self._time(moment or end))
            self._happened.clear()
            if moment is None:
                break
            self._moments += 1
            if self._moments > MOST_MOMENTS:
                raise ContinuousChangeError(
                    f"events and processes alternated more than {MOST_MOMENTS} times, last at "
                    f"{decimal_text(self._time(moment))}: they may never end"
                )
            at_end = compare(moment, end) == 0
            self._reach(moment)
            self._settle(self._numbers(moment), self._moment, onward=not at_end)
            if not self._stopped and not at_end:
                self._check_running(self._time(self._moment), list(self._running.values()))
            if not self._stopped and self._constraints:
                now = exact_time(self._origin, self._moment)
                self._constrain(self._observed(now, self.values), self._time(self._moment))
            if at_end:
                break
        if not self._stopped:
            self._begin(time)

    def _begin(self, time: Fraction) -> None:
        if compare(self._moment, exact(time - self._origin)) < 0:
            self.values = self._motion.at(exact(time - self._origin))
        self._origin, self._moment = time, 0
        self._motion = Motion(self.values, 0, (), self.task.term)

    def _happen(self, time: Fraction, events: list[TimedEvent]) -> None:
        before = frozenset(self._running)
        super()._happen(time, events)
        self._fresh = frozenset(self._running) - before

    def _respond(self, *, last: bool) -> None:
        for number in self._running.keys() - self._effects.keys():
            operator, step = self._running[number].operator, self.plan[number - 1]
            assert step.duration is not None
            self._effects[number] = self._dynamics.during(
                step.action, operator.template.schema, operator.binding, exact(step.duration)
            )
        self._settle(list(self.values), 0, onward=not last)

    def _check_invariants(self, time: Fraction) -> None:
        # An invariant holds over an open interval: `_watch` checks the actions that just started.
        older = [r for number, r in self._running.items() if number not in self._fresh]
        self._check_running(time, older)

    def _next(self, state: MovingState, end: Rational) -> Root | None:
        watched = [event.operator.precondition for event in self._dynamics.events]
        watched += [process.condition for process in self._holding]
        for moment in state.turns(watched, self._moment, end):
            at_end = compare(moment, end) == 0
            for event in self._dynamics.events:
                condition = event.operator.precondition
                if state.holds(condition, moment):
                    return moment
                if not at_end and state.holds(condition, moment, after=True):
                    return moment
            if at_end:
                continue
            for process, held in self._holding.items():
                if state.holds(process.condition, moment, after=True) != held:
                    return moment
        return None

    # Events and processes -------------------------------------------------------------------

    def _settle(
        self, numbers: list[Quantity | None], moment: Moment, *, onward: bool = True
    ) -> None:
        while not self._stopped:
            state = self._reading(numbers)
            events = self._dynamics.events
            due = [e for e in events if state.holds(e.operator.precondition, moment)]
            if not due and onward:
                self._motion = self._set_in_motion(numbers, moment)
                state = self._moving(self._motion)
                due = [
                    e for e in events if state.holds(e.operator.precondition, moment, after=True)
                ]
            if not due:
                break
            numbers = self._take_place(due, numbers, moment)
        self.values = values_at(numbers, moment)

    def _set_in_motion(self, numbers: Numbers, moment: Moment) -> Motion:
        candidates = [*self._dynamics.processes]
        for number in self._running:
            candidates += self._effects.get(number, ())
        start = self._reading(numbers)
        active = [p for p in candidates if start.holds(p.condition, moment)]
        tried: list[list[GroundProcess]] = []
        ended: set[GroundProcess] = set()
        while True:
            rates = [rate for process in active for rate in process.rates]
            try:
                motion = Motion(numbers, moment, rates, self.task.term)
            except UndefinedValueError as error:
                self._fail_change(active, moment, str(error))
                return Motion(numbers, moment, (), self.task.term)
            state = self._moving(motion)
            self._holding = {p: state.holds(p.condition, moment, after=True) for p in candidates}
            holding = [p for p in candidates if self._holding[p] and p not in ended]
            if holding == active:
                break
            if active in tried:
                # The choice of processes repeats. A process that stops itself at once must not
                # start again here: a level that a process raises to its bound stays there.
                ended.update(p for p in active if not self._holding[p])
            tried.append(active)
            active = [p for p in holding if p not in ended]
        for process in ended:
            if self._holding[process] and not state.rests(process.condition):
                raise ContinuousChangeError(
                    f"the process {process.action} would start and stop endlessly at "
                    f"{decimal_text(self._time(moment))}: sliding motion is not supported"
                )
        self._active = tuple(active)
        return motion

    def _fail_change(self, active: list[GroundProcess], moment: Moment, why: str) -> None:
        names = " and ".join(dict.fromkeys(str(process.action) for process in active))
        time = self._time(moment)
        message = f"{names} cannot continue at {decimal_text(time)}: {why}."
        self._failures.append(Failure(FailureKind.UNDEFINED_VALUE, message, time=time))
        self._on_failure = OnFailure.STOP

    def _take_place(
        self, events: list[GroundEvent], numbers: list[Quantity | None], moment: Moment
    ) -> list[Quantity | None]:
        time = self._time(moment)
        refs = tuple([StepRef(None, event.action, time) for event in events])
        before = State(self.task, self.bits, values_at(numbers, moment))
        result = apply_events(
            refs, events, self._happened, before, numbers, moment, self._reading(numbers)
        )
        if isinstance(result, EventFailure):
            schema = result.event.schema
            place = schema.location or place_of(schema.precondition)
            self._failures.append(Failure(result.kind, result.message, time=time, condition=place))
            # The state after failed events is undefined.
            self._on_failure = OnFailure.STOP
            return numbers
        self._happened.update(events)
        values = values_at(result.numbers, moment)
        self.bits = self.task.close(result.bits, values)
        self.values = values
        if self._keeps:
            self.happenings.append(Happening(time, refs, self.bits, values))
        flipped = before.bits ^ self.bits
        for ref, (flips, touched) in zip(refs, result.touched, strict=True):
            own = flipped & flips
            flipped &= ~own
            self._changed(ref, own, before.values, _touched(before.values, values, touched))
        if flipped:
            # Derived atoms.
            self._changed(refs[0], flipped, before.values, before.values)
        return result.numbers

    def _changed(
        self, ref: StepRef, flipped: int, before: Values, after: Values, *, gradual: bool = False
    ) -> None:
        bits = tuple(set_bits(flipped))
        if self._keeps:
            self._changes.append(StateChange(ref, bits, before, after, gradual=gradual))
            return
        known = [*before, *[None] * (len(after) - len(before))]
        self._last.note_step(
            ref, bits, [i for i, v in enumerate(after) if is_assigned_anew(v, known[i])]
        )

    # Watching -------------------------------------------------------------------------------

    def _watch(self, segment: Segment) -> None:
        for running in list(self._running.values()):
            operator = running.operator
            for place, effect in enumerate(operator.spanning):
                if running.effects[place]:
                    running.effects[place] = segment.broken(effect.between) is None
            for place, preference in enumerate(operator.preferences):
                if place not in running.violated and segment.broken(preference.between):
                    running.violated |= {place}
            broken = None if running.invariant_failed else segment.broken(operator.invariant)
            if broken is None:
                continue
            with self._at_sample(broken):
                self._break(running, broken.time, broken.after)
            if self._stopped:
                return
        if self._constraints:
            for sample in segment.states(self._constraints.conditions()):
                violation = self._observed(sample.since, sample.values)
                if violation is not None:
                    with self._at_sample(sample):
                        self._constrain(violation, sample.time)
                if self._stopped:
                    return

    @contextmanager
    def _at_sample(self, sample: SegmentSample) -> Iterator[None]:
        present, known, last = self.values, len(self._changes), self._last
        self._last = last.fork()
        self._credit(sample.values, sample.time)
        self.values = sample.values
        yield
        self.values, self._last = present, last
        del self._changes[known:]

    def _observed(self, since: Quantity, values: Values) -> Violation | None:
        return self._constraints.observe(cast("Fraction", since), self.bits, values)

    def _possible(self, event: TimedEvent) -> bool:
        return self._decided(
            event.operator.precondition, lambda: super(HybridRun, self)._possible(event)
        )

    def _report(self, values: Values, total_time: Fraction) -> ValidationReport:
        return self._decided(
            self.task.goal, lambda: super(HybridRun, self)._report(values, total_time)
        )

    def _decided(self, condition: Conjunction, ask: Callable[[], _T]) -> _T:
        """Return `ask()`, which evaluates a condition; errors name the undecided comparison."""
        try:
            return ask()
        except ContinuousChangeError:
            state = self._reading(self.values)
            for part in condition.parts():
                for test in part.tests:
                    state.decide(test)
            raise

    # Moments --------------------------------------------------------------------------------

    def _moving(self, motion: Motion) -> MovingState:
        return MovingState(motion, self.bits, self.task.term, self._origin)

    def _reading(self, numbers: Numbers) -> MovingState:
        return MovingState(numbers, self.bits, self.task.term, self._origin)

    def _time(self, moment: Moment) -> Fraction:
        return self._origin + approximate(moment)

    def _numbers(self, moment: Moment) -> list[Quantity | None]:
        return self._motion.numbers() if isinstance(moment, Root) else list(self._motion.at(moment))

    def _reach(self, moment: Root) -> None:
        self.values = self._motion.at(moment)
        if not moment.rational:
            self._moment = moment
            return
        self._origin += moment.low
        self._moment = 0
        self._motion = Motion(self.values, 0, (), self.task.term)

    def _record(self, end: Moment) -> None:
        if not self._keeps:
            return
        numbers = self._motion.numbers()
        span = self._time(self._moment), self._time(end)
        self._recorded.append(Phase(*span, self._origin, numbers))
        self.process_spans += [
            ProcessSpan(str(process.action), *span)
            for process in self._active
            if self._step_of(process) is None
        ]

    def _stretches(self) -> list[Phase]:
        return self._recorded

    def _credit(self, after: Values, time: Fraction) -> None:
        for process in self._active:
            touched = {rate.index for rate in process.rates}
            ref = StepRef(self._step_of(process), process.action, time)
            changed = _touched(self.values, after, touched)
            self._changed(ref, 0, self.values, changed, gradual=True)

    def _step_of(self, process: GroundProcess) -> int | None:
        return next((n for n, own in self._effects.items() if process in own), None)


def _touched(before: Values, after: Values, touched: Collection[int]) -> Values:
    known = [*before, *[None] * (len(after) - len(before))]
    return tuple([v if i in touched else known[i] for i, v in enumerate(after)])
