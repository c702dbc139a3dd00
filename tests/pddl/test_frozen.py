"""A formula is evaluated once per state, however many combinations of objects there are."""

from __future__ import annotations

import pytest

from hvr.errors import GroundingLimitError
from hvr.pddl import Task, parse_domain, parse_formula, parse_problem
from hvr.pddl.task import holds_initially

DOMAIN = parse_domain(
    """(define (domain d) (:predicates (in ?a ?b) (open ?a))
    (:action put :parameters (?a ?b) :effect (in ?a ?b))
    (:action shut :parameters (?a) :effect (not (open ?a))))"""
)
NAMES = " ".join(f"o{number}" for number in range(40))
CHAIN = " ".join(f"(in o{number} o{number + 1})" for number in range(39))
PROBLEM = parse_problem(
    f"(define (problem p) (:domain d) (:objects {NAMES}) (:init {CHAIN} (open o6))"
    " (:goal (open o6)))",
    DOMAIN,
)


@pytest.mark.slow
@pytest.mark.parametrize(("last", "holds"), [("(open ?g)", True), ("(in ?g o3)", False)])
def test_facts_bind_the_variables(last: str, holds: bool) -> None:
    links = " ".join(f"(in ?{a} ?{b})" for a, b in zip("abcdef", "bcdefg", strict=True))
    text = f"(exists (?a ?b ?c ?d ?e ?f ?g) (and {links} {last} (not (open ?a))))"
    formula = parse_formula(text, DOMAIN, PROBLEM.objects)
    assert holds_initially(DOMAIN, PROBLEM, formula) is holds
    if holds:
        with pytest.raises(GroundingLimitError):
            Task(DOMAIN, PROBLEM, instance_limit=10_000).initial.holds(formula)


@pytest.mark.parametrize(
    "text",
    ["(open o6)", "(not (open o6))", "(forall (?a) (or (open ?a) (in ?a o7)))",
     "(exists (?a) (and (in ?a o9) (not (open ?a))))", "(exists (?a) (open ?a))",
     "(forall (?a) (not (in ?a ?a)))"],
)  # fmt: skip
def test_it_agrees_with_the_task(text: str) -> None:
    formula = parse_formula(text, DOMAIN, PROBLEM.objects)
    assert holds_initially(DOMAIN, PROBLEM, formula) == Task(DOMAIN, PROBLEM).initial.holds(formula)
