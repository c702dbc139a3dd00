"""Temporal planning without an external engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.solving.forward import temporal
from hvr.validation import Validator
from tests.command_line import Hvr

ROBOTS = """(define (domain robots)
  (:requirements :typing :durative-actions :numeric-fluents :timed-initial-literals)
  (:types rover arm - machine machine place)
  (:predicates (at ?m - machine ?p - place) (open ?p - place) (painted ?p - place))
  (:functions (energy ?m - machine) (distance ?a ?b - place) (speed))
  (:durative-action go :parameters (?m - machine ?a ?b - place)
    :duration (= ?duration (/ (distance ?a ?b) (speed)))
    :condition (and (at start (at ?m ?a)) (over all (open ?b))
                    (at start (>= (energy ?m) (distance ?a ?b))))
    :effect (and (at start (not (at ?m ?a))) (at end (at ?m ?b))
                 (at start (decrease (energy ?m) (distance ?a ?b)))))
  (:durative-action charge :parameters (?m - machine)
    :duration (= ?duration (- 20 (energy ?m)))
    :condition (at start (<= (energy ?m) 19))
    :effect (at end (increase (energy ?m) (* ?duration 1))))
  (:durative-action paint :parameters (?r - rover ?p - place)
    :duration (>= ?duration 3)
    :condition (over all (at ?r ?p)) :effect (at end (painted ?p))))"""


def robots(goal: str, opens: str = "(open b)", energy: int = 5) -> str:
    return (
        "(define (problem p) (:domain robots) (:objects r - rover m - arm a b - place)"
        f" (:init (at r a) (at m a) (open a) {opens} (= (speed) 2) (= (energy r) {energy})"
        f" (= (energy m) {energy}) (= (distance a b) 6) (= (distance b a) 6))"
        f" (:goal (and {goal})))"
    )


def solved(domain: str, problem: str, seconds: float = 20.0) -> list[str]:
    parsed = parse_domain(domain)
    posed = parse_problem(problem, parsed)
    outcome = temporal(parsed, posed, seconds)
    assert outcome.plan is not None, outcome.reason
    report = Validator(Task(parsed, posed)).check(outcome.plan)
    assert report.valid, report.explain()
    return [str(step) for step in outcome.plan]


def test_subtypes_numbers_and_durations_in_effects() -> None:
    plan = solved(ROBOTS, robots("(painted b) (at m b)"))
    assert {step.split("(")[1].split()[0] for step in plan} == {"go", "charge", "paint"}
    # Both charge and go at the same time, and painting takes its minimum time.
    assert sum(step.startswith("0: (charge") for step in plan) == 2
    assert any("paint" in step and step.endswith("[3]") for step in plan)


def test_a_window_is_waited_for_and_used() -> None:
    plan = solved(ROBOTS, robots("(at r b)", "(at 4 (open b)) (at 8 (not (open b)))", energy=9))
    (step,) = plan
    assert float(step.split(":")[0]) > 4


MATCH = """(define (domain cellar) (:requirements :durative-actions :typing) (:types match fuse)
  (:predicates (light) (unused ?m - match) (mended ?f - fuse) (free))
  (:durative-action strike :parameters (?m - match) :duration (= ?duration 8)
    :condition (at start (unused ?m))
    :effect (and (at start (not (unused ?m))) (at start (light)) (at end (not (light)))))
  (:durative-action mend :parameters (?f - fuse) :duration (= ?duration 5)
    :condition (and (over all (light)) (at start (free)))
    :effect (and (at start (not (free))) (at end (free)) (at end (mended ?f)))))"""


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 3))
def test_actions_that_must_go_on_together(fuses: int) -> None:
    names = [f"f{n}" for n in range(fuses)]
    matches = [f"m{n}" for n in range(fuses)]
    init = " ".join(f"(unused {name})" for name in matches)
    goal = " ".join(f"(mended {name})" for name in names)
    plan = solved(
        MATCH,
        f"(define (problem p) (:domain cellar) (:objects {' '.join(names)} - fuse"
        f" {' '.join(matches)} - match) (:init (free) {init}) (:goal (and {goal})))",
    )
    assert sum("mend" in step for step in plan) == fuses


def test_without_a_plan_nothing_is_proven(hvr_: Hvr, tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(ROBOTS)
    (tmp_path / "p.pddl").write_text(robots("(at r b)", "(at 4 (open b)) (at 5 (not (open b)))"))
    words = (tmp_path / "d.pddl", tmp_path / "p.pddl", "--planner", "temporal", "--budget", "20")
    ended = hvr_("solve", *words)
    assert ended.code in (2, 4), ended.out
    assert "no plan was found" in ended.err and "larger" not in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("json_", [False, True])
def test_the_base_install_plans_in_time(hvr_: Hvr, tmp_path: Path, json_: bool) -> None:
    (tmp_path / "d.pddl").write_text(ROBOTS)
    (tmp_path / "p.pddl").write_text(robots("(painted b)"))
    words = (tmp_path / "d.pddl", tmp_path / "p.pddl", *["--json"] * json_)
    ended = hvr_("solve", *words)
    assert ended.code == 0, ended.err
    if json_:
        told = json.loads(ended.out)
        assert told["solved"] and "durative" in told["others"]["forward"]
