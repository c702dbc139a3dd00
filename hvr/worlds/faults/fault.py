"""Faults as values: their kinds, when they fire, and what they do."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Self, TypeVar

from hvr.errors import UsageError


class FaultKind(StrEnum):
    """Kinds of faults."""

    DROP = "drop"
    """What is held falls: before the action, or after the one that took it."""
    SLIPPERY = "slippery_hand"
    """What is held falls after the action; meant to have a probability."""
    SILENT = "silent_failure"
    """The action reports success and changes nothing."""
    FAILED = "failed_action"
    """The action is not carried out and reports failure."""
    BLOCKED = "blocked"
    """Moving, opening, closing or taking is refused: something is in the way."""
    OCCUPIED = "occupied"
    """Something else is in the receptacle; as long as it is there, nothing more goes in."""
    MISSING_STEP = "missing_step"
    """The action is swallowed: it is never sent, and the last event stays."""
    WRONG_OBJECT = "wrong_object"
    """Actions on one object go to another."""
    SWAPPED = "swapped"
    """Two knobs, or two other switches, switch each other's."""
    MOVED = "moved_by_other"
    """After the action somebody moves an object to another receptacle."""
    CHANGED = "changed_by_other"
    """After the action somebody changes the state of an object."""
    MISPERCEIVED = "wrong_perception"
    """An object is reported as another type, in another state or at another place."""
    NOISE = "sensor_noise"
    """States of objects in view are reported wrongly, or objects as out of view."""


PERCEPTION = frozenset({FaultKind.MISPERCEIVED, FaultKind.NOISE})
"""Kinds that change what is reported and leave the world as it is."""

LASTING = frozenset({FaultKind.WRONG_OBJECT, FaultKind.SWAPPED, *PERCEPTION})
"""Kinds that go on, once they have begun, unless `times` says otherwise."""

AT_START = frozenset({FaultKind.MOVED, FaultKind.CHANGED, FaultKind.OCCUPIED, *PERCEPTION})
"""Kinds that can happen before any action."""

MOVES = frozenset({"MoveAhead", "MoveBack", "MoveLeft", "MoveRight", "Teleport", "TeleportFull"})
SWITCHES = frozenset({"ToggleObjectOn", "ToggleObjectOff"})

_ACTIONS = {
    FaultKind.BLOCKED: MOVES | {"OpenObject"},
    FaultKind.OCCUPIED: frozenset({"PutObject"}),
    FaultKind.SWAPPED: SWITCHES,
}


