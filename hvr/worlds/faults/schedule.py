"""The schedule of faults of a run: a list with a seed, from a JSON file or drawn at random."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hvr.base.files import write_whole
from hvr.base.texts import read_json
from hvr.errors import DataFileError, UsageError
from hvr.worlds.faults.fault import Fault, FaultKind, FaultTiming, What


@dataclass(frozen=True)
class Schedule:
    """Faults and the seed for what they leave open.

    The same schedule on the same actions gives the same faults.

    Args:
        faults: what goes wrong; several may fire on one action, in this order.
        seed: for probabilities and for objects that are not named.
    """

    faults: tuple[Fault, ...] = ()
    seed: int = 0

    @classmethod
    def random(cls, kinds: Iterable[FaultKind], probability: float, seed: int = 0) -> Self:
        """Return faults of each kind, on each action that it can affect with a probability.

        For NOISE it is the probability of a wrong state and of an unseen object instead.
        """
        faults = []
        for kind in kinds:
            if kind is FaultKind.NOISE:
                faults.append(noise(probability))
            else:
                faults.append(Fault(kind, FaultTiming(times=0, probability=probability)))
        return cls(tuple(faults), seed)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"seed": self.seed, "faults": [fault.to_json() for fault in self.faults]}

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Return the schedule that `to_json` wrote.

        Raises:
            UsageError: it is not one; the message says which fault is wrong.
        """
        if not isinstance(values, dict) or not isinstance(values.get("faults"), list):
            raise UsageError("a schedule must be an object with a list 'faults'")
        unknown = sorted(set(values) - {"faults", "seed"})
        if unknown:
            raise UsageError(f"a schedule has 'faults' and 'seed', not {', '.join(unknown)}")
        seed = values.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"'seed' of a schedule must be an integer, not {seed!r}")
        faults = []
        for number, entry in enumerate(values["faults"], start=1):
            try:
                faults.append(Fault.from_json(entry))
            except UsageError as error:
                raise UsageError(f"fault {number}: {error}") from None
        return cls(tuple(faults), seed)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a schedule from a JSON file.

        Raises:
            DataFileError: it cannot be read or is no schedule.
        """
        try:
            return cls.from_json(read_json(path))
        except UsageError as error:
            raise DataFileError(f"{path}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the schedule to a JSON file.

        Raises:
            DataFileError: it cannot be written.
        """
        write_whole(path, json.dumps(self.to_json(), indent=1) + "\n")


def noise(share: float) -> Fault:
    """Return sensor noise that makes a share of the states wrong and of the objects unseen."""
    return Fault(FaultKind.NOISE, FaultTiming(step=0), What(flip=share, unseen=share))
