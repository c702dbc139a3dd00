"""Type-annotated functions called with JSON values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hvr.knowledge.world_file import WorldFile
from hvr.tools.calling.calls import CallFailure, ToolCall
from hvr.tools.calling.worlds import open_tools

MODULE = '''
from __future__ import annotations
import enum
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Optional, TypedDict
from uuid import UUID

print("opened")
state = {"seen": []}
class Size(enum.Enum):
    SMALL = "s"
@dataclass
class Point:
    x: float
    day: date | None = None
class Line(TypedDict):
    ends: tuple[Point, Point]
def kinds(
    size: Size, point: Point, line: Optional[Line], ids: set[UUID], cost: int | Decimal
) -> list[str]:
    """Say what came."""
    print("called")
    assert line is None or isinstance(line["ends"][1], Point)
    return [type(v).__name__ for v in (size, point, point.day, line, next(iter(ids)), cost)]
async def move(point: Annotated[Point, "where"], by: float, /, *, size: Size = Size.SMALL) -> Point:
    """Move a point."""
    return Point(point.x + by, date(2026, 1, 2))
def leave() -> str:
    """Leave."""
    raise SystemExit(3)
'''

POINT = {"x": 1, "day": "2026-01-02"}
ONE = "12345678-1234-5678-1234-567812345678"


@pytest.fixture
def world(tmp_path: Path) -> WorldFile:
    (tmp_path / "shapes.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "world.toml").write_text('[tools]\nmodule = "shapes"\n', encoding="utf-8")
    return WorldFile(tmp_path)


def test_arguments_become_what_hints_say_and_results_json(
    world: WorldFile, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = open_tools(world)
    given = {"size": "s", "point": POINT, "ids": [ONE], "cost": 2}
    kinds = tools.call(ToolCall("kinds", given))
    # `line` is required but may be null.
    assert kinds.result == ["Size", "Point", "date", "NoneType", "UUID", "int"], kinds.error
    line = tools.call(ToolCall("kinds", {**given, "line": {"ends": [POINT, POINT]}, "cost": "2.5"}))
    assert line.result == ["Size", "Point", "date", "dict", "UUID", "Decimal"], line.error
    moved = tools.call(ToolCall("move", {"point": POINT, "by": 1.5, "size": "s"}))
    assert moved.result == {"x": 2.5, "day": "2026-01-02"}
    # The functions' prints stay out of the command's output.
    assert capsys.readouterr().out == "" and "hvr_tools_shapes" in sys.modules


@pytest.mark.parametrize(
    ("tool", "arguments", "failure"),
    [
        ("kinds", {"size": "q", "point": POINT, "ids": [], "cost": 1}, CallFailure.BAD_ARGUMENTS),
        ("move", {"point": {"z": 1}, "by": 1}, CallFailure.BAD_ARGUMENTS),
        ("move", {"point": {"x": 1, "day": "soon"}, "by": 1}, CallFailure.BAD_ARGUMENTS),
        ("leave", {}, CallFailure.UNAVAILABLE),
    ],
)
def test_what_hints_do_not_allow_is_not_called(
    tool: str, arguments: dict[str, object], failure: CallFailure, world: WorldFile
) -> None:
    outcome = open_tools(world).call(ToolCall(tool, arguments))  # type: ignore[arg-type]
    assert outcome.failure is failure and outcome.error


def test_what_may_be_null_within_a_result_is_no_fault(world: WorldFile) -> None:
    (world.folder / "shapes.py").write_text(
        MODULE + "\nclass Owner(TypedDict):\n    home: Point | None\n"
        "def owner() -> list[Owner]:\n    return [{'home': None}]\n", encoding="utf-8")  # fmt: skip
    assert open_tools(world).call(ToolCall("owner", {})).ok
