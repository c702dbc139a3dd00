"""Simultaneous steps: non-interfering ones may happen in any order (Fox & Long 2003, 8.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from hvr.pddl import parse_domain, parse_problem
from hvr.pddl.plan import TimedAction, read_plan
from hvr.validation import FailureKind, ValidationReport, Validator
from tests.pddl.pddl_strategies import law

RECORDED = Path(__file__).with_name("random_plans.jsonl")
ATOMS = ("(p)", "(q)", "(r)", "(s)")
GAP = Fraction(2, 1000)
"""Beyond epsilon, and small enough to keep durations within tolerance."""


def condition(rng: Random, depth: int = 1) -> str:
    choice = rng.randrange(8)
    if depth and choice == 0:
        return f"(or {condition(rng, 0)} {condition(rng, 0)})"
    if depth and choice == 1:
        return f"(and {condition(rng, 0)} {condition(rng, 0)})"
    if choice == 2:
        return f"({rng.choice('<>')} (n) {rng.choice(('0.5', '1.5', '2.5'))})"
    if choice == 3:
        return "(d)"
    atom = rng.choice(ATOMS)
    return atom if choice < 6 else f"(not {atom})"


def change(rng: Random) -> str:
    choice = rng.randrange(8)
    if choice == 0:
        return f"(increase (n) {rng.choice(('1', '2', '(n)', '(m)'))})"
    if choice == 1:
        return f"(assign (n) {rng.choice(('0', '(m)'))})"
    atom = rng.choice(ATOMS)
    return atom if choice < 5 else f"(not {atom})"


def action(rng: Random, name: str) -> str:
    effects = [f"(when {condition(rng)} {change(rng)})" for _ in range(rng.randrange(2))]
    effects += [change(rng) for _ in range(rng.randrange(1, 3))]
    needed = condition(rng) if rng.random() < 0.4 else "(and)"
    return f"(:action {name} :precondition {needed} :effect (and {' '.join(effects)}))"


def durative(rng: Random, name: str) -> str:
    effects = []
    for when in ("start", "end"):
        effects += [f"(at {when} {change(rng)})" for _ in range(rng.randrange(2))]
        if rng.random() < 0.3:
            effects.append(f"(when (at {when} {condition(rng)}) (at {when} {change(rng)}))")
    if rng.random() < 0.7:
        late = f"(at end {condition(rng)})" if rng.random() < 0.5 else ""
        effects.append(f"(when (and (at start {condition(rng)}) {late}) (at end {change(rng)}))")
    return (
        f"(:durative-action {name} :duration (= ?duration {rng.choice((1, 2))})"
        f" :condition (and) :effect (and {' '.join(effects)}))"
    )


def drawn(rng: Random) -> tuple[Validator, list[TimedAction]]:
    """Return a validator for a task, and a plan with many simultaneous steps."""
    domain = parse_domain(
        "(define (domain d) (:predicates (p) (q) (r) (s) (d)) (:functions (n) (m))"
        f"(:derived (d) (and {rng.choice(ATOMS)} (not {rng.choice(ATOMS)})))"
        f"{action(rng, 'a')}{action(rng, 'b')}{durative(rng, 'e')}{durative(rng, 'f')})"
    )
    facts = " ".join(atom for atom in ATOMS if rng.random() < 0.5)
    problem = parse_problem(
        f"(define (problem x) (:domain d) (:init {facts} (= (n) 1) (= (m) 2)) (:goal (and)))",
        domain,
    )
    lasts = {name: schema.duration for name, schema in domain.durative_actions.items()}
    steps = []
    for name in rng.sample("abef", rng.randint(2, 4)):
        duration = f" [{str(lasts[name]).split()[-1].rstrip(')')}]" if name in lasts else ""
        steps.append(f"{rng.randint(1, 2)}: ({name}){duration}")
    return Validator(domain, problem), list(read_plan("\n".join(steps)).steps)  # type: ignore[arg-type]


def orders(plan: list[TimedAction]) -> Iterator[list[TimedAction]]:
    """Yield the plan with its simultaneous points serialised in every order."""
    groups: dict[Fraction, list[tuple[int, bool]]] = {}
    for number, step in enumerate(plan):
        groups.setdefault(step.start, []).append((number, False))
        if step.duration is not None:
            groups.setdefault(step.start + step.duration, []).append((number, True))
    for varied in groups:
        if len(groups[varied]) < 2:
            continue
        for order in permutations(groups[varied]):
            moved = {point: GAP * place for place, point in enumerate(order)}
            shifted = []
            for number, step in enumerate(plan):
                start = step.start + moved.get((number, False), 0)
                end = step.start + (step.duration or 0) + moved.get((number, True), 0)
                lasts = None if step.duration is None else end - start
                shifted.append(TimedAction(step.action, start, lasts))
            yield shifted


@pytest.mark.slow
@given(st.integers(0, 10**9))
@law(500)
def test_what_does_not_interfere_may_happen_in_any_order(seed: int) -> None:
    validator, plan = drawn(Random(seed))
    report = validator.check(plan)
    event(report.failure.kind if report.failure else "valid")
    if not report.valid:
        return
    for other in orders(plan):
        assert validator.check(other).valid, other
        assert last_state(validator, other) == last_state(validator, plan), other


def last_state(validator: Validator, plan: list[TimedAction]) -> tuple[object, object]:
    ends = [step.start + (step.duration or 0) for step in plan]
    state = validator.state_after(plan, ends.index(max(ends)) + 1)
    return state.atoms(), state.numbers()


SPANNING = """(define (domain d) (:predicates (c) (e) (x))
  (:durative-action watch :duration (= ?duration 2) :condition (and)
    :effect (and (at start (x)) (when (at start (c)) (at end (e)))))
  (:action clear :effect (not (c)))
  (:action set :effect (c))
  (:action when-c :effect (when (c) (x))))"""


def judged(plan: str, init: str = "") -> ValidationReport:
    domain = parse_domain(SPANNING)
    problem = parse_problem(
        f"(define (problem x) (:domain d) (:init {init}) (:goal (and)))", domain
    )
    return Validator(domain, problem).check_file(plan)


@pytest.mark.parametrize("init", ["", "(c)"])
@pytest.mark.parametrize(
    "plan", ["1: (watch) [2]\n1: (clear)", "1: (watch) [2]\n1: (set)", "1: (when-c)\n1: (set)"]
)
def test_conditions_of_effects_are_read_whether_they_hold_or_not(plan: str, init: str) -> None:
    failure = judged(plan, init).failure
    assert failure is not None
    assert (failure.kind, failure.step) == (FailureKind.INTERFERENCE, 2)
    assert "(c)" in failure.message


@pytest.mark.parametrize("plan", ["1: (watch) [2]\n2: (clear)", "1: (watch) [2]\n3: (clear)"])
def test_a_condition_at_the_start_is_not_read_later(plan: str) -> None:
    assert judged(plan, "(c)").valid


@pytest.mark.slow
def test_verdicts_agree_with_those_recorded_from_val() -> None:
    """Cases of benchmarks/random_plans.py that no rule specific to VAL decides."""
    cases = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    assert len(cases) > 200
    for case in cases:
        domain = parse_domain(case["domain"])
        report = Validator(domain, parse_problem(case["problem"], domain)).check_file(case["plan"])
        assert report.outcome.value == case["val"], case["plan"]