def _check_share(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise UsageError(f"{name} of a fault must be between 0 and 1, not {value}")


@dataclass(frozen=True)
class FaultTiming:
    """The actions on which a fault fires.

    Actions are numbered from 1; questions (`GetReachablePositions`,
    `GetInteractablePoses`) have no number. Number 0 is the start of the scene, before any
    action; only kinds of `AT_START` can fire there.

    Args:
        step: only from this action on; 0 is the start, and from there on.
        actions: names of AI2-THOR actions; empty means all that this kind can affect.
        target: name of the object that the action is sent for; empty means any.
        nth: fire on the nth matching action first.
        times: number of matching actions to fire on; 0 means without end. None means once, and
            for lasting kinds without end.
        probability: fire on each of them with this probability.
    """

    step: int = 1
    actions: tuple[str, ...] = ()
    target: str = ""
    nth: int = 1
    times: int | None = None
    probability: float = 1.0

    def __post_init__(self) -> None:
        if self.step < 0 or self.nth < 1 or (self.times is not None and self.times < 0):
            raise UsageError("a fault's step and times must not be negative, and nth be 1 or more")
        _check_share("probability", self.probability)


@dataclass(frozen=True)
class What:
    """The effect of a fault. Which fields count depends on the kind; empty ones are chosen by seed.

    Args:
        target: the object that it happens to: what is moved, changed or misperceived, what
            actions are diverted from, the receptacle that is occupied. Empty means the
            object of the action.
        other: the second object: what actions are diverted to, the other switch, what
            occupies the receptacle, what is in the way.
        place: the receptacle that an object is moved to.
        field: the metadata field that is changed or misperceived: `isOpen`, `isToggled`,
            `isDirty`, `isFilledWithLiquid`, `isBroken`, `isSliced`, `isCooked`; for
            MISPERCEIVED any field, `objectType`, and `parentReceptacles` (a place).
        value: its value; a place is given by name, a liquid as the value of
            `isFilledWithLiquid`.
        message: `errorMessage` of a refused action.
        flip: probability that a state is reported wrongly (NOISE).
        unseen: probability that an object is reported as out of view (NOISE).
    """

    target: str = ""
    other: str = ""
    place: str = ""
    field: str = ""
    value: str | bool | None = None
    message: str = ""
    flip: float = 0.0
    unseen: float = 0.0

    def __post_init__(self) -> None:
        _check_share("flip", self.flip)
        _check_share("unseen", self.unseen)


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong.

    Args:
        kind: its kind.
        when: on which actions.
        what: what happens.
    """

    kind: FaultKind
    when: FaultTiming = FaultTiming()
    what: What = What()

    @property
    def actions(self) -> frozenset[str]:
        """Names of the actions on which it can fire; empty means all."""
        return frozenset(self.when.actions) or _ACTIONS.get(self.kind, frozenset())

    @property
    def times(self) -> int:
        """On how many matching actions it fires; 0 means without end."""
        if self.when.times is not None:
            return self.when.times
        return 0 if self.kind in LASTING else 1

    @property
    def named(self) -> tuple[str, ...]:
        """Names of the objects that it mentions."""
        what = self.what
        place = str(what.value) if what.field == "parentReceptacles" else ""
        names = (self.when.target, what.target, what.other, what.place, place)
        return tuple(name for name in names if name)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; what has its default is left out."""
        values: dict[str, Any] = {"kind": self.kind.value}
        for name, part in (("when", self.when), ("what", self.what)):
            given = {
                f.name: list(v) if isinstance(v, tuple) else v
                for f in fields(part)
                if (v := getattr(part, f.name)) != f.default
            }
            if given:
                values[name] = given
        return values

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Return the fault that `to_json` wrote.

        Raises:
            UsageError: it is not one; the message says what is wrong.
        """
        if not isinstance(values, dict):
            raise UsageError(f"a fault must be an object with 'kind', not {values!r}")
        unknown = sorted(set(values) - {"kind", "when", "what"})
        if unknown:
            raise UsageError(f"a fault has 'kind', 'when' and 'what', not {', '.join(unknown)}")
        try:
            kind = FaultKind(str(values.get("kind")))
        except ValueError:
            raise UsageError(
                f"unknown fault kind {values.get('kind')!r} (kinds: {', '.join(FaultKind)})"
            ) from None
        when = _part(FaultTiming, "when", values.get("when", {}))
        what = _part(What, "what", values.get("what", {}))
        return cls(kind, when, what)


Part = TypeVar("Part", FaultTiming, What)

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "int | None": (int, type(None)),
    "str | bool | None": (str, bool, type(None)),
    "tuple[str, ...]": (list, tuple),
}


def _part(cls: type[Part], name: str, values: Any) -> Part:
    if not isinstance(values, dict):
        raise UsageError(f"{name!r} of a fault must be an object, not {values!r}")
    known = {f.name: str(f.type) for f in fields(cls)}
    for key, value in values.items():
        if key not in known:
            raise UsageError(f"{name!r} of a fault has no {key!r} (it has: {', '.join(known)})")
        # In Python a bool is an int: `true` is no number of steps.
        right = isinstance(value, _TYPES[known[key]]) and not (
            isinstance(value, bool) and "bool" not in known[key]
        )
        if isinstance(value, (list, tuple)):
            right = right and all(isinstance(item, str) for item in value)
        if not right:
            raise UsageError(f"{key!r} of a fault must be {known[key]}, not {value!r}")
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return cls(**given)
