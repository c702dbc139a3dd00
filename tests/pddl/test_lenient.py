"""Slips that the lenient reader reports as warnings, and faults that are always warnings."""

import pytest

from hvr.errors import PddlError
from hvr.pddl import Diagnostic, parse_domain, parse_problem, print_domain, print_problem, read_plan
from hvr.validation import Validator, validate

DOMAIN = """(define (domain d)
(:requirements :typing)
(:types u - t t)
(:constants k - t)
(:predicates (p ?x - t) (q))
(:functions (f) (total-cost))
(:action a :parameters (?x - t) :precondition (q) :effect (p ?x)))
"""
PROBLEM = """(define (problem x) (:domain d)
(:objects o - t)
(:init (q) (= (f) 1))
(:goal (p o)))
"""

SAME = "(:action a :parameters (?x - t) :precondition (q) :effect (p ?x))"
DOMAINS = [
    # original, replacement, place, words
    ("(p ?x)))", "(p ?x))))", "7:67", "one ')' too many"),
    ("(p ?x)))", "(p ?x))) (:action b)", "7:68", "after the end of the domain"),
    (")\n(:action", "))\n(:action", "7:1", "after the end of the domain"),
    ("(p ?x)))", f"(p ?x)) {SAME})", "7:76", "defined twice"),
    ("(:types", "\0(:types", "3:1", "NUL"),
    ("u - t t)", "u - t t - u)", "3:9", "its own supertype"),
    ("u - t t)", "u - t t - t)", "3:15", "its own supertype"),
    ("(p ?x - t) (q)", "(p ?x - t) (q) (q)", "5:30", "declared twice"),
    ("(:functions (f)", "(:functions (f) (f)", "6:18", "declared twice"),
    (
        ":precondition (q) :effect (p ?x)",
        ":effect (p ?x) :precondition (q)",
        "7:48",
        "comes after :effect",
    ),
]
PROBLEMS = [
    ("(p o)))", "(p o))))", "4:15", "one ')' too many"),
    ("(q) (= (f) 1))", "(q) (= (f) 1)))", "4:1", "after the end of the problem"),
    ("(:goal (p o))", "", "1:18", "no :goal"),
    ("(:goal (p o))", "(:goal (p o)) (:goal (p o))", "4:16", "second :goal"),
    ("(:domain d)", "", "1:18", "no :domain"),
]


# The lenient reader also refuses ambiguous slips.
OPEN_DOMAINS = [
    ("(p ?x)))", "(p ?x)) (:action a :effect (p k)))", "defined twice, with different contents"),
    ("(p ?x - t) (q)", "(p ?x - t) (q) (q ?x)", "declared twice, with different contents"),
    ("(:functions (f)", "(:functions (f) (f ?x)", "declared twice, with different contents"),
    ("(?x - t) :pre", "(?x ?x - t) :pre", "declared twice"),
    ("(p ?x)))", "(p ?x))) (x)", "text after the end"),
    ("(p ?x)))", "(p ?x))) x", "text after the end"),
    ("(p ?x)))", "(p ?x)))" + ")" * 101, "more than 100 surplus ')'"),
    ("(q) :effect", "(q)) :effect", "a section"),
    ("(p ?x - t) (q)", "(p ?x - t)) (q)", "no section 'q'"),
    (":precondition", ":precon\0dition", "NUL"),
]
OPEN_PROBLEMS = [
    ("(:goal (p o))", "(:goal (p o)) (:goal (q))", "second :goal, with different contents"),
    ("(:init (q)", "(:init (p k)) (:init (q)", "second :init, with different contents"),
    ("(:objects o", "(:objects k)\n(:objects o", "second :objects, with different contents"),
    ("(= (f) 1)", "(= (f) 1) (= (f) 2)", "second value"),
    ("(= (f) 1)", "(= (ff) 1)", "the function 'ff' is not declared"),
    ("(:init (q)", "(:init (q) (not (q))", "both true and false"),
    ("(:init (q)", "(:init (at 1 (q)) (at 1 (not (q))) (q)", "both true and false at 1"),
    ("(:init (q)", "(:init (at 1 (= (f) 1)) (at 1 (= (f) 2)) (q)", "second value at 1"),
    ("(:init (q)", "(:init) (q)", "no section 'q'"),
    ("(p o)))", "(p o))) (define (problem y))", "text after the end"),
]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(("old", "new", "words"), OPEN_DOMAINS)
def test_domains_of_two_readings_are_refused(old: str, new: str, words: str, lenient: bool) -> None:
    text = DOMAIN.replace(old, new)
    assert text != DOMAIN
    with pytest.raises(PddlError, match=r"^<domain>:") as caught:
        parse_domain(text, lenient=lenient)
    assert words in str(caught.value) or not lenient


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(("old", "new", "words"), OPEN_PROBLEMS)
def test_problems_of_two_readings_are_refused(
    old: str, new: str, words: str, lenient: bool
) -> None:
    text = PROBLEM.replace(old, new)
    assert text != PROBLEM
    with pytest.raises(PddlError, match=r"^<problem>:") as caught:
        parse_problem(text, parse_domain(DOMAIN), lenient=lenient)
    assert words in str(caught.value) or not lenient


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "plan",
    [
        "(a o)\nThat is all.",
        "(a o)\na k",
        "(a o)) a k",
        "(a o) [1] [2]",
        "[1] (a o)",
        "(a o\0k)",
        "(a o)" + ")" * 101,
        "(a ;)\n(a o)",
    ],
)
def test_plans_of_two_readings_are_refused(plan: str, lenient: bool) -> None:
    with pytest.raises(PddlError, match=r"^<plan>:"):
        read_plan(plan, lenient=lenient)


