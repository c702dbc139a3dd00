"""A floor plan drawn with characters for a terminal, or with pixels in place of a camera image."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hvr.errors import MissingExtraError, UsageError
from hvr.runs.report.floor_plan.drawing import LIGHT
from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Shape, box_of, kind_of
from hvr.worlds.scenes import Box, load_scene, scene_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]


# Characters ---------------------------------------------------------------------------------------


CELL = 0.125
"""Width of a character in metres; its height is twice that."""

_NARROWEST, _WIDEST = 20, 400
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MORE = "+"
_PATTERNS: Mapping[ObjectKind, str] = {
    ObjectKind.SURFACE: "░",
    ObjectKind.FURNITURE: "▚",
    ObjectKind.STORAGE: "▒",
    ObjectKind.BASIN: "≈",
    ObjectKind.APPLIANCE: "▓",
    ObjectKind.FIXTURE: "═",
}
_GRID = "·"
_AGENT = "▲►▼◄"
_PLAIN = str.maketrans("░▚▒≈▓═·▲►▼◄", ":o#~%=.^>v<")


class CharacterCell(NamedTuple):
    """A character and its style class: an object kind, `dot`, `agent`, `label` or ''."""

    character: str = " "
    look: str = ""


@dataclass(frozen=True)
class CharacterPlan:
    """A floor plan as rows of characters.

    Args:
        rows: Rows of equal length, from +z to -z.
        unlettered: Names of small objects drawn as `+` because no letter was left.
    """

    rows: tuple[tuple[CharacterCell, ...], ...]
    letters: Mapping[str, Shape]
    unlettered: tuple[str, ...]
    legend: tuple[tuple[CharacterCell, str], ...]

    def lines(self) -> Iterator[str]:
        for row in self.rows:
            yield "".join(cell.character for cell in row).rstrip()


def character_plan(plan: FloorPlan, width: int = 80, *, plain: bool = False) -> CharacterPlan:
    """Draw a plan in characters.

    Overhead and enclosed objects are omitted. A small object whose character is taken is moved by
    up to two characters.

    Args:
        width: Maximum number of characters per line; values outside 20 to 400 are clamped.
        plain: Whether to use only ASCII characters.
    """
    canvas = _Canvas(plan, min(max(width, _NARROWEST), _WIDEST))
    bases = [s for s in plan.shapes if s.kind is ObjectKind.SURFACE and not s.overhead]
    order = (
        ObjectKind.FURNITURE,
        ObjectKind.STORAGE,
        ObjectKind.FIXTURE,
        ObjectKind.BASIN,
        ObjectKind.APPLIANCE,
    )
    for shape in sorted(bases, key=_large_first):
        canvas.fill(shape)
    # Draw over the surfaces, whose bounding boxes may cover floor, but under everything else.
    canvas.walkable()
    for kind in order:
        for shape in sorted((s for s in plan.shapes if s.kind is kind), key=_large_first):
            if not shape.overhead or kind is ObjectKind.FIXTURE:
                canvas.fill(shape)
    canvas.agent()
    loose = (s for s in plan.shapes if s.kind is ObjectKind.SMALL and not s.enclosed)
    small = [shape for shape in loose if shape.name != plan.held]
    letters, unlettered = _letters(small)
    named = {shape.name: letter for letter, shape in letters.items()}
    for shape in small:
        canvas.put(shape, named.get(shape.name, _MORE))
    for shape in sorted(plan.shapes, key=_large_first):
        if (
            shape.kind in (ObjectKind.APPLIANCE, ObjectKind.FURNITURE, ObjectKind.SURFACE)
            and not shape.overhead
        ):
            canvas.write(shape)
    rows = tuple(map(tuple, canvas.rows))
    legend = _legend(rows)
    if plain:
        rows = tuple(tuple(_plain(cell) for cell in row) for row in rows)
        legend = tuple((_plain(cell), text) for cell, text in legend)
    return CharacterPlan(rows, letters, unlettered, legend)


class _Canvas:
    def __init__(self, plan: FloorPlan, width: int) -> None:
        self.plan = plan
        x0, z0, x1, z1 = plan.bounds
        self.cell = max(CELL, (x1 - x0) / width)
        self.x0, self.z1 = x0, z1
        columns = min(width, max(1, math.ceil((x1 - x0) / self.cell)))
        rows = max(1, math.ceil((z1 - z0) / (2 * self.cell)))
        self.rows = [[CharacterCell()] * columns for _ in range(rows)]
        self.columns = columns

    def place(self, x: float, z: float) -> tuple[int, int]:
        column = int((x - self.x0) / self.cell)
        row = int((self.z1 - z) / (2 * self.cell))
        return min(max(column, 0), self.columns - 1), min(max(row, 0), len(self.rows) - 1)

    def area(self, shape: Shape) -> tuple[range, range]:
        columns = _covered(shape.box.x0 - self.x0, shape.box.x1 - self.x0, self.cell, self.columns)
        rows = _covered(
            self.z1 - shape.box.z1, self.z1 - shape.box.z0, 2 * self.cell, len(self.rows)
        )
        return columns, rows

    def fill(self, shape: Shape) -> None:
        columns, rows = self.area(shape)
        cell = CharacterCell(_PATTERNS[shape.kind], shape.kind.value)
        for row in rows:
            for column in columns:
                self.rows[row][column] = cell

    def walkable(self) -> None:
        points = {(round(x, 2), round(z, 2)) for x, z in self.plan.grid}
        for x, z in points & {(round(x - 0.25, 2), z) for x, z in points}:
            column, row = self.place(x, z)
            for between in range(column + 1, self.place(x + 0.25, z)[0]):
                self.rows[row][between] = CharacterCell()
        for x, z in points:
            column, row = self.place(x, z)
            self.rows[row][column] = CharacterCell(_GRID, "dot")

    def agent(self) -> None:
        column, row = self.place(self.plan.agent.x, self.plan.agent.z)
        arrow = _AGENT[round(self.plan.agent.yaw / 90.0) % 4]
        self.rows[row][column] = CharacterCell(arrow, "agent")

    def put(self, shape: Shape, letter: str) -> None:
        at = self.place(shape.box.center[0], shape.box.center[2])
        spots = sorted(
            ((dx, dy) for dx in range(-2, 3) for dy in range(-1, 2)),
            key=lambda d: (abs(d[0]) + 2 * abs(d[1]), d),
        )
        for dx, dy in spots:
            column, row = at[0] + dx, at[1] + dy
            if 0 <= column < self.columns and 0 <= row < len(self.rows):
                there = self.rows[row][column]
                if there.look not in (ObjectKind.SMALL.value, "agent"):
                    self.rows[row][column] = CharacterCell(letter, ObjectKind.SMALL.value)
                    return

    def write(self, shape: Shape) -> None:
        columns, rows = self.area(shape)
        for text in (shape.name, shape.object_type):
            if len(text) > len(columns):
                continue
            start = columns.start + (len(columns) - len(text)) // 2
            middle = rows.start + (len(rows) - 1) // 2
            for row in sorted(rows, key=lambda r: (abs(r - middle), r)):
                if all(
                    self.rows[row][start + i].look == shape.kind.value for i in range(len(text))
                ):
                    for i, character in enumerate(text):
                        self.rows[row][start + i] = CharacterCell(character, "label")
                    return


def _covered(low: float, high: float, step: float, count: int) -> range:
    first, last = math.ceil(low / step - 0.5), math.floor(high / step - 0.5)
    if last < first:
        first = last = int((low + high) / 2 / step)
    first, last = min(max(first, 0), count - 1), min(max(last, 0), count - 1)
    return range(first, last + 1)


def _large_first(shape: Shape) -> tuple[float, str]:
    return -shape.box.footprint, shape.name


def _letters(small: Sequence[Shape]) -> tuple[dict[str, Shape], tuple[str, ...]]:
    letters: dict[str, Shape] = {}
    waiting = []
    for shape in small:
        first = shape.name[:1].lower()
        free = [c for c in (first, first.upper()) if c in _LETTERS and c not in letters]
        if free:
            letters[free[0]] = shape
        else:
            waiting.append(shape)
    spare = (c for c in _LETTERS if c not in letters)
    rest = [(shape, next(spare, "")) for shape in waiting]
    letters.update({letter: shape for shape, letter in rest if letter})
    return (
        dict(sorted(letters.items(), key=lambda item: (item[0].lower(), item[0].isupper()))),
        tuple(shape.name for shape, letter in rest if not letter),
    )


_MEANINGS = {
    ObjectKind.SURFACE.value: "surface",
    ObjectKind.FURNITURE.value: "furniture",
    ObjectKind.STORAGE.value: "container",
    ObjectKind.BASIN.value: "basin",
    ObjectKind.APPLIANCE.value: "appliance",
    ObjectKind.FIXTURE.value: "fixture",
    "dot": "the robot can stand here",
    "agent": "robot, looking where it points",
}


def _legend(rows: Sequence[Sequence[CharacterCell]]) -> tuple[tuple[CharacterCell, str], ...]:
    present = {cell.look: cell for row in rows for cell in row if cell.look in _MEANINGS}
    return tuple((present[look], text) for look, text in _MEANINGS.items() if look in present)


def _plain(cell: CharacterCell) -> CharacterCell:
    character = cell.character.translate(_PLAIN)
    return CharacterCell(character if character.isascii() else "?", cell.look)


# Pixels -------------------------------------------------------------------------------------------


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
