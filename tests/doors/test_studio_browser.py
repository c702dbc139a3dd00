"""The studio in a real browser, at two sizes: flows, keyboard, accessibility, hostile names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import needs

sync_api = pytest.importorskip("playwright.sync_api")
needs("pygls")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ROOT = Path(__file__).parents[2]
AXE = ROOT / "studio" / "node_modules" / "axe-core" / "axe.min.js"
if CHROMIUM is None:
    pytest.skip("needs a Chromium browser", allow_module_level=True)

pytestmark = pytest.mark.slow
WIDE, NARROW = (1280, 800), (400, 800)
both_sizes = pytest.mark.parametrize(
    "page", [WIDE, NARROW], ids=lambda size: f"{size[0]}x{size[1]}", indirect=True
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("studio")
    (root / "domain.pddl").write_text(
        "(define (domain x) (:requirements :strips) (:predicates (p ?x) (q ?x)) "
        "(:action <img/src=x/onerror=alert> :parameters (?x) :precondition (p ?x) :effect (q ?x)))"
    )
    name = "<script>alert`1`</script>\u202e" + "o" * 3000
    (root / "problem.pddl").write_text(
        f"(define (problem y) (:domain x) (:objects {name}) (:init (p {name})) (:goal (q {name})))"
    )
    (root / "problem.plan").write_text(f"(<img/src=x/onerror=alert> {name})\n")
    tool = {"event": "tool", "tool": name, "needs": [], "takes": [], "gives": [name]}
    (root / "graph.jsonl").write_text(json.dumps(tool) + "\n")
    run = root / "runs" / "tools"
    run.mkdir(parents=True)
    about = {"request": name, "decision": "answer", "state": "finished", "reached": True}
    call = {"tool": name, "arguments": {name: name}, "error": name, "sources": [], "origins": {}}
    step = {"event": "step", "step": 1, "action": f"(call-{name})", "sent": [{"action": name}]}
    (run / "task.json").write_text(json.dumps(about))
    (run / "calls.jsonl").write_text(json.dumps(call) + "\n")
    (run / "trace.jsonl").write_text(json.dumps(step) + "\n")
    for folder in ("worlds/sokoban", "examples/garden", "examples/parcels"):
        shutil.copytree(ROOT / folder, root / Path(folder).name)
    server = subprocess.Popen(
        [sys.executable, "-m", "hvr", "studio", str(root), "--no-browser"],
        env={**os.environ, "HVR_STUDIO_TOKEN": "secret"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    yield server.stderr.readline().partition("studio at ")[2].strip()
    server.terminate()
    server.wait(20)
    server.stderr.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield found
        found.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    width, height = getattr(request, "param", WIDE)
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(15_000)
    found = context.new_page()
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("dialog", lambda _: problems.append("a name was executed"))
    found.on("request", lambda asked: problems.append(asked.url) if _foreign(asked.url) else None)
    found.goto(address)
    found.wait_for_selector("h2")
    yield found
    assert problems == []
    context.close()


def _foreign(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def accessible(page: Any) -> None:
    """Check that axe finds no serious problem."""
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in studio/")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then(r => r.violations)")
    serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []


@both_sizes
def test_a_broken_plan_is_understood_and_repaired(page: Any) -> None:
    page.click("text=A tower that falls short")
    page.wait_for_selector(".failed")
    page.click(".failed button")
    assert "cannot be executed" in page.inner_text(".why")
    page.click("text=Look for a repair")
    page.wait_for_selector(".proposal .new", timeout=30_000)
    page.click("text=Apply the repair")
    page.wait_for_selector(".tag.good")
    page.click("role=tab[name=Causes]")
    page.wait_for_selector(".node")
    assert "step=3" in page.url
    read_offline(page, "Save this plan as one file", ".node")


def test_the_steps_are_walked_by_the_keyboard_alone(page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    for _ in range(3):
        page.keyboard.press("Tab")
        if "card" in (page.evaluate("document.activeElement.className") or ""):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".steps li + li")
    page.focus(".steps")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("li.chosen:nth-child(3)")


def test_a_plan_over_time_is_a_chart(page: Any) -> None:
    page.click("text=Two vans at once")
    page.click("role=tab[name='Time line']")
    page.wait_for_selector(".span")
    assert page.locator(".span").count() == 6


def test_a_plan_over_time_has_the_curves_of_its_numbers(page: Any) -> None:
    page.click("text=problem.pddl with plan.txt")
    page.click("role=tab[name='Time line']")
    page.wait_for_selector(".curve")
    assert page.locator(".curve").count() == 2
    assert page.locator(".process").count() == 1
    with page.expect_download() as saved:
        page.click("text=Save SVG")
    text = saved.value.path().read_text("utf-8")
    assert text.startswith("<svg") and "class=" not in text
    with page.expect_download() as saved:
        page.click("text=Save PNG")
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    accessible(page)


def test_a_hierarchy_is_folded_by_the_keyboard(page: Any) -> None:
    page.click("text=problem.hddl with plan.txt")
    page.click("role=tab[name=Tasks]")
    page.wait_for_selector("[role=treeitem]")
    before = page.locator("[role=treeitem]").count()
    page.focus("[role=treeitem][tabindex='0']")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("[role=treeitem][aria-expanded=false]")
    assert page.locator("[role=treeitem]").count() < before
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert "unload van1 lamp corner" in page.evaluate("document.activeElement.textContent")
    accessible(page)


def test_plans_runs_and_benches_are_compared(page: Any) -> None:
    page.click("nav >> text=Compare")
    page.wait_for_selector("table.pairs")
    page.select_option("select >> nth=0", "garden/early.txt")
    page.select_option("select >> nth=1", "garden/late.txt")
    page.wait_for_selector(".pairs .tag.bad")
    accessible(page)
    read_offline(page, "Save this comparison as one file", ".pairs .tag.bad")
    page.click("role=tab[name=Runs]")
    page.wait_for_selector("text=Two runs are needed")
    page.click("role=tab[name=Benches]")
    page.wait_for_selector("text=No bench here")
    accessible(page)


def test_a_world_is_drawn_by_its_rules(page: Any) -> None:
    page.click("text=storehouse.pddl")
    page.click("text=Find a plan")
    page.wait_for_selector(".tag.good", timeout=60_000)
    page.click("role=tab[name=Drawing]")
    page.wait_for_selector(".drawn.marked")
    first = page.locator(".drawn:has(title:text('keeper'))").get_attribute("style")
    page.click("[aria-label=Forward]")
    page.wait_for_selector("text=1 of")
    assert page.locator(".drawn:has(title:text('keeper'))").get_attribute("style") != first
    accessible(page)


def test_hostile_names_are_only_text(page: Any) -> None:
    page.click("text=problem.pddl")
    page.wait_for_selector("[role=alert]")
    assert "<img/src=x/onerror=alert>" in page.inner_text("[role=alert]")
    assert page.locator("main script, main img:not(.cm-widgetBuffer)").count() == 0


@both_sizes
def test_hostile_names_of_tools_are_only_text(page: Any) -> None:
    page.click("nav >> text=Tools")
    page.wait_for_selector(".decisions .call")
    assert "<script>" in page.inner_text(".decisions")
    page.select_option("select", "graph.jsonl")
    page.wait_for_selector(".toolbox")
    page.focus(".toolbox")
    page.keyboard.press("Enter")
    page.wait_for_selector(".details")
    page.click("role=tab[name=Table]")
    page.wait_for_selector("table.figures")
    assert page.locator("main script, main img").count() == 0
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    accessible(page)


@both_sizes
def test_a_robot_is_asked_and_watched(page: Any) -> None:
    page.click("text=Room")
    ask_for_coffee(page)
    page.click(".story li:nth-child(4) button")
    page.wait_for_selector("text=4 of 9")
    show_the_floor_plan(page)
    read_offline(page, "Save this run as one file", ".story li:nth-child(9)")
    page.click(".bar button")


def read_offline(page: Any, link: str, selector: str) -> None:
    """Save the view as one file, which must show it without the server."""
    with page.expect_download() as saved:
        page.click(f"text={link}")
    file = Path(f"{saved.value.path()}.html")
    saved.value.save_as(file)
    context = page.context.browser.new_context(viewport=page.viewport_size, offline=True)
    shared = context.new_page()
    shared.goto(file.as_uri())
    shared.wait_for_selector(selector)
    context.close()


def ask_for_coffee(page: Any) -> None:
    page.fill("#request", "make coffee")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Working")
    page.wait_for_selector("button:text('Go'):enabled", timeout=60_000)
    page.wait_for_selector(".tag.good")


def show_the_floor_plan(page: Any) -> None:
    page.click("role=tab[name='Floor plan']")
    page.wait_for_selector("svg.floorplan .robot")


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: npm ci in studio/")
@both_sizes
def test_the_views_are_accessible(page: Any) -> None:
    page.click("text=A tower that falls short")
    page.wait_for_selector(".failed")
    accessible(page)
    page.click("role=tab[name=Causes]")
    page.wait_for_selector(".node")
    accessible(page)
    page.click("text=Room")
    ask_for_coffee(page)
    show_the_floor_plan(page)
    accessible(page)
    page.click(".bar button")
    accessible(page)
