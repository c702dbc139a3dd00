"""Scores of failure detection: the right kinds for each fault, recall and precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hvr.execution.deviations import Deviation, DeviationKind
from hvr.worlds.faults import FaultKind

RIGHT: Mapping[str, frozenset[DeviationKind]] = MappingProxyType(
    {
        FaultKind.DROP: frozenset({DeviationKind.DROPPED}),
        FaultKind.SLIPPERY: frozenset({DeviationKind.DROPPED}),
        FaultKind.SILENT: frozenset({DeviationKind.NO_EFFECT}),
        FaultKind.FAILED: frozenset({DeviationKind.ACTION_FAILED}),
        FaultKind.BLOCKED: frozenset({DeviationKind.BLOCKED}),
        FaultKind.OCCUPIED: frozenset({DeviationKind.OCCUPIED}),
        # A step that was never sent and one that did nothing look the same.
        FaultKind.MISSING_STEP: frozenset(
            {DeviationKind.NO_EFFECT, DeviationKind.MISSING_PRECONDITION}
        ),
        FaultKind.WRONG_OBJECT: frozenset({DeviationKind.WRONG_OBJECT}),
        FaultKind.SWAPPED: frozenset({DeviationKind.WRONG_OBJECT}),
        # Noticed at once, or when the robot comes to look.
        FaultKind.MOVED: frozenset(
            {
                DeviationKind.CHANGED_BY_OTHERS,
                DeviationKind.MISPERCEIVED,
                DeviationKind.MISSING_OBJECT,
            }
        ),
        FaultKind.CHANGED: frozenset({DeviationKind.CHANGED_BY_OTHERS, DeviationKind.MISPERCEIVED}),
        # What is misperceived looks like what was changed.
        FaultKind.MISPERCEIVED: frozenset(
            {DeviationKind.CHANGED_BY_OTHERS, DeviationKind.MISPERCEIVED}
        ),
        FaultKind.NOISE: frozenset(),
        # Faults of a plan, as REFLECT has them.
        "missing_step_in_plan": frozenset({DeviationKind.MISSING_PRECONDITION}),
        "wrong_order_in_plan": frozenset({DeviationKind.MISSING_PRECONDITION}),
        "ambiguous_plan": frozenset({DeviationKind.WRONG_OBJECT, DeviationKind.GOAL_UNMET}),
    }
)
"""The failure kinds that count as right for each kind of fault.

NOISE has none: after filtering nothing should be reported.
"""


ALIKE: Mapping[str, frozenset[DeviationKind]] = MappingProxyType(
    {
        # It falls back to where it was just taken from, as if it had never been taken.
        FaultKind.DROP: frozenset({DeviationKind.NO_EFFECT, DeviationKind.WRONG_EFFECT}),
        FaultKind.SLIPPERY: frozenset({DeviationKind.NO_EFFECT, DeviationKind.WRONG_EFFECT}),
        # A step of several actions, such as cracking an egg, was done in part.
        FaultKind.SILENT: frozenset({DeviationKind.WRONG_EFFECT}),
        FaultKind.MISSING_STEP: frozenset({DeviationKind.WRONG_EFFECT}),
        # What somebody does to the very thing that the robot has just handled.
        FaultKind.MOVED: frozenset(
            {DeviationKind.WRONG_OBJECT, DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}
        ),
        FaultKind.CHANGED: frozenset({DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}),
        FaultKind.MISPERCEIVED: frozenset({DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}),
    }
)
"""Kinds that are also right where a fault hits what the step itself handles.

The facts are then the same as if the step had gone wrong by itself.
"""


@dataclass(frozen=True)
class Detection:
    """The detection of one fault.

    Args:
        kind: of the fault.
        step: the step of the run in which it happened, from 1.
        noticed: the first step, from that one on, in which a failure was reported; None when
            none was.
        reported: kinds of the failures reported in that step, in order.
        early: kinds of failures that were reported before the fault.
        own: the fault hit what the step itself handles.
    """

    kind: str
    step: int
    noticed: int | None
    reported: tuple[DeviationKind, ...] = ()
    early: tuple[DeviationKind, ...] = ()
    own: bool = False

    @property
    def in_time(self) -> bool:
        """A failure was reported in the step of the fault."""
        return self.noticed == self.step

    @property
    def right_kind(self) -> bool:
        """One of the failures reported has a right kind."""
        return any(map(self.accepts, self.reported))

    def accepts(self, kind: DeviationKind) -> bool:
        """Return whether a failure of this kind is a right answer to the fault."""
        return kind in RIGHT[self.kind] or (self.own and kind in ALIKE.get(self.kind, ()))


def detection(kind: str, step: int, failures: Iterable[Deviation]) -> Detection:
    """Return the detection of a fault of a run.

    Args:
        kind: of the fault.
        step: the step in which it happened, from 1.
        failures: all that were reported in the run.
    """
    known = sorted(failures, key=lambda f: f.step)
    early = tuple(f.kind for f in known if f.step < step)
    later = [f for f in known if f.step >= step]
    if not later:
        return Detection(kind, step, None, (), early)
    first = later[0].step
    return Detection(kind, step, first, tuple(f.kind for f in later if f.step == first), early)


@dataclass(frozen=True)
class Rates:
    """Recall and precision of detection.

    Args:
        faults: how many there were.
        in_time: how many were noticed in the step in which they happened.
        noticed: how many were noticed then or later.
        right: how many were noticed in time and with a right kind.
        reported: how many failures were reported of the kinds that are right for the fault,
            in the step in which some fault of any kind was first noticed.
        justified: how many of these in runs with this kind of fault.
        early: how many failures were reported before the fault.
    """

    faults: int = 0
    in_time: int = 0
    noticed: int = 0
    right: int = 0
    reported: int = 0
    justified: int = 0
    early: int = 0

    @property
    def recall(self) -> float | None:
        """Share of the faults noticed in time; None without faults."""
        return self.in_time / self.faults if self.faults else None

    @property
    def precision(self) -> float | None:
        """Share of reported failures of these kinds that a fault with that right kind caused."""
        return self.justified / self.reported if self.reported else None


def rates(kind: str, detections: Sequence[Detection]) -> Rates:
    """Return recall and precision for one kind of fault.

    Args:
        kind: the kind.
        detections: of all faults, of all kinds; a report is justified when its kind is right
            for the fault of its run.
    """
    own = [d for d in detections if d.kind == kind]
    reported = [(d, k) for d in detections for k in (*d.early, *d.reported) if k in RIGHT[kind]]
    early = {id(d): set(d.early) for d in detections}
    justified = [1 for d, k in reported if d.accepts(k) and k not in early[id(d)]]
    return Rates(
        faults=len(own),
        in_time=sum(d.in_time for d in own),
        noticed=sum(d.noticed is not None for d in own),
        right=sum(d.in_time and d.right_kind for d in own),
        reported=len(reported),
        justified=len(justified),
        early=sum(len(d.early) for d in own),
    )
