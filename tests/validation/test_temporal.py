"""Temporal plans: invariants, timed literals, durations, simultaneity."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.pddl import Domain, Problem, parse_domain, parse_problem, read_plan
from hvr.validation import FailureKind, OnFailure, ValidationReport, Validator

Found = tuple[FailureKind, int | None, Fraction | None] | None

# A light that goes out by itself at 5, and durative actions.
DOMAIN = """
(define (domain night) (:requirements :durative-actions :timed-initial-literals :fluents)
  (:types thing) (:predicates (light) (done ?t - thing) (busy ?t - thing) (free ?t - thing))
  (:functions (count) (need ?t - thing) (total-cost))
  (:durative-action work :parameters (?t - thing) :duration (= ?duration (need ?t))
    :condition (over all (light)) :effect (at end (done ?t)))
  (:durative-action use :parameters (?t - thing) :duration (and (>= ?duration 1) (<= ?duration 4))
    :condition (and (at start (free ?t)) (at end (busy ?t)))
    :effect (and (at start (not (free ?t))) (at start (busy ?t))
      (at end (free ?t)) (at end (not (busy ?t))) (at end (increase (count) ?duration))))
  (:durative-action test :parameters (?t - thing) :duration (= ?duration 2)
    :effect (and (when (at start (light)) (at end (done ?t)))
      (when (over all (busy ?t)) (at end (increase (count) 10)))
      (when (and (at start (free ?t)) (at end (done ?t))) (at end (increase (count) 100)))))
  (:action on :parameters () :effect (light))
  (:action off :parameters () :effect (not (light)))
  (:action look :parameters () :precondition (light) :effect (increase (total-cost) 1))
  (:action add :parameters () :effect (increase (count) 1))
  (:action twice :parameters () :effect (scale-up (count) 2))
  (:action mark :parameters (?t - thing) :effect (done ?t))
  (:action unmark :parameters (?t - thing) :effect (not (done ?t))))
