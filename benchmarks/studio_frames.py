"""Measure how smoothly the studio scrolls and plays, and how soon it paints, in a browser.

    python benchmarks/studio_frames.py             # all views at two sizes: three minutes
    python benchmarks/studio_frames.py --seconds 2 --sizes 1280x800 --views room

The studio serves a plan of 1,000 steps and a recorded run of at least 120 steps to Chromium. Frames
come from the browser's own trace: those that it presented, and those that it dropped although
something had changed. CPU time comes from the browser too, per process. It needs playwright and
Debian's chromium.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conditions import conditions
from playwright.sync_api import Browser, Page, sync_playwright

SCENE = "FloorPlan1"
REQUEST = (
    "put every fork, spoon, knife and butter knife on a countertop, put all vases in cabinets, "
    "slice the tomato, the apple, the potato, the lettuce and the bread, put all of the tomato "
    "slices in the bowl, put all of the apple slices on a plate, put all of the potato slices in "
    "the pot, make coffee, wash the pan, put all bread slices in the fridge, throw the egg away, "
    "put the salt shaker and the pepper shaker in a drawer, turn off the light and open every "
    "cabinet and drawer"
)
STEPS = 1_000
LEAST = 120
DOMAIN = """(define (domain post)
  (:requirements :strips :typing)
  (:types place parcel van)
  (:predicates (at ?v - van ?p - place) (lies ?b - parcel ?p - place) (in ?b - parcel ?v - van))
  (:action drive
    :parameters (?v - van ?from ?to - place)
    :precondition (at ?v ?from)
    :effect (and (not (at ?v ?from)) (at ?v ?to)))
  (:action load
    :parameters (?b - parcel ?v - van ?p - place)
    :precondition (and (lies ?b ?p) (at ?v ?p))
    :effect (and (not (lies ?b ?p)) (in ?b ?v)))
  (:action unload
    :parameters (?b - parcel ?v - van ?p - place)
    :precondition (and (in ?b ?v) (at ?v ?p))
    :effect (and (lies ?b ?p) (not (in ?b ?v)))))
"""
# As on a machine without a graphics card, the CPU draws both the page and WebGL.
FLAGS = ("--no-sandbox", "--enable-unsafe-swiftshader")
_DEVTOOLS = "disabled-by-default-devtools.timeline"
TRACED = ("devtools.timeline", _DEVTOOLS, f"{_DEVTOOLS}.frame")
PAINTS = 5
CONTENT = ".cards a, .card, .steps li + li, .story li"
PAINTED = """new Promise((done) => {
  const ready = (list) => list.getEntriesByName("first-contentful-paint");
  new PerformanceObserver((list) => ready(list).map((one) => done(one.startTime))).observe({
    type: "paint",
    buffered: true,
  });
})"""
RENDERER = """() => {
  const pen = document.createElement("canvas").getContext("webgl2");
  const about = pen?.getExtension("WEBGL_debug_renderer_info");
  return String(pen?.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : pen.RENDERER));
}"""
HEADER = (
    "size", "what", "frames/s", "dropped", "page, ms of CPU a frame",
    "drawing, ms of CPU a frame", "longest task, ms of CPU",
)  # fmt: skip
ASSETS = ("index.html", "studio.js", "studio.css", "room.js", "share.js")


class Frames(NamedTuple):
    seconds: float
    presented: int
    dropped: int
    renderer: float
    """CPU seconds of the page's process, all threads."""
    drawer: float
    """CPU seconds of the process that draws: the GPU process, which computes on the CPU here."""
    longest: float
    """Seconds of the longest task on the page's main thread, in CPU time."""


# Data ---------------------------------------------------------------------------------------------


