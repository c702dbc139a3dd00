"""Regenerate the documentation's pictures: the README's animation and the studio's screenshots.

python -m tools.pictures            # all; the studio's need playwright and Debian's chromium
python -m tools.pictures coffee     # only docs/pictures/coffee.svg
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
DROP = {"kind": "drop", "when": {"actions": ["TeleportFull"], "nth": 2}}
FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader"]


def _hvr(*arguments: str, folder: Path) -> None:
    command = [sys.executable, "-m", "hvr", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def coffee(folder: Path) -> None:
    """Run hvr with a mug that is dropped, and draw the README's animation of the run."""
    (folder / "drop.json").write_text(json.dumps({"seed": 0, "faults": [DROP]}))
    run = "runs/coffee"
    _hvr("plan", "make coffee", "--faults", "drop.json", "--save", run, folder=folder)
    _hvr("show", run, "--svg", str(PICTURES / "coffee.svg"), folder=folder)


def studio(folder: Path) -> None:
    for name in ("examples/garden", "examples/tool_calls", "worlds/logistics"):
        shutil.copytree(ROOT / name, folder / Path(name).name)
    _hvr(*"tools run parcels pick-up --yes --save runs/pick-up".split(), folder=folder)
    with _served(folder) as address, _browser() as browser:
        for name, scheme, width, clicks in _SHOTS:
            size = {"width": width, "height": 800}
            context = browser.new_context(viewport=size, color_scheme=scheme)
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("h2")
            for click in clicks:
                page.click(click)
                page.wait_for_timeout(400)
            page.wait_for_timeout(1500)
            page.screenshot(path=PICTURES / f"studio-{name}.png")
            context.close()


_SHOTS: list[tuple[str, str, int, list[str]]] = [
    ("gallery", "light", 1280, []),
    (
        "steps",
        "light",
        1280,
        ["text=A tower that falls short", ".failed button", "text=Look for a repair"],
    ),
    (
        "causes",
        "dark",
        1280,
        ["text=Two vans at once", "role=tab[name='Time line']", "role=tab[name=Causes]",
         ".node:nth-of-type(6)"],
    ),
    ("time-line", "light", 1280, ["text=problem.pddl with plan.txt", "role=tab[name='Time line']"]),
    ("room", "light", 1280, ["text=make coffee", ".story li:nth-child(3) button"]),
    ("floor-plan", "dark", 1280, ["text=make coffee", "role=tab[name='Floor plan']",
                                  ".story li:nth-child(8) button"]),
    ("room-narrow", "dark", 400, ["text=make coffee", ".story li:nth-child(5) button"]),
    ("drawing", "light", 1280, ["text=harbour.pddl", "text=Find a plan", ".tag.good",
                                "role=tab[name=Drawing]", "[aria-label=Forward]"]),
    ("tools", "light", 1280, ["nav >> text=Tools"]),
]  # fmt: skip


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "hvr", "studio", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        yield server.stderr.readline().partition("studio at ")[2].strip()
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        coffee(Path(scratch))
        if "coffee" not in sys.argv[1:]:
            studio(Path(scratch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
