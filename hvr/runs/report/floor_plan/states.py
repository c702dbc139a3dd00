"""Marks for the states of objects on a floor plan: open doors, heat, light, cuts, liquids."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hvr.runs.report.floor_plan.drawing import Drawing, Mark
from hvr.runs.report.floor_plan.plan import Shape

_TINTS = {"hot": "hot", "cold": "cold", "on": "lit", "cooked": "cooked"}
_OPEN = math.radians(70)
_DOOR = 46.0
"""Maximum length of a door, in pixels."""


def state_marks(shape: Shape, sheet: Drawing) -> Iterator[tuple[str, Mark]]:
    """Yield the states of an object that can be seen, with their marks."""
    x0, y0 = sheet.place(shape.box.x0, shape.box.z1)
    x1, y1 = sheet.place(shape.box.x1, shape.box.z0)
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    for state in shape.state:
        title = f"{shape.name}: {state}"
        if state in _TINTS:
            yield state, Mark("rect", _TINTS[state], ((x0, y0), (x1, y1)), title=title)
        elif state == "sliced":
            for part in (1 / 3, 2 / 3):
                x = x0 + (x1 - x0) * part
                yield state, Mark("line", "cut", ((x, y0), (x, y1)), title=title)
        elif state.startswith("filled with "):
            radius = max(2.0, 0.3 * min(x1 - x0, y1 - y0))
            yield state, Mark("disc", "liquid", (middle, (middle[0] + radius, middle[1])))
        elif state == "open":
            yield state, Mark("line", "door", _door((x0, y0, x1, y1), sheet), title=title)


def _door(
    corners: tuple[float, float, float, float], sheet: Drawing
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the line of a door that has swung out of the side that faces the room's middle."""
    x0, y0, x1, y1 = corners
    dx, dy = sheet.width / 2 - (x0 + x1) / 2, sheet.height / 2 - (y0 + y1) / 2
    wide, deep = max(x1 - x0, 1.0), max(y1 - y0, 1.0)
    if abs(dx) / wide < abs(dy) / deep:
        length, out = min(wide, _DOOR), math.copysign(1.0, dy)
        hinge = (x0, y1 if out > 0 else y0)
        return hinge, (
            hinge[0] + length * math.cos(_OPEN), hinge[1] + out * length * math.sin(_OPEN)
        )  # fmt: skip
    length, out = min(deep, _DOOR), math.copysign(1.0, dx)
    hinge = (x1 if out > 0 else x0, y0)
    return hinge, (hinge[0] + out * length * math.sin(_OPEN), hinge[1] + length * math.cos(_OPEN))
