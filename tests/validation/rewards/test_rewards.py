"""Rewards: their order, their parts, and robustness against any answer."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.validation.rewards import (
    MISSED,
    REACHED,
    Bounds,
    PlanRewards,
    missed,
    reached,
    text_of,
    trl_reward,
    verifiers_reward,
)

DOMAIN = """(define (domain tower)
 (:predicates (on ?a ?b) (table ?a) (clear ?a) (held ?a) (free))
 (:action take :parameters (?a) :precondition (and (table ?a) (clear ?a) (free))
  :effect (and (held ?a) (not (table ?a)) (not (free))))
 (:action put :parameters (?a ?b) :precondition (and (held ?a) (clear ?b) (not (= ?a ?b)))
  :effect (and (on ?a ?b) (free) (not (held ?a)) (not (clear ?b)))))"""
PROBLEM = """(define (problem three) (:domain tower) (:objects a b c)
 (:init (free) (table a) (table b) (table c) (clear a) (clear b) (clear c))
 (:goal (and (on b c) (on a b))))"""
GOOD = "(take b) (put b c) (take a) (put a b)"
HALF = "(take b) (put b c)"


def worth(*completions: str, best: int | None = None) -> list[float]:
    scores = PlanRewards().scores(completions, domain=DOMAIN, problem=PROBLEM, best=best)
    return [score.reward for score in scores]


def lines(plan: str) -> str:
    return plan.replace(") (", ")\n(")


def test_nearer_is_worth_more() -> None:
    failing = HALF + " (put a b)"
    none, at_once, later, half, good = worth(
        "I cannot do this.", "(put a b)", lines(failing), lines(HALF), lines(GOOD)
    )
    assert 0 == none < at_once < later < half < REACHED <= good == 1


def test_a_detour_costs_and_never_as_much_as_the_goal() -> None:
    scores = PlanRewards().scores([lines(GOOD)], domain=DOMAIN, problem=PROBLEM, best=2)
    assert scores[0].valid and scores[0].steps == 4
    assert scores[0].reward == pytest.approx(REACHED + (1 - REACHED) / 2)


@given(
    st.integers(0, 2000), st.integers(1, 2000), st.integers(1, 2000), st.floats(0, 1),
    st.floats(0, 1),
)  # fmt: skip
def test_what_reaches_the_goal_is_always_worth_more(
    steps: int, best: int, others: int, executable: float, goals: float
) -> None:
    good, bad = reached(steps, best), missed(others, executable, goals, "")
    assert 0 <= bad.reward <= MISSED < REACHED <= good.reward <= 1


def test_the_first_violation_is_told_in_words() -> None:
    (score,) = PlanRewards().scores(["(take b)\n(put b b)"], domain=DOMAIN, problem=PROBLEM)
    assert "Step 2 (put b b)" in score.says and score.executable == 0.5


def test_the_last_plan_in_an_answer_counts() -> None:
    answer = f"First idea:\n```\n{lines(HALF)}\n```\nNo, better:\n```\n{lines(GOOD)}\n```\n"
    assert worth(answer) == [1.0]


_PIECES = ["()", "(take a)", "[take]", "```", "\n", "{", "\x00", "\ud800", ";;", "1:", ":", ","]


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=6), max_size=30))
def test_any_text_has_a_reward_within_bounds(parts: list[str]) -> None:
    (reward,) = worth(" ".join(parts))
    assert 0 <= reward <= 1


@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, "(take a)\n" * 9_000, "x" * 200_000, "(take " + "a" * 90_000 + ")",
     "[" * 50_000, '{"plan": ' * 5_000, "```" * 20_000, "1" * 50_000 + ": (take a)"],
    ids=["open", "long", "huge", "name", "brackets", "json", "fences", "number"],
)  # fmt: skip
def test_hostile_answers_are_worth_little(text: str) -> None:
    assert worth(text)[0] <= MISSED


UNITS = [
    "\n", "a\n", "a ", "(", "()", "(take a)\n", "```\n(take a)\n```\n", "```\n", '{"plan": ',
    "[\n", '{"\n', "[]\n", "<a", "<a>", "*", "`take a` ", "1.", "1: ", "| 1 | (take a) |\n",
    "so (take a) is\n", "so (take a) is ", "(take a))\n", "step 0: A\n", "SequentialPlan([",
    "SequentialPlan([take(a), ", ";", "Found Plan:\n", "Found Plan:\n(take a)\n", "</think>\n",
    "0: -----waiting---- [2.0]\n", "-", "and ", "PartialOrderPlan\n", "((take a) ", "take a\n",
    "- take a\n", "Plan length: 99999 step(s).\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_time_linear_in_the_answer(unit: str) -> None:
    """A quadratic reader would need an hour for 100,000 characters."""
    rewards = PlanRewards(Bounds(characters=10**7, seconds=0))
    text = unit * (100_000 // len(unit))
    for answer in (text, " " * 100_000 + text[:1000], text[: len(text) // 2] + "(take"):
        (score,) = rewards.scores([answer], domain=DOMAIN, problem=PROBLEM)
        assert score.reward <= MISSED


_TOKENS = [
    " ", "\t", "\n", "\u2028", "(", ")", "take", "a", "(take a)", "take(a)", "/", "=", "'", ">",
    "1", "1.", "1: ", ":", ",", ";", "-", "*", "`", "```", "~~~", "[", "]", "{", "<", "|", "step ",
    "waiting", "é",
]  # fmt: skip


@pytest.mark.slow
def test_no_combination_of_signs_takes_quadratic_time() -> None:
    """A quadratic reader would take 10 s for a sign repeated 100,000 times around others."""
    draw = random.Random(0)
    rewards = PlanRewards(Bounds(seconds=0))
    rewards.scores([GOOD], domain=DOMAIN, problem=PROBLEM)
    for number in range(48):
        head = "".join(draw.choices(_TOKENS, k=number % 3))
        unit = "".join(draw.choices(_TOKENS, k=1 + number % 2))
        tail = "".join(draw.choices(_TOKENS, k=draw.randrange(3))) + "(take a"
        text = head + unit * ((100_000 - len(head + tail)) // len(unit)) + tail
        start = time.thread_time()
        rewards.scores([text], domain=DOMAIN, problem=PROBLEM)
        assert time.thread_time() - start < 1.5, (head, unit, tail)


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [("", " ", "(on a)"), ("1", "\t", "("), ("```", "\t", "(a"), ("", "a/", "(on a)"),
     ("", "é'", "(on a)"), ("(take a", ",", ")"), ("(take a)", " ", "x")],
)  # fmt: skip
def test_known_hostile_shapes_take_linear_time_in_a_thread(head: str, unit: str, tail: str) -> None:
    text = head + unit * (99_000 // len(unit)) + tail
    rewards = PlanRewards(Bounds(seconds=0))

    def cost() -> float:
        start = time.thread_time()
        rewards.scores([text], domain=DOMAIN, problem=PROBLEM)
        return time.thread_time() - start

    with ThreadPoolExecutor(1) as thread:
        thread.submit(cost).result()
        assert thread.submit(cost).result() < 0.5


def test_judging_ends() -> None:
    limits = Bounds(characters=10**7, steps=10**7, seconds=0.01)
    steps = ["(take b)", "(put b c)", "(take a)", "(put a b)"] * 100_000
    random.Random(0).shuffle(steps)
    (score,) = PlanRewards(limits).scores(["\n".join(steps)], domain=DOMAIN, problem=PROBLEM)
    assert score.reward == 0 and "took more than 0.01 s" in score.says


def test_what_trainers_call() -> None:
    messages = [{"role": "assistant", "content": [{"type": "text", "text": lines(GOOD)}]}]
    batch = trl_reward()(
        prompts=["p", "p"], completions=[lines(HALF), messages], domain=[DOMAIN] * 2,
        problem=[PROBLEM] * 2, best=[4, None], trainer_state=None,
    )  # fmt: skip
    assert batch[0] < MISSED < batch[1] == 1
    info = {"domain": DOMAIN, "problem": PROBLEM, "best": 4}
    assert verifiers_reward()(completion=messages, info=info, state={}) == 1
    assert text_of([]) == ""
    with pytest.raises(UsageError, match="info has no 'problem'"):
        verifiers_reward()(completion="", info={"domain": DOMAIN})


def test_mistakes_of_the_data_are_not_hidden() -> None:
    rewards = PlanRewards()
    with pytest.raises(UsageError, match="expected 2 problems, one per completion, found 1"):
        rewards.scores(["", ""], domain=DOMAIN, problem=[PROBLEM])
    with pytest.raises(UsageError, match="cannot be used"):
        rewards.scores([""], domain="(define (domain d)", problem=PROBLEM)


@pytest.mark.parametrize(
    ("goal", "share"),
    [
        ("(lit a)", 0.0),
        ("(not (dark))", 0.0),
        ("(exists (?l) (and (lit ?l) (dark)))", 0.0),
        ("(and (dark) (exists (?l) (lit ?l)))", 0.5),
    ],
)
def test_the_share_of_a_missed_goal_counts_its_conditions(goal: str, share: float) -> None:
    domain = """(define (domain lamps) (:requirements :adl) (:predicates (lit ?l) (dark))
     (:action wait :parameters () :effect (dark)))"""
    problem = f"(define (problem p) (:domain lamps) (:objects a b) (:init (dark)) (:goal {goal}))"
    (score,) = PlanRewards().scores(["(wait)"], domain=domain, problem=problem)
    assert (score.valid, score.goals) == (False, share)
