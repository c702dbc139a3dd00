"""Plan files of unified-planning engines that the engine's own reader refuses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from unified_planning.plans import TimeTriggeredPlan

from hvr.pddl import parse_domain, parse_problem
from hvr.planning.interop.to_unified import convert
from hvr.planning.solving.unified import read_more_plans

DOMAIN = """(define (domain d) (:requirements :typing :durative-actions) (:types place)
  (:predicates (at ?p - place) (seen ?p - place))
  (:durative-action go :parameters (?p ?q - place) :duration (= ?duration 2)
    :condition (at start (at ?p)) :effect (and (at start (not (at ?p))) (at end (at ?q)))))"""
PROBLEM = """(define (problem x) (:domain d) (:objects here there - place) (:init (at here))
  (:goal (at there)))"""
LPG = "; Version LPG-td-1.4\n; Time 0.01\n0.0003:   (GO HERE THERE) [2.0000])\n"


class Refusing:
    """An engine whose reader refuses everything."""

    def _plan_from_file(self, problem: Any, file: str, item_named: Any) -> Any:
        del problem, file, item_named
        raise ValueError("Error parsing plan")


def test_a_plan_file_that_an_engine_cannot_read_is_read_by_hvr(tmp_path: Path) -> None:
    domain = parse_domain(DOMAIN)
    problem = convert(domain, parse_problem(PROBLEM, domain)).unified
    items = {"go": problem.action("go"), **{o.name: o for o in problem.all_objects}}
    (tmp_path / "plan").write_text(LPG)
    engine = Refusing()
    read_more_plans(engine)
    plan = engine._plan_from_file(problem, str(tmp_path / "plan"), items.__getitem__)
    assert isinstance(plan, TimeTriggeredPlan)
    ((start, step, duration),) = plan.timed_actions
    assert (start, step.action.name, duration) == (Fraction("0.0003"), "go", 2)
    assert [str(parameter) for parameter in step.actual_parameters] == ["here", "there"]