"""


def task(goal: str = "()", init: str = "", more: str = "") -> tuple[Domain, Problem]:
    domain = parse_domain(DOMAIN)
    text = (
        "(define (problem p) (:domain night) (:objects a b - thing)"
        " (:init (light) (free a) (free b)"
        f" (= (count) 0) (= (need a) 2) (= (need b) 0.3) {init}) (:goal {goal}) {more})"
    )
    return domain, parse_problem(text, domain)


def check(
    plan: str,
    goal: str = "()",
    init: str = "(at 5 (not (light)))",
    more: str = "",
    **options: Fraction,
) -> ValidationReport:
    return Validator(*task(goal, init, more), **options).check(read_plan(plan).steps)


def failure(report: ValidationReport) -> Found:
    if report.failure is None:
        assert report.valid
        return None
    return report.failure.kind, report.failure.step, report.failure.time


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("0: (work a) [2]", None),
        # The invariant is over the open interval: it may be made false exactly at the end.
        ("3: (work a) [2]", None),
        ("3.5: (work a) [2]", (FailureKind.INVARIANT, 1, 5)),
        # … and need not be true at the start, only after it.
        ("6: (work a) [2]\n6: (on)", None),
        ("6: (work a) [2]", (FailureKind.INVARIANT, 1, 6)),
        ("5: (work a) [2]", (FailureKind.INVARIANT, 1, 5)),
        # An immediate repair does not help.
        ("0: (work a) [2]\n1: (off)\n1.002: (on)", (FailureKind.INVARIANT, 1, 1)),
        ("0: (work a) [2]\n2: (off)", None),
        ("0: (work a) [2]\n1.9995: (off)", None),
    ],
)
def test_invariants(plan: str, expected: Found) -> None:
    assert failure(check(plan)) == expected


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("4: (look)", None),
        ("6: (look)", (FailureKind.PRECONDITION, 1, 6)),
        # A timed literal is a happening: a step that reads it cannot be simultaneous.
        ("5: (look)", (FailureKind.INTERFERENCE, 1, 5)),
        ("4.9995: (look)", (FailureKind.INTERFERENCE, 1, Fraction("4.9995"))),
        ("4.998: (look)", None),
        ("5: (off)", None),
        ("5: (on)", (FailureKind.INTERFERENCE, 1, 5)),
    ],
)
def test_timed_literals_and_steps_at_the_same_time(plan: str, expected: Found) -> None:
    assert failure(check(plan)) == expected


def test_timed_literals_within_epsilon_contradict_each_other() -> None:
    init = "(at 2 (not (light))) (at 2.0005 (light))"
    report = check("3: (look)", init=init)
    assert failure(report) == (FailureKind.INTERFERENCE, None, 2)
    assert "at 2 and 2.0005" in report.explain()
    assert check("3: (look)", init=init, epsilon=Fraction("0.0001")).valid
    # A literal may be listed twice.
    assert check("3: (look)", init="(at 2 (light)) (at 2.0005 (light)) (at 2 (light))").valid
    twice = "(at 2 (= (count) 3)) (at 2 (= (count) 3))"
    assert check("3: (look)", "(= (count) 3)", init=twice).valid


def test_timed_literals_after_the_last_step_count_for_the_goal() -> None:
    assert failure(check("1: (look)", "(not (light))")) is None
    assert failure(check("1: (look)", "(light)")) == (FailureKind.GOAL, None, None)
    assert failure(check("", "(not (light))")) is None
    numbers = "(at 3 (= (count) 7)) (at 3 (done b))"
    assert failure(check("", "(and (= (count) 7) (done b))", numbers)) is None


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("0: (use a) [1]\n0: (use b) [4]", None),
        ("0: (use a) [0.98]", (FailureKind.DURATION, 1, 0)),
        ("0: (use a) [0.99]", None),  # within the tolerance of a hundredth
        ("0: (use a) [4.01]", None),
        ("0: (use a) [4.0101]", (FailureKind.DURATION, 1, 0)),
        ("0: (work b) [0.3]", None),
        ("0: (work a) [2.02]", (FailureKind.DURATION, 1, 0)),
        ("0: (use a)", (FailureKind.DURATION, 1, 0)),
        ("-1: (use a) [1]", (FailureKind.START_TIME, 1, -1)),
    ],
)
def test_durations_and_times(plan: str, expected: Found) -> None:
    assert failure(check(plan)) == expected


def test_the_tolerance_can_be_chosen() -> None:
    assert check("0: (work a) [2.4]", tolerance=Fraction(1, 2)).valid
    assert not check("0: (work a) [2.005]", tolerance=Fraction(1, 1000)).valid


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        # The same action twice at once: the second cannot start before the first has ended.
        ("0: (use a) [2]\n1: (use a) [2]", (FailureKind.PRECONDITION, 2, 1)),
        ("0: (use a) [2]\n2: (use a) [2]", (FailureKind.PRECONDITION, 2, 2)),
        ("0: (use a) [2]\n2.002: (use a) [2]", None),
        ("0: (use a) [2]\n0: (use a) [2]", (FailureKind.INTERFERENCE, 2, 0)),
        # Two increases are compatible, but not with a doubling.
        ("1: (add)\n1: (add)", None),
        ("1: (add)\n1: (twice)", (FailureKind.INTERFERENCE, 2, 1)),
        ("0: (use a) [1]\n1: (add)", None),
        ("0: (use a) [1]\n1: (twice)", (FailureKind.INTERFERENCE, 2, 1)),
        ("1: (mark a)\n1: (mark a)", None),
        ("1: (mark a)\n1: (unmark a)", (FailureKind.INTERFERENCE, 2, 1)),
        ("1: (mark a)\n1: (unmark b)", None),
    ],
)
def test_what_may_happen_together(plan: str, expected: Found) -> None:
    assert failure(check(plan)) == expected


def test_epsilon_says_what_is_simultaneous() -> None:
    plan = "1: (mark a)\n1.05: (unmark a)"
    assert check(plan, "(not (done a))").valid
    assert failure(check(plan, epsilon=Fraction(1, 10))) == (FailureKind.INTERFERENCE, 2, 1)
    assert check("1: (mark a)\n1.0001: (unmark a)", epsilon=Fraction(0)).valid


@pytest.mark.parametrize(
    ("plan", "count", "done"),
    [
        # The light is on at the start, and a condition at the start does not apply at the end.
        ("0: (test a) [2]\n1: (off)", 0, True),
        ("0: (off)\n1: (test a) [2]\n2: (on)", 0, False),
        # The state after the start counts, so (busy a) comes too late at 1.
        ("0: (use a) [4]\n1: (test a) [2]", 10, True),
        ("1: (use a) [1.5]\n0.5: (test a) [2]", Fraction("1.5"), True),
        ("0: (mark a)\n1: (test a) [2]", 100, True),
        ("0: (mark a)\n1: (test a) [2]\n2: (unmark a)", 0, True),
    ],
)
def test_conditional_effects_that_span_an_action(plan: str, count: Fraction, done: bool) -> None:
    domain, problem = task()
    validator = Validator(domain, problem)
    steps = read_plan(plan).steps
    assert validator.check(steps).valid
    (number,) = (n for n, s in enumerate(steps, 1) if s.action.name == "test")  # type: ignore[union-attr]
    state = validator.state_after(steps, number)
    assert {str(t): v for t, v in state.numbers().items()}["(count)"] == count
    assert ("(done a)" in map(str, state.atoms())) == done


def test_durations_enter_effects_and_the_makespan_is_the_value() -> None:
    report = check("0.5: (use a) [2.5]\n1: (use b) [1]", "(= (count) 3.5)")
    assert report.valid
    assert report.cost == 3
    metric = "(:metric minimize (+ (* 2 (total-time)) (count)))"
    assert check("0.5: (use a) [2.5]\n1: (use b) [1]", more=metric).cost == Fraction("9.5")


def test_who_made_an_invariant_false_is_said() -> None:
    report = check("0: (work a) [2]\n1: (off)")
    assert report.failure is not None
    (literal,) = report.failure.literals
    assert str(literal) == "(light)"
    assert str(literal.changed_by) == "step 2 (off) at 1"
    report = check("4: (work a) [2]")
    assert report.failure is not None
    assert "timed initial literal at 5" in report.explain()


def test_the_trace_has_starts_ends_and_timed_literals() -> None:
    validator = Validator(*task(init="(at 5 (not (light)))"))
    found = validator.trace(read_plan("4: (use a) [2]").steps)
    assert [(n, t, sorted(map(str, (*add, *gone)))) for n, t, _, add, gone in found] == [
        (1, 4, ["(busy a)", "(free a)"]),
        (None, 5, ["(light)"]),
        (1, 6, ["(busy a)", "(free a)"]),
    ]


def test_effects_of_spanning_conditions_interfere() -> None:
    # At 2 the test reads (done a) at its end.
    domain, problem = task()
    report = Validator(domain, problem).check(
        read_plan("0: (mark a)\n0.5: (test a) [2]\n2.5: (mark b)\n2.5: (unmark a)").steps
    )
    assert failure(report) == (FailureKind.INTERFERENCE, 4, Fraction("2.5"))


STEPS = st.sampled_from(["(on)", "(off)", "(look)", "(mark a)", "(twice)", "(gone a)"]) | st.builds(
    "({} {}) [{}]".format,
    st.sampled_from(["work", "use", "test"]),
    st.sampled_from("aab"),
    st.sampled_from(["2", "0.3", "1.5", "2"]),
)
TIMES = st.sampled_from(["0", "0.5", "0.5005", "1.", "2", "2.001", "4.9", "6"])


@pytest.mark.slow
@given(
    st.lists(st.tuples(TIMES, STEPS), min_size=1, max_size=6),
    st.sampled_from(list(OnFailure)),
    st.sampled_from([" ", "\n", " ; said\n"]),
)
def test_a_text_is_judged_as_its_steps_are(
    steps: list[tuple[str, str]], on_failure: OnFailure, space: str
) -> None:
    """Lazily read steps give the same report with the same places."""
    text = space.join(f"{time}: {step}" for time, step in steps)
    validator = Validator(*task("(and (done a) (light))", "(at 5 (not (light)))"))
    of_text = validator.check_file(text, file="plan", on_failure=on_failure)
    of_steps = validator.check(read_plan(text, file="plan").steps, on_failure=on_failure)
    assert of_text.to_json() == of_steps.to_json()


def test_an_effect_on_a_number_without_a_value_that_does_not_take_place() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p)) (:functions (w)) (:durative-action b"
        " :parameters () :duration (= ?duration 1) :condition (and)"
        " :effect (and (at start (p)) (when (at start (p)) (at start (increase (w) 1))))))"
    )
    problem = parse_problem("(define (problem q) (:domain d) (:init) (:goal (p)))", domain)
    assert Validator(domain, problem).check(read_plan("0: (b) [1]").steps).valid
