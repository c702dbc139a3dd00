"""Floor plans as SVG and PNG."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import DataFileError, MissingExtraError
from hvr.runs.report.floor_plan.drawing import DARK, LIGHT, draw_floor_plan, svg, write_png
from hvr.runs.report.floor_plan.plan import FloorPlan, ObjectKind, Pose, Shape, route, scene_plan
from hvr.worlds.scenes import Box

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [e for e in root.iter() if e.get("class") == name]


@pytest.mark.parametrize("name", ["FloorPlan1", "FloorPlan7", "FloorPlan16", "FloorPlan30"])
def test_every_object_is_drawn_once_with_a_tooltip(name: str) -> None:
    plan = scene_plan(name)
    root = parsed(svg(draw_floor_plan(plan)))
    rects = [e for e in root.iter(f"{SVG}rect") if e.get("data-name")]
    assert sorted(e.get("data-name", "") for e in rects) == sorted(s.name for s in plan.shapes)
    captions = {s.name: s.caption for s in plan.shapes}
    for rect in rects:
        title = rect.find(f"{SVG}title")
        assert title is not None
        assert title.text == captions[rect.get("data-name", "")]


def test_rectangles_lie_on_the_sheet_where_the_boxes_are() -> None:
    plan = scene_plan("FloorPlan16")
    drawing = draw_floor_plan(plan)
    root = parsed(svg(drawing))
    boxes = {s.name: s.box for s in plan.shapes}
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(k, "")) for k in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= drawing.width + 0.6
        assert y + h <= drawing.height + 0.6
        if rect.get("data-name"):
            box = boxes[rect.get("data-name", "")]
            assert (x, y) == pytest.approx(drawing.place(box.x0, box.z1), abs=0.06)
    assert float(root.get("viewBox", "").split()[2]) == pytest.approx(drawing.width, abs=0.5)


def test_up_is_z_and_right_is_x() -> None:
    plan = scene_plan("FloorPlan1")
    drawing = draw_floor_plan(plan)
    here, there = drawing.place(0.0, 0.0), drawing.place(1.0, 1.0)
    assert there[0] > here[0]
    assert there[1] < here[1]


def test_all_looks_are_styled_and_the_night_has_the_same() -> None:
    plan = scene_plan("FloorPlan16")
    way = route(plan.agent, [{"step": 1, "sent": [{"action": "MoveAhead"}]},
                             {"step": 2, "success": False, "sent": []}])  # fmt: skip
    text = svg(draw_floor_plan(plan, way, labels="all"))
    looks = {e.get("class") for e in parsed(text).iter() if e.get("class")}
    looks = {look for look in looks if look and not look.startswith(("group-", "hvr-plan"))}
    assert looks <= LIGHT.keys()
    assert LIGHT.keys() == DARK.keys()
    for look in looks:
        assert f".hvr-plan .{look}{{" in text


def test_a_way_shows_every_step_and_where_it_went_wrong() -> None:
    plan = scene_plan("FloorPlan16")
    jump = {"action": "TeleportFull", "position": {"x": 0.0, "y": 0.9, "z": 1.0}, "rotation": 90}
    way = route(
        plan.agent,
        [{"step": 1, "sent": [{"action": "MoveAhead"}]}, {"step": 2, "sent": [jump]},
         {"step": 3, "success": False, "sent": [{"action": "PickupObject", "success": False}]}],
    )  # fmt: skip
    root = parsed(svg(draw_floor_plan(plan, way)))
    numbers = {n for e in root.iter() for n in (e.get("data-steps") or "").split()}
    assert numbers == {"1", "2", "3"}
    assert [e.text for e in with_class(root, "stoptext") if e.text] == ["1", "2–3"]
    assert len(with_class(root, "way")) == 1
    assert len(with_class(root, "jump")) == 1
    (bad,) = with_class(root, "bad")
    assert bad.get("data-steps") == "2 3"


def test_labels_are_those_asked_for() -> None:
    plan = scene_plan("FloorPlan16")

    def labels(wanted: str | set[str]) -> set[str]:
        root = parsed(svg(draw_floor_plan(plan, labels=wanted)))
        return {e.text or "" for e in with_class(root, "label")} - {"1 m"}

    assert labels("none") == set()
    assert labels({"mug-1", "fridge-1"}) == {"mug-1", "fridge-1"}
    assert "fridge-1" in labels("main")
    assert not any(n.startswith(("apple", "cabinet")) for n in labels("main"))
    assert labels("main") < labels("all") | labels("main")
    assert "apple-1" in labels("all")


@settings(max_examples=60)
@given(name=st.text(min_size=1), kind=st.text(), word=st.text(), scene=st.text())
def test_any_text_gives_well_formed_svg(name: str, kind: str, word: str, scene: str) -> None:
    thing = Shape(name, kind, name, ObjectKind.APPLIANCE, Box(0, 0, 0, 1, 1, 1), (word,), word)
    plan = FloorPlan(scene, (thing,), ((0.0, 0.0),), Pose(0.5, 0.5, 17.0))
    root = parsed(svg(draw_floor_plan(plan, labels="all")))
    assert [e for e in root.iter(f"{SVG}rect") if e.get("data-name") is not None]
    known = {"svg", "title", "style", "g", "rect", "path", "text", "circle", "polygon", "polyline"}
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= known


def test_a_part_of_a_page_has_no_style_and_no_size_of_its_own() -> None:
    root = parsed(svg(draw_floor_plan(scene_plan("FloorPlan16")), standalone=False))
    assert root.find(f"{SVG}style") is None
    assert root.get("width") is None
    assert root.get("role") == "img"
    assert "FloorPlan16" in (root.get("aria-label") or "")


def test_a_png_has_the_fridge_where_it_stands(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    plan = scene_plan("FloorPlan16")
    drawing = draw_floor_plan(plan, labels="none")
    file = tmp_path / "plan.png"
    write_png(drawing, file)
    with image_module.open(file) as image:
        assert image.size == (round(drawing.width * 2), round(drawing.height * 2))
        fridge = next(s for s in plan.shapes if s.name == "fridge-1")
        x, y = drawing.place(fridge.box.x0 + 0.1, fridge.box.z0 + 0.06)
        colour = "#{:02x}{:02x}{:02x}".format(*image.convert("RGB").getpixel((2 * x, 2 * y)))
    assert colour == LIGHT["appliance"].fill


@pytest.mark.slow
def test_a_png_of_a_way_is_painted(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    plan = scene_plan("FloorPlan2")
    jump = {"action": "TeleportFull", "position": {"x": 0.0, "y": 0.9, "z": 1.0}}
    way = route(plan.agent, [{"step": 1, "sent": [jump]}, {"step": 2, "success": False}])
    write_png(draw_floor_plan(plan, way, labels="all"), tmp_path / "way.png")
    with image_module.open(tmp_path / "way.png") as image:
        seen = {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}
    for look in ("bad", "agent"):
        assert tuple(bytes.fromhex(LIGHT[look].fill[1:])) in seen
    assert tuple(bytes.fromhex(LIGHT["jump"].line[1:])) in seen


def test_without_pillow_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"\.\[pictures\]"):
        write_png(draw_floor_plan(scene_plan("FloorPlan1")), tmp_path / "plan.png")


def test_a_png_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(DataFileError, match="cannot be written"):
        write_png(draw_floor_plan(scene_plan("FloorPlan1")), tmp_path / "none" / "plan.png")
