"""Scoring of failure detection: the correct kinds for each fault, recall and precision."""

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
        # A step that was never sent is indistinguishable from one without effect.
        FaultKind.MISSING_STEP: frozenset(
            {DeviationKind.NO_EFFECT, DeviationKind.MISSING_PRECONDITION}
        ),
        FaultKind.WRONG_OBJECT: frozenset({DeviationKind.WRONG_OBJECT}),
        FaultKind.SWAPPED: frozenset({DeviationKind.WRONG_OBJECT}),
        # Reported immediately, or when the robot next observes the place.
        FaultKind.MOVED: frozenset(
            {
                DeviationKind.CHANGED_BY_OTHERS,
                DeviationKind.MISPERCEIVED,
                DeviationKind.MISSING_OBJECT,
            }
        ),
        FaultKind.CHANGED: frozenset({DeviationKind.CHANGED_BY_OTHERS, DeviationKind.MISPERCEIVED}),
        # A misperceived object is indistinguishable from a changed one.
        FaultKind.MISPERCEIVED: frozenset(
            {DeviationKind.CHANGED_BY_OTHERS, DeviationKind.MISPERCEIVED}
        ),
        FaultKind.NOISE: frozenset(),
        # Plan faults of REFLECT.
        "missing_step_in_plan": frozenset({DeviationKind.MISSING_PRECONDITION}),
        "wrong_order_in_plan": frozenset({DeviationKind.MISSING_PRECONDITION}),
        "ambiguous_plan": frozenset({DeviationKind.WRONG_OBJECT, DeviationKind.GOAL_UNMET}),
    }
)
"""Failure kinds that count as correct for each kind of fault.

NOISE has none: filtering should suppress every report.
"""


ALIKE: Mapping[str, frozenset[DeviationKind]] = MappingProxyType(
    {
        # The object falls back to its previous place, as if it had never been taken.
        FaultKind.DROP: frozenset({DeviationKind.NO_EFFECT, DeviationKind.WRONG_EFFECT}),
        FaultKind.SLIPPERY: frozenset({DeviationKind.NO_EFFECT, DeviationKind.WRONG_EFFECT}),
        # A step of several actions, such as cracking an egg, was only partly executed.
        FaultKind.SILENT: frozenset({DeviationKind.WRONG_EFFECT}),
        FaultKind.MISSING_STEP: frozenset({DeviationKind.WRONG_EFFECT}),
        # Another agent acts on the object that the robot has just handled.
        FaultKind.MOVED: frozenset(
            {DeviationKind.WRONG_OBJECT, DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}
        ),
        FaultKind.CHANGED: frozenset({DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}),
        FaultKind.MISPERCEIVED: frozenset({DeviationKind.WRONG_EFFECT, DeviationKind.NO_EFFECT}),
    }
)
"""Further correct kinds for a fault that hits an object handled by the step itself.

The resulting facts are the same as if the step had failed on its own.
"""


@dataclass(frozen=True)
class Detection:
    """The detection of one fault.

    Args:
        step: 1-based number of the step in which the fault occurred.
        noticed: First step, at or after `step`, with a reported failure; None if there is none.
        reported: Kinds of the failures reported in step `noticed`, in order.
        early: Kinds of the failures reported before the fault.
        own: Whether the fault hit an object that the step itself handles.
    """

    kind: str
    step: int
    noticed: int | None
    reported: tuple[DeviationKind, ...] = ()
    early: tuple[DeviationKind, ...] = ()
    own: bool = False

    @property
    def in_time(self) -> bool:
        return self.noticed == self.step

    @property
    def right_kind(self) -> bool:
        return any(map(self.accepts, self.reported))

    def accepts(self, kind: DeviationKind) -> bool:
        return kind in RIGHT[self.kind] or (self.own and kind in ALIKE.get(self.kind, ()))


def detection(kind: str, step: int, failures: Iterable[Deviation]) -> Detection:
    """Return the detection of a run's only fault, given all failures reported in the run."""
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
        in_time: Number of faults noticed in the step in which they occurred.
        noticed: Number of faults noticed in that step or later.
        right: Number of faults noticed in time and with a correct kind.
        reported: Number of failures of kinds that are correct for this fault, counted at the step
            in which a fault of any kind was first noticed.
        justified: How many of `reported` are from runs with this kind of fault.
        early: Number of failures reported before the fault.
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
        """Share of the reported failures that match their run's fault; None without reports."""
        return self.justified / self.reported if self.reported else None


def rates(kind: str, detections: Sequence[Detection]) -> Rates:
    """Return recall and precision for one kind of fault, given the detections of all kinds.

    A reported failure is justified if its kind is correct for the fault of its run.
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
