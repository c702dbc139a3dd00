"""The places where the robot did something, with the numbers of the steps done there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvr.runs.report.floor_plan.route import Route


@dataclass(frozen=True)
class Stop:
    """A place with its steps.

    Args:
        x: metres.
        z: metres.
        steps: numbers of the steps after which the robot was there, ascending.
        failed: those in which something went wrong.
    """

    x: float
    z: float
    steps: tuple[int, ...]
    failed: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The numbers, neighbours joined: `1–3, 7`."""
        return joined(self.steps)


def stops(route: Route) -> tuple[Stop, ...]:
    """Return the places of a route in order of the first visit, told apart by the centimetre."""
    steps: dict[tuple[float, float], list[int]] = {}
    failed: dict[tuple[float, float], list[int]] = {}
    for visit in route.visits:
        place = (round(visit.pose.x, 2), round(visit.pose.z, 2))
        steps.setdefault(place, []).append(visit.number)
        if visit.failed:
            failed.setdefault(place, []).append(visit.number)
    return tuple(
        Stop(x, z, tuple(sorted(set(numbers))), tuple(failed.get((x, z), ())))
        for (x, z), numbers in steps.items()
    )


def joined(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs of neighbours joined by a dash: `1–3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)
