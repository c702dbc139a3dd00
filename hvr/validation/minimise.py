"""Removal of redundant steps from valid plans, by greedy action elimination.

Each step in turn is removed together with the later steps that then become inapplicable. The other
steps are kept as the new plan if they still reach the goal (Nakhost & Müller 2010, "Action
elimination and plan neighborhood graph search"; Fink & Yang 1992, "Formalizing plan
justifications"). The result is not the shortest subplan, which is NP-hard to find, but no single
step of it can be removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from hvr.errors import InconsistentEffectError, NumberTooLargeError, UndefinedValueError, UsageError
from hvr.pddl import GroundAction, State, Step, Task
from hvr.pddl.state import Operator, Values
from hvr.validation.report import OnFailure, Outcome, ValidationReport
from hvr.validation.sequences import action_of, is_simple, sequence_order
from hvr.validation.trajectory import Constraints
from hvr.validation.validator import Validator

_Mark: TypeAlias = tuple[int, Values]
_Cannot = (UndefinedValueError, InconsistentEffectError, NumberTooLargeError)


def minimise(
    validator: Validator, plan: Sequence[Step]
) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """Remove redundant steps from a valid plan; return it and the 1-based numbers of removed steps.

    A step stays if the plan without it is invalid or has a worse metric value, because it may
    violate a preference. No single step of the result can be removed.

    Raises:
        UsageError: The plan is not valid.
    """
    task = validator.task
    order = sequence_order(validator.task, plan, validator.epsilon)
    plain = not (task.preference_names or Constraints(task))
    if order is not None and plain:
        kept = eliminate_actions(validator.state, [action_of(plan[i]) for i in order])
        if kept is None:
            raise UsageError("only a valid plan can be minimised")
        left = sorted(order[i] for i in kept)
    else:
        left = _by_checking(validator, plan, order or tuple(range(len(plan))))
    removed = sorted(set(range(len(plan))).difference(left))
    return tuple([plan[i] for i in left]), tuple([i + 1 for i in removed])


def eliminate_actions(start: State, plan: Sequence[GroundAction]) -> tuple[int, ...] | None:
    """Return the indexes of the steps that are not redundant, or None if the plan is invalid.

    Preferences and trajectory constraints are ignored. The time is at most quadratic in the number
    of steps, because each attempt stops where it rejoins a known state.
    """
    return _Elimination(start, plan).run()


class _Elimination:
    def __init__(self, start: State, plan: Sequence[GroundAction]) -> None:
        self.task = start.task
        self.plan = plan
        self.operators = [self.task.ground(action) for action in plan]
        self.goal = self.task.goal
        # Derived atoms are computed only for the steps that read them.
        self.readers = {
            id(operator)
            for operator in self.operators
            if reads_of(operator) & self.task.derived_bits
        }
        self.kept = list(range(len(plan)))
        self.marks: list[_Mark] = [(self._stored(start.bits), start.values)]
        self.needed: frozenset[int] = frozenset()
        self.cost: Fraction | None = None

    def run(self) -> tuple[int, ...] | None:
        for operator in self.operators:
            after = self._execute(operator, *self.marks[-1])
            if after is None:
                return None
            self.marks.append(after)
        if not self._reached(self.marks[-1]):
            return None
        self.cost = self._cost(self.marks[-1], len(self.kept))
        shorter = True
        while shorter:
            self.needed = _needed(
                self.task, self.marks[0][0], [self.operators[i] for i in self.kept], self.kept
            )
            shorter = self._pass()
        return tuple(self.kept)

    def _pass(self) -> bool:
        # After a removal, the same position contains the next step. Earlier steps are tried again
        # in the next pass, since the steps that needed them may be gone.
        position = 0
        shorter = False
        while position < len(self.kept):
            if self.kept[position] not in self.needed and self._leave_out(position):
                shorter = True
            else:
                position += 1
        return shorter

    def _leave_out(self, position: int) -> bool:
        state = self.marks[position]
        kept: list[int] = []
        marks: list[_Mark] = []
        place = position + 1
        while place < len(self.kept):
            if state == self.marks[place]:
                # The old trajectory is rejoined: most attempts end here or at a needed step, long
                # before the end of the plan.
                break
            index = self.kept[place]
            after = self._execute(self.operators[index], *state)
            if after is not None:
                kept.append(index)
                marks.append(state)
                state = after
            elif index in self.needed:
                return False
            place += 1
        else:
            if not self._reached(state):
                return False
        tail, tail_marks = self.kept[place:], self.marks[place:]
        if place == len(self.kept):
            tail_marks = [state]
        end = tail_marks[-1]
        cost = self._cost(end, position + len(kept) + len(tail))
        if _worse(self.task, cost, self.cost):
            return False
        self.kept[position:] = kept + tail
        self.marks[position:] = marks + tail_marks
        self.cost = cost
        return True

    def _execute(self, operator: Operator, bits: int, values: Values) -> _Mark | None:
        try:
            if id(operator) in self.readers:
                bits = self.task.close(bits, values)
            if bits & operator.positive != operator.positive or bits & operator.negative:
                return None
            if not operator.plain and not operator.precondition.holds(bits, values):
                return None
            after = operator.apply(bits, values)
            if operator.numeric:
                values = operator.apply_numbers(bits, values)
            return self._stored(after), values
        except _Cannot:
            return None

    def _stored(self, bits: int) -> int:
        return bits & ~self.task.derived_bits

    def _reached(self, end: _Mark) -> bool:
        try:
            return self.goal.holds(self.task.close(*end), end[1])
        except UndefinedValueError:
            return False

    def _cost(self, end: _Mark, steps: int) -> Fraction | None:
        return self.task.metric_value(end[1], Fraction(steps), {})


def _worse(task: Task, new: Fraction | None, old: Fraction | None) -> bool:
    if old is None or new is None:
        return new is None and old is not None
    metric = task.problem.metric
    if metric is not None and metric.direction == "maximize":
        return new < old
    return new > old


def reads_of(operator: Operator) -> int:
    """Return the bitmask of the facts that an operator reads."""
    mask = operator.precondition.mentioned()
    for condition, _, _ in operator.conditional:
        mask |= condition.mentioned()
    for condition, _ in operator.numeric:
        mask |= condition.mentioned()
    return mask


# Necessary steps ----------------------------------------------------------------------------------


def _needed(
    task: Task, start: int, operators: Sequence[Operator], names: Sequence[int]
) -> frozenset[int]:
    """Return the names (action numbers) of steps that every valid subplan contains."""
    # Suppose that the goal or a needed step reads a literal that is initially false, or was made
    # false by a needed step. Then some step must achieve it, and if only one step can, it is
    # needed. This finds only some of the landmarks, but without executing anything, and each one
    # saves an attempt that executes the rest of the plan.
    achievers: dict[tuple[int, bool], list[int]] = {}
    falsifiers: dict[tuple[int, bool], list[int]] = {}
    for place, operator in enumerate(operators):
        unconditional = (operator.add, True), (operator.delete & ~operator.add, False)
        for mask, value in unconditional:
            for bit in _bits(mask):
                achievers.setdefault((bit, value), []).append(place)
                falsifiers.setdefault((bit, not value), []).append(place)
        for _, add, delete in operator.conditional:
            for mask, value in ((add, True), (delete, False)):
                for bit in _bits(mask):
                    places = achievers.setdefault((bit, value), [])
                    if not places or places[-1] != place:
                        places.append(place)
        if operator.conditional:
            # A conditional effect of the same action may add what the action deletes.
            conditional_adds = 0
            for _, add, _ in operator.conditional:
                conditional_adds |= add
            for bit in _bits(operator.delete & ~operator.add & conditional_adds):
                falsifiers[bit, True].pop()
    needed: set[int] = set()
    known = ~task.derived_bits

    def demands(condition: tuple[int, int], place: int) -> Iterator[int]:
        for mask, value in zip(condition, (True, False), strict=True):
            for bit in _bits(mask & known):
                spoiled = max(
                    (p for p in falsifiers.get((bit, value), ()) if p < place and p in needed),
                    default=-1,
                )
                if spoiled < 0 and bool(start & bit) == value:
                    continue
                candidates = [p for p in achievers.get((bit, value), ()) if spoiled < p < place]
                if len(candidates) == 1:
                    yield candidates[0]

    goal = task.goal.positive, task.goal.negative
    open_ = list(demands(goal, len(operators)))
    while open_:
        place = open_.pop()
        if place not in needed:
            needed.add(place)
            operator = operators[place]
            open_ += demands((operator.positive, operator.negative), place)
    return frozenset([names[place] for place in needed])


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


# With the whole validator -----------------------------------------------------------------------


def _by_checking(validator: Validator, plan: Sequence[Step], order: Sequence[int]) -> list[int]:
    kept = list(range(len(plan)))
    report = validator.check(plan)
    if not report.valid:
        raise UsageError("only a valid plan can be minimised")
    shorter = True
    while shorter:
        shorter = False
        for candidate in order:
            if candidate not in kept:
                continue
            for rest in _attempts(validator, plan, kept, candidate):
                without = _check(validator, plan, rest)
                if without.valid and not _worse(validator.task, without.cost, report.cost):
                    kept, report, shorter = rest, without, True
                    break
    return kept


def _attempts(
    validator: Validator, plan: Sequence[Step], kept: list[int], candidate: int
) -> Iterator[list[int]]:
    rest = [i for i in kept if i != candidate]
    yield rest
    report = _check(validator, plan, rest, OnFailure.SKIP)
    if report.outcome is not Outcome.INVALID or any(f.step is None for f in report.failures):
        return
    numbers = {failure.step for failure in report.failures}
    in_order = sequence_order(validator.task, [plan[i] for i in rest], validator.epsilon)
    failing = {
        rest[number if in_order is None else in_order[number]]
        for number in (n - 1 for n in numbers if n is not None)
        if 0 <= number < len(rest)
    }
    yield [i for i in rest if i not in failing]


def _check(
    validator: Validator,
    plan: Sequence[Step],
    indexes: Iterable[int],
    on_failure: OnFailure = OnFailure.STOP,
) -> ValidationReport:
    return validator.check([plan[i] for i in indexes], on_failure=on_failure)


# Post-optimisation --------------------------------------------------------------------------------
# Small improvements of a valid plan that a search for the fewest steps does not make.

Steps = tuple[GroundAction, ...]


def reaches_goal(task: Task, actions: Sequence[GroundAction]) -> bool:
    """Return whether a plan is applicable, satisfies the constraints and reaches the goal."""
    if not is_simple(task):
        return Validator(task).check(actions).valid
    state = task.initial.bits
    for action in actions:
        operator = task.ground(action)
        if not operator.applicable(state):
            return False
        state = operator.apply(state)
    return task.goal.holds(state)


def eliminate(task: Task, actions: Sequence[GroundAction]) -> Steps:
    """Remove redundant steps from a plan; return an invalid plan unchanged."""
    if not is_simple(task):
        validator = Validator(task)
        if not validator.check(actions).valid:
            return tuple(actions)
        return tuple(map(action_of, minimise(validator, actions)[0]))
    kept = eliminate_actions(task.initial, actions)
    return tuple(actions) if kept is None else tuple([actions[i] for i in kept])


def postpone(task: Task, actions: Sequence[GroundAction], late: Collection[str]) -> Steps:
    """Move the actions named in `late` towards the end while the plan stays valid.

    Their order does not change.
    """
    # From the end, so that actions moved already do not block earlier ones.
    steps = list(actions)
    for position in range(len(steps) - 1, -1, -1):
        if steps[position].name not in late:
            continue
        place = position
        while place + 1 < len(steps) and steps[place + 1].name not in late:
            swapped = [*steps]
            swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
            if not reaches_goal(task, swapped):
                break
            steps = swapped
            place += 1
    return tuple(steps)
