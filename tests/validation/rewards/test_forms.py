"""A correct plan scores 1.0 in any format, and a wrong one never does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hvr.pddl import parse_domain, parse_plan, parse_problem
from hvr.validation import Validator
from hvr.validation.rewards import PlanRewards
from tests.validation.rewards.forms import FORMS, PROSE

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = """(define (domain blocks)
 (:predicates (on ?a ?b) (ontable ?a) (clear ?a) (handempty) (holding ?a))
 (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
  :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
 (:action put-down :parameters (?x) :precondition (holding ?x)
  :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
 (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
  :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
 (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
  :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))"""
TASK = """(define (problem p) (:domain blocks) (:objects a b c)
 (:init (handempty) (ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c))
 (:goal (and (on c a) (on a b))))"""
PLAN = ("(pick-up a)", "(stack a b)", "(pick-up c)", "(stack c a)")


def worth(answer: str) -> tuple[float, str]:
    (score,) = PlanRewards().scores([answer], domain=BLOCKS, problem=TASK)
    return score.reward, score.says


@pytest.mark.parametrize("form", FORMS)
def test_a_right_plan_has_the_whole_reward_in_every_form(form: str) -> None:
    assert worth(FORMS[form](PLAN)) == (1.0, "")
    assert worth(FORMS[form]((*PLAN[:-1], "(stack c b)")))[0] < 1


def changed(rng: random.Random) -> list[str]:
    """Return the plan with a step dropped, doubled, swapped or on another object."""
    steps, at = list(PLAN), rng.randrange(len(PLAN))
    match rng.randrange(4):
        case 0:
            del steps[at]
        case 1:
            steps.insert(at, steps[at])
        case 2:
            steps[at], steps[at - 1] = steps[at - 1], steps[at]
        case _:
            name, *args = steps[at][1:-1].split()
            args[-1] = rng.choice([o for o in "abc" if o != args[-1]])
            steps[at] = f"({' '.join([name, *args])})"
    return steps


DRAFTS = {
    "a fence for each step": ("\n".join(f"Then\n```\n{step}\n```" for step in PLAN), 1.0),
    "words between the steps": ("\n".join(f"Now {i}:\n{step}" for i, step in enumerate(PLAN)), 1.0),
    "a draft before": ("(pick-up c)\n(stack c a)\nNo, better:\n" + "\n".join(PLAN), 1.0),
    "a worse plan behind": ("\n".join(PLAN) + "\nNo, better:\n(pick-up c)\n(stack c a)", 0.425),
    "an unknown action behind": ("\n".join(PLAN) + "\n\n(fly c a)", 0.44),
    "a sentence in parentheses behind": ("\n".join(PLAN) + "\n\n(This moves c to a)", 1.0),
    "a sentence that begins with an action": ("Stack a on b first.\n" + "\n".join(PLAN), 1.0),
    "facts before": ("Goal:\n(on c a)\n(on a b)\n\n" + "\n".join(PLAN), 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAFTS)
def test_several_plans_in_an_answer(name: str) -> None:
    answer, reward = DRAFTS[name]
    assert worth(answer)[0] == pytest.approx(reward)


def test_a_line_that_cannot_be_read_is_the_reason() -> None:
    reward, says = worth("\n".join(PLAN) + "\n(stack c a))")
    assert reward == 0
    assert "this line may be a step but cannot be parsed: (stack c a))" in says


@pytest.mark.slow
def test_answers_with_right_and_wrong_plans_in_prose() -> None:
    """Combine every format and prose: 200 answers with the right plan and 200 with a wrong one."""
    domain = parse_domain(BLOCKS)
    validator = Validator(domain, parse_problem(TASK, domain))
    rng = random.Random(38)
    lost, won = [], []
    for form, write in FORMS.items():
        for prose in PROSE:
            step = rng.choice(PLAN)
            right = prose.format(plan=write(PLAN), step=step)
            reward, says = worth(right)
            if reward < 1:
                lost.append((form, prose, reward, says))
            steps = changed(rng)
            assert not validator.check(parse_plan("\n".join(steps))).valid
            wrong = prose.format(plan=write(steps), step=step)
            if worth(wrong)[0] == 1:
                won.append((form, prose, steps))
    assert len(FORMS) * len(PROSE) == 200
    assert not lost
    assert not won


@pytest.mark.parametrize(
    "data",
    [
        '["c", "a", "b"]',
        '[["c", "a"], ["a", "b"]]',
        '["(on c a)", "(on a b)"]',
        '[["on", "c", "a"]]',
    ],
)
def test_json_that_lists_objects_or_facts_is_no_plan(data: str) -> None:
    plan = "\n".join(PLAN)
    for answer in (
        f"{plan}\nThe tower: {data}",
        f"{plan}\n```json\n{data}\n```",
        f"{data}\n{plan}",
    ):
        assert worth(answer) == (1.0, "")
    assert worth(data)[0] == 0


def test_json_with_an_unknown_action_is_a_plan() -> None:
    assert 0 < worth('[{"action": "fly", "args": ["c", "a"]}]')[0] < 1


def test_json_steps_may_be_lists_of_names() -> None:
    steps = [step.strip("()").split() for step in PLAN]
    assert worth(json.dumps({"plan": steps})) == (1.0, "")
    assert worth(json.dumps([{"action": s[0], "objects": s[1:]} for s in steps])) == (1.0, "")
