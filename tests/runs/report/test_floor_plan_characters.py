"""Floor plans for terminals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Shape, scene_plan
from hvr.runs.report.floor_plan.renderings import character_plan
from hvr.worlds.scenes import Box, scene_names

PLAN = scene_plan("FloorPlan16")


@pytest.mark.parametrize("name", [*scene_names("kitchen"), *scene_names("home")[::9]])
def test_every_small_thing_in_sight_has_its_letter_once(name: str) -> None:
    plan = scene_plan(name)
    drawn = character_plan(plan, 80)
    small = {s.name for s in plan.shapes if s.kind is ObjectKind.SMALL and not s.enclosed}
    assert {s.name for s in drawn.letters.values()} | set(drawn.unlettered) == small
    cells = [cell.character for row in drawn.rows for cell in row if cell.look == "small"]
    assert sorted(cells) == sorted(drawn.letters)
    assert max(map(len, drawn.lines())) <= 80
    assert any(cell.look == "agent" for row in drawn.rows for cell in row)
    looks = {cell.look for row in drawn.rows for cell in row}
    assert {"appliance", "dot"} <= looks
    assert name not in scene_names("kitchen") or {"surface", "basin"} <= looks


@pytest.mark.slow
@settings(max_examples=25)
@given(width=st.integers(1, 300))
def test_no_line_is_longer_than_asked(width: int) -> None:
    drawn = character_plan(PLAN, width)
    assert max(map(len, drawn.lines())) <= max(width, 20)
    assert len({len(row) for row in drawn.rows}) == 1


@pytest.mark.parametrize(
    ("yaw", "arrow"), [(0, "▲"), (90, "►"), (180, "▼"), (270, "◄"), (359, "▲")]
)
def test_the_agent_points_where_it_looks(yaw: float, arrow: str) -> None:
    drawn = character_plan(PLAN.replace(agent=Pose(1.25, 0.0, yaw)))
    (cell,) = {cell for row in drawn.rows for cell in row if cell.look == "agent"}
    assert cell.character == arrow


def test_ascii_has_the_same_meaning() -> None:
    drawn, plain = character_plan(PLAN), character_plan(PLAN, plain=True)
    assert all(line.isascii() for line in plain.lines())
    assert [[c.look for c in row] for row in plain.rows] == [
        [c.look for c in row] for row in drawn.rows
    ]
    assert [text for _, text in plain.legend] == [text for _, text in drawn.legend]
    assert len({cell.character for cell, _ in plain.legend}) == len(plain.legend)


def test_the_floor_in_the_corner_of_a_counter_is_free() -> None:
    """The box of an L-shaped counter covers floor on which the robot can stand."""
    rows = character_plan(PLAN).rows
    dots = sum(cell.look == "dot" for row in rows for cell in row)
    small = sum(cell.look in ("small", "agent") for row in rows for cell in row)
    assert len(PLAN.grid) - small <= dots <= len(PLAN.grid)


def test_more_things_than_letters_are_said() -> None:
    things = tuple(
        Shape(f"thing-{i}", "Thing", "", ObjectKind.SMALL, Box(i, 0, 0, i + 0.1, 0.1, 0.1))
        for i in range(60)
    )
    drawn = character_plan(FloorPlan("", things, (), Pose(0, 2, 0)), 200)
    assert len(drawn.letters) == 52
    assert len(drawn.unlettered) == 8
    assert sum(cell.character == "+" for row in drawn.rows for cell in row) == 8


def test_an_empty_scene_is_drawn() -> None:
    (row,) = {line.strip() for line in character_plan(
        FloorPlan("", (), (), Pose(0, 0, 0))).lines()} - {""}  # fmt: skip
    assert row == "▲"
