"""Execution traces of plans, and causal links as evidence for findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.errors import UndefinedValueError
from hvr.judging.verdict import CausalLink, Cause, Critique, CritiqueKind
from hvr.pddl import GroundAction, Misfit, State, Task
from hvr.pddl.state import Conjunction, Operator, Values, set_bits
from hvr.validation import search
from hvr.validation.minimise import reads_of
from hvr.validation.report import OnFailure
from hvr.validation.validator import Validator
from hvr.values import cached_property

# Execution trace ----------------------------------------------------------------------------------

TraceState: TypeAlias = tuple[int, Values]
"""Bits of a state, including derived atoms, and its numeric values."""


def execute(task: Task, operator: Operator, mark: TraceState) -> TraceState | None:
    return search.execute(task, operator, *mark)


def holds(condition: Conjunction, mark: TraceState) -> bool:
    """Return whether a condition holds; it does not if it reads an undefined value."""
    try:
        return condition.holds(*mark)
    except UndefinedValueError:
        return False


def unmet_parts(condition: Conjunction, mark: TraceState) -> int:
    bits, values = mark
    wrong = (condition.positive & ~bits).bit_count() + (condition.negative & bits).bit_count()
    wrong += sum(not clause.holds(bits, values) for clause in condition.clauses)
    return wrong + sum(not holds(Conjunction(tests=(test,)), mark) for test in condition.tests)


def executable(task: Task, start: TraceState, operators: Sequence[Operator]) -> TraceState | None:
    mark: TraceState | None = start
    for operator in operators:
        if mark is not None:
            mark = execute(task, operator, mark)
    return mark


def reaches(start: State, operators: Sequence[Operator]) -> bool:
    end = executable(start.task, (start.bits, start.values), operators)
    return end is not None and holds(start.task.goal, end)


@dataclass(frozen=True)
class ExecutionTrace:
    """The execution of a plan, without the steps that fail.

    Args:
        operators: Operators of the steps; None for a step that is not an action of the task.
        marks: State before each step, and the final state.
        failing: Indexes of the steps that are not executable.
    """

    task: Task
    plan: tuple[GroundAction, ...]
    operators: tuple[Operator | None, ...]
    marks: tuple[TraceState, ...]
    failing: frozenset[int]

    @classmethod
    def of(cls, start: State, plan: Sequence[GroundAction]) -> ExecutionTrace:
        task = start.task
        compiled = [task.try_ground(action) for action in plan]
        operators = tuple([None if isinstance(o, Misfit) else o for o in compiled])
        marks: list[TraceState] = [(start.bits, start.values)]
        failing = set()
        for index, operator in enumerate(operators):
            after = None if operator is None else execute(task, operator, marks[-1])
            if after is None:
                failing.add(index)
            marks.append(marks[-1] if after is None else after)
        return cls(task, tuple(plan), operators, tuple(marks), frozenset(failing))

    @property
    def valid(self) -> bool:
        return not self.failing and holds(self.task.goal, self.marks[-1])


# Evidence -----------------------------------------------------------------------------------------
# Causal links: the effects of a step, their readers, and the steps that undo them.

_MOST_LINKS = 6
_NAMED = 2


@dataclass(frozen=True)
class _Change:
    """A changed literal; `readers` are the steps that read it (the number of steps: the goal)."""

    bit: int
    value: bool
    readers: tuple[int, ...]
    undone_by: int | None

    def text(self, task: Task) -> str:
        atom = str(task.fluent(self.bit))
        return atom if self.value else f"(not {atom})"


class Evidence:
    """Causal links between the steps of a plan; `kept` lists the steps that the goal needs."""

    def __init__(self, trace: ExecutionTrace, kept: Sequence[int]) -> None:
        self.trace = trace
        self.kept = frozenset(kept)
        self.reads = [0 if o is None else reads_of(o) for o in trace.operators]
        self._needed = {name for i in self.kept for name in trace.plan[i].args}

    def changes(self, index: int) -> tuple[_Change, ...]:
        """Return the literals that a step changed, except derived ones."""
        marks, task = self.trace.marks, self.trace.task
        changed = (marks[index][0] ^ marks[index + 1][0]) & ~task.derived_bits
        result = []
        count = len(self.trace.plan)
        for bit in set_bits(changed):
            mask = 1 << bit
            value = bool(marks[index + 1][0] & mask)
            readers, undone = [], None
            # Follow the literal until a later step changes it back.
            for later in range(index + 1, count):
                if self.reads[later] & mask and later not in self.trace.failing:
                    readers.append(later)
                if bool(marks[later + 1][0] & mask) != value:
                    undone = later
                    break
            if undone is None and task.goal.mentioned() & mask:
                readers.append(count)
            result.append(_Change(bit, value, tuple(readers), undone))
        return tuple(result)

    def redundant(self, index: int) -> Critique:
        changes = self.changes(index)
        cause, reason = self._why(index, changes)
        return Critique(
            CritiqueKind.REMOVE,
            index + 1,
            (self.trace.plan[index],),
            reason,
            cause,
            _links(self.trace.task, changes),
        )

    def _why(self, index: int, changes: tuple[_Change, ...]) -> tuple[Cause, str]:
        trace = self.trace
        action = trace.plan[index]
        if index in trace.failing:
            return Cause.CONTRADICTORY, self._failures.get(index, "it cannot be executed")
        if trace.marks[index] == trace.marks[index + 1]:
            return Cause.REPEATED, "it changes nothing: all its effects already hold"
        undone = {c.undone_by for c in changes}
        few = [c.text(trace.task) for c in changes[:_NAMED]]
        made, them = " and ".join(few) or "its effects", "it" if len(few) == 1 else "them"
        if not set(action.args) <= self._needed:
            other = next(name for name in action.args if name not in self._needed)
            return Cause.IRRELEVANT, f"no step that the goal needs involves {other}"
        reverted = self._reverts(index, changes)
        if reverted is not None:
            step = f"step {reverted + 1} {trace.plan[reverted]}"
            return Cause.CONTRADICTORY, f"it undoes an effect of {step}"
        if None not in undone and changes and not undone & self.kept:
            number = max(later for later in undone if later is not None) + 1
            step = f"step {number} {trace.plan[number - 1]}"
            return (
                Cause.CANCELLED,
                f"{step} undoes {made}, and no needed step in between reads {them}",
            )
        same = [i for i in sorted(self.kept) if trace.plan[i] == action]
        if same:
            return Cause.REPEATED, f"step {same[0] + 1} does the same"
        return Cause.IRRELEVANT, f"no step that the goal needs reads {made}"

    def _reverts(self, index: int, changes: tuple[_Change, ...]) -> int | None:
        """Return the needed earlier step whose effect, read by the goal, this step undoes."""
        goal = self.trace.task.goal.mentioned()
        marks = self.trace.marks
        for change in changes:
            mask = 1 << change.bit
            if not goal & mask:
                continue
            for earlier in range(index - 1, -1, -1):
                if (marks[earlier][0] ^ marks[earlier + 1][0]) & mask:
                    if earlier in self.kept:
                        return earlier
                    break
        return None

    @cached_property
    def _failures(self) -> dict[int, str]:
        return _failures(self.trace)


def _failures(trace: ExecutionTrace) -> dict[int, str]:
    state = trace.task.state(trace.task.atoms_in(trace.marks[0][0]), trace.marks[0][1])
    report = Validator(trace.task, state=state).check(trace.plan, on_failure=OnFailure.SKIP)
    texts = {}
    for failure in report.failures:
        if failure.step is None:
            continue
        unmet = []
        for literal in failure.literals[:_NAMED]:
            by = literal.changed_by
            who = f" since step {by.number} {by.action}" if by is not None else ""
            unmet.append(f"{literal} does not hold{who}")
        why = "; ".join(unmet) or failure.message
        texts[failure.step - 1] = f"it cannot be executed: {why}"
    return texts


def _links(task: Task, changes: Sequence[_Change]) -> tuple[CausalLink, ...]:
    return tuple(
        CausalLink(
            change.text(task),
            tuple([reader + 1 for reader in change.readers]),
            None if change.undone_by is None else change.undone_by + 1,
        )
        for change in changes[:_MOST_LINKS]
    )


def missing(
    repaired: ExecutionTrace,
    places: Sequence[int | None],
    begin: int,
    end: int,
    index: int,
    count: int,
) -> Critique:
    """Return the finding that a run of steps is missing.

    Args:
        places: For each step of the repaired plan, its index in the judged plan; None if inserted.
        begin: Index of the first missing step in the repaired plan.
        end: Index after the last missing step in the repaired plan.
        index: Index of the judged plan's step before which the missing steps belong.
        count: Number of steps in the judged plan.
    """
    evidence = Evidence(repaired, range(len(repaired.plan)))
    links = []
    readers: list[int] = []
    for step in range(begin, end):
        for change in evidence.changes(step):
            # Effects read only by other missing steps explain nothing.
            known = [r for r in change.readers if r == len(places) or r >= end]
            if known:
                readers += known
                links.append((change, known))
    steps = repaired.plan[begin:end]
    reason = _need(repaired, places, steps, links)

    def number(reader: int) -> int | None:
        place = count if reader == len(places) else places[reader]
        return None if place is None else place + 1

    shown = tuple(
        CausalLink(
            change.text(repaired.task), tuple([n for r in known if (n := number(r)) is not None])
        )
        for change, known in links[:_MOST_LINKS]
    )
    return Critique(CritiqueKind.MISSING, index + 1, steps, reason, links=shown)


def _need(
    repaired: ExecutionTrace,
    places: Sequence[int | None],
    steps: tuple[GroundAction, ...],
    links: list[tuple[_Change, list[int]]],
) -> str:
    it = "it" if len(steps) == 1 else "them"
    for change, readers in links:
        text = change.text(repaired.task)
        if readers[0] == len(places):
            return f"without {it} the goal, which needs {text}, is not reached"
        place = places[readers[0]]
        if place is not None:
            later = repaired.plan[readers[0]]
            return f"without {it} step {place + 1} {later} lacks {text}"
    return f"without {it} the plan does not reach the goal"
