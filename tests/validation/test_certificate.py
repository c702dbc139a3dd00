"""The checker accepts the validator's certificates, and no damaged ones."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from hvr.pddl import checker
from hvr.pddl.checker import UnprovenError, check
from hvr.validation import Outcome
from hvr.validation.certificate import NoCertificateError
from tests.pddl.pddl_strategies import Parts, World, law, planned, scheduled
from tests.validation.certificate_damage import certified, damaged, files_of
from tests.validation.validation_task import DOMAIN, PLANS, PROBLEM

CHECKER = Path(checker.__file__).read_text(encoding="utf-8")
UNCHECKED = "several times"
"""The checker's message about conditional effects that span two times."""


def test_the_checker_shares_only_the_readers_of_texts() -> None:
    allowed = {"hvr.errors", "hvr.pddl.hierarchy.words", "hvr.pddl", "hvr.pddl.words"}
    lifted = {"TRUE", "DurativeActionSchema", "TypedName"}
    for node in ast.walk(ast.parse(CHECKER)):
        if isinstance(node, ast.Import):
            assert not any(one.name.startswith("hvr") for one in node.names)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hvr"):
            assert node.module in allowed
            assert node.module != "hvr.pddl" or {one.name for one in node.names} <= lifted


def test_the_checker_loads_nothing_of_the_validators() -> None:
    told = "import sys, hvr.pddl.checker; print(*[n for n in sys.modules if n.startswith('hvr.')])"
    loaded = subprocess.run([sys.executable, "-c", told], check=True, stdout=subprocess.PIPE)
    assert "hvr.pddl.hierarchy.words" in loaded.stdout.decode().split()
    assert not {"hvr.validation", "hvr.validation.hierarchical.verifier"} & {
        *loaded.stdout.decode().split()
    }


def test_the_checker_is_short_enough_to_be_read() -> None:
    assert len(CHECKER.splitlines()) <= 300


def judge(world: World, plan: object, seed: int) -> str:
    """Check a plan's certificate, intact and damaged; return the verdict."""
    files = files_of(world.domain, world.problem, plan)
    try:
        certificate, report = certified(files)
    except NoCertificateError:
        return "none"
    try:
        assert check(certificate, files) == report.outcome.value
    except UnprovenError as error:
        assert UNCHECKED in str(error)
        return "none"
    for kind, wrong in damaged(certificate, Random(seed)):
        with pytest.raises(UnprovenError):
            pytest.fail(f"{kind}: {check(wrong, files)}")
    return report.outcome.value


@pytest.mark.slow
@given(planned(Parts(numbers=True, derived=True)))
@law(44)
def test_sequences(world: World) -> None:
    judge(world, world.plan, 1)


@pytest.mark.slow
@given(scheduled(Parts(numbers=True, derived=True, durative=True)))
@law(44)
def test_plans_in_time(world: World) -> None:
    judge(world, world.timed, 2)


@pytest.mark.slow
def test_most_random_plans_have_a_certificate_of_either_verdict() -> None:
    found: Counter[str] = Counter()

    @given(scheduled(Parts(numbers=True, derived=True, durative=True)))
    @law(24)
    def count(world: World) -> None:
        found[judge(world, world.timed, 3)] += 1

    count()
    assert min(found["valid"], found["invalid"]) >= 3


@pytest.mark.parametrize("name", ["good.plan", "early.plan", "ajar.plan"])
def test_a_certificate_names_the_fault_and_the_files(name: str) -> None:
    files = (DOMAIN.encode(), PROBLEM.encode(), PLANS[name].encode())
    certificate, report = certified(files)
    told = check(certificate, files)
    assert told == report.outcome.value
    if name == "early.plan":
        fault = {"kind": "condition", "step": "1", "at": "start", "falsifier": {"(open)": False}}
        assert certificate["fault"] == fault
    for place in range(3):
        other = [*files]
        other[place] += b"; another file"
        with pytest.raises(UnprovenError, match="different files"):
            check(certificate, other)


@pytest.mark.parametrize("certificate", [None, [], {}, {"format": "hvr certificate 2"}, 7, "x"])
def test_what_is_no_certificate_is_refused(certificate: object) -> None:
    with pytest.raises(UnprovenError):
        check(certificate, (b"", b"", b""))


TRIP = """(define (domain trip) (:requirements :durative-actions :fluents :timed-initial-literals)
  (:predicates (open) (lit) (there)) (:functions (fuel) (far))
  (:durative-action go :duration (= ?duration (far))
    :condition (and (at start (>= (fuel) 2)) (over all (lit)))
    :effect (and (at start (decrease (fuel) 2)) (at end (there))))
  (:action pass :precondition (not (open)))
  (:durative-action shine :duration (<= ?duration 9)
    :effect (and (at start (lit)) (at end (not (lit))))))"""
