"""Timed plans as unified-planning judges them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from hvr.pddl import TimedAction
from hvr.pddl.numeric import Values
from hvr.planning.interop.from_plans import JudgedStep
from hvr.validation.calendar import TimedEvent
from hvr.validation.report import FailureKind, OnFailure, ValidationReport
from hvr.validation.temporal import TemporalRun
from hvr.validation.validator import Validator


@dataclass(slots=True)
class _Writes:
    """What one event sets: bits of atoms, indexes of numbers."""

    owner: int | None
    atoms: int = 0
    increased: set[int] = field(default_factory=set)
    assigned: set[int] = field(default_factory=set)


class UnifiedRun(TemporalRun):
    """Judges one timed plan by the rules of unified-planning.

    They differ from those of PDDL where steps happen at the same time: one may change what
    another reads, and no two may set one fluent, not even to the same value.

    Args:
        validator: the validator; its epsilon and tolerance should be 0.
        steps: the steps and their companions, all timed.
    """

    def __init__(self, validator: Validator, steps: tuple[JudgedStep, ...]) -> None:
        timed = [item.step for item in steps if isinstance(item.step, TimedAction)]
        super().__init__(validator, timed)
        self._owners = [item.owner for item in steps]

    def judge(self) -> ValidationReport:
        """Judge the plan, up to its first failure."""
        return self.run(OnFailure.STOP)

    def check_interference(self, time: Fraction, events: list[TimedEvent]) -> None:
        """Look for fluents that two steps set at once."""
        writes = [self._writes(event, self.bits, self.values) for event in events]
        for (event, one), (other, two) in combinations(zip(events, writes, strict=True), 2):
            if event.number is None and other.number is None:
                continue
            # A step may set a truth value twice, and true wins; never a number.
            atoms = 0 if one.owner == two.owner else one.atoms & two.atoms
            numbers = one.assigned & (two.assigned | two.increased) | one.increased & two.assigned
            if not (atoms or numbers):
                continue
            over = (
                str(self.task.fluent((atoms & -atoms).bit_length() - 1))
                if atoms
                else str(self.task.term(min(numbers)))
            )
            late, early = (other, event) if other.number is not None else (event, other)
            assert late.number is not None
            what = f"sets {over} at the same time as {early.ref}"
            self._fail(late.number, FailureKind.INTERFERENCE, what, time=time)
            return

    def _writes(self, event: TimedEvent, bits: int, values: Values) -> _Writes:
        owner = None if event.number is None else self._owners[event.number - 1]
        writes = _Writes(owner, event.operator.add | event.operator.delete)
        for condition, add, delete in event.operator.conditional:
            if condition.holds(bits, values):
                writes.atoms |= add | delete
        for condition, (symbol, index, _) in event.operator.numeric:
            if condition.holds(bits, values):
                adds = symbol in ("increase", "decrease")
                (writes.increased if adds else writes.assigned).add(index)
        return writes
