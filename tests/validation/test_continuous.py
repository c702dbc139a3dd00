"""Exponential and integrated numbers: enclosures against known solutions, verdicts, laws."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import ContinuousChangeError
from hvr.pddl import parse_domain, parse_problem, read_plan
from hvr.validation import Outcome, ValidationReport, Validator
from hvr.validation.continuous.crossings import zeros
from hvr.validation.continuous.functions import (
    Quantity,
    TimeFunction,
    exponential_of,
    sign,
    value_at,
)
from hvr.validation.continuous.integration import Flow, solve
from hvr.validation.continuous.motion import Motion, Rate
from hvr.validation.continuous.polynomials import Polynomial, Root, roots
from hvr.validation.continuous.symbols import PRECISIONS, StateVariable, exponential

LAW = settings(max_examples=25, deadline=None)
BITS = 128

HEAD = """
(define (domain d)
  (:requirements :typing :fluents :durative-actions :duration-inequalities :time
    :negative-preconditions :continuous-effects)
  (:predicates (on) (full) (done))
  (:functions (x) (v) (k) (n))
  (:action start :effect (on))
  (:action stop :effect (not (on)))
  (:action finish :effect (done))
"""
DRAG = (
    "(:process move :precondition (on) :effect (and (increase (x) (* #t (v)))"
    " (decrease (v) (* #t (* (k) (* (v) (v)))))))"
)
COOLING = "(:process cool :precondition (on) :effect (decrease (x) (* #t (* 0.5 (- (x) (k))))))"
SWING = (
    "(:process swing :precondition (on) :effect (and (increase (x) (* #t (v)))"
    " (decrease (v) (* #t (+ (* (k) (x)) (* (n) (v)))))))"
)


def judge(body: str, goal: str, **values: object) -> Validator:
    domain = parse_domain(f"{HEAD}{body})")
    known = {"x": 0, "v": 0, "k": 0, "n": 0} | values
    init = " ".join(f"(= ({name}) {value})" for name, value in known.items())
    problem = parse_problem(
        f"(define (problem p) (:domain d) (:init {init}) (:goal (and {goal})))", domain
    )
    return Validator(domain, problem)


def check(body: str, plan: str, goal: str, **values: object) -> ValidationReport:
    return judge(body, goal, **values).check(read_plan(plan).steps)


def inside(number: Decimal, quantity: Quantity, bits: int = BITS) -> bool:
    """Return whether an enclosure contains a number and is narrow."""
    if not isinstance(quantity, TimeFunction):
        assert not isinstance(quantity, Polynomial)
        return abs(Decimal(quantity.numerator) / quantity.denominator - number) < Decimal("1e-55")
    low, high = quantity.enclose(bits)
    return low <= number * 2**bits <= high and high - low < 1 << bits - 20


# Enclosures ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.fractions(-40, 40, max_denominator=1000), st.sampled_from(PRECISIONS))
def test_powers_of_e_are_enclosed(exponent: Fraction, bits: int) -> None:
    grid = round(exponent * 2**bits)
    low, high = exponential((grid, grid), bits)
    with localcontext(prec=250):
        exact = (Decimal(grid) / 2**bits).exp() * 2**bits
    assert low <= exact <= high
    assert high - low <= 8


@pytest.mark.slow
@LAW
@given(st.integers(1, 9), st.integers(1, 9), st.fractions(0, 20, max_denominator=7))
def test_drag_is_enclosed(speed: int, drag: int, time: Fraction) -> None:
    # v' = -k v^2 and x' = v: v = v0 / (1 + k v0 t), x = ln(1 + k v0 t) / k.
    variables = StateVariable(0, "x"), StateVariable(1, "v")
    v = TimeFunction.of(variables[1])
    flow = Flow(variables, [0, speed], [v, v * v * -drag], 0)
    at = -(-time * 2**BITS // 1)
    low, high = flow.enclose((at, at), BITS)[1]
    with localcontext(prec=60):
        moment = Decimal(at) / 2**BITS
        growth = 1 + drag * speed * moment
        places = flow.enclose((at, at), BITS)[0]
        assert places[0] <= growth.ln() / drag * 2**BITS <= places[1]
        assert low <= speed / growth * 2**BITS <= high
    assert high - low < 1 << BITS - 30


@pytest.mark.slow
@LAW
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 60))
def test_what_approaches_a_limit_stays_enclosed(limit: int, begin: int, time: int) -> None:
    # x' = x (b - x): x = b / (1 + (b / x0 - 1) e^(-b t)). Monotone bounds would diverge.
    variable = StateVariable(0, "x")
    x = TimeFunction.of(variable)
    flow = Flow([variable], [begin], [x * (limit - x)], 0)
    low, high = flow.enclose((time << 64, time << 64), 64)[0]
    with localcontext(prec=60):
        fall = (-Decimal(limit) * time).exp()
        expected = Decimal(limit) / (1 + (Decimal(limit) / begin - 1) * fall) * 2**64
    assert low <= expected <= high
    assert high - low < 1 << 40


@LAW
@given(st.integers(1, 6), st.integers(-5, 5), st.fractions(0, 6, max_denominator=5))
def test_damped_oscillation_is_enclosed(half: int, begin: int, time: Fraction) -> None:
    # x'' = -w^2 x - 2 d x' with w^2 = d^2 + 1: x = e^(-d t) (x0 cos t + (v0 + d x0) sin t).
    damping = Fraction(half, 2)
    variables = StateVariable(0, "x"), StateVariable(1, "v")
    x, v = TimeFunction.of(variables[0]), TimeFunction.of(variables[1])
    rates = [v, x * -(damping**2 + 1) - v * (2 * damping)]
    solved = solve(variables, rates, [begin, 1], 0)
    with localcontext(prec=60):
        t = Decimal(time.numerator) / time.denominator
        d = Decimal(half) / 2
        sine, cosine = _sine(t), _sine(t + Decimal(_PI) / 2)
        expected = (-d * t).exp() * (begin * cosine + (1 + d * begin) * sine)
        assert inside(expected, value_at(solved[variables[0]], time))


_PI = "3.14159265358979323846264338327950288419716939937510582097494459"


def _sine(angle: Decimal) -> Decimal:
    term, total, k = angle, angle, 1
    while abs(term) > Decimal("1e-60"):
        term = -term * angle * angle / ((2 * k) * (2 * k + 1))
        total, k = total + term, k + 1
    return total


@pytest.mark.slow
@LAW
@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    st.integers(-4, 4),
    st.integers(-4, 4),
    st.integers(-2, 2),
    st.fractions(0, 3, max_denominator=4),
)
def test_linear_systems_have_the_solution_that_integration_encloses(
    matrix: list[int], one: int, two: int, forcing: int, time: Fraction
) -> None:
    variables = StateVariable(0, "x"), StateVariable(1, "v")
    x, v = TimeFunction.of(variables[0]), TimeFunction.of(variables[1])
    a, b, c, d = matrix
    rates = [x * a + v * b + Polynomial((1, forcing)), x * c + v * d]
    solved = solve(variables, rates, [one, two], 0)
    copies = StateVariable(0, "x"), StateVariable(1, "v")
    x, v = TimeFunction.of(copies[0]), TimeFunction.of(copies[1])
    flow = Flow(copies, [one, two], [x * a + v * b + Polynomial((1, forcing)), x * c + v * d], 0)
    for variable, copy in zip(variables, copies, strict=True):
        closed, integrated = solved[variable], TimeFunction.of(copy)
        difference = value_at(closed, time) - value_at(integrated, time)
        if isinstance(difference, TimeFunction):
            low, high = difference.enclose(BITS)
            assert low <= 0 <= high
            assert high - low < 1 << BITS - 16
        if not isinstance(closed, TimeFunction) or not closed.symbols() & set(variables):
            # The closed form satisfies its equation.
            slope = closed.derivative() if isinstance(closed, TimeFunction | Polynomial) else 0
            values = [solved[other] for other in variables]
            row = (a, b) if variable is variables[0] else (c, d)
            push: Quantity = Polynomial((1, forcing)) if variable is variables[0] else 0
            assert slope - values[0] * row[0] - values[1] * row[1] - push == 0
    assert flow.depth == 0


# Zeros --------------------------------------------------------------------------------------


@LAW
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4), st.integers(1, 3))
def test_polynomials_times_powers_of_e_have_the_zeros_of_the_polynomials(
    coefficients: list[int], rate: int
) -> None:
    polynomial = Polynomial(coefficients)
    expected = roots(polynomial, 4)
    # A sum with a function without zeros, so that no shortcut applies.
    product = polynomial * (exponential_of(-rate) + exponential_of(rate)) + 0
    if polynomial.degree < 1:
        assert not [z for z in zeros(product, 0, 4) if isinstance(z, Root)]
        return
    try:
        found = [z for z in zeros(product, 0, 4) if isinstance(z, Root)]
    except ContinuousChangeError as error:
        # A double zero is indistinguishable from none, and is refused.
        assert "undecided" in str(error)
        return
    assert len(found) == len(expected)
    for one, two in zip(found, expected, strict=True):
        low, high = one.enclosure(64)
        assert low - Fraction(1, 2**50) <= two.approximation() <= high + Fraction(1, 2**50)


@LAW
@given(st.integers(2, 50), st.integers(1, 9))
def test_a_crossing_is_where_the_logarithm_says(start: int, tenths: int) -> None:
    rate = Fraction(tenths, 10)
    function = exponential_of(-rate) * start - 1
    (root,) = [z for z in zeros(function, 0, 100) if isinstance(z, Root)]
    low, high = root.enclosure(100)
    with localcontext(prec=60):
        expected = Decimal(start).ln() * 10 / tenths
        assert Decimal(low.numerator) / low.denominator <= expected
        assert expected <= Decimal(high.numerator) / high.denominator
    assert high - low < Fraction(1, 2**80)


def test_what_is_zero_at_an_irrational_time_is_so_exactly() -> None:
    function = exponential_of(-1) * Polynomial((-2, 0, 1))
    (root,) = [z for z in zeros(function, 0, 5) if isinstance(z, Root)]
    assert value_at(function, root) == 0
    assert value_at(function + 3, root) == 3


def test_sums_of_powers_of_e_are_equal_only_where_they_are_written_alike() -> None:
    one = value_at(exponential_of(2) * exponential_of(1) - exponential_of(3), 5)
    assert one == 0
    tiny = value_at(exponential_of(-3), 1000) - value_at(exponential_of(-3), 999)
    assert sign(tiny) == -1


# Verdicts -----------------------------------------------------------------------------------

JUDGED = [
    (
        "(:process p :precondition (on) :effect (increase (x) (* #t (x))))"
        "(:event e :precondition (and (on) (>= (x) 3)) :effect (and (not (on)) (full)))",
        "0: (start)\n3: (finish)",
        "(full) (= (x) 3)",
        {"x": 2},
        True,
    ),
    (DRAG, "0: (start)\n1: (stop)", "(< (v) 0.5000001) (> (v) 0.4999999)", {"v": 1, "k": 1}, True),
    (DRAG, "0: (start)\n1: (stop)", "(> (x) 0.6931472)", {"v": 1, "k": 1}, False),
    (COOLING, "0: (start)\n4: (stop)", "(> (x) 28.12) (< (x) 28.1202)", {"x": 80, "k": 20}, True),
    (COOLING, "0: (start)\n1000: (stop)", "(> (x) 20)", {"x": 80, "k": 20}, True),
    (COOLING, "0: (start)\n1000: (stop)", "(<= (x) 20)", {"x": 80, "k": 20}, False),
    (
        COOLING + "(:event e :precondition (and (on) (<= (x) 50))"
        " :effect (and (not (on)) (assign (n) (x))))",
        "0: (start)\n4: (finish)",
        "(= (n) 50) (= (x) 50)",
        {"x": 80, "k": 20},
        True,
    ),
    (
        SWING + "(:event e :precondition (and (<= (x) 0) (not (full))) :effect (full))",
        "0: (start)\n1.5707: (finish)",
        "(full)",
        {"x": 1, "k": 1},
        False,
    ),
    (
        SWING + "(:event e :precondition (and (<= (x) 0) (not (full))) :effect (full))",
        "0: (start)\n1.5708: (finish)",
        "(full)",
        {"x": 1, "k": 1},
        True,
    ),
    (SWING, "0: (start)\n60: (finish)", "(< (x) -0.952) (> (x) -0.953)", {"x": 1, "k": 1}, True),
    (
        "(:process grow :precondition (on) :effect (increase (x) (* #t (* (x) (x)))))"
        "(:event e :precondition (and (on) (>= (x) 10)) :effect (not (on)))",
        "0: (start)\n5: (finish)",
        "(= (x) 10)",
        {"x": 1},
        True,
    ),
    (
        "(:process m :precondition (on) :effect (and (increase (v) #t)"
        " (increase (x) (* #t (/ 1 (v))))))",
        "0: (start)\n1: (finish)",
        "(> (x) 0.69314718) (< (x) 0.69314719)",
        {"v": 1},
        True,
    ),
    (
        DRAG + "(:durative-action a :duration (= ?duration 4) :condition (over all (> (v) 0.3)))",
        "0: (start)\n0.1: (a) [4]\n5: (finish)",
        "(done)",
        {"v": 1, "k": 1},
        False,
    ),
]


@pytest.mark.parametrize("case", range(len(JUDGED)))
def test_what_is_proven_is_judged(case: int) -> None:
    body, plan, goal, values, valid = JUDGED[case]
    report = check(body, plan, goal, **values)
    assert report.outcome is (Outcome.VALID if valid else Outcome.INVALID), report.explain()


@pytest.mark.slow
def test_a_comparison_that_straddles_is_named() -> None:
    report = check(DRAG, "0: (start)\n1: (stop)", "(<= (v) 0.5)", v=1, k=1)
    assert report.outcome is Outcome.UNKNOWN
    assert "cannot decide whether (v) <= 0.5 holds at 1" in report.reason
    assert "between" in report.reason


@LAW
@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(-3, 3), st.integers(1, 16))
def test_both_engines_agree_on_polynomials(x: int, v: int, force: int, quarters: int) -> None:
    variables = StateVariable(0, "x"), StateVariable(1, "v")
    speed = TimeFunction.of(variables[1])
    flow = Flow(variables, [x, v], [speed, force], 0)
    rates = [Rate(0, 1, lambda values: values[1]), Rate(1, 1, force)]  # type: ignore[list-item, return-value]
    motion = Motion((x, v), 0, rates, str)
    time = Fraction(quarters, 4)
    at = int(time * 2**BITS)
    for index, (low, high) in enumerate(flow.enclose((at, at), BITS)):
        exact = motion.at(time)[index]
        assert exact is not None
        assert low <= exact * 2**BITS <= high
    course = TimeFunction.of(variables[0]) * TimeFunction.of(variables[0]) + 1
    assert not [z for z in zeros(course, 0, time) if isinstance(z, Root)]


@LAW
@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 30))
def test_verdicts_do_not_depend_on_the_unit_of_time(scale: int, tenths: int, bound: int) -> None:
    # Time runs `scale` times as fast, with rates scaled accordingly.
    time = Fraction(tenths, 10)
    goal = f"(>= (x) {20 + bound})"
    slow = check(COOLING, f"0: (start)\n{float(time)}: (stop)", goal, x=60, k=20)
    body = COOLING.replace("0.5", f"(* {scale} 0.5)")
    quick = check(body, f"0: (start)\n{time / scale}: (stop)", goal, x=60, k=20)
    assert slow.outcome is quick.outcome
    assert slow.outcome is not Outcome.UNKNOWN


# Values -------------------------------------------------------------------------------------


def test_values_have_a_closed_form_or_bounds() -> None:
    curves = judge(COOLING, "(done)", x=80, k=20).curves(read_plan("1: (start)\n3: (stop)").steps)
    (curve,) = [c for c in curves if c.fluent == "(x)"]
    assert [str(piece) for piece in curve.pieces] == [
        "0 to 1: 80",
        "1 to 3: from 80 to 42.0727665, 20 + 60 e^(-0.5 t)",
    ]
    curves = judge(DRAG, "(done)", v=1, k=1).curves(read_plan("0: (start)\n3: (stop)").steps)
    (curve,) = [c for c in curves if c.fluent == "(v)"]
    assert str(curve.pieces[0]) == "0 to 3: from 1 to 0.250000000, integrated"
    data = curve.to_json()["pieces"][0]
    assert data["formula"] is None
    time, low, high = data["bounds"][-1]
    assert time == 3
    assert low < 0.25 < high