def test_what_follows_a_surplus_parenthesis_is_judged() -> None:
    domain = parse_domain(DOMAIN)
    validator = Validator(domain, parse_problem(PROBLEM, domain))
    assert validator.check_file("(a k))\n(a o)", lenient=True).valid
    report = validator.check_file("(a o))\n(fly x)", lenient=True)
    assert report.failure is not None
    assert report.failure.step == 2
    early = PROBLEM.replace("(= (f) 1))", "(= (f) 1)))")
    assert not validate(DOMAIN, early, "", lenient=True).valid
    report = validate(DOMAIN, early, "(a o)", lenient=True)
    assert report.valid
    assert set(report.notes) == {
        "<problem>:4:1: the section '(:goal' comes after the end of the problem",
        "<problem>:4:14: one ')' too many",
    }


def at(found: Diagnostic) -> str:
    return f"{found.location.line}:{found.location.column}"


def checked(found: list[Diagnostic], place: str, words: str) -> None:
    assert found
    assert at(found[0]) == place
    assert words in found[0].message


@pytest.mark.parametrize(("old", "new", "place", "words"), DOMAINS)
def test_domains(old: str, new: str, place: str, words: str) -> None:
    text = DOMAIN.replace(old, new)
    assert text != DOMAIN
    with pytest.raises(PddlError, match=f"^<domain>:{place}: ") as caught:
        parse_domain(text)
    assert words in str(caught.value)
    found: list[Diagnostic] = []
    domain = parse_domain(text, lenient=True, warnings=found)
    assert place in {at(one) for one in found if words in one.message}
    assert Validator(domain, parse_problem(PROBLEM, domain)).check_file("(a o)").valid


@pytest.mark.parametrize(("old", "new", "place", "words"), PROBLEMS)
def test_problems(old: str, new: str, place: str, words: str) -> None:
    domain = parse_domain(DOMAIN)
    text = PROBLEM.replace(old, new)
    assert text != PROBLEM
    with pytest.raises(PddlError, match=f"^<problem>:{place}: ") as caught:
        parse_problem(text, domain)
    assert words in str(caught.value)
    found: list[Diagnostic] = []
    problem = parse_problem(text, domain, lenient=True, warnings=found)
    assert place in {at(one) for one in found if words in one.message}
    assert Validator(domain, problem).check_file("(a o)").valid


@pytest.mark.parametrize(
    ("plan", "place", "words"),
    [
        ("(a o))", "1:6", "one ')' too many"),
        ("(a o)\n\0", "2:1", "NUL"),
        ("1: (a o)\n(a k)", "2:1", "has no number"),
    ],
)
def test_plans(plan: str, place: str, words: str) -> None:
    with pytest.raises(PddlError, match=f"^<plan>:{place}: "):
        read_plan(plan)
    found = read_plan(plan, lenient=True)
    checked(list(found.warnings), place, words)
    domain = parse_domain(DOMAIN)
    report = Validator(domain, parse_problem(PROBLEM, domain)).check_file(plan, lenient=True)
    assert report.valid
    assert any(words in note for note in report.notes)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        (":typing", ":typign", "2:16", "not a requirement"),
        (":typing", "typing", "2:16", "not a requirement"),
        (":precondition (q)", ":precondition (> f 0)", "7:50", "without parentheses"),
        (":effect (p ?x)", ":effect (and (p ?x) (increase f 1))", "7:81", "without parentheses"),
        ("u - t t)", "u - t t t)", "3:17", "declared twice"),
        ("(:constants k", "(:constants k k", "4:15", "declared twice"),
        ("(:types u - t t)", "(:types u -t t)", "3:11", "without a space"),
        ("(:types u - t t)", "(:types u 2t 3t - t t)", "3:11", "'2t' begins with a digit"),
        ("(domain d)", "(domain 15-d)", "1:17", "'15-d' begins with a digit"),
        ("(p ?x - t) (q)", "(p ?1 - t) (q) (2nd)", "5:17", "'?1' begins with a digit"),
    ],
)
def test_slips_of_domains_are_warnings_in_both_readings(
    old: str, new: str, place: str, words: str, lenient: bool
) -> None:
    found: list[Diagnostic] = []
    domain = parse_domain(DOMAIN.replace(old, new), lenient=lenient, warnings=found)
    checked(found, place, words)
    assert len(found) == 1
    assert Validator(domain, parse_problem(PROBLEM, domain)).check_file("(a o)").valid


