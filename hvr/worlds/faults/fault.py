"""Faults as values: kinds, timing, effects, and the schedule of a run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from hvr.base.declared import decode
from hvr.base.files import write_whole
from hvr.base.texts import read_json
from hvr.errors import DataFileError, UsageError
from hvr.values import JsonObject

# Faults -------------------------------------------------------------------------------------------


class FaultKind(StrEnum):
    DROP = "drop"
    """The held object falls before the action, or after the action that picked it up."""
    SLIPPERY = "slippery_hand"
    """The held object falls after the action; meant to be used with a probability."""
    SILENT = "silent_failure"
    """The action reports success but changes nothing."""
    FAILED = "failed_action"
    """The action is not executed and reports failure."""
    BLOCKED = "blocked"
    """An action that moves, opens, closes or takes something is refused because of an obstacle."""
    OCCUPIED = "occupied"
    """Another object fills the receptacle."""
    MISSING_STEP = "missing_step"
    """The action is not sent to the environment, and the previous event is returned again."""
    WRONG_OBJECT = "wrong_object"
    """Actions on one object affect another object instead."""
    SWAPPED = "swapped"
    """Two switches, such as the knobs of a stove, control each other's objects."""
    MOVED = "moved_by_other"
    """Another agent moves an object to another receptacle after the action."""
    CHANGED = "changed_by_other"
    """Another agent changes the state of an object after the action."""
    MISPERCEIVED = "wrong_perception"
    """An object is reported with a wrong type, state or place."""
    NOISE = "sensor_noise"
    """States of visible objects are misreported, or objects are reported as out of view."""


PERCEPTION_KINDS = frozenset({FaultKind.MISPERCEIVED, FaultKind.NOISE})
"""Kinds that change only the report, not the world."""

LASTING_KINDS = frozenset({FaultKind.WRONG_OBJECT, FaultKind.SWAPPED, *PERCEPTION_KINDS})
"""Kinds that continue once they have started, unless `times` limits them."""

INITIAL_KINDS = frozenset(
    {FaultKind.MOVED, FaultKind.CHANGED, FaultKind.OCCUPIED, *PERCEPTION_KINDS}
)
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
        raise UsageError(f"{name} of a fault must be between 0 and 1, got {value}")


@dataclass(frozen=True)
class FaultTiming:
    """The actions at which a fault occurs.

    Actions are numbered from 1; queries (`GetReachablePositions`, `GetInteractablePoses`) have no
    number. Number 0 is the start of the scene, where only the kinds in `INITIAL_KINDS` can occur.

    Args:
        step: First action at which the fault may occur; 0 includes the start.
        actions: Names of AI2-THOR actions; empty means all that the kind can affect.
        target: Name of the action's object; empty means any.
        nth: 1-based number of the first matching action at which the fault occurs.
        times: Number of matching actions at which the fault occurs; 0 means unlimited. None means
            one, or unlimited for lasting kinds.
        probability: Probability that the fault occurs at a matching action.
    """

    step: int = 1
    actions: tuple[str, ...] = ()
    target: str = ""
    nth: int = 1
    times: int | None = None
    probability: float = 1.0

    def __post_init__(self) -> None:
        if self.step < 0 or self.nth < 1 or (self.times is not None and self.times < 0):
            raise UsageError(
                "a fault's step and times must not be negative, and its nth must be at least 1, "
                f"got step {self.step}, times {self.times}, nth {self.nth}"
            )
        _check_share("probability", self.probability)


