"""The GitHub action and the pre-commit hooks that hvr offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
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


_LIGHT = """
import sys
import tomllib

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nothing())
sys.argv[:] = ["hvr", *{arguments!r}]
from hvr.cli.main import run
run()
"""
_PACKAGES = (
    "owlready2", "oxrdflib", "pyoxigraph", "rdflib", "rich", "unified_planning",
    "up_fast_downward", "numpy", "yaml", "torch", "jsonschema",
)  # fmt: skip


def run_light(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = _LIGHT.format(packages=_PACKAGES, arguments=arguments)
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": ""},
    )  # fmt: skip


def test_a_bare_install_has_no_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == []
    for name, packages in project["optional-dependencies"].items():
        assert name == "plan" or any(package.startswith("hvr[plan") for package in packages)


@pytest.mark.slow
def test_the_validator_and_the_linter_need_no_package(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    (tmp_path / "my.plan").write_text("(a)\n(b)\n")
    done = run_light(tmp_path, "validate", ".", "--format", "sarif", "--advise", "--jobs", "2")
    assert done.returncode == 1 and '"HVR103"' in done.stdout, done.stderr
    done = run_light(tmp_path, "lint", ".", "--format", "junit")
    assert done.returncode == 0 and "<testsuites" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [("plan", "make coffee"), ("kg", "check")])
def test_what_needs_more_says_what_to_install(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run_light(tmp_path, *command)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "pip install 'hvr[plan]'" in done.stderr
    assert "Traceback" not in done.stderr
