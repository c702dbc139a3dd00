"""The reference validator VAL accepts hvr's exports: kitchen plans and printed models.

The environment variable VAL names its binary, as in `VAL=/opt/val/Validate pytest
tests/planning/interop`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hvr.pddl import parse_domain, parse_problem, print_domain, print_problem
from hvr.planning.interop.portable import portable
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.runs.tasks import load_task, paper_task_ids

VAL = shutil.which(os.environ.get("VAL", ""))

pytestmark = pytest.mark.skipif(VAL is None, reason="the variable VAL names no VAL binary")

# Deviations of VAL's grammar from PDDL, each in one small action.
ACTIONS = {
    "a bare numeric effect": ":precondition (p) :effect (increase (f) 1)",
    "one literal": ":precondition (not (q)) :effect (p)",
    "an empty effect": ":precondition (p) :effect (and)",
    "nested conjunctions": ":precondition (p) :effect (and (p) (and (q) (and (increase (f) 1))))",
    "a condition": ":precondition (p) :effect (when (p) (and (q) (assign (f) 2)))",
    "a numeric effect of all": ":precondition (p) :effect (forall (?x - t) (increase (f) 1))",
    "a long sum": ":precondition (> (+ (f) 1 2 3) 0) :effect (increase (f) (* 1 2 3))",
    "an empty disjunction": ":precondition (not (or)) :effect (p)",
}
LEFT_OUT = {
    "no precondition": ":effect (p)",
    "no types": ":parameters (?x ?y) :precondition (r ?x ?y) :effect (p)",
}


def accepted(domain: Path, problem: Path, steps: Path) -> str:
    """Return "" if VAL accepts a plan, otherwise its output."""
    assert VAL is not None
    command = [VAL, str(domain), str(problem), str(steps)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    text = run.stdout + run.stderr
    return "" if "Plan valid" in text and "rror" not in text else text


@pytest.mark.parametrize("task", paper_task_ids())
def test_kitchen_plans(task: str, tmp_path: Path) -> None:
    # Any proven plan suffices, so a short search is enough.
    scene = load_task(task).scenes[0]
    options = Options(scene=scene, save=tmp_path / "run", execute=False, budget=600)
    run = plan(task=task, options=options)
    folder = run.folder
    assert accepted(folder / "domain.pddl", folder / "problem.pddl", folder / "plan.pddl") == ""


@pytest.mark.parametrize("name", ACTIONS)
def test_printed_models(name: str, tmp_path: Path) -> None:
    assert printed_and_judged(ACTIONS[name], tmp_path, "t") == ""


@pytest.mark.parametrize("name", LEFT_OUT)
def test_left_out_parts(name: str, tmp_path: Path) -> None:
    assert printed_and_judged(LEFT_OUT[name], tmp_path, "object") == ""


def printed_and_judged(action: str, folder: Path, kind: str) -> str:
    """Return VAL's objections to a valid plan of one action in the printed model."""
    domain = parse_domain(
        "(define (domain d) (:requirements :adl :fluents) (:types t - object)"
        f"(:constants c - {kind}) (:predicates (p) (q) (r ?x ?y - {kind})) (:functions (f))"
        f"(:action a {action}))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects o - t) (:init (p) (= (f) 0) (r o c))"
        "(:goal (and)))",
        domain,
    )
    files = [folder / file for file in ("domain.pddl", "problem.pddl", "plan.pddl")]
    step = "(a o c)" if domain.actions["a"].parameters else "(a)"
    domain, problem = portable(domain, problem)
    texts = print_domain(domain), print_problem(problem), step
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return accepted(*files)