@dataclass(frozen=True)
class FaultEffect:
    """The effect of a fault, whose kind determines the relevant fields; the seed fills empty ones.

    Args:
        target: The object that is moved, changed, misperceived or mistaken for `other`, or the
            receptacle that is occupied. Empty means the object of the action.
        other: The second object: the object acted on by mistake, the other switch, the occupant, or
            the obstacle.
        field: Metadata field that is changed or misperceived: `isOpen`, `isToggled`, `isDirty`,
            `isFilledWithLiquid`, `isBroken`, `isSliced`, `isCooked`. MISPERCEIVED allows any field,
            including `objectType` and `parentReceptacles` (a place).
        place: Receptacle to which the object is moved.
        value: New value of the field: the name of a place for `parentReceptacles`, a liquid for
            `isFilledWithLiquid`, otherwise usually a bool. None means the opposite of the value.
        message: Error message of a failed or blocked action.
        flip: Probability of a misreported state (NOISE).
        unseen: Probability that an object is reported as out of view (NOISE).
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
    kind: FaultKind
    when: FaultTiming = FaultTiming()
    what: FaultEffect = FaultEffect()

    @property
    def actions(self) -> frozenset[str]:
        return frozenset(self.when.actions) or _ACTIONS.get(self.kind, frozenset())

    @property
    def times(self) -> int:
        """Number of matching actions at which the fault occurs; 0 means unlimited."""
        if self.when.times is not None:
            return self.when.times
        return 0 if self.kind in LASTING_KINDS else 1

    @property
    def named(self) -> tuple[str, ...]:
        what = self.what
        place = str(what.value) if what.field == "parentReceptacles" else ""
        names = (self.when.target, what.target, what.other, what.place, place)
        return tuple(name for name in names if name)

    def to_json(self) -> dict[str, Any]:
        """Return the fault as JSON values, omitting fields with default values."""
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


# Triggers -----------------------------------------------------------------------------------------


class Trigger:
    """Decides at which actions a fault occurs; `seed` determines its random choices."""

    def __init__(self, fault: Fault, seed: str) -> None:
        self.fault = fault
        self.chance = random.Random(seed)
        self._matched = 0
        self.count = 0
        """Number of times that the fault has happened."""

    def due(self, step: int, action: str, target: str) -> bool:
        """Return whether the fault occurs at this action; to be called once per action.

        `action` is empty at the start of the scene; `target` is empty if the action has no object.
        """
        when, actions = self.fault.when, self.fault.actions
        if self.spent or step < when.step:
            return False
        if step == 0:
            if self.fault.kind not in INITIAL_KINDS:
                return False
        elif (actions and action not in actions) or (when.target and target != when.target):
            return False
        self._matched += 1
        if self._matched < when.nth:
            return False
        return when.probability >= 1.0 or self.chance.random() < when.probability

    def fired(self) -> None:
        """Count an occurrence. A fault that was due but could not occur remains due."""
        self.count += 1

    @property
    def spent(self) -> bool:
        return 0 < self.fault.times <= self.count

    def standing(self, step: int) -> bool:
        """Return whether the fault occurs with certainty at each matching action from `step` on."""
        when = self.fault.when
        return not self.spent and step >= when.step and when.nth == 1 and when.probability >= 1.0


# Schedule -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Schedule(JsonObject):
    """Faults and a seed; the same schedule gives the same faults for the same actions.

    Args:
        seed: Seed for probabilities and for the choice of unnamed objects.
    """

    faults: tuple[Fault, ...] = ()
    seed: int = 0

    json_shape = "seed faults"

    @classmethod
    def random(cls, kinds: Iterable[FaultKind], probability: float, seed: int = 0) -> Self:
        """Return a schedule in which each kind of fault occurs at each action with a probability.

        For NOISE, this is the probability of a wrong state, and of an unseen object.
        """
        faults = []
        for kind in kinds:
            if kind is FaultKind.NOISE:
                faults.append(noise(probability))
            else:
                faults.append(Fault(kind, FaultTiming(times=0, probability=probability)))
        return cls(tuple(faults), seed)

    @classmethod
    def from_json(cls, values: Any) -> Self:
        return decode(cls, values)

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            return cls.from_json(read_json(path))
        except UsageError as error:
            raise DataFileError(f"{path}: {error}") from error

    def save(self, path: Path) -> None:
        write_whole(path, json.dumps(self.to_json(), indent=1) + "\n")


def noise(share: float) -> Fault:
    """Return sensor noise with the given share of misreported states and of unseen objects."""
    return Fault(FaultKind.NOISE, FaultTiming(step=0), FaultEffect(flip=share, unseen=share))
