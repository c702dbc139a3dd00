"""Shared files in a real browser: opened from the disk, offline, with hostile names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hvr.doors.studio.documents import shared_page
from hvr.runs.report.charts import bars, data_table, report, scatter, section, stacked
from tests.doors.test_studio_browser import AXE, CHROMIUM, accessible

sync_api = pytest.importorskip("playwright.sync_api")

pytestmark = pytest.mark.slow
EVIL = "<img src=x onerror=alert(1)></script><script>alert(1)</script>\u202e'\"&{x}" + "o" * 10_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield found
        found.close()


@pytest.fixture(params=[(1280, "light"), (400, "dark")], ids=["wide", "narrow, dark"])
def show(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a document; the page must neither run a name as code nor request anything."""
    width, scheme = request.param
    size = {"width": width, "height": 800}
    context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
    context.set_default_timeout(15_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda _: problems.append("a name was executed"))
    page.on("request", lambda asked: problems.append(asked.url) if _foreign(asked.url) else None)

    def opened(document: dict[str, Any]) -> Any:
        file = tmp_path / "page.html"
        file.write_text(shared_page(document, EVIL), encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield opened
    assert problems == []
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    if AXE.is_file():
        accessible(page)
    context.close()


def _foreign(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:"))


def run(scene: dict[str, Any] | None) -> dict[str, Any]:
    """Return the document of a run in which every text is hostile."""
    step = {
        "number": 1, "action": f"(put_on {EVIL.replace(' ', '')} mug-1)", "plan": 0, "block": 0,
        "success": False, "error": EVIL, "as_expected": False, "missing": [EVIL],
        "unexpected": ["(on mug-1 table-1)"], "expected": [["(holding mug-1)"], [EVIL]],
        "sent": [EVIL], "unseen": [EVIL], "heard": [EVIL], "pose": {"x": 0, "z": 0, "yaw": 0},
        "remarks": [{"event": "failure", "title": EVIL, "text": EVIL}],
        "changed": [] if scene else [EVIL],
    }  # fmt: skip
    block = {"name": EVIL, "precondition": [EVIL], "postcondition": [EVIL], "actions": [EVIL]}
    plan = {"blocks": [block], "first_step": 1, "validator": EVIL, "planner": EVIL, "reason": EVIL}
    turn = {"speaker": EVIL, "title": EVIL, "lines": [EVIL], "problem": EVIL, "good": False}
    asked = {"purpose": EVIL, "prompt": EVIL, "answer": EVIL, "error": EVIL}
    story = {
        "request": EVIL, "scene": EVIL, "facts": [[EVIL, EVIL]], "reached": False, "outcome": EVIL,
        "plans": [plan], "steps": [step], "note": EVIL, "simulated": True, "state": "finished",
        "turns": [turn], "asked": [asked],
    }  # fmt: skip
    return {
        "kind": "run", "name": EVIL, "sight": "visible", "before": scene, "after": scene,
        "story": story,
    }  # fmt: skip


def scene() -> dict[str, Any]:
    def thing(name: str, kind: str, x: float) -> dict[str, Any]:
        return {
            "name": name, "type": name, "kind": kind, "box": [x, 0.5, 0, x + 0.5, 1, 0.5],
            "state": ["open", "filled with " + EVIL, "hot", "sliced", EVIL], "place": None,
            "enclosed": False,
        }  # fmt: skip

    things = [thing(EVIL, EVIL, 0), thing("mug-1", "small", 1), thing("table-1", "surface", 2)]
    agent = {"x": 0, "z": 1, "yaw": 90}
    return {"scene": EVIL, "agent": agent, "held": None, "objects": things, "grid": [[0, 0]]}


@pytest.mark.parametrize("room", [True, False], ids=["room", "facts"])
def test_a_run_is_only_text(show: Any, room: bool) -> None:
    page = show(run(scene() if room else None))
    page.click(".story li:nth-child(1) button")
    for part in page.locator("details > summary").all():
        part.click()
    assert "<script>alert(1)</script>" in page.inner_text(".outcome")
    if room:
        page.wait_for_selector(".canvas canvas")
        page.click("role=tab[name='Floor plan']")
        page.wait_for_selector("svg.floorplan .expected")


def test_a_run_is_played_by_the_keyboard(show: Any) -> None:
    document = run(scene())
    document["story"]["steps"] *= 3
    for number, step in enumerate(document["story"]["steps"], 1):
        document["story"]["steps"][number - 1] = {**step, "number": number}
    page = show(document)
    page.focus(".story")
    for key, place in (("ArrowRight", 1), ("End", 3), ("ArrowLeft", 2), ("Home", 0)):
        page.keyboard.press(key)
        page.wait_for_selector(f"text=/^{place} of 3$/")
    page.keyboard.press(" ")
    page.wait_for_selector("text=/^3 of 3$/")


def test_a_plan_is_only_text(show: Any) -> None:
    need = {"condition": EVIL, "holds": False, "made_true_by": None}
    step = {
        "step": 1, "action": EVIL, "time": None, "ok": False, "needs": [need],
        "added": [], "deleted": [],
    }  # fmt: skip
    failure = {"message": EVIL, "step": 1}
    trace = {
        "constants": [EVIL], "objects": {EVIL: [EVIL]}, "curves": [], "processes": [],
        "decomposition": [],
        "initial": [EVIL], "steps": [step], "spans": [], "missing": [EVIL],
        "report": {"outcome": "invalid", "steps": 1, "executed": 0, "failure": failure},
    }  # fmt: skip
    texts = {"domain": EVIL, "problem": EVIL, "plan": EVIL}
    document = {"kind": "plan", "name": EVIL, "side": "steps", "texts": texts, "trace": trace}
    page = show({**document, "drawing": None})
    page.click(".failed button")
    assert "<script>" in page.inner_text(".why >> nth=0")


def test_a_report_is_only_text(show: Any) -> None:
    parts = [
        data_table(EVIL, [EVIL, EVIL], [[EVIL, EVIL]], EVIL),
        bars(EVIL, [EVIL, "b"], [(EVIL, {EVIL: 0.5}), ("x", {"b": 1.0})]),
        stacked(EVIL, [EVIL], [(EVIL, {EVIL: 3.0})]),
        scatter(EVIL, EVIL, [(EVIL, 1.0, 0.5)]),
    ]
    document = report(EVIL, [section(EVIL, *parts, text=[EVIL])], {EVIL: EVIL}, EVIL)
    page = show(json.loads(json.dumps(document)))
    assert page.locator(".picture").count() == 3
    assert page.locator("td").count() == 1
