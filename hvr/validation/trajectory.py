"""Trajectory constraints of PDDL 3, monitored over the states of a plan.

The semantics follow Gerevini & Long, "Plan constraints and preferences in PDDL3" (2005), section 3,
over the states S0 (at time 0), S1 (at t1), … Sn (at tn) of a plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from itertools import repeat

from hvr.pddl import (
    And,
    Expression,
    Forall,
    Location,
    Not,
    Preference,
    State,
    Task,
    Trajectory,
    substitute,
)
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.state import Conjunction, Values
from hvr.values import Value


class Violation(Value):
    """A constraint that a plan violates.

    Attributes:
        why: The violation, as the end of a sentence.
        blamed: The formula that had the wrong value in the last observed state, and the required
            value, or None if the cause lies in an earlier state.
    """

    constraint: Trajectory
    binding: Binding
    why: str
    blamed: tuple[Expression, bool] | None = None

    @property
    def location(self) -> Location | None:
        return self.constraint.location

    @property
    def text(self) -> str:
        return str(substitute(self.constraint, self.binding))


class Monitor:
    """Monitors one constraint.

    It keeps a few flags and deadlines instead of states, so each step of a plan costs the same.

    The meaning of `_seen` depends on the operator: the condition was true (`sometime`, `within`,
    `at-most-once`); the second condition was true (`sometime-before`); the first condition waits
    for the second (`sometime-after`); the window has opened (`hold-during`, `hold-after`). `_ended`
    means that the condition was true and then became false.
    """

    def __init__(self, task: Task, constraint: Trajectory, binding: Binding) -> None:
        self.constraint = constraint
        self.binding = binding
        self.violation: Violation | None = None
        compiler = Compiler(task)
        self.conditions = [compiler.condition(f, binding) for f in constraint.formulas]
        self._times = [Fraction(time) for time in constraint.times]
        self._seen = False
        self._ended = False
        self._deadlines: list[Fraction] = []
        self._last: tuple[Fraction, bool] = (Fraction(0), False)

    def observe(self, time: Fraction, bits: int, values: Values) -> None:
        """Evaluate the next state, which begins at `time`."""
        if self.violation is None:
            held = [condition.holds(bits, values) for condition in self.conditions]
            self._observe(time, held)
            self._last = time, held[0]

    def finish(self) -> None:
        """Treat the last observed state as the end of the plan."""
        if self.violation is None:
            self._finish()

    def _observe(self, time: Fraction, held: list[bool]) -> None:
        first = held[0]
        match self.constraint.operator:
            case "always":
                if not first:
                    self._violated("the condition does not hold", 0, True)
            case "sometime":
                self._seen |= first
            case "within":
                self._seen |= first and time <= self._times[0]
            case "at-most-once":
                if first and self._ended:
                    self._violated("the condition holds for a second time", 0, False)
                self._seen |= first
                self._ended |= self._seen and not first
            case "sometime-after":
                if held[1]:
                    self._seen = False
                elif first:
                    self._seen = True
            case "sometime-before":
                # In this order, because the second condition must hold in a strictly earlier state.
                if first and not self._seen:
                    self._violated("the first condition holds, but the second never held before it")
                self._seen |= held[1]
            case "always-within":
                # Keep deadlines that have passed, to report them below: the second condition holds
                # too late for them.
                if held[1]:
                    self._deadlines = [d for d in self._deadlines if d < time]
                if any(d < time for d in self._deadlines):
                    self._violated("the second condition did not hold in time", 1, True)
                if first and not held[1]:
                    self._deadlines.append(time + self._times[0])
            case "hold-during":
                self._window(time, first, self._times[0], self._times[1])
            case "hold-after":
                self._window(time, first, self._times[0], None)
            case _:
                pass

    def _window(self, time: Fraction, held: bool, begin: Fraction, end: Fraction | None) -> None:
        if time > begin and not self._seen and (end is None or begin < end):
            # The previous state was current when the window opened.
            self._seen = True
            if not self._last[1]:
                self._violated("the condition did not hold when the window opened")
                return
        inside = time >= begin and (end is None or time < end)
        self._seen |= time >= begin
        if inside and not held:
            self._violated("the condition does not hold", 0, True)

    def _finish(self) -> None:
        operator = self.constraint.operator
        held = self._last[1]
        if operator == "at end" and not held:
            self._violated("the condition does not hold at the end", 0, True)
        elif operator == "sometime" and not self._seen:
            self._violated("the condition never holds", 0, True)
        elif operator == "within" and not self._seen:
            self._violated("the condition did not hold in time")
        elif operator == "sometime-after" and self._seen:
            self._violated("the second condition never holds after the first", 1, True)
        elif operator == "always-within" and self._deadlines:
            self._violated("the second condition did not hold in time", 1, True)
        elif operator in ("hold-during", "hold-after") and not self._seen and not held:
            # The plan ended before the window, and its last state persists.
            self._violated("the condition does not hold at the end, before the window", 0, True)

    def _violated(self, why: str, formula: int | None = None, wanted: bool = True) -> None:
        blamed = None if formula is None else (self.constraint.formulas[formula], wanted)
        self.violation = Violation(self.constraint, self.binding, why, blamed)


class PreferredMonitors(Value):
    """The constraints of one preference instance; violating one of them violates the preference."""

    name: str
    monitors: tuple[Monitor, ...]

    @property
    def violated(self) -> bool:
        return any(monitor.violation for monitor in self.monitors)


class Constraints:
    """All trajectory constraints of a task, including constraints in preferences."""

    def __init__(self, task: Task) -> None:
        self.hard: list[Monitor] = []
        self.preferred: list[PreferredMonitors] = []
        for formula in (task.domain.constraints, task.problem.constraints):
            for name, constraint, binding in _flatten(task, formula, {}):
                if name is None:
                    assert isinstance(constraint, Trajectory)
                    self.hard.append(Monitor(task, constraint, binding))
                else:
                    parts = tuple(
                        Monitor(task, part, inner)
                        for _, part, inner in _flatten(task, constraint, binding)
                        if isinstance(part, Trajectory)
                    )
                    self.preferred.append(PreferredMonitors(name, parts))
        self._all = [*self.hard, *(m for p in self.preferred for m in p.monitors)]

    def __bool__(self) -> bool:
        return bool(self._all)

    def conditions(self) -> list[Conjunction]:
        return [condition for monitor in self._all for condition in monitor.conditions]

    def observe(self, time: Fraction, bits: int, values: Values) -> Violation | None:
        """Evaluate the next state; return the first violated hard constraint, if any."""
        for monitor in self._all:
            monitor.observe(time, bits, values)
        return self.violation()

    def finish(self) -> Violation | None:
        """Treat the last state as the end; return the first violated hard constraint, if any."""
        for monitor in self._all:
            monitor.finish()
        return self.violation()

    def forget(self, violation: Violation) -> None:
        gone = {id(m) for m in self.hard if m.violation is violation}
        self.hard = [m for m in self.hard if id(m) not in gone]
        self._all = [m for m in self._all if id(m) not in gone]

    def violation(self) -> Violation | None:
        return next((m.violation for m in self.hard if m.violation is not None), None)


def hard_constraints(task: Task) -> Iterator[tuple[Trajectory, Binding]]:
    """Yield (constraint, binding of its variables) for the constraints that no plan may violate."""
    for formula in (task.domain.constraints, task.problem.constraints):
        for name, constraint, binding in _flatten(task, formula, {}):
            if name is None:
                assert isinstance(constraint, Trajectory)
                yield constraint, binding


def _flatten(
    task: Task, formula: Expression, binding: Binding
) -> Iterator[tuple[str | None, Expression, Binding]]:
    """Yield (None, constraint, binding), or (name, body, binding) for a preference."""
    # An explicit stack of iterators, because formulas may be nested deeply.
    stack: list[Iterator[tuple[Expression, Binding]]] = [iter([(formula, binding)])]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        part, own = item
        match part:
            case And(operands):
                stack.append(iter([(operand, own) for operand in operands]))
            case Forall(variables, body):
                stack.append(zip(repeat(body), task.instances(variables, And(()), True, own)))
            case Preference(name, body):
                yield name, body, own
            case _:
                yield None, part, own


# Constraint monitor -------------------------------------------------------------------------------
# Trajectory constraints, progressed through predicted or observed states.
#
# The rest of a constraint is again a constraint, on the current and all later states. For example,
# "sometime" is satisfied once its condition holds, and "at most once" becomes "never" once its
# condition has held and ended. Plans and recoveries are checked against the rest and need no
# history.


class ConstraintMonitor:
    """Tracks the trajectory constraints that remain to be satisfied, state by state.

    Attributes:
        left: The constraints that later states must still satisfy.
        broken: The constraints that the states observed so far violate.
    """

    def __init__(self, constraints: Iterable[Trajectory] = ()) -> None:
        self.left = tuple(dict.fromkeys(constraints))
        self.broken: list[Trajectory] = []
        self._held: frozenset[Trajectory] = frozenset()

    @classmethod
    def of(cls, task: Task, ignored: Collection[Trajectory] = ()) -> ConstraintMonitor:
        monitor = cls(one for one in grounded_constraints(task) if one not in ignored)
        monitor.observe(task.initial)
        return monitor

    def observe(self, state: State) -> tuple[Trajectory, ...]:
        """Advance the constraints by one state; return the constraints that the state breaks."""
        broken: list[Trajectory] = []
        left: dict[Trajectory, None] = {}
        held = set()
        for one in self.left:
            truths = [state.holds(formula) for formula in one.formulas]
            if truths[0]:
                held.add(one)
            if self._breaks(one, truths):
                broken.append(one)
                left.update(dict.fromkeys(_restoring(one, truths)))
            else:
                left.update(dict.fromkeys(_rest(one, truths, was=one in self._held)))
        self.left, self._held = tuple(left), frozenset(held)
        self.broken += broken
        return tuple(broken)

    @staticmethod
    def _breaks(constraint: Trajectory, truths: list[bool]) -> bool:
        match constraint.operator:
            case "always":
                return not truths[0]
            case "sometime-before":
                return truths[0]
            case _:
                return False

    def unmet(self, state: State) -> tuple[Expression, ...]:
        """Return the `sometime` and `at end` conditions left unsatisfied if `state` is the last."""
        return tuple(
            one.formulas[0]
            for one in self.left
            if one.operator in ("sometime", "at end") and not state.holds(one.formulas[0])
        )

    @property
    def prohibitions(self) -> tuple[Trajectory, ...]:
        """The `always`, `at-most-once` and `sometime-before` constraints in `left`."""
        return tuple(one for one in self.left if one.operator in _PROHIBITIONS)


def grounded_constraints(task: Task) -> tuple[Trajectory, ...]:
    """Return the hard constraints of a task, with variables replaced by objects."""
    found = []
    for constraint, binding in hard_constraints(task):
        ground = substitute(constraint, binding)
        assert isinstance(ground, Trajectory)
        found.append(ground)
    return tuple(found)


def with_constraints(
    task: Task, state: State, constraints: tuple[Trajectory, ...]
) -> tuple[Task, State]:
    """Return a task with other constraints, and the given state as a state of this task."""
    if task.problem.constraints == And(constraints):
        return task, state
    other = Task(task.domain, task.problem.replace(constraints=And(constraints)))
    return other, other.state_with(state.atoms(), state.numbers())


_PROHIBITIONS = ("always", "at-most-once", "sometime-before")


def _restoring(constraint: Trajectory, truths: list[bool]) -> Iterator[Trajectory]:
    """Yield the remaining constraint of a broken one: the ended state must be restored first."""
    if constraint.operator == "sometime-before" and not truths[1]:
        ended, awaited = constraint.formulas
        kept = ended.operand if isinstance(ended, Not) else Not(ended)
        yield Trajectory("sometime-before", (), (awaited, kept))


def _rest(constraint: Trajectory, truths: list[bool], *, was: bool) -> Iterator[Trajectory]:
    match constraint.operator:
        case "sometime":
            if not truths[0]:
                yield constraint
        case "at-most-once" if was and not truths[0]:
            yield Trajectory("always", (), (Not(constraint.formulas[0]),))
        case "sometime-before":
            if not truths[1]:
                yield constraint
        case "sometime-after":
            yield constraint
            if truths[0] and not truths[1]:
                yield Trajectory("sometime", (), (constraint.formulas[1],))
        case _:
            yield constraint
