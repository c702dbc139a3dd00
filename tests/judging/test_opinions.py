"""Models' opinions of plans are parsed leniently and accepted only as far as proven."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.judging.model_judge import MissingSteps, Opinion, check, measure, read_opinion, run_loop
from hvr.pddl import parse_plan
from tests.judging.test_symbolic import gripper
from tests.validation.test_minimise import ACTIONS, mixed

PLAN = parse_plan(
    "(pick bag a) (drop bag a) (pick ball a) (move a b) (drop ball b) (move b c) (move c b)"
)

EXACT = """ACTION: (pick bag a)
ANNOTATION: picks the bag #REMOVE: the bag is not needed
ACTION: (drop bag a)
ANNOTATION: #REMOVE
ACTION: (pick ball a)
ANNOTATION: needed
#MISSING: (move a b) before step 5
"""
LOOSE = """**Action**: 1. pick bag a
**Annotation**: hm. # remove - not needed
- ACTION: 2) drop(bag, a) #remove: nor this
Action: pick ball a
# Missing: you should do (move, a, b) and (drop, ball, b) after step 4
#MISSING: none
"""


@pytest.mark.parametrize(
    ("text", "actions", "index"), [(EXACT, 1, 5), (LOOSE, 2, 5)], ids=["exact", "loose"]
)
def test_answers_are_read(text: str, actions: int, index: int) -> None:
    opinion = read_opinion(text, PLAN)
    assert [number for number, _ in opinion.remove] == [1, 2]
    (wish,) = opinion.missing
    assert len(wish.actions) == actions and wish.index == index


@settings(max_examples=25, deadline=None)
@given(st.text(alphabet="ACTION: #REMOVEMISSING()123 \nab.pick", max_size=200))
def test_any_text_is_an_opinion(text: str) -> None:
    opinion = read_opinion(text, PLAN)
    assert all(1 <= number <= len(PLAN) for number, _ in opinion.remove)


def test_what_is_proven_is_accepted_and_what_is_not_is_not() -> None:
    validator = gripper()
    opinion = Opinion(((1, "bag"), (2, "bag"), (3, "why pick the ball"), (6, ""), (7, "")))
    checked = check(validator.state, PLAN, opinion)
    assert checked.removed == (1, 2, 6, 7)
    assert len(checked.rejected) == 1
    assert validator.check(checked.plan).valid


def test_a_missing_step_is_put_where_it_helps() -> None:
    validator = gripper()
    plan = parse_plan("(pick ball a) (drop ball b)")
    right = Opinion(missing=(MissingSteps("", parse_plan("(move a b)"), 1),))
    assert check(validator.state, plan, right).inserted == ((2, parse_plan("(move a b)")[0]),)
    wrong = Opinion(missing=(MissingSteps("", parse_plan("(move a c)"), 2), MissingSteps("fly")))
    assert check(validator.state, plan, wrong).plan == plan


def test_a_step_stays_that_changes_what_was_not_flagged() -> None:
    # The goal does not need the step, but removing it would move more than the bag.
    validator = gripper()
    plan = parse_plan("(pick ball a) (move a b) (drop ball b) (move b c)")
    assert check(validator.state, plan, Opinion(((2, ""),))).plan == plan


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    st.lists(st.sampled_from(ACTIONS), max_size=8),
    st.lists(st.tuples(st.integers(1, 8), st.just("")), max_size=5, unique_by=lambda p: p[0]),
    st.lists(st.sampled_from(ACTIONS), max_size=2),
)
def test_no_opinion_makes_a_plan_worse(
    plan: list, remove: list[tuple[int, str]], missing: list
) -> None:
    validator = mixed("(and (p a) (q b))")
    remove = [(number, why) for number, why in sorted(remove) if number <= len(plan)]
    wishes = tuple(MissingSteps("", (action,), None) for action in missing)
    checked = check(validator.state, plan, Opinion(tuple(remove), wishes))
    assert measure(validator.state, checked.plan) <= measure(validator.state, plan)
    if validator.check(plan).valid:
        assert validator.check(checked.plan).valid


def test_each_round_makes_the_measure_less_and_the_loop_ends() -> None:
    validator = gripper()

    def one_at_a_time(plan: tuple) -> Opinion:
        bag = [i for i, a in enumerate(plan, 1) if "bag" in a.args]
        there = [i for i, a in enumerate(plan, 1) if "c" in a.args]
        return Opinion(tuple((number, "") for number in bag or there))

    loop = run_loop(validator, PLAN, opinion=one_at_a_time, symbolic=False)
    assert loop.converged and len(loop.rounds) == 2
    assert all(done.after < done.before for done in loop.rounds)
    assert loop.plan == parse_plan("(pick ball a) (move a b) (drop ball b)")
    assert run_loop(validator, PLAN).rounds[0].by == "symbolic"
