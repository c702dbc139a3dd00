"""Processes, events and continuous effects: hand-computed examples, and laws."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hvr.pddl import (
    GroundAction,
    parse_domain,
    parse_problem,
    print_domain,
    print_problem,
    read_plan,
)
from hvr.validation import FailureKind, Outcome, ValidationReport, Validator
from hvr.validation.continuous.motion import Motion, _CoupledError
from hvr.validation.timeline import Curve

# Rising and falling levels, a car, a ball, as the tests' bodies define.
HEAD = """
(define (domain d)
  (:requirements :typing :fluents :durative-actions :duration-inequalities :time
    :negative-preconditions :continuous-effects :derived-predicates)
  (:predicates (on) (full) (alarm) (done) (high))
  (:functions (level) (speed) (force) (count) (none))
  (:action start :effect (on))
  (:action stop :effect (not (on)))
  (:action finish :effect (done))
"""
RISING = "(:process rise :precondition (on) :effect (increase (level) (* #t 2)))"
OVERFLOW = (
    "(:event overflow :precondition (and (>= (level) 10) (not (full)))"
    " :effect (and (full) (not (on)) (increase (count) 1)))"
)
ACCELERATING = (
    "(:process move :precondition (on)"
    " :effect (and (increase (level) (* #t (speed))) (increase (speed) (* (force) #t))))"
)


def validator(body: str, goal: str = "(done)", init: str = "", constraints: str = "") -> Validator:
    domain = parse_domain(f"{HEAD}{body})")
    values = "(= (level) 0) (= (speed) 0) (= (force) 0) (= (count) 0)"
    for name in ("level", "speed", "force", "count"):
        if f"(= ({name})" in init:
            values = values.replace(f"(= ({name}) 0)", "")
    problem = parse_problem(
        f"(define (problem p) (:domain d) (:init {values} {init}) (:goal (and {goal}))"
        f" {constraints})",
        domain,
    )
    return Validator(domain, problem)


def check(body: str, plan: str, *more: str, **named: str) -> ValidationReport:
    return validator(body, *more, **named).check(read_plan(plan).steps)


def curve(body: str, plan: str, fluent: str, **named: str) -> Curve:
    curves = validator(body, **named).curves(read_plan(plan).steps)
    return next(c for c in curves if c.fluent == f"({fluent})")


def pieces(found: Curve) -> list[tuple[Fraction, Fraction, list[Fraction]]]:
    return [(p.start, p.end, [Fraction(c) for c in p.coefficients]) for p in found.pieces]


# Examples -----------------------------------------------------------------------------------

VALID = {
    "a tank is filled": (RISING, "1: (start)\n4: (stop)\n9: (finish)", "(= (level) 6)"),
    "a battery overflows at 5": (RISING + OVERFLOW, "0: (start)\n9: (finish)", "(= (level) 10)"),
    "two actions fill and drain": (
        "(:durative-action fill :duration (= ?duration 4) :effect (increase (level) (* #t 3)))"
        "(:durative-action drain :duration (<= ?duration 9) :effect (decrease (level) (* 2 #t)))",
        "0: (fill) [4]\n1: (drain) [2]",
        "(= (level) 8)",
    ),
    "a ball falls for 2 seconds": (
        ACCELERATING
        + "(:event land :precondition (and (<= (level) 0) (on))"
        " :effect (and (not (on)) (assign (count) (speed)) (assign (speed) 0)))",
        "0: (start)\n9: (finish)",
        "(= (count) (- 0 20)) (= (level) 0) (= (speed) 0)",
        "(= (level) 20) (= (force) -10)",
    ),
    "a car drives 25 metres": (
        ACCELERATING
        + "(:action brake :effect (assign (force) (- 0 1)))"
        + "(:event halt :precondition (and (on) (< (force) 0) (<= (speed) 0))"
        " :effect (and (not (on)) (full)))",
        "0: (start)\n5: (brake)\n10.5: (finish)",
        "(= (level) 25) (full)",
        "(= (force) 1)",
    ),
    "a rate is a product of what changes": (
        "(:process move :precondition (on) :effect (and (increase (speed) #t)"
        " (increase (force) (* #t 2)) (increase (level) (* #t (* (speed) (force))))))",
        "0: (start)\n3: (stop)",
        "(= (level) 18)",
    ),
    "what a durative action lets grow moves a process": (
        "(:process move :precondition (on) :effect (increase (level) (* #t (speed))))"
        "(:durative-action push :duration (= ?duration 4) :effect (increase (speed) (* #t 1)))",
        "0: (start)\n1: (push) [4]\n7: (finish)",
        "(= (level) 16)",
    ),
    "a ball bounces at irrational times": (
        ACCELERATING
        + "(:event bounce :precondition (and (<= (level) 0) (< (speed) 0))"
        " :effect (and (assign (speed) (* (speed) -0.5)) (increase (count) 1)))",
        # The ball hits the ground at √2, 2√2, 2.5√2, 2.75√2, 2.875√2, …
        "0: (start)\n4: (finish)",
        "(= (count) 4)",
        "(= (level) 10) (= (force) -10)",
    ),
    "an irrational time leaves what goes on exact": (
        ACCELERATING
        + "(:event pass :precondition (and (>= (level) 1) (not (full))) :effect (full))",
        "0: (start)\n2: (stop)\n3: (finish)",
        "(= (level) 2) (= (speed) 2) (full)",
        "(= (force) 1)",
    ),
    "an event follows from what an action does": (
        "(:event ring :precondition (and (on) (not (alarm))) :effect (alarm))"
        "(:event wake :precondition (and (alarm) (not (full))) :effect (full))",
        "1: (start)\n1.002: (finish)",
        "(full)",
    ),
    "a strict bound is passed just after it is reached": (
        RISING + "(:event e :precondition (and (> (level) 4) (not (full))) :effect (full))",
        "0: (start)\n2: (finish)\n3: (stop)",
        "(full)",
    ),
    "an event at the time of a step comes before it": (
        RISING + OVERFLOW + "(:action use :precondition (full) :effect (high))",
        "0: (start)\n5: (use)",
        "(high)",
    ),
    "an event happens again when its condition does": (
        RISING
        + "(:event flush :precondition (>= (level) 4)"
        " :effect (and (assign (level) 0) (increase (count) 1)))",
        "0: (start)\n9: (finish)",
        "(= (count) 4) (= (level) 2)",
    ),
    "a process raises a level to its bound": (
        "(:process rise :precondition (and (on) (<= (level) 3)) :effect (increase (level) #t))",
        "0: (start)\n9: (finish)",
        "(= (level) 3)",
    ),
    "a process begins when its strict bound is passed": (
        RISING
        + "(:process leak :precondition (> (level) 4) :effect (decrease (level) (* #t 1)))",
        "0: (start)\n6: (finish)",
        "(= (level) 8)",
    ),
    "a process has conditional effects": (
        "(:process rise :precondition (on) :effect (and (increase (count) #t)"
        " (when (>= (count) 2) (increase (level) (* #t 3)))))",
        "0: (start)\n6: (finish)",
        "(= (level) 12)",
    ),
    "an invariant holds on the open interval": (
        "(:durative-action a :duration (= ?duration 4) :condition (and (over all (> (level) 0))"
        " (over all (< (level) 4))) :effect (increase (level) #t))",
        "0: (a) [4]",
        "(= (level) 4)",
    ),
    "the end reads what has grown": (
        "(:durative-action a :duration (= ?duration 4) :condition (at end (>= (level) 8))"
        " :effect (and (increase (level) (* 2 #t)) (at end (assign (count) (level)))))",
        "0: (a) [4]",
        "(= (count) 8)",
    ),
    "an effect goes on under its own condition": (
        "(:durative-action a :duration (= ?duration 4) :effect (and (increase (count) #t)"
        " (when (over all (<= (count) 3)) (increase (level) #t))))",
        "0: (a) [4]",
        "(= (level) 3)",
    ),
    "timed initial values change a rate": (
        "(:process move :precondition (on) :effect (increase (level) (* #t (speed))))",
        "0: (start)\n5: (finish)",
        "(= (level) 13)",
        "(= (speed) 0) (at 1 (= (speed) 2)) (at 4 (= (speed) 7))",
    ),
    "an event of the initial state happens at once": (
        "(:event e :precondition (on) :effect (and (not (on)) (full)))",
        "1: (finish)",
        "(full) (not (on))",
        "(on)",
    ),
    "conditions of numbers are combined": (
        RISING + "(:event e :precondition (and (not (full)) (or (>= (level) 90)"
        " (and (>= (level) 3) (not (> (level) 4))))) :effect (full))",
        "0: (start)\n2: (finish)",
        "(full)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALID)
def test_valid(name: str) -> None:
    body, plan, goal, *init = VALID[name]
    report = check(body, plan, goal, *init)
    assert report.outcome is Outcome.VALID, report.explain()
    # The printed model is parsed back and judged equally.
    task = validator(body, goal, *init).task
    domain = parse_domain(print_domain(task.domain))
    assert domain == task.domain
    problem = parse_problem(print_problem(task.problem), domain)
    assert Validator(domain, problem).check(read_plan(plan).steps) == report


INVALID = {
    "a level is not reached": (
        (RISING, "0: (start)\n4: (finish)", "(>= (level) 9)"), FailureKind.GOAL, None,
    ),
    "nothing goes on after the last step": (
        (RISING + OVERFLOW, "0: (start)\n4.9: (finish)", "(full)"), FailureKind.GOAL, None,
    ),
    "an invariant breaks on the way": (
        ("(:durative-action a :duration (= ?duration 9) :condition (over all (< (level) 3))"
         " :effect (increase (level) #t))", "1: (a) [9]"), FailureKind.INVARIANT, 4,
    ),
    "an invariant touches its strict bound": (
        (ACCELERATING + "(:durative-action a :duration (= ?duration 4)"
         " :condition (over all (> (level) 0)))", "0: (start)\n0.1: (a) [4]\n5: (finish)",
         "(done)", "(= (level) 2) (= (speed) -2) (= (force) 1)"), FailureKind.INVARIANT, 2,
    ),
    "an event breaks an invariant": (
        (RISING + OVERFLOW + "(:durative-action a :duration (= ?duration 9)"
         " :condition (over all (not (full))))", "0: (start)\n1: (a) [9]"),
        FailureKind.INVARIANT, 5,
    ),
    "a step comes too late for the event": (
        (RISING + OVERFLOW + "(:action use :precondition (not (full)) :effect (done))",
         "0: (start)\n5: (use)"), FailureKind.PRECONDITION, 5,
    ),
    "an event does not end": (
        (RISING + "(:event e :precondition (>= (level) 4) :effect (alarm))",
         "0: (start)\n3: (finish)"), FailureKind.EVENT, 2,
    ),
    "two events bring each other about": (
        ("(:event a :precondition (on) :effect (and (not (on)) (full)))"
         "(:event b :precondition (full) :effect (and (not (full)) (on)))",
         "1: (start)\n2: (finish)"), FailureKind.EVENT, 1,
    ),
    "two events interfere": (
        (RISING + "(:event a :precondition (and (on) (>= (level) 4)) :effect (not (on)))"
         "(:event b :precondition (and (on) (>= (level) 4)) :effect (not (on)))",
         "0: (start)\n3: (finish)"), FailureKind.INTERFERENCE, 2,
    ),
    "an event divides by zero": (
        (RISING + "(:event a :precondition (and (on) (>= (level) 4))"
         " :effect (and (not (on)) (assign (count) (/ 1 (speed)))))",
         "0: (start)\n3: (finish)"), FailureKind.EVENT, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name: str) -> None:
    arguments, kind, time = INVALID[name]
    report = check(*arguments)
    assert report.failure is not None
    assert (report.failure.kind, report.failure.time) == (kind, time)
    json.dumps(report.to_json())


@pytest.mark.parametrize("name", [*VALID, *INVALID])
def test_integration_never_contradicts_the_exact_solution(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def integrate(motion: Motion, index: int) -> object:
        # Force numerical integration for every number with a rate.
        if index in motion._rates:
            raise _CoupledError
        value = motion._numbers[index] if index < len(motion._numbers) else None
        return None if value is None else motion._constant(value)

    monkeypatch.setattr(Motion, "_solve", integrate)
    monkeypatch.setattr("hvr.validation.continuous.integration._closed", lambda *_: None)
    if name in VALID:
        body, plan, goal, *init = VALID[name]
        outcome, report = Outcome.VALID, check(body, plan, goal, *init)
    else:
        outcome, report = Outcome.INVALID, check(*INVALID[name][0])
    # Enclosures cannot decide exact equality.
    assert report.outcome in (outcome, Outcome.UNKNOWN)


UNKNOWN = {
    "a number that grows without bound": (
        "(:process grow :precondition (on) :effect (increase (level) (* #t (* (level) (level)))))",
        "(level) cannot be enclosed beyond",
    ),
    "a divisor that reaches 0": (
        RISING + "(:event e :precondition (and (not (full)) (>= (/ 1 (- (level) 4)) 5))"
        " :effect (full))",
        "a divisor cannot be distinguished from 0",
    ),
    "a quotient that has no value at the beginning": (
        RISING + "(:event e :precondition (and (on) (>= (/ 1 (- (level) 1)) 5)) :effect (full))",
        "a division by zero",
    ),
    "a comparison that is not decided": (
        "(:process drag :precondition (on)"
        " :effect (decrease (level) (* #t (* (level) (level)))))"
        "(:event e :precondition (and (on) (<= (level) 0.1)) :effect (not (on)))",
        "whether (level) <= 0.1 holds",
    ),
    "sliding": (
        "(:process up :precondition (and (on) (<= (level) 3)) :effect (increase (level) #t))"
        "(:process down :precondition (on) :effect (decrease (level) (/ #t 2)))",
        "sliding motion is not supported",
    ),
    "a ball that comes to rest": (
        ACCELERATING + "(:event bounce :precondition (and (<= (level) 0) (< (speed) 0)) :effect"
        " (and (assign (speed) (* (speed) -0.5))))",
        "events and processes alternated more than",
    ),
    "a rule over what moves": (
        RISING + "(:derived (high) (>= (level) 4))",
        "the derived predicate 'high' depends on (>= (level) 4)",
    ),
    "a condition at the start": (
        "(:durative-action a :duration (= ?duration 4)"
        " :effect (when (at start (on)) (increase (level) #t)))",
        "has a condition at the start or the end",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_by_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hvr.validation.continuous.hybrid.MOST_MOMENTS", 20)
    body, words = UNKNOWN[name]
    plan = "0: (a) [4]" if "(:durative-action a" in body else "0: (start)\n9: (finish)"
    report = check(body, plan, "(done)", "(= (force) -10) (= (level) 1)")
    assert report.outcome is Outcome.UNKNOWN
    assert words in report.reason


def test_a_number_without_a_value() -> None:
    body = "(:process p :precondition (on) :effect (increase (none) #t))"
    report = check(body, "0: (start)\n2: (finish)")
    assert report.outcome is not Outcome.VALID
    assert "(none) has no value" in report.explain()


def test_every_failure_is_found_and_the_state_told() -> None:
    body = (
        RISING + "(:durative-action a :duration (= ?duration 9) :condition (over all (< (level) 3))"
        " :effect (increase (count) #t))"
    )
    judge = validator(body)
    steps = read_plan("0: (start)\n1: (a) [9]\n4: (finish)").steps
    assert judge.state_after(steps, 1).numbers() != {}
    report = judge.check(steps)
    assert report.failure is not None
    (literal,) = report.failure.literals
    assert str(literal) == "(< (level) 3)"
    assert str(literal.changed_by) == "(rise) at 1.5"
    assert literal.numbers[0][1] is not None
    assert literal.numbers[0][1] >= 3


def test_happenings_name_events() -> None:
    judge = validator(RISING + OVERFLOW)
    steps = read_plan("0: (start)\n9: (finish)").steps
    told = [(number, time, str(action), [*map(str, added)], [*map(str, deleted)])
            for number, time, action, added, deleted in judge.trace(steps)]  # fmt: skip
    assert told == [
        (1, 0, "(start)", ["(on)"], []),
        (None, 5, "(overflow)", ["(full)"], ["(on)"]),
        (2, 9, "(finish)", ["(done)"], []),
    ]


def test_the_state_after_a_step_has_what_it_brings_about() -> None:
    judge = validator("(:event e :precondition (and (on) (not (alarm))) :effect (alarm))")
    state = judge.state_after(read_plan("1: (start)\n2: (stop)").steps, 1)
    assert {str(atom) for atom in state.atoms()} == {"(on)", "(alarm)"}


def test_a_single_step_cannot_be_judged() -> None:
    report = validator(RISING).apply(GroundAction("start"))
    assert not report.ok
    assert report.failure is not None
    assert report.failure.kind is FailureKind.START_TIME


@pytest.mark.parametrize(
    ("constraint", "time"),
    [
        ("(always (< (level) 5))", Fraction(5, 2)),
        ("(always (<= (level) 8))", None),
        ("(within 2.5 (>= (level) 5))", None),
        ("(within 2.4 (>= (level) 5))", 4),
        ("(sometime (and (> (level) 3) (< (level) 4)))", None),
        # That is, after 2.5; the report names a time at which it holds.
        ("(at-most-once (or (< (level) 1) (> (level) 5)))", Fraction("2.501")),
        ("(hold-during 1 2 (< (level) 4))", None),
    ],
)
def test_constraints_see_what_lies_between(constraint: str, time: Fraction | None) -> None:
    constraints = f"(:constraints {constraint})"
    report = check(RISING, "0: (start)\n4: (finish)", "(done)", constraints=constraints)
    assert (report.failure and report.failure.time) == time, report.explain()


@pytest.mark.slow
@given(
    st.integers(-3, 3),
    st.integers(-3, 3),
    st.integers(-2, 2),
    st.sampled_from(["<", "<=", ">", ">=", "="]),
    st.integers(-5, 5),
    st.booleans(),
)
def test_a_failure_reports_the_number_of_its_time(
    level: int, speed: int, force: int, symbol: str, bound: int, is_constraint: bool
) -> None:
    """At the reported time the number has the reported value and violates the condition."""
    condition = f"({symbol} (level) {bound})"
    action = (
        "(:durative-action a :duration (= ?duration 4)"
        f" :condition (over all {'()' if is_constraint else condition}))"
    )
    init = f"(on) (= (level) {level}) (= (speed) {speed}) (= (force) {force})"
    constraints = f"(:constraints (always {condition}))" if is_constraint else ""
    report = check(ACCELERATING + action, "0: (a) [4]", "(not (done))", init, constraints)
    if report.failure is None:
        return
    time = report.failure.time
    assert time is not None
    (literal,) = report.failure.literals
    ((_, value),) = literal.numbers
    assert value is not None
    expected = level + speed * time + Fraction(force, 2) * time**2
    # Irrational times are rounded.
    assert abs(value - expected) < Fraction(1, 10**9)
    holds = {"<": value < bound, "<=": value <= bound, "=": value == bound,
             ">": value > bound, ">=": value >= bound}[symbol]  # fmt: skip
    assert not holds or abs(value - bound) < Fraction(1, 10**9)


def test_an_invariant_that_breaks_just_after_a_time_names_both() -> None:
    body = (
        "(:durative-action a :duration (= ?duration 9) :condition (over all (<= (level) 3))"
        " :effect (increase (level) #t))"
    )
    failure = check(body, "1: (a) [9]", "()").failure
    assert failure is not None
    assert failure.time == Fraction("4.001")
    assert "cannot continue after 4:" in failure.message
    (literal,) = failure.literals
    assert literal.numbers[0][1] == Fraction("3.001")
    assert literal.changed_by is not None and literal.changed_by.time == Fraction("4.001")


def test_time_goes_by_until_a_time_that_is_asked_for() -> None:
    judge = validator(RISING + OVERFLOW, "(full)")
    steps = read_plan("0: (start)").steps
    later = Validator(judge.task, until=Fraction(5))
    assert not judge.check(steps).valid
    assert later.check(steps).valid
    assert later.check(steps).cost == judge.check(steps).cost
    assert not Validator(judge.task, until=Fraction(4)).check(steps).valid
    assert [time for _, time, *_ in later.trace(steps)] == [0, 5]
    assert Validator(judge.task, until=Fraction(5)).check([]).failure is not None


# Values over time ---------------------------------------------------------------------------


def test_curves_have_exact_pieces() -> None:
    found = curve(RISING + OVERFLOW, "1: (start)\n9: (finish)", "level")
    assert pieces(found) == [(0, 1, []), (1, 6, [0, 2]), (6, 9, [10])]
    assert found.pieces[1].at(Fraction(7, 2)) == 5
    assert [str(piece) for piece in found.pieces] == [
        "0 to 1: 0",
        "1 to 6: from 0 to 10, 2 t",
        "6 to 9: 10",
    ]
    assert found.to_json()["pieces"][1] == {
        "from": 1, "to": 6, "first": 0, "last": 10, "coefficients": [0, 2],
    }  # fmt: skip


def test_a_parabola_is_told_from_its_beginning_on() -> None:
    found = curve(ACCELERATING, "1: (start)\n3: (stop)", "level", init="(= (force) -3)")
    assert str(found.pieces[1]) == "1 to 3: from 0 to -6, -1.5 t^2"


# Laws ---------------------------------------------------------------------------------------

rate = st.integers(1, 4)


@pytest.mark.slow
@settings(max_examples=25)
@given(rate, rate, rate, st.integers(1, 9), st.integers(0, 5), st.integers(1, 5))
def test_straight_lines_are_those_of_small_steps(
    fill: int, leak: int, boost: int, bound: int, begin: int, length: int
) -> None:
    body = (
        f"(:process clock :effect (increase (count) #t))"
        f"(:process fill :precondition (on) :effect (increase (level) (* #t {fill})))"
        f"(:process leak :precondition (> (level) {bound})"
        f" :effect (decrease (level) (* #t {leak})))"
        f"(:process boost :precondition (and (>= (count) {begin}) (< (count) {begin + length}))"
        f" :effect (increase (level) (* #t {boost})))"
    )
    judge = validator(body)
    plan = read_plan("0: (start)\n7: (stop)\n12: (finish)").steps
    assume(judge.check(plan).outcome is Outcome.VALID)  # otherwise it would slide along the bound
    exact = judge.state_after(plan, 3).numbers()
    found = {str(term): float(value) for term, value in exact.items()}
    step, level = 1 / 128, 0.0
    for number in range(12 * 128):
        time = number * step
        change = fill * (time < 7) + boost * (begin <= time < begin + length)
        level += step * (change - leak * (level > bound))
    assert found["(count)"] == 12
    assert found["(level)"] == pytest.approx(level, abs=0.5)


@settings(max_examples=25)
@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(-3, 3), st.integers(1, 8))
def test_a_throw_is_where_the_formula_says(place: int, speed: int, force: int, tenths: int) -> None:
    time = Fraction(tenths, 4)
    judge = validator(
        ACCELERATING, init=f"(= (level) {place}) (= (speed) {speed}) (= (force) {force}) (on)"
    )
    steps = read_plan(f"{float(time)}: (finish)").steps
    values = {str(t): v for t, v in judge.state_after(steps, 1).numbers().items()}
    assert values["(level)"] == place + speed * time + force * time * time / 2
    assert values["(speed)"] == speed + force * time


@pytest.mark.parametrize(("rate", "beyond"), [("2", False), ("(speed)", False), ("(level)", True)])
def test_only_other_rates_load_functions_beyond_polynomials(rate: str, beyond: bool) -> None:
    rising = RISING.replace("2", rate)
    code = f"""
import sys
from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import Validator
domain = parse_domain({HEAD + rising + ")"!r})
init = "(= (level) 1) (= (speed) 1) (on)"
problem = parse_problem(f"(define (problem p) (:domain d) (:init {{init}}) (:goal (done)))", domain)
assert not any(name.startswith("hvr.validation.continuous") for name in sys.modules)
assert Validator(domain, problem).check(read_plan("1: (finish)").steps).valid
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {name.rpartition(".")[2] for name in done.stdout.split() if ".continuous." in name}
    assert "polynomials" in names
    others = names & {"bounds", "flows", "formulas", "functions", "symbols", "systems", "taylor"}
    assert bool(others) == beyond
