"""The examples of CONTRIBUTING: a policy, an environment and a provider outside the package."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def marked(kind: str) -> dict[str, str]:
    """Return the code blocks that CONTRIBUTING marks with a comment, by name."""
    found = re.findall(rf"<!-- {kind}: (\S+) -->\n```\w+\n(.+?)```", TEXT, re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, and what an installer would write for their package."""
    folder = tmp_path_factory.mktemp("toys")
    for name, code in marked("file").items():
        (folder / name).write_text(code, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in points.items())]
    installed = folder / "hvr_toys-0.1.dist-info"
    installed.mkdir()
    (installed / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (installed / "METADATA").write_text("Name: hvr-toys\nVersion: 0.1\n", encoding="utf-8")
    return folder


def hvr(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that is on Python's path."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "hvr", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def trace(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a run."""
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["policy", "environment", "provider", "planner"])
def test_the_command_of_an_example_reaches_its_goal(name: str, scratch: Path) -> None:
    words = shlex.split(marked("command")[name])
    assert words[0] == "hvr"
    ended = hvr(scratch, *words[1:])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "goal reached in" in ended.stdout
    if name == "policy":
        plan = json.loads((scratch / name / "plan.json").read_text())
        assert [block["macro"]["name"] for block in plan["blocks"]] == ["do all of it"]
    elif name == "environment":
        recoveries = [e for e in trace(scratch / name) if e["event"] == "recovery"]
        assert [r["rung"] for r in recoveries] == ["retry"]
    elif name == "provider":
        assert "rote:1 (simulated, no language model): 1 call," in ended.stdout


@pytest.mark.slow
def test_what_is_not_installed_is_named_by_its_module(scratch: Path) -> None:
    ended = hvr(scratch, "plan", "make coffee", "--policy", "toy_policy:OneBlock", "--dry-run")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_wrong_name_lists_the_names(scratch: Path) -> None:
    for option, name, words in (
        ("--policy", "one-blok", ["unknown policy", "did you mean 'one-block'", "symbolic, llm"]),
        ("--env", "slipery", ["unknown environment", "did you mean 'slippery'", "kitchen, thor"]),
        ("--llm", "rota:1", ["unknown model 'rota:1'", "openai:MODEL", "rote:"]),
        ("--policy", "toy_policy:Nothing", ["toy_policy has no 'Nothing'"]),
        ("--policy", "no_module:Nothing", ["No module named 'no_module'"]),
    ):
        ended = hvr(scratch, "plan", "make coffee", option, name)
        assert ended.returncode == 2
        assert ended.stderr.startswith("error: ") and "Traceback" not in ended.stderr
        assert all(word in ended.stderr for word in words), ended.stderr
