"""Numbers: exact, read in the state before, and sometimes undefined."""

from fractions import Fraction

import pytest

from hvr.pddl import parse_domain, parse_plan, parse_problem
from hvr.validation import FailureKind, Outcome, ValidationReport, Validator

DOMAIN = """
(define (domain sums) (:requirements :fluents :constraints :preferences)
  (:types jar) (:predicates (p) (q) (never-changed))
  (:functions (x) (y) (level ?j - jar) (size ?j - jar) (total-cost) (nothing))
  (:action tenth :effect (increase (x) 0.1))
  (:action third :effect (scale-down (x) 3))
  (:action swap :effect (and (assign (x) (y)) (assign (y) (x))))
  (:action both :effect (and (increase (x) 1) (decrease (x) 3) (increase (x) (x))))
  (:action clash :effect (and (assign (x) 1) (assign (x) 1)))
  (:action mixed :effect (and (assign (x) 1) (increase (x) 1)))
  (:action maybe :effect (and (when (p) (assign (x) 1)) (when (q) (assign (x) 2))))
  (:action by-zero :effect (assign (x) (/ (y) (- (y) (y)))))
  (:action from-nothing :effect (assign (x) (nothing)))
  (:action grow-nothing :effect (increase (nothing) 1))
  (:action set-nothing :effect (assign (nothing) 1))
  (:action need-nothing :precondition (> (nothing) 0) :effect (p))
  (:action need-not :precondition (not (> (nothing) 0)) :effect (p))
  (:action any :precondition (or (> (nothing) 0) (= (y) 2)) :effect (p))
  (:action p :effect (p)) (:action q :effect (q))
  (:action pour :parameters (?a ?b - jar)
    :precondition (and (> (level ?a) 0) (<= (+ (level ?a) (level ?b)) (size ?b)) (not (= ?a ?b)))
    :effect (and (increase (level ?b) (level ?a)) (assign (level ?a) 0)))
  (:action all :effect (forall (?j - jar) (when (< (level ?j) 2) (increase (level ?j) 2)))))
"""


def validator(goal: str = "()", more: str = "", x: str = "0") -> Validator:
    domain = parse_domain(DOMAIN)
    text = (
        f"(define (problem t) (:domain sums) (:objects j k - jar) (:init (= (x) {x}) (= (y) 2)"
        " (= (level j) 3) (= (level k) 1.5) (= (size j) 4) (= (size k) 4.5))"
        f" (:goal {goal}) {more})"
    )
    return Validator(domain, parse_problem(text, domain))


def check(plan: str, goal: str = "()", more: str = "", x: str = "0") -> ValidationReport:
    return validator(goal, more, x).check(parse_plan(plan))


@pytest.mark.parametrize(
    ("plan", "goal"),
    [
        ("(tenth)" * 10, "(= (x) 1)"),
        ("(tenth)" * 30 + "(third)", "(= 1 (x))"),
        ("(tenth)(third)(third)", "(and (> (x) 0.0111) (< (x) 0.0112))"),
        ("(swap)", "(and (= (x) 2) (= (y) 0))"),
        ("(both)", "(= (x) -2)"),
        ("(tenth)(both)", "(= (x) -1.8)"),
        ("(pour j k)", "(and (= (level k) 4.5) (= (level j) 0))"),
        ("(all)", "(and (= (level j) 3) (= (level k) (/ 7 2)))"),
        ("(p)(maybe)", "(= (x) 1)"),
        ("(q)(maybe)", "(= (x) 2)"),
        ("(set-nothing)(grow-nothing)(need-nothing)", "(= (nothing) 2)"),
        ("(any)", "(p)"),
        ("", "(and (= (- (y)) -2) (>= (y) (y)) (not (< (y) 2)))"),
    ],
)  # fmt: skip
def test_exact_arithmetic(plan: str, goal: str) -> None:
    report = check(plan, goal)
    assert report.valid, report.explain()


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        ("(clash)", FailureKind.INTERFERENCE),
        ("(mixed)", FailureKind.INTERFERENCE),
        ("(p)(q)(maybe)", FailureKind.INTERFERENCE),
        ("(by-zero)", FailureKind.UNDEFINED_VALUE),
        ("(from-nothing)", FailureKind.UNDEFINED_VALUE),
        ("(grow-nothing)", FailureKind.UNDEFINED_VALUE),
        # Neither a comparison with an undefined value nor its negation is satisfied.
        ("(need-nothing)", FailureKind.PRECONDITION),
        ("(need-not)", FailureKind.PRECONDITION),
        ("(pour j k)(pour j k)", FailureKind.PRECONDITION),
        ("(pour k j)", FailureKind.PRECONDITION),
    ],
)
def test_steps_that_fail(plan: str, kind: FailureKind) -> None:
    report = check(plan)
    assert report.failure is not None
    assert report.failure.kind is kind
    assert report.failure.step == len(parse_plan(plan))
    assert report.explain()


def test_a_failing_step_changes_no_number() -> None:
    found = validator()
    before = found.state
    for name in ("clash", "by-zero", "grow-nothing"):
        (step,) = parse_plan(f"({name})")
        assert not found.apply(step).ok
        assert found.state == before


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        ("(> (nothing) 0)", ""),
        ("(not (> (nothing) 0))", ""),
        ("(= (/ 1 0) 1)", ""),
        ("()", "(:constraints (always (> (nothing) 0)))"),
    ],
)
def test_conditions_on_nothing_are_not_fulfilled(goal: str, more: str) -> None:
    assert check("(p)", goal, more).outcome is Outcome.INVALID


def test_preferences_on_nothing_are_violated() -> None:
    report = check("(p)", goal="(preference w (> (nothing) 0))")
    assert report.valid
    assert dict(report.violated) == {"w": 1}


def test_unmet_comparisons_have_their_numbers_and_their_past() -> None:
    report = check("(tenth)(swap)(p)", "(> (+ (x) (level j)) 9)")
    assert report.failure is not None
    (literal,) = report.failure.literals
    assert {str(term): value for term, value in literal.numbers} == {"(x)": 2, "(level j)": 3}
    assert literal.changed_by is not None
    assert literal.changed_by.number == 2
    assert not literal.fixed
    failure = check("", "(> (size j) 9)").failure
    assert failure is not None
    assert failure.literals[0].fixed


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("(:metric minimize (x))", Fraction(1, 5)),
        ("(:metric maximize (+ (* 2 (x)) (size j)))", Fraction("4.4")),
        ("(:metric minimize (total-time))", Fraction(2)),
        ("(:metric minimize total-time)", Fraction(2)),
        ("(:metric minimize (- (total-cost)))", Fraction(0)),
        ("(:metric minimize (nothing))", None),
        ("(:metric minimize (/ 1 (total-cost)))", None),
        ("", Fraction(2)),
    ],
)
def test_metrics(metric: str, value: Fraction | None) -> None:
    report = check("(tenth)(tenth)", more=metric)
    assert report.valid
    assert report.cost == value
    report.to_json()


def test_numbers_too_large_are_in_doubt() -> None:
    domain = parse_domain(
        "(define (domain d) (:functions (f)) (:predicates (p))"
        " (:action a :effect (scale-up (f) (f))))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:init (= (f) 10)) (:goal (> (f) 0)))", domain
    )
    report = Validator(domain, problem).check(parse_plan("(a)" * 60))
    assert report.outcome is Outcome.UNKNOWN
    assert "bits" in report.reason