START = "(define (problem p) (:domain trip) (:init (= (fuel) 3) (= (far) 5) (at 4 (open))) "


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ("0: (shine) [7]\n1: (go) [5]", None),
        ("0: (shine) [4]\n1: (go) [5]",
         {"kind": "invariant", "step": "2", "falsifier": {"(lit)": False}}),
        ("0: (shine) [7]\n1: (go) [6]",
         {"kind": "condition", "step": "2", "at": "start", "falsifier": {"(far)": "5"}}),
        ("0: (shine) [9]\n1: (go) [5]\n2: (go) [5]",
         {"kind": "condition", "step": "3", "at": "start", "falsifier": {"(fuel)": "1"}}),
        ("0: (shine) [3]\n3: (shine) [3]",
         {"kind": "interference", "step": "1", "with": "2", "over": "(lit)", "falsifier": {}}),
        ("4: (pass)",
         {"kind": "interference", "step": "1", "with": "literal 1", "over": "(open)",
          "falsifier": {}}),
        ("0: (shine) [3]\n3: (walk) [3]", {"kind": "step", "step": "2", "falsifier": {}}),
    ],
)  # fmt: skip
def test_faults_in_time(plan: str, fault: object) -> None:
    files = (TRIP.encode(), f"{START} (:goal (and (there) (open))))".encode(), plan.encode())
    certificate, report = certified(files)
    assert certificate["fault"] == fault
    assert check(certificate, files) == report.outcome.value


def test_timed_literals_that_contradict_each_other_are_named() -> None:
    problem = START.replace("(at 4 (open))", "(at 4 (open)) (at 3.9995 (not (open)))")
    files = (TRIP.encode(), f"{problem} (:goal (and)))".encode(), b"0: (shine) [3]")
    certificate, report = certified(files)
    fault = {"kind": "interference", "step": "literal 2", "with": "literal 1", "over": "(open)"}
    assert certificate["fault"] == {**fault, "falsifier": {}}
    assert check(certificate, files) == report.outcome.value and not report.valid


def test_no_certificate_claims_what_cannot_be_checked() -> None:
    constrained = f"{START} (:goal (and)) (:constraints (always (not (there)))))"
    moving = TRIP.replace("(at end (there))", "(at end (there)) (increase (far) (* #t 1))")
    for domain, problem in ((TRIP, constrained), (moving, f"{START} (:goal (and)))")):
        with pytest.raises(NoCertificateError):
            certified((domain.encode(), problem.encode(), b"0: (shine) [3]"))


def test_a_certificate_is_written_for_a_lenient_reading() -> None:
    files = (DOMAIN.encode(), PROBLEM.encode(), b"(open)\n(fill)\n(close)\n\0")
    certificate, report = certified(files, lenient=True)
    assert report.outcome is Outcome.VALID
    assert check(certificate, files) == "valid"
    with pytest.raises(UnprovenError):
        check(certificate | {"options": certificate["options"] | {"lenient": False}}, files)


CHOICES = """(define (domain choices) (:requirements :adl :fluents)
  (:constants 1 2) (:predicates (p ?x) (q ?x) (done)) (:functions (n))
  (:action a :precondition (and (p 1) (not (exists (?x) (and (p ?x) (q ?x)))))
    :effect (when (not (= (n) 1)) (done)))
  (:action b :precondition (or (q 2) (not (< (n) 3)) (not (p 1))) :effect (done)))"""


@pytest.mark.parametrize(
    ("init", "plan", "falsifier"),
    [
        ("(p 1) (q 2) (= (n) 2)", "(a)", None),
        ("(p 1) (q 2) (= (n) 1)", "(a)", {"(done)": False}),
        ("(p 1) (q 1) (= (n) 2)", "(a)", {"(p 1)": True, "(q 1)": True}),
        ("(p 1) (= (n) 2)", "(b)", {"(q 2)": False, "(n)": "2", "(p 1)": True}),
        ("(p 1)", "(b)", {"(q 2)": False, "(n)": None, "(p 1)": True}),
    ],
)
def test_the_falsifier_is_all_that_one_false_part_mentions(
    init: str, plan: str, falsifier: object
) -> None:
    task = f"(define (problem p) (:domain choices) (:init {init}) (:goal (done)))"
    files = (CHOICES.encode(), task.encode(), plan.encode())
    certificate, report = certified(files)
    assert check(certificate, files) == report.outcome.value
    assert (certificate["fault"] or {"falsifier": None})["falsifier"] == falsifier
    for options in ({"epsilon": "-1"}, {"tolerance": "x"}):
        with pytest.raises(UnprovenError):
            check(certificate | {"options": certificate["options"] | options}, files)
