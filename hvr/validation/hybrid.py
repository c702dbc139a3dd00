"""Plans in a world that moves by itself: processes, events and continuous effects.

The semantics are those of PDDL+ (Fox & Long, "Modelling mixed discrete-continuous domains for
planning", JAIR 27, 2006). Between happenings numbers follow a `Motion`. A process goes on while its
condition holds; an event happens as soon as its condition does, and what it changes may bring
about others at the same time. The state at a time is the one after all that happens then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from hvr.errors import ContinuousChangeError, InconsistentEffectError, UndefinedValueError
from hvr.pddl import State, TimedAction
from hvr.pddl.conditions import Conjunction, NumericChange, change_numbers, set_bits
from hvr.pddl.numeric import Rational, Values, exact
from hvr.pddl.plan import decimal_text
from hvr.validation.curves import Stretch
from hvr.validation.interference import StepParts, access, interferences
from hvr.validation.motion import Moment, Motion, MovingState, Numbers, compare
from hvr.validation.polynomials import Number, Root
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    StepRef,
    ValidationReport,
    place_of,
)
from hvr.validation.temporal import Happening, TemporalRun, TimedEvent
from hvr.validation.violations import StateChange
from hvr.validation.world import Event, Process, World

if TYPE_CHECKING:
    from hvr.validation.validator import Validator

MOST_MOMENTS = 10_000
"""At how many times something may happen by itself; a ball that bounces ever lower never rests."""


class HybridRun(TemporalRun):
    """Judges one plan for a task with processes, events or continuous effects.

    Args:
        validator: the validator, in the state to begin in.
        plan: the steps, in the order of the file.
        world: the processes and events of the task.
    """

    def __init__(self, validator: Validator, plan: list[TimedAction], world: World) -> None:
        super().__init__(validator, plan)
        self._world = world
        self._origin = Fraction(0)
        self._moment: Moment = 0
        self._motion = Motion(self.values, 0, (), self.task.term)
        # Which processes' conditions hold from now on, and which of them are going on.
        self._holding: dict[Process, bool] = {}
        self._active: tuple[Process, ...] = ()
        self._effects: dict[int, tuple[Process, ...]] = {}
        self._happened: set[Event] = set()
        self._fresh: frozenset[int] = frozenset()
        self._moments = 0
        self._recorded: list[Stretch] = []

    def run(self, on_failure: OnFailure) -> ValidationReport:
        """Judge the plan.

        Raises:
            ContinuousChangeError: numbers change in a way that is not solved exactly.
        """
        self._on_failure = on_failure
        times = [step.start for step in self.plan]
        times += [Fraction(timed.time) for timed in self.task.problem.timed_init]
        self._settle(list(self.values), 0, onward=min(times, default=Fraction(0)) > 0)
        return super().run(on_failure)

    # Time goes by ---------------------------------------------------------------------------

    def _advance(self, time: Fraction) -> None:
        while not self._stopped:
            end = exact(time - self._origin)
            if compare(self._moment, end) >= 0:
                break
            course = self._course(self._motion)
            moment = self._next(course, end)
            self._watch(course, moment or end)
            if self._stopped:
                return
            self._record(moment or end)
            self._credit(moment or end)
            self._happened.clear()
            if moment is None:
                break
            self._moments += 1
            if self._moments > MOST_MOMENTS:
                raise ContinuousChangeError(
                    f"something happens by itself more than {MOST_MOMENTS} times, the last time at "
                    f"{decimal_text(self._time(moment))}; maybe without end"
                )
            at_end = compare(moment, end) == 0
            self._reach(moment)
            self._settle(self._numbers(moment), self._moment, onward=not at_end)
            if not self._stopped:
                self._check_going_on(self._time(self._moment), list(self._running.values()))
            if not self._stopped and self._constraints:
                now = self._time(self._moment)
                self._constrain(self._constraints.observe(now, self.bits, self.values), now)
            if at_end:
                break
        if not self._stopped:
            self._begin(time)

    def _begin(self, time: Fraction) -> None:
        """Let the time of a happening be the origin."""
        if compare(self._moment, exact(time - self._origin)) < 0:
            self.values = self._motion.at(exact(time - self._origin))
        self._origin, self._moment = time, 0
        self._motion = Motion(self.values, 0, (), self.task.term, self._motion.is_exact)

    def _happen(self, time: Fraction, events: list[TimedEvent]) -> None:
        before = frozenset(self._running)
        super()._happen(time, events)
        self._fresh = frozenset(self._running) - before

    def _respond(self, *, last: bool) -> None:
        for number in self._running.keys() - self._effects.keys():
            running = self._running[number]
            duration = self.plan[number - 1].duration
            assert duration is not None
            operator = running.operator
            self._effects[number] = self._world.during(
                self.plan[number - 1].action, operator.schema, operator.binding, exact(duration)
            )
        self._settle(list(self.values), 0, onward=not last)

    def _check_invariants(self, time: Fraction) -> None:
        # What has just begun has to hold from here on, not here: `_watch` sees to that.
        older = [r for number, r in self._running.items() if number not in self._fresh]
        self._check_going_on(time, older)

    def _next(self, course: MovingState, end: Rational) -> Root | None:
        """Return the next moment at which an event happens or a process begins or ends."""
        watched = [event.operator.precondition for event in self._world.events]
        watched += [process.condition for process in self._holding]
        for moment in course.turns(watched, self._moment, end):
            if not self._motion.is_exact:
                self._tell_apart(moment, end)
            at_end = compare(moment, end) == 0
            for event in self._world.events:
                condition = event.operator.precondition
                if course.holds(condition, moment):
                    return moment
                if not at_end and course.holds(condition, moment, after=True):
                    return moment
            if at_end:
                continue
            for process, held in self._holding.items():
                if course.holds(process.condition, moment, after=True) != held:
                    return moment
        return None

    def _tell_apart(self, moment: Root, end: Rational) -> None:
        """Refuse to say in which order two things happen that may be at one time."""
        distance = abs(Fraction(end - moment.approximation()))
        if 0 < distance < Fraction(1, 10**30):
            raise ContinuousChangeError(
                f"whether an event comes before what happens at {decimal_text(self._origin + end)} "
                "is decided by less than 1e-30: arithmetic of algebraic numbers would be needed"
            )

    # Events and processes -------------------------------------------------------------------

    def _settle(self, numbers: list[Number | None], moment: Moment, *, onward: bool = True) -> None:
        """Let events happen until none can, then find out what goes on.

        Args:
            numbers: the numbers, to be read at the moment.
            moment: the time, since the origin.
            onward: whether time goes on from here, before anything else happens.
        """
        is_exact = self._motion.is_exact
        while not self._stopped:
            course = MovingState(numbers, self.bits, is_exact)
            events = self._world.events
            due = [e for e in events if course.holds(e.operator.precondition, moment)]
            if not due and onward:
                self._motion = self._set_in_motion(numbers, moment, is_exact)
                if isinstance(moment, Root) and not self._motion.is_exact:
                    # From here on all times and numbers are rounded. What has reached a bound
                    # still has this very value.
                    is_exact = False
                    numbers, moment = self._rounded_from(numbers, moment)
                    self._motion = self._set_in_motion(numbers, moment, is_exact)
                course = self._course(self._motion)
                due = [
                    e for e in events if course.holds(e.operator.precondition, moment, after=True)
                ]
            if not due:
                break
            numbers = self._take_place(due, numbers, moment)
        self.values = _rounded(numbers, moment)

    def _rounded_from(self, numbers: Numbers, moment: Root) -> tuple[list[Number | None], Moment]:
        """Make an irrational moment the origin; return the numbers there and the moment."""
        self._origin += moment.approximation()
        self._moment = 0
        return list(_rounded(numbers, moment)), 0

    def _set_in_motion(self, numbers: Numbers, moment: Moment, is_exact: bool) -> Motion:
        """Find the processes that go on from a moment, and how the numbers change by them."""
        candidates = [*self._world.processes]
        for number in self._running:
            candidates += self._effects.get(number, ())
        start = MovingState(numbers, self.bits, is_exact)
        active = [p for p in candidates if start.holds(p.condition, moment)]
        ended: set[Process] = set()
        while True:
            rates = [rate for process in active for rate in process.rates]
            motion = Motion(numbers, moment, rates, self.task.term, is_exact)
            course = self._course(motion)
            self._holding = {p: course.holds(p.condition, moment, after=True) for p in candidates}
            wanted = [p for p in candidates if self._holding[p] and p not in ended]
            if wanted == active:
                break
            # What ends itself at once does not begin again here: a level that a process raises to
            # its bound stays at the bound.
            ended.update(p for p in active if not self._holding[p])
            active = [p for p in candidates if p in wanted]
        for process in ended:
            if self._holding[process] and not course.rests(process.condition):
                raise ContinuousChangeError(
                    f"the process {process.action} would begin and end without pause at "
                    f"{decimal_text(self._time(moment))}: sliding motion would be needed"
                )
        self._active = tuple(active)
        return motion

    def _take_place(
        self, events: list[Event], numbers: list[Number | None], moment: Moment
    ) -> list[Number | None]:
        """Let events happen together; return the numbers after them."""
        time = self._time(moment)
        before = _rounded(numbers, moment)
        again = next((event for event in events if event in self._happened), None)
        if again is not None:
            self._fail_event(
                f"The event {again.action} would happen again at once at {decimal_text(time)}: "
                "what follows from it makes its condition true again, or leaves it so.",
                again,
                time,
            )
            return numbers
        self._happened.update(events)
        state = State(self.task, self.bits, before)
        steps = [
            access(
                state,
                StepParts(e.binding, e.schema.precondition, e.schema.effect, (e.operator,)),
            )
            for e in events
        ]
        for i, j, over in interferences(self.task, steps):
            self._fail_event(
                f"The events {events[i].action} and {events[j].action} interfere: both happen at "
                f"{decimal_text(time)}, and one changes {over}, which the other needs or changes.",
                events[j],
                time,
                FailureKind.INTERFERENCE,
            )
            return numbers
        add = delete = 0
        after: list[Number | None] = numbers
        here = MovingState(numbers, self.bits, self._motion.is_exact)
        parts: list[tuple[Event, int, set[int]]] = []
        for event in events:
            operator = event.operator
            mine = operator.add | operator.delete
            add |= operator.add
            delete |= operator.delete
            for condition, more_add, more_delete in operator.conditional:
                if here.holds(condition, moment):
                    add |= more_add
                    delete |= more_delete
                    mine |= more_add | more_delete
            changes = [c for guard, c in operator.numeric if here.holds(guard, moment)]
            try:
                after = _changed(changes, numbers, after)
            except (UndefinedValueError, InconsistentEffectError) as error:
                self._fail_event(
                    f"The event {event.action} cannot happen at {decimal_text(time)}: {error}.",
                    event,
                    time,
                    FailureKind.UNDEFINED_VALUE,
                )
                return numbers
            parts.append((event, mine, {change[1] for change in changes}))
        bits = self.bits
        values = _rounded(after, moment)
        self.bits = self.task.close(bits & ~delete | add, values)
        self.values = values
        refs = tuple([StepRef(None, event.action, time) for event in events])
        self.happenings.append(Happening(time, refs, self.bits, values))
        flipped = bits ^ self.bits
        for ref, (_, mine, touched) in zip(refs, parts, strict=True):
            own = flipped & mine
            flipped &= ~own
            self._changes.append(
                StateChange(ref, tuple(set_bits(own)), before, _touched(before, values, touched))
            )
        if flipped:
            self._changes.append(StateChange(refs[0], tuple(set_bits(flipped)), before, before))
        return after

    def _fail_event(
        self,
        message: str,
        event: Event,
        time: Fraction,
        kind: FailureKind = FailureKind.EVENT,
    ) -> None:
        place = event.schema.location or place_of(event.schema.precondition)
        self._failures.append(Failure(kind, message, time=time, condition=place))
        # What comes after has no meaning.
        self._on_failure = OnFailure.STOP

    # Watching -------------------------------------------------------------------------------

    def _watch(self, course: MovingState, end: Moment) -> None:
        """Check what must hold until a moment, itself not included."""
        for running in list(self._running.values()):
            operator = running.operator
            for place, effect in enumerate(operator.spanning):
                if running.effects[place]:
                    running.effects[place] = self._broken(course, effect.between, end) is None
            for place, wish in enumerate(operator.wishes):
                if place not in running.violated and self._broken(course, wish.between, end):
                    running.violated.add(place)
            if running.invariant_failed:
                continue
            broken = self._broken(course, operator.invariant, end)
            if broken is None:
                continue
            time, sample = broken
            present, self.values = self.values, sample
            self._break(running, time)
            self.values = present
            if self._stopped:
                return
        if self._constraints:
            self._watch_constraints(course, end)

    def _watch_constraints(self, course: MovingState, end: Moment) -> None:
        for time, values in self._states(course, self._constraints.conditions(), end):
            self._constrain(self._constraints.observe(time, self.bits, values), time)
            if self._stopped:
                return

    def _broken(
        self, course: MovingState, condition: Conjunction, end: Moment
    ) -> tuple[Fraction, Values] | None:
        """Return when a condition is first false before a moment, and the numbers then."""
        if not any(part.tests for part in condition.parts()):
            # Only numbers change here, and what is true of the others was looked at before.
            return (
                None if course.holds(condition, self._moment) else self._sample(self._moment, end)
            )
        if not course.holds(condition, self._moment, after=True):
            turns = course.turns([condition], self._moment, end)
            return self._sample(self._moment, turns[0] if turns else end)
        turns = course.turns([condition], self._moment, end)
        for place, turn in enumerate(turns):
            if compare(turn, end) == 0:
                break
            if not course.holds(condition, turn):
                return self._time(turn), self._motion.at(turn)
            if not course.holds(condition, turn, after=True):
                following = turns[place + 1] if place + 1 < len(turns) else end
                return self._sample(turn, following)
        return None

    def _sample(self, start: Moment, end: Moment) -> tuple[Fraction, Values]:
        """Return the time of a moment, and the numbers half way to another one."""
        middle = (Fraction(_approximate(start)) + _approximate(end)) / 2
        return self._time(start), self._motion.at(middle)

    def _states(
        self, course: MovingState, conditions: Iterable[Conjunction], end: Moment
    ) -> Iterator[tuple[Fraction, Values]]:
        """Yield states that show every change of the truth of conditions before a moment."""
        turns = [t for t in course.turns(conditions, self._moment, end) if compare(t, end) < 0]
        last: Moment = self._moment
        for turn in (*turns, end):
            # The truth between two turns is that in the middle, from the first of them on.
            yield self._sample(last, turn)
            if turn is not end:
                yield self._time(turn), self._motion.at(turn)
            last = turn

    # Places in time -------------------------------------------------------------------------

    def _course(self, motion: Motion) -> MovingState:
        return MovingState(motion, self.bits, motion.is_exact)

    def _time(self, moment: Moment) -> Fraction:
        return self._origin + _approximate(moment)

    def _numbers(self, moment: Moment) -> list[Number | None]:
        return self._motion.numbers() if isinstance(moment, Root) else list(self._motion.at(moment))

    def _reach(self, moment: Root) -> None:
        """Go to a moment; a rational one becomes the origin."""
        self.values = self._motion.at(moment)
        if not moment.rational:
            self._moment = moment
            return
        self._origin += moment.low
        self._moment = 0
        self._motion = Motion(self.values, 0, (), self.task.term, self._motion.is_exact)

    def _record(self, end: Moment) -> None:
        numbers = self._motion.numbers()
        span = self._time(self._moment), self._time(end)
        self._recorded.append(Stretch(*span, self._origin, numbers))

    def _stretches(self) -> list[Stretch]:
        return self._recorded

    def _credit(self, end: Moment) -> None:
        """Remember which processes and actions changed the numbers."""
        before = self.values
        after = self._motion.at(end)
        time = self._time(end)
        for process in self._active:
            touched = {rate.index for rate in process.rates}
            number = next((n for n, effects in self._effects.items() if process in effects), None)
            ref = StepRef(number, process.action, time)
            told = StateChange(ref, (), before, _touched(before, after, touched), gradual=True)
            self._changes.append(told)


def _changed(changes: list[NumericChange], before: Numbers, after: Numbers) -> list[Number | None]:
    # Polynomials compute like numbers: see `calculate`.
    return list(change_numbers(changes, cast("Values", tuple(before)), cast("Values", after)))


def _rounded(numbers: Iterable[Number | None], moment: Moment) -> Values:
    motion = Motion(list(numbers), moment, (), str)
    return motion.at(moment)


def _touched(before: Values, after: Values, touched: set[int]) -> Values:
    known = [*before, *[None] * (len(after) - len(before))]
    return tuple([v if i in touched else known[i] for i, v in enumerate(after)])


def _approximate(moment: Moment) -> Rational:
    return moment.approximation() if isinstance(moment, Root) else moment