@pytest.mark.parametrize("lenient", [False, True])
def test_another_domain_is_a_warning_in_both_readings(lenient: bool) -> None:
    domain = parse_domain(DOMAIN)
    found: list[Diagnostic] = []
    text = PROBLEM.replace("(:domain d)", "(:domain e)")
    problem = parse_problem(text, domain, lenient=lenient, warnings=found)
    checked(found, "1:30", "the problem is for the domain 'e'")
    assert problem.domain_name == "e"


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("o - t", "o - u o - t", "2:17", "declared twice"),
        ("o - t", "o k - t", "2:13", "already a constant"),
        ("(= (f) 1)", "(= (f) 1) (= (rate o) 2)", "3:26", "'rate' is not declared"),
        ("(= (f) 1)", "(= (f) 1) (= (ff) 2)", "3:26", "'ff' is not declared"),
        (
            "(:goal (p o))",
            "(:goal (p o)) (:metric minimize (f)) (:metric maximize (f))",
            "4:39",
            "second :metric",
        ),
    ],
)
def test_slips_of_problems_are_warnings_in_both_readings(
    old: str, new: str, place: str, words: str, lenient: bool
) -> None:
    domain = parse_domain(DOMAIN)
    found: list[Diagnostic] = []
    problem = parse_problem(PROBLEM.replace(old, new), domain, lenient=lenient, warnings=found)
    checked(found, place, words)
    assert Validator(domain, problem).check_file("(a o)").valid


def test_what_is_declared_again_has_all_its_types() -> None:
    domain = parse_domain(DOMAIN.replace("u - t t)", "v - object u - t w t u - v)"))
    assert domain.types["u"] == ("t", "v")
    text = PROBLEM.replace("o - t", "o - u o - w k - w")
    problem = parse_problem(text, domain)
    assert [(o.name, o.types) for o in problem.objects] == [("o", ("u", "w")), ("k", ("t", "w"))]


def test_without_slips_there_are_no_warnings() -> None:
    found: list[Diagnostic] = []
    domain = parse_domain(DOMAIN, lenient=True, warnings=found)
    parse_problem(PROBLEM, domain, lenient=True, warnings=found)
    assert not found
    assert not read_plan("(a o)", lenient=True).warnings


GRID = """(define (domain grid) (:constants 2 - object)
(:predicates (at ?t ?p)) (:functions (1) (cost ?p))
(:action 1-slide :parameters (?t ?a ?b)
  :precondition (and (at ?t ?a) (not (= ?t 2)) (= (1) 1) (> 2 1) (>= (cost ?a) 1))
  :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (cost ?b) 2))))
"""
GRID_PROBLEM = """(define (problem 3x3) (:domain grid) (:objects 1 1-1 3-3)
(:init (at 1 1-1) (at 2 1-1) (= (1) 1) (= (cost 1-1) 1) (= (cost 3-3) 1))
(:goal (and (at 1 3-3) (not (= 1 2)) (= 1 1) (= (cost 3-3) 3))))
"""


def test_objects_that_look_like_numbers_are_told_from_numbers_by_their_place() -> None:
    found: list[Diagnostic] = []
    domain = parse_domain(GRID, warnings=found)
    problem = parse_problem(GRID_PROBLEM, domain, warnings=found)
    assert [(at(one), "begins with a digit" in one.message) for one in found] == [
        ("1:35", True),
        ("1:18", True),
    ]
    validator = Validator(domain, problem)
    assert validator.check_file("(1-slide 1 1-1 3-3)").valid
    assert validator.check_file("0: (1-slide 1 1-1 3-3)").valid
    report = validator.check_file("(1-slide 2 1-1 3-3)")
    assert "2 and 2 must be two different objects" in report.explain()
    assert parse_domain(print_domain(domain)) == domain
    assert parse_problem(print_problem(problem), domain) == problem
