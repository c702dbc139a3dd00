"""The GitHub action and the pre-commit hooks that hvr offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOMAIN = """(define (domain d) (:requirements :strips) (:predicates (p) (q))
  (:action a :parameters () :precondition (p) :effect (q)))
"""
PROBLEM = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))\n"


def step_of_the_action() -> dict[str, Any]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = (s for s in action["runs"]["steps"] if s.get("id") == "validate")
    return dict(step)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
@pytest.mark.parametrize(("plan", "code"), [("(a)\n", 0), ("(a)\n(b)\n", 1), ("prose\n", 2)])
def test_the_action_annotates_and_tells_the_exit_code(tmp_path: Path, plan: str, code: int) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    (tmp_path / "my plan.txt").write_text(plan)
    binary = tmp_path / "hvr" / "bin" / "hvr"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hvr "$@"\n')
    binary.chmod(0o755)
    step = step_of_the_action()
    given = {"DOMAIN": "domain.pddl", "PROBLEM": "problem.pddl", "PLANS": "my plan.txt\n",
             "FORMAT": "github", "OUTPUT_FILE": "", "ARGS": "--advise"}  # fmt: skip
    assert step["env"].keys() == given.keys()
    output = tmp_path / "output"
    output.touch()
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **given, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert output.read_text() == f"exit-code={code}\n"
    assert ("::error file=my plan.txt" in done.stdout) is (code > 0)


@pytest.mark.slow
def test_the_hooks_call_commands_that_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        _, command = hook["entry"].split()
        done = subprocess.run(
            [sys.executable, "-m", "hvr", command, "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0
        assert hook["entry"] in done.stdout
