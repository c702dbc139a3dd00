"""Heuristics over numbers, and the forward search that they guide."""

from __future__ import annotations

import time
from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.solving.forward import forward
from hvr.planning.solving.subgoals import Subgoals
from hvr.validation import Validator
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import execute, read_functions

COUNTERS = """(define (domain counters) (:types counter)
  (:functions (value ?c - counter) (step ?c - counter))
  (:action up :parameters (?c - counter) :precondition (<= (value ?c) 50)
    :effect (increase (value ?c) (step ?c)))
  (:action down :parameters (?c - counter) :precondition (>= (value ?c) 1)
    :effect (decrease (value ?c) 1))
  (:action faster :parameters (?c - counter) :precondition (<= (step ?c) 3)
    :effect (increase (step ?c) 1)))"""


def counters(values: list[int], steps: list[int], goal: str) -> Task:
    domain = parse_domain(COUNTERS)
    names = [f"c{n}" for n in range(len(values))]
    init = " ".join(
        f"(= (value {name}) {value}) (= (step {name}) {step})"
        for name, value, step in zip(names, values, steps, strict=True)
    )
    text = (
        f"(define (problem p) (:domain counters) (:objects {' '.join(names)} - counter)"
        f" (:init {init}) (:goal (and {goal})))"
    )
    return Task(domain, parse_problem(text, domain))


def estimate(task: Task) -> float | None:
    clock = Deadline(10)
    relaxation = Relaxation(task.initial, task.goal, read_functions(task), clock, beyond=None)
    subgoals = Subgoals(task, relaxation.operators, relaxation.rules, task.goal)
    found = subgoals.estimate(task.initial.bits, task.initial.values)
    return None if found is None else found.steps


def test_one_action_is_repeated_as_often_as_it_takes() -> None:
    assert estimate(counters([0], [1], "(>= (value c0) 7)")) == 7
    assert estimate(counters([0], [1], "(> (value c0) 7)")) == 8
    assert estimate(counters([9], [1], "(< (value c0) 7)")) == 3
    assert estimate(counters([9, 0], [1, 1], "(= (value c0) (value c1))")) == 9
    assert estimate(counters([7], [1], "(>= (value c0) 7)")) == 0


def nearest_plan(task: Task, most: int) -> int | None:
    """Return the length of a shortest plan by breadth-first search."""
    clock = Deadline(10)
    operators = Relaxation(
        task.initial, task.goal, read_functions(task), clock, beyond=None
    ).operators
    start = task.initial.bits, task.initial.values
    known, queue = {start}, deque([(start, 0)])
    while queue:
        state, depth = queue.popleft()
        if task.goal.holds(*state):
            return depth
        for operator in operators if depth < most else ():
            after = execute(task, operator, *state)
            if after is not None and after not in known:
                known.add(after)
                queue.append((after, depth + 1))
    return None


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=2),
    st.lists(st.integers(0, 2), min_size=2, max_size=2),
    st.sampled_from(["<", "<=", "=", ">=", ">"]),
    st.integers(0, 6),
)
def test_what_can_be_reached_is_never_called_out_of_reach(
    values: list[int], steps: list[int], symbol: str, number: int
) -> None:
    task = counters(values, steps, f"({symbol} (- (value c0) (value c1)) {number})")
    if nearest_plan(task, 6) is None:
        return
    assert estimate(task) is not None
    outcome = forward(task, 10)
    assert outcome.plan is not None
    assert Validator(task).check(outcome.plan).valid


def test_many_counters_in_a_row_are_ordered_soon() -> None:
    count = 6
    goal = " ".join(f"(<= (+ (value c{n}) 1) (value c{n + 1}))" for n in range(count - 1))
    outcome = forward(counters([0] * count, [1] * count, goal), 20)
    assert outcome.plan is not None and len(outcome.plan) >= sum(range(count))


GREENHOUSE = """(define (domain greenhouse) (:requirements :typing :numeric-fluents)
  (:types plant can tool place)
  (:predicates (at ?p - place) (holding ?c - can) (free) (lies ?c - can ?p - place)
     (stands ?x - plant ?p - place) (tap ?p - place) (cut ?x - plant) (has ?t - tool))
  (:functions (moisture ?x - plant) (water ?c - can) (size ?c - can))
  (:action go :parameters (?a ?b - place) :precondition (at ?a)
    :effect (and (not (at ?a)) (at ?b)))
  (:action take :parameters (?c - can ?p - place) :precondition (and (at ?p) (lies ?c ?p) (free))
    :effect (and (holding ?c) (not (lies ?c ?p)) (not (free))))
  (:action put :parameters (?c - can ?p - place) :precondition (and (at ?p) (holding ?c))
    :effect (and (not (holding ?c)) (lies ?c ?p) (free)))
  (:action fill :parameters (?c - can ?p - place)
    :precondition (and (at ?p) (tap ?p) (holding ?c) (< (water ?c) (size ?c)))
    :effect (increase (water ?c) 1))
  (:action pour :parameters (?c - can ?x - plant ?p - place)
    :precondition (and (at ?p) (stands ?x ?p) (holding ?c) (>= (water ?c) 1))
    :effect (and (decrease (water ?c) 1) (increase (moisture ?x) 1)))
  (:action trim :parameters (?t - tool ?x - plant ?p - place)
    :precondition (and (at ?p) (stands ?x ?p) (has ?t)) :effect (cut ?x)))"""


def test_a_plant_among_many_things_is_watered_within_a_second() -> None:
    plants = ["basil", "mint", "fern", "rose", "ivy"]
    places = ["bench", "shelf", "sink", "door"]
    spots = dict(zip(plants, [*places, "bench"], strict=True))
    init = " ".join(f"(stands {x} {p}) (= (moisture {x}) 0)" for x, p in spots.items())
    init += " ".join(f"(lies {c} door) (= (water {c}) 0) (= (size {c}) 2)" for c in ("red", "blue"))
    domain = parse_domain(GREENHOUSE)
    problem = parse_problem(
        f"(define (problem p) (:domain greenhouse) (:objects {' '.join(plants)} - plant"
        f" red blue - can shears saw spade - tool {' '.join(places)} - place)"
        f" (:init (at bench) (free) (tap sink) (has shears) {init})"
        " (:goal (>= (moisture basil) 4)))",
        domain,
    )
    task = Task(domain, problem)
    started = time.process_time()
    outcome = forward(task, 20)
    assert outcome.plan is not None and Validator(task).check(outcome.plan).valid
    assert time.process_time() - started < 1.0
