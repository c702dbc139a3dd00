"""Problems without types have the same plans."""

from __future__ import annotations

from itertools import product

import pytest
from unified_planning.environment import get_environment
from unified_planning.model import ProblemKind
from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION

from hvr.pddl import OBJECT, parse_domain, parse_problem, print_domain, print_problem
from hvr.planning.interop.portable import without_types
from hvr.planning.interop.to_unified import convert
from hvr.planning.solving.unified import support
from hvr.validation import Validator

FARM = """(define (domain farm)
  (:requirements :adl :typing :numeric-fluents :durative-actions)
  (:types cow hen - animal animal tool barn)
  (:constants fork - tool)
  (:predicates (in ?a - (either animal tool) ?b - barn) (fed ?a - animal) (is-hen ?b - barn))
  (:functions (food ?b - barn))
  (:action move :parameters (?a - animal ?b ?c - barn)
    :precondition (and (in ?a ?b) (forall (?h - hen)
                    (imply (= ?h ?a) (exists (?t - tool) (in ?t ?c)))))
    :effect (and (not (in ?a ?b)) (in ?a ?c)))
  (:action feed :parameters (?b - barn)
    :precondition (> (food ?b) 0)
    :effect (and (decrease (food ?b) 1)
                 (forall (?a - animal) (when (in ?a ?b) (fed ?a)))))
  (:durative-action carry :parameters (?t - tool ?b ?c - barn)
    :duration (= ?duration 2)
    :condition (and (at start (in ?t ?b)) (forall (?h - hen) (over all (in ?h ?b))))
    :effect (and (at start (not (in ?t ?b))) (at end (in ?t ?c))
                 (forall (?w - cow) (at end (fed ?w))))))"""
MORNING = """(define (problem morning) (:domain farm)
  (:objects rosa - cow clara - hen north south - barn)
  (:init (in rosa north) (in clara north) (in fork north) (= (food north) 1) (= (food south) 0))
  (:goal (and (forall (?a - animal) (fed ?a)) (exists (?c - cow) (in ?c south)))))"""


def plans() -> list[str]:
    steps = ["(move rosa north south)", "(move clara north south)", "(feed north)", "(feed south)"]
    steps += ["(move fork north south)", "(feed rosa)", "(move rosa north clara)"]
    timed = ["0: (carry fork north south) [2]\n3: (feed north)\n4: (move rosa north south)"]
    timed += ["0: (carry fork north south) [2]\n1: (move clara north south)\n3: (feed north)"]
    timed += ["0: (carry rosa north south) [2]"]
    return [*map("\n".join, product(steps, repeat=2)), *timed]


def test_plans_are_judged_as_with_types() -> None:
    domain = parse_domain(FARM)
    problem = parse_problem(MORNING, domain)
    bare, posed = without_types(domain, problem)
    # Other planners read the printed form.
    bare = parse_domain(print_domain(bare))
    posed = parse_problem(print_problem(posed), bare)
    assert not bare.types
    assert all(item.types == (OBJECT,) for item in (*bare.constants, *posed.objects))
    typed, untyped = Validator(domain, problem), Validator(bare, posed)
    outcomes = [(typed.check_file(plan), untyped.check_file(plan)) for plan in plans()]
    assert [one.outcome for one, _ in outcomes] == [two.outcome for _, two in outcomes]
    assert {one.valid for one, _ in outcomes} == {True, False}


def test_an_engine_without_type_hierarchies_is_able(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = parse_domain(FARM)
    problem = parse_problem(MORNING, domain)
    typed = convert(domain, problem).unified.kind
    untyped = convert(*without_types(domain, problem)).unified.kind
    assert typed.has_hierarchical_typing()
    assert not untyped.has_hierarchical_typing()

    class Flat:
        @staticmethod
        def supports(kind: object) -> bool:
            return not kind.has_hierarchical_typing()  # type: ignore[attr-defined]

    class Neither:
        @staticmethod
        def supports(_: object) -> bool:
            return False

        @staticmethod
        def supported_kind() -> ProblemKind:
            return ProblemKind(version=LATEST_PROBLEM_KIND_VERSION)

    engines = {"flat": Flat, "neither": Neither}
    monkeypatch.setattr(get_environment().factory, "engine", engines.__getitem__)
    answers = support(domain, problem, ("flat", "neither"))
    assert answers["flat"] == ""
    assert answers["neither"].startswith("does not support")
