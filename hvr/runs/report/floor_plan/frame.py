"""A fast, small top view of a scene in flat colours, in place of a camera image.

Fixed objects are painted once and cached; all other objects and the agent are painted in every
call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hvr.errors import MissingExtraError, UsageError
from hvr.runs.report.floor_plan.drawing import LIGHT
from hvr.runs.report.floor_plan.plan import ObjectKind, box_of, kind_of
from hvr.worlds.scenes import Box, load_scene, scene_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

_LARGEST = 8192
_CELL = 0.13
_BODY = 0.2


class _Thing(NamedTuple):
    kind: ObjectKind
    box: Box


def frame(metadata: Mapping[str, Any], width: int, height: int) -> bytes:
    """Return the scene from above as raw RGB bytes.

    Returns:
        `width * height * 3` bytes, row by row from the bottom (lowest z), as Unity sends them.
            Equal metadata gives equal bytes.

    Raises:
        UsageError: The size is not between 1 and 8192.
        MissingExtraError: numpy is not installed.
    """
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("numpy", "pictures") from error
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST):
        raise UsageError(f"frame size must be from 1 to {_LARGEST} pixels, got {width} x {height}")
    fixed: list[_Thing] = []
    loose: list[tuple[_Thing, Mapping[str, Any]]] = []
    for entry in metadata["objects"]:
        box = box_of(entry)
        if box is not None:
            thing = _Thing(kind_of(entry), box)
            if entry.get("pickupable") or entry.get("moveable"):
                loose.append((thing, entry))
            else:
                fixed.append(thing)
    scene = str(metadata.get("sceneName") or "").removesuffix("_physics")
    view = _view(tuple(fixed), scene, width, height)
    image = _background(tuple(fixed), scene, width, height).copy()
    _paint_loose(image, view, loose, _closed(metadata["objects"]))
    _paint_state(image, view, metadata["objects"])
    agent = metadata.get("agent")
    if agent:
        view.agent(image, agent["position"]["x"], agent["position"]["z"], agent["rotation"]["y"])
    return image.tobytes()


def _closed(objects: Iterable[Mapping[str, Any]]) -> set[str]:
    return {e["objectId"] for e in objects if e.get("openable") and not e.get("isOpen")}


class _View:
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
        self, image: Image, box: Box, fill: tuple[int, ...], line: tuple[int, ...] | None = None
    ) -> None:
        a, b = self.column(box.x0), self.column(box.x1)
        c, d = self.row(box.z0), self.row(box.z1)
        b, d = max(b, a + 1), max(d, c + 1)
        if line is not None and b - a > 4 and d - c > 4:
            image[c:d, a:b] = line
            image[c + 1 : d - 1, a + 1 : b - 1] = fill
        else:
            image[c:d, a:b] = fill

    def agent(self, image: Image, x: float, z: float, yaw: float) -> None:
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
def _view(fixed: tuple[_Thing, ...], scene: str, width: int, height: int) -> _View:
    boxes = [(box.x0, box.z0, box.x1, box.z1) for _, box in fixed]
    boxes += [(x, z, x, z) for x, z in _grid(scene)] or ([] if boxes else [(-1, -1, 1, 1)])
    x0s, z0s, x1s, z1s = zip(*boxes, strict=True)
    return _View(min(x0s), min(z0s), max(x1s), max(z1s), width, height)


@lru_cache(maxsize=4)
def _background(fixed: tuple[_Thing, ...], scene: str, width: int, height: int) -> Image:
    """Paint the fixed parts: floor, surfaces, walkable points, and then other objects by height."""
    import numpy as np

    view = _view(fixed, scene, width, height)
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = _colour("ground")
    for thing in sorted(fixed, key=_floor_first):
        if thing.kind in (ObjectKind.FLOOR, ObjectKind.SURFACE):
            _paint(image, view, thing)
    # The bounding box of an L-shaped counter also covers floor, which walkable points show.
    for x, z in _grid(scene):
        cell = _square(x, z, _CELL)
        view.box(image, cell, _colour("walkable"))
    # Cabinets and drawers are hidden below or above the visible counters.
    for thing in sorted(fixed, key=_floor_first):
        if thing.kind in (ObjectKind.BASIN, ObjectKind.APPLIANCE, ObjectKind.FIXTURE):
            _paint(image, view, thing)
    return image


def _paint_loose(
    image: Image, view: _View, loose: list[tuple[_Thing, Mapping[str, Any]]], closed: set[str]
) -> None:
    for thing, entry in sorted(loose, key=_by_height):
        if not entry.get("isSliced") and closed.isdisjoint(entry.get("parentReceptacles") or ()):
            _paint(image, view, thing)


def _paint(image: Image, view: _View, thing: _Thing) -> None:
    look = thing.kind.value
    view.box(image, thing.box, _colour(look), _line(look))


def _paint_state(image: Image, view: _View, objects: Iterable[Mapping[str, Any]]) -> None:
    for entry in objects:
        if not (entry.get("isToggled") or entry.get("isOpen")):
            continue
        box = box_of(entry)
        if box is None:
            continue
        if entry.get("isOpen"):
            edge = 1.0 / view.scale
            for side in (
                box._replace(z1=box.z0 + edge),
                box._replace(z0=box.z1 - edge),
                box._replace(x1=box.x0 + edge),
                box._replace(x0=box.x1 - edge),
            ):
                view.box(image, side, (20, 20, 20))
        if entry.get("isToggled"):
            x, z = (box.x0 + box.x1) / 2, (box.z0 + box.z1) / 2
            view.box(image, _square(x, z, max(0.03, 1.5 / view.scale)), (214, 40, 30))


def _square(x: float, z: float, half: float) -> Box:
    return Box(x - half, 0.0, z - half, x + half, 0.0, z + half)


def _by_height(item: tuple[_Thing, Mapping[str, Any]]) -> tuple[bool, float]:
    thing, _ = item
    return thing.kind is ObjectKind.SMALL, thing.box.y1


def _floor_first(thing: _Thing) -> tuple[bool, float]:
    return thing.kind is not ObjectKind.FLOOR, -thing.box.footprint


def _grid(scene: str) -> tuple[tuple[float, float], ...]:
    return load_scene(scene).grid if scene in scene_names() else ()


@lru_cache(maxsize=64)
def _colour(look: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(LIGHT[look].fill[1:] or "8a6d3b"))


@lru_cache(maxsize=64)
def _line(look: str) -> tuple[int, ...] | None:
    return tuple(bytes.fromhex(LIGHT[look].line[1:])) if LIGHT[look].line else None
