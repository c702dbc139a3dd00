"""Animations of a run: every step appears, and hostile names stay text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from hvr.runs.report.animation import animated_picture, animated_svg, plans_by_step
from hvr.runs.report.run_page import Story, read_story
from hvr.runs.request import Options
from hvr.runs.spine import plan


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    save = tmp_path_factory.mktemp("run") / "r"
    plan("make coffee", options=Options(save=save))
    return read_story(save)


@pytest.mark.slow
def test_every_step_appears_in_its_order(story: Story) -> None:
    root = ElementTree.fromstring(animated_svg(story))
    texts = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    actions = [step.action for step in story.steps]
    shown = [text.split(maxsplit=2)[2] for text in texts if text.startswith("ok")]
    assert shown == actions


@pytest.mark.slow
def test_hostile_names_stay_text_and_keep_to_their_line(story: Story) -> None:
    name = "</text><script>alert(1)</script>\u202e\x00" + "x" * 10_000
    hostile = replace(story, request=name, outcome=name)
    root = ElementTree.fromstring(animated_svg(hostile))
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert max(len(one.text or "") for one in root.iter() if one.tag.endswith("}text")) <= 64


@pytest.mark.slow
@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_a_picture_has_a_frame_for_each_line(story: Story, form: str) -> None:
    image = pytest.importorskip("PIL.Image")
    found = image.open(BytesIO(animated_picture(story, form)))
    assert (found.format, found.n_frames) == (form, len(story.steps) + 2)


@pytest.mark.slow
def test_objects_move_and_show_their_states(story: Story) -> None:
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(animated_svg(story))
    rectangles = {one.get("data-name"): one for one in root.iter(f"{svg}rect")}
    groups = {
        name: group
        for group in root.iter(f"{svg}g")
        for name, rectangle in rectangles.items()
        if rectangle in list(group)
    }
    assert groups["mug-1"].find(f"{svg}animateTransform") is not None
    machine = [one.get("class") for one in groups["coffeemachine-1"].iter(f"{svg}rect")]
    assert machine == ["appliance", "lit"]


@pytest.mark.slow
def test_the_last_room_is_the_observed_one(tmp_path: Path) -> None:
    request = "slice the tomato, put all of the tomato slices in the fridge and boil the egg"
    plan(request, options=Options(save=tmp_path / "r"))
    story = read_story(tmp_path / "r")
    assert story.after is not None
    rooms = plans_by_step(story)
    found = {shape.name: shape for shape in rooms[-1].shapes}
    for shape in story.after.shapes:
        mine = found[shape.name]
        assert (mine.place, mine.enclosed) == (shape.place, shape.enclosed)
        assert set(mine.state) == set(shape.state)
    assert set(found) == {shape.name for shape in story.after.shapes}
    # A carried object takes its contents along.
    egg, pan = (found[name].box.center for name in ("egg-1", "pan-1"))
    assert max(abs(a - b) for a, b in zip(egg[::2], pan[::2], strict=True)) < 0.1


def test_a_run_without_a_room_cannot_be_animated(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_text('{"state": "finished", "request": "x"}')
    (tmp_path / "trace.jsonl").write_text('{"event": "finished", "reached": true}\n')
    with pytest.raises(DataFileError, match="lacks a scene or steps"):
        animated_svg(read_story(tmp_path))
