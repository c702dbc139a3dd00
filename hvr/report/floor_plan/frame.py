"""A rendered top view of a scene, small and quick: it stands in for a camera image.

It is no camera image: the scene is seen from above, in flat colours. What never moves is
painted once and kept; small and moveable things and the agent are painted at every call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hvr.envs.scenes import load_scene, scene_names
from hvr.errors import MissingExtraError, UsageError
from hvr.report.floor_plan.kinds import Kind, kind_of
from hvr.report.floor_plan.looks import LIGHT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

_LARGEST = 8192
_CELL = 0.13
_BODY = 0.2
_Fixed = tuple[Kind, float, float, float, float, float]
"""Kind, height of the top, x0, z0, x1, z1."""


def frame(metadata: Mapping[str, Any], width: int, height: int) -> bytes:
    """Return the scene from above as raw RGB.

    Args:
        metadata: metadata of an event, in AI2-THOR's schema.
        width: pixels.
        height: pixels.

    Returns:
        `width * height * 3` bytes, row by row, the bottom row (lowest z) first, as Unity sends
        them. The same metadata gives the same bytes.

    Raises:
        UsageError: the size is not between 1 and 8192.
        MissingExtraError: numpy is not installed.
    """
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("numpy", "pictures") from error
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST):
        raise UsageError(f"a frame of {width} x {height} pixels: both must be 1 to {_LARGEST}")
    fixed: list[_Fixed] = []
    loose: list[tuple[_Fixed, Mapping[str, Any]]] = []
    for entry in metadata["objects"]:
        found = _body(entry)
        if found is not None:
            if entry.get("pickupable") or entry.get("moveable"):
                loose.append((found, entry))
            else:
                fixed.append(found)
    scene = str(metadata.get("sceneName") or "").removesuffix("_physics")
    view = _view(tuple(fixed), scene, width, height)
    image = _background(tuple(fixed), scene, width, height).copy()
    closed = {
        entry["objectId"] for entry in metadata["objects"]
        if entry.get("openable") and not entry.get("isOpen")
    }  # fmt: skip
    for found, entry in sorted(loose, key=_by_height):
        if not entry.get("isSliced") and closed.isdisjoint(entry.get("parentReceptacles") or ()):
            view.box(image, *found[2:], _colour(found[0].value), _line(found[0].value))
    _state(image, view, metadata["objects"])
    agent = metadata.get("agent")
    if agent:
        view.agent(image, agent["position"]["x"], agent["position"]["z"], agent["rotation"]["y"])
    return image.tobytes()


class _View:
    """From metres to pixels of an image: the whole scene, in the middle."""

    def __init__(self, x0: float, z0: float, x1: float, z1: float, width: int, height: int) -> None:
        wide, high = max(x1 - x0, 1e-3), max(z1 - z0, 1e-3)
        self.scale = min(width / wide, height / high)
        self.left = x0 - (width / self.scale - wide) / 2
        self.bottom = z0 - (height / self.scale - high) / 2
        self.width, self.height = width, height

    def column(self, x: float) -> int:
        return min(max(int((x - self.left) * self.scale), 0), self.width)

    def row(self, z: float) -> int:
        return min(max(int((z - self.bottom) * self.scale), 0), self.height)

    def box(
        self, image: Image, x0: float, z0: float, x1: float, z1: float,
        fill: tuple[int, ...], line: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        """Fill a box, one pixel at least, with a dark edge when it is large enough for one."""
        a, b, c, d = self.column(x0), self.column(x1), self.row(z0), self.row(z1)
        b, d = max(b, a + 1), max(d, c + 1)
        if line is not None and b - a > 4 and d - c > 4:
            image[c:d, a:b] = line
            image[c + 1 : d - 1, a + 1 : b - 1] = fill
        else:
            image[c:d, a:b] = fill

    def agent(self, image: Image, x: float, z: float, yaw: float) -> None:
        """A disc as wide as the agent, with a bright mark on the side where it looks."""
        import numpy as np

        if not math.isfinite(x + z + yaw):
            return
        radius = max(_BODY * self.scale, 1.0)
        middle_x, middle_z = (x - self.left) * self.scale, (z - self.bottom) * self.scale
        a, b = self.column(x - _BODY), min(self.column(x + _BODY) + 1, self.width)
        c, d = self.row(z - _BODY), min(self.row(z + _BODY) + 1, self.height)
        rows, columns = np.ogrid[c:d, a:b]
        right, up = columns + 0.5 - middle_x, rows + 0.5 - middle_z
        disc = right * right + up * up <= radius * radius
        angle = math.radians(yaw)
        ahead = right * math.sin(angle) + up * math.cos(angle)
        aside = right * math.cos(angle) - up * math.sin(angle)
        part = image[c:d, a:b]
        part[disc] = _colour("agent")
        part[disc & (ahead > 0) & (np.abs(aside) < 0.5 * (radius - ahead))] = (255, 255, 255)


@lru_cache(maxsize=16)
def _view(fixed: tuple[_Fixed, ...], scene: str, width: int, height: int) -> _View:
    boxes = [(x0, z0, x1, z1) for _, _, x0, z0, x1, z1 in fixed]
    boxes += [(x, z, x, z) for x, z in _grid(scene)] or ([] if boxes else [(-1, -1, 1, 1)])
    lows, highs = [b[:2] for b in boxes], [b[2:] for b in boxes]
    return _View(
        min(x for x, _ in lows), min(z for _, z in lows),
        max(x for x, _ in highs), max(z for _, z in highs), width, height,
    )  # fmt: skip


@lru_cache(maxsize=4)
def _background(fixed: tuple[_Fixed, ...], scene: str, width: int, height: int) -> Image:
    """Return what never moves: floor, surfaces, where one can stand, then the rest by height."""
    import numpy as np

    view = _view(fixed, scene, width, height)
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = _colour("ground")
    low = sorted((f for f in fixed if f[0] in (Kind.FLOOR, Kind.SURFACE)), key=_floor_first)
    for kind, _, x0, z0, x1, z1 in low:
        view.box(image, x0, z0, x1, z1, _colour(kind.value), _line(kind.value))
    for x, z in _grid(scene):
        view.box(image, x - _CELL, z - _CELL, x + _CELL, z + _CELL, _colour("walkable"))
    # Cabinets and drawers are below or above the counters that are seen.
    rest = (Kind.BASIN, Kind.APPLIANCE, Kind.FIXTURE)
    for kind, _, x0, z0, x1, z1 in sorted((f for f in fixed if f[0] in rest), key=_floor_first):
        view.box(image, x0, z0, x1, z1, _colour(kind.value), _line(kind.value))
    return image


def _state(image: Image, view: _View, objects: Iterable[Mapping[str, Any]]) -> None:
    """A red dot on what is switched on, a black frame round what is open."""
    for entry in objects:
        if not (entry.get("isToggled") or entry.get("isOpen")):
            continue
        found = _body(entry)
        if found is None:
            continue
        _, _, x0, z0, x1, z1 = found
        if entry.get("isOpen"):
            edge = 1.0 / view.scale
            for side in (
                (x0, z0, x1, z0 + edge), (x0, z1 - edge, x1, z1),
                (x0, z0, x0 + edge, z1), (x1 - edge, z0, x1, z1),
            ):  # fmt: skip
                view.box(image, *side, (20, 20, 20))
        if entry.get("isToggled"):
            x, z, half = (x0 + x1) / 2, (z0 + z1) / 2, max(0.03, 1.5 / view.scale)
            view.box(image, x - half, z - half, x + half, z + half, (214, 40, 30))


def _body(entry: Mapping[str, Any]) -> _Fixed | None:
    box = entry.get("axisAlignedBoundingBox")
    if not box or not box.get("size"):
        return None
    center, size = box["center"], box["size"]
    x, y, z = center["x"], center["y"], center["z"]
    w, h, d = size["x"] / 2, size["y"] / 2, size["z"] / 2
    if not math.isfinite(x + y + z + w + h + d):
        return None
    return kind_of(entry), y + h, x - w, z - d, x + w, z + d


def _by_height(item: tuple[_Fixed, Mapping[str, Any]]) -> tuple[bool, float]:
    (kind, top, *_), _ = item
    return kind is Kind.SMALL, top


def _floor_first(fixed: _Fixed) -> tuple[bool, float]:
    kind, _, x0, z0, x1, z1 = fixed
    return kind is not Kind.FLOOR, -(x1 - x0) * (z1 - z0)


def _grid(scene: str) -> tuple[tuple[float, float], ...]:
    return load_scene(scene).grid if scene in scene_names() else ()


@lru_cache(maxsize=64)
def _colour(look: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(LIGHT[look].fill[1:] or "8a6d3b"))


@lru_cache(maxsize=64)
def _line(look: str) -> tuple[int, ...] | None:
    return tuple(bytes.fromhex(LIGHT[look].line[1:])) if LIGHT[look].line else None