def write_plan(folder: Path) -> None:
    """Write a domain, a problem, and a valid plan of 1,000 steps."""
    parcels = [f"parcel{number}" for number in range(STEPS // 4)]
    lying = " ".join(f"(lies {one} depot)" for one in parcels)
    goal = " ".join(f"(lies {one} town)" for one in parcels)
    steps = "\n".join(
        f"(load {one} van depot)\n(drive van depot town)\n"
        f"(unload {one} van town)\n(drive van town depot)"
        for one in parcels
    )
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(
        f"(define (problem post-1000) (:domain post) (:objects {' '.join(parcels)} - parcel "
        f"van - van depot town - place) (:init (at van depot) {lying}) (:goal (and {goal})))"
    )
    (folder / "problem.plan").write_text(steps + "\n")


def write_run(folder: Path) -> int:
    """Execute a long request in the kitchen, and return the number of recorded steps."""
    command = ["plan", REQUEST, "--scene", SCENE, "--save", "runs/long", "--quiet"]
    subprocess.run([sys.executable, "-m", "hvr", *command], cwd=folder, check=True)
    trace = (folder / "runs" / "long" / "trace.jsonl").read_text("utf-8").splitlines()
    return sum(json.loads(line)["event"] == "step" for line in trace)


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """Serve a folder, and yield the address with its token."""
    server = subprocess.Popen(
        [sys.executable, "-m", "hvr", "studio", str(folder), "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        yield server.stderr.readline().partition("studio at ")[2].strip()
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()


# Measurement --------------------------------------------------------------------------------------


def cpu(browser: Browser) -> Counter[str]:
    """Return the CPU seconds used so far by the browser's processes, by kind of process."""
    session = browser.new_browser_cdp_session()
    spent: Counter[str] = Counter()
    for one in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        spent[one["type"]] += one["cpuTime"]
    session.detach()
    return spent


def traced(browser: Browser, page: Page, act: Callable[[], None]) -> Frames:
    """Perform an action in a page while the browser records a trace."""
    page.wait_for_timeout(500)
    browser.start_tracing(page=page, categories=list(TRACED))
    before, begun = cpu(browser), time.perf_counter()
    act()
    seconds = time.perf_counter() - begun
    spent = cpu(browser) - before
    events = json.loads(browser.stop_tracing())["traceEvents"]
    drawn = sum(event["name"] == "DrawFrame" for event in events)
    reports = (event.get("args", {}).get("frame_reporter", {}) for event in events)
    dropped = sum(
        one.get("state") == "STATE_DROPPED" and bool(one.get("affects_smoothness"))
        for one in reports
    )
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    tasks = [
        event.get("tdur", 0) / 1e6
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main
    ]
    longest = max(tasks, default=0.0)
    return Frames(seconds, drawn, dropped, spent["renderer"], spent["GPU"], longest)


def scroll(page: Page, place: str, seconds: float) -> None:
    """Scroll a list down and up, as with a wheel turning at constant speed."""
    page.locator(place).scroll_into_view_if_needed()
    box = page.locator(place).bounding_box()
    assert box is not None
    size = page.viewport_size
    assert size is not None
    session = page.context.new_cdp_session(page)
    where = {
        "x": box["x"] + box["width"] / 2,
        "y": min(box["y"] + 60, size["height"] - 40),
        "gestureSourceType": "mouse",
        "speed": 1_000,
    }
    end = time.perf_counter() + seconds
    way = -500
    while time.perf_counter() < end:
        session.send("Input.synthesizeScrollGesture", {**where, "yDistance": way})
        way = -way
    session.detach()


def walk(page: Page, seconds: float) -> None:
    """Hold the arrow key down, which takes 30 steps per second."""
    page.focus(".steps")
    end = time.perf_counter() + seconds
    while (now := time.perf_counter()) < end:
        page.keyboard.press("ArrowDown")
        time.sleep(max(0.0, now + 1 / 30 - time.perf_counter()))


def turn(page: Page, seconds: float) -> None:
    """Turn the room with the mouse, by 60 movements per second."""
    page.locator(".canvas").scroll_into_view_if_needed()
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + min(box["height"], 200) / 2
    page.mouse.move(x, y)
    page.mouse.down()
    end = time.perf_counter() + seconds
    moves = 0
    while (now := time.perf_counter()) < end:
        moves += 1
        page.mouse.move(x + (moves % 100) - 50, y)
        time.sleep(max(0.0, now + 1 / 60 - time.perf_counter()))
    page.mouse.up()


def play(page: Page) -> None:
    """Play the run from the beginning, at four steps per second."""
    page.select_option(".controls select", "4")
    page.click("[aria-label='To the beginning']")
    page.click(".controls button:text('Play')")


MODEL = "#/model?domain=domain.pddl&problem=problem.pddl&plan=problem.plan"
ROOM = "#/room?run=long"


def plan_views(browser: Browser, page: Page, seconds: float) -> Iterator[tuple[str, Frames]]:
    page.wait_for_selector(".steps li:nth-child(3)")
    yield (
        f"plan of {STEPS} steps, scrolled",
        traced(browser, page, lambda: scroll(page, ".steps", seconds)),
    )
    yield (
        f"plan of {STEPS} steps, arrow key held",
        traced(browser, page, lambda: walk(page, seconds)),
    )


def room_views(browser: Browser, page: Page, seconds: float) -> Iterator[tuple[str, Frames]]:
    page.wait_for_selector(".canvas canvas")
    page.click("role=tab[name='Floor plan']")
    page.wait_for_selector("svg.floorplan")
    play(page)
    yield (
        "floor plan, played and scrolled",
        traced(browser, page, lambda: scroll(page, ".story", seconds)),
    )
    page.click("role=tab[name='Room']")
    page.wait_for_selector(".canvas canvas")
    play(page)
    yield (
        "three dimensions, played",
        traced(browser, page, lambda: page.wait_for_timeout(seconds * 1000)),
    )
    play(page)
    yield (
        "three dimensions, played and scrolled",
        traced(browser, page, lambda: scroll(page, ".story", seconds)),
    )
    page.click(".controls button:text('Pause')")
    yield "three dimensions, turned", traced(browser, page, lambda: turn(page, seconds))


VIEWS = {"plan": (MODEL, plan_views), "room": (ROOM, room_views)}


def first_paint(
    browser: Browser, address: str, view: str, size: tuple[int, int]
) -> tuple[float, float]:
    """Return the median milliseconds to first paint and to the view's content, without cache."""
    found = []
    for _ in range(PAINTS):
        with opened(browser, address, view, size) as page:
            page.wait_for_selector(CONTENT)
            there = page.evaluate("performance.now()")
            found.append((page.evaluate(PAINTED), there))
    first, content = (statistics.median(column) for column in zip(*found, strict=True))
    return first, content


@contextmanager
def opened(browser: Browser, address: str, view: str, size: tuple[int, int]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(address)  # sets the cookie
    page.goto("about:blank")
    page.goto(address.partition("?")[0] + view)
    yield page
    context.close()


def renderer(browser: Browser) -> str:
    page = browser.new_page()
    name = page.evaluate(RENDERER)
    page.close()
    return str(name)


# Report -------------------------------------------------------------------------------------------


def bundle() -> str:
    """Return the gzipped sizes of the page's files in kB."""
    folder = resources.files("hvr.doors.studio").joinpath("assets")
    sizes = {name: len(gzip.compress(folder.joinpath(name).read_bytes())) for name in ASSETS}
    told = ", ".join(f"{name} {size / 1000:.1f}" for name, size in sizes.items())
    return f"{sum(sizes.values()) / 1000:.1f} kB gzipped ({told})"


def measure(browser: Browser, address: str, options: argparse.Namespace) -> None:
    print(f"\n| {' | '.join(HEADER)} |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for size in options.sizes:
        for view in options.views:
            start, views = VIEWS[view]
            with opened(browser, address, start, size) as page:
                for name, found in views(browser, page, options.seconds):
                    frames = max(1, found.presented)
                    print(
                        f"| {size[0]} x {size[1]} | {name} | {found.presented / found.seconds:.1f} "
                        f"| {found.dropped} | {1000 * found.renderer / frames:.1f} "
                        f"| {1000 * found.drawer / frames:.1f} | {1000 * found.longest:.0f} |",
                        flush=True,
                    )
    print(
        "\n| size | view | first contentful paint, ms | content, ms |\n| --- | --- | ---: | ---: |"
    )
    for size in options.sizes:
        for view, (start, _) in {"gallery": ("", None), **VIEWS}.items():
            first, content = first_paint(browser, address, start, size)
            print(f"| {size[0]} x {size[1]} | {view} | {first:.0f} | {content:.0f} |", flush=True)


def _size(text: str) -> tuple[int, int]:
    width, height = text.split("x")
    return int(width), int(height)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement")
    parser.add_argument("--sizes", type=_size, nargs="+", default=[(1280, 800), (400, 800)])
    parser.add_argument("--views", choices=sorted(VIEWS), nargs="+", default=sorted(VIEWS))
    parser.add_argument("--folder", type=Path, help="keep the data here, and use it again")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("error: this benchmark needs Debian's chromium", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(exist_ok=True)
        write_plan(folder)
        if not (folder / "runs" / "long").exists():
            write_run(folder)
        trace = (folder / "runs" / "long" / "trace.jsonl").read_text("utf-8").splitlines()
        steps = sum(json.loads(line)["event"] == "step" for line in trace)
        print(f"{conditions()} · load {os.getloadavg()[0]:.1f}")
        print(f"bundle: {bundle()}; run: {steps} steps")
        with studio(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            print(f"Chromium {browser.version}, drawing by {renderer(browser)}")
            measure(browser, address, options)
            browser.close()
        print(f"\nload at the end: {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
