"""`hvr scene show` and `hvr show` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Hvr

Call = Callable[..., str]


@pytest.fixture
def call(hvr_: Hvr) -> Call:
    """Runs a command that must succeed and returns its output."""

    def command(*arguments: object) -> str:
        ended = hvr_(*arguments)
        assert ended.code == 0, ended.err
        return ended.out

    return command


def test_a_scene_is_drawn_in_80_columns_and_told(call: Call) -> None:
    out = call("scene", "show", "FloorPlan16")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "FloorPlan16: 90 objects"
    assert "►" in out
    assert "m mug-1" in out
    assert "the robot can stand here" in out
    assert "\x1b" not in out


def test_objects_are_listed_when_asked_for(call: Call) -> None:
    plain, full = call("scene", "show", "FloorPlan16"), call("scene", "show", "FloorPlan16",
                                                            "--objects")  # fmt: skip
    assert full.startswith(plain)
    rows = full[len(plain) :].strip().splitlines()
    assert len(rows) == 91
    assert any(row.startswith("egg-1 ") and "fridge-1" in row for row in rows)


def test_json_has_all_objects(call: Call) -> None:
    found = json.loads(call("scene", "show", "FloorPlan16", "--json"))
    assert len(found["objects"]) == 90
    assert {"name", "type", "id", "kind", "box", "state", "place"} <= found["objects"][0].keys()


@pytest.mark.parametrize("labels", [[], ["--labels"]])
def test_an_svg_is_written(call: Call, tmp_path: Path, labels: list[str]) -> None:
    file = tmp_path / "plan.SVG"
    assert call("scene", "show", "FloorPlan3", "-o", file, *labels).strip() == f"wrote {file}"
    text = file.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert ('class="label" data-name="mug-1"' in text) is bool(labels)


def test_a_png_is_written(call: Call, tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    call("scene", "show", "FloorPlan3", "-o", tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["FloorPlan99"], "unknown scene"),
        (["FloorPlan1", "-o", "plan.gif"], ".svg or .png"),
        (["FloorPlan1", "-o", "none/plan.svg"], "folder none does not exist"),
        ([], "name a scene"),
        (["FloorPlan1", "--run", "."], "name a scene"),
        (["--run", "."], "not a run folder"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    arguments: list[str], words: str, hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hvr_("scene", "show", *arguments)
    assert ended.code == 2 and words in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a short run."""
    jump = {"action": "TeleportFull", "position": {"x": 0.0, "y": 0.9, "z": 1.0}, "success": True}
    plan = {"blocks": [{"macro": {"name": "take mug-1"},
                        "actions": [{"action": "pick_up", "args": ["mug-1"]}]}]}  # fmt: skip
    events: list[dict[str, Any]] = [
        {"event": "plan", "first_step": 1, "plan": plan},
        {"event": "step", "step": 1, "action": "(pick_up mug-1)", "block": 0, "success": False,
         "error": "too far away", "difference": {"missing": ["(holding mug-1)"]}, "sent": [jump]},
    ]  # fmt: skip
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "trace.jsonl").write_text("\n".join(map(json.dumps, events)) + "\n")
    (folder / "task.json").write_text(
        json.dumps({"request": "take the mug", "scene": "FloorPlan16", "reached": False})
    )
    return folder


def test_a_run_is_drawn_with_its_steps(call: Call, run: Path) -> None:
    call("scene", "show", "--run", run, "-o", run / "way.svg")
    root = ElementTree.parse(run / "way.svg").getroot()
    assert [e.get("data-steps") for e in root.iter() if e.get("class") == "bad"] == ["1"]
    assert [e.get("data-steps") for e in root.iter() if e.get("class") == "jump"] == ["1"]


def test_a_run_is_told(call: Call, run: Path) -> None:
    out = call("show", run).splitlines()
    assert out[0] == "take the mug"
    assert "- take mug-1" in out
    assert "  !!   1 (pick_up mug-1)" in out
    assert "too far away" in out[-2]
    assert "(holding mug-1)" in out[-1]


def test_the_page_of_a_run_is_written(call: Call, run: Path) -> None:
    out = call("show", run, "--html", run / "page.html")
    assert out.strip() == f"wrote {run / 'page.html'}"
    assert "take the mug" in (run / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_terminal_that_has_only_ascii_gets_ascii() -> None:
    """Drawing also loads neither numpy nor Pillow."""
    code = (
        "import sys; from hvr.doors.cli.main import main; main(['scene', 'show', 'FloorPlan16']);"
        " assert not {'numpy', 'PIL'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert b"FloorPlan16" in done.stdout
    assert b">" in done.stdout
