"""The partial order of blocks shows which blocks may swap places."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
from hvr.validation.minimise import reaches_goal
from studies.partial_order import block_order, sample_linearization

DOMAIN = parse_domain("""
(define (domain lamps)
  (:requirements :strips :typing :negative-preconditions :conditional-effects)
  (:types lamp)
  (:predicates (lit ?l - lamp) (at ?l - lamp) (wired ?a ?b - lamp) (broken))
  (:action go :parameters (?l - lamp)
    :effect (and (forall (?x - lamp) (not (at ?x))) (at ?l)))
  (:action light :parameters (?l - lamp) :precondition (at ?l)
    :effect (lit ?l))
  (:action douse :parameters (?l - lamp) :precondition (and (at ?l) (lit ?l))
    :effect (not (lit ?l)))
  (:action copy :parameters (?a ?b - lamp) :precondition (and (at ?b) (lit ?a))
    :effect (lit ?b)))
""")


def task(goal: str) -> Task:
    text = f"(define (problem p) (:domain lamps) (:objects a b c - lamp) (:init) (:goal {goal}))"
    return Task(DOMAIN, parse_problem(text, DOMAIN))


def block(*steps: str) -> tuple[GroundAction, ...]:
    return tuple(GroundAction(s.split()[0], tuple(s.split()[1:])) for s in steps)


LIGHT = {name: block(f"go {name}", f"light {name}") for name in "abc"}


def test_independent_blocks_are_free() -> None:
    order = block_order(task("(and (lit a) (lit b) (lit c))"), list(LIGHT.values()))
    assert order == ()


def test_a_producer_stays_before_its_consumer() -> None:
    blocks = [LIGHT["a"], block("go b", "copy a b"), LIGHT["c"]]
    assert block_order(task("(and (lit b) (lit c))"), blocks) == ((1, 2),)


def test_what_undoes_a_need_stays_behind() -> None:
    blocks = [LIGHT["a"], block("go b", "copy a b"), block("go a", "douse a")]
    order = block_order(task("(and (lit b) (not (lit a)))"), blocks)
    assert order == ((1, 2), (2, 3))


def test_a_place_carried_over_keeps_blocks_together() -> None:
    blocks = [block("go a"), block("light a"), LIGHT["b"]]
    order = block_order(task("(and (lit a) (lit b))"), blocks)
    assert (1, 2) in order
    assert (2, 3) in order, "going elsewhere in between would lose the place"


@pytest.mark.slow
@given(st.data())
def test_every_allowed_order_reaches_the_goal(data: st.DataObject) -> None:
    pool = [
        *LIGHT.values(),
        *(block(f"go {b}", f"copy {a} {b}") for a, b in itertools.permutations("abc", 2)),
        *(block(f"go {name}", f"douse {name}") for name in "abc"),
    ]
    problem = task("(and)")
    chosen = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))
    state, blocks = problem.initial.bits, []
    for candidate in chosen:
        after = state
        for action in candidate:
            operator = problem.ground(action)
            if not operator.applicable(after):
                break
            after = operator.apply(after)
        else:
            state = after
            blocks.append(candidate)
    lit = [name for name in "abc" if any(str(a) == f"(lit {name})"
           for a in problem.atoms_in(state))]  # fmt: skip
    problem = task("(and " + " ".join(f"(lit {name})" for name in lit) + ")")
    order = block_order(problem, blocks)
    rng = random.Random(data.draw(st.integers(0, 99)))
    numbers = sample_linearization(len(blocks), order, rng)
    steps = [action for number in numbers for action in blocks[number - 1]]
    assert reaches_goal(problem, steps)
