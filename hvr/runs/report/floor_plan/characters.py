"""A floor plan drawn with characters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Shape

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
        """Return the columns and rows whose centres the object covers, at least one of each."""
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
        """Draw walkable points as dots; other floor in an object's bounding box becomes blank."""
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
        """Write the object's name, or else its type, near its middle, if there is room for it."""
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
