"""CONTRIBUTING's examples with correct and wrong names; `test_docs.py` runs its commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm
from tests.documentation.pages import ROOT
from tests.documentation.reader import write_file


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples and their package metadata."""
    folder = tmp_path_factory.mktemp("toys")
    for path in sorted((ROOT / "examples" / "plugin").iterdir()):
        write_file(folder / path.name, path.read_text(encoding="utf-8"))
    return folder


def hvr(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder on Python's path."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    return warm.run(
        [sys.executable, "-m", "hvr", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


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
