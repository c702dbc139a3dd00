"""Plans in any form that rewards accept are followed literally."""

from __future__ import annotations

import random

import pytest

from hvr.pddl import parse_domain, parse_plan, parse_problem
from hvr.policies.llm.answers import Actions, read_actions
from hvr.policies.llm.answers.plans import mark_actions, read_exact_actions, unmark_actions
from tests.validation.rewards.forms import FORMS, PROSE
from tests.validation.rewards.test_forms import BLOCKS, PLAN, TASK

DOMAIN = parse_domain(BLOCKS)
ARITIES = {action.name: len(action.parameters) for action in DOMAIN.actions.values()}
OBJECTS = {item.name for item in parse_problem(TASK, DOMAIN).objects}


def read(text: str) -> Actions:
    return read_exact_actions(text, ARITIES, tuple(DOMAIN.predicates), OBJECTS)


def calls(actions: Actions) -> list[tuple[str, tuple[str, ...]]]:
    return [(a.name.lower(), tuple(map(str.lower, a.args))) for a in actions.actions]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_in_every_prose(form: str) -> None:
    wanted = [(action.name, action.args) for action in parse_plan("\n".join(PLAN))]
    rng = random.Random(form)
    for prose in PROSE:
        assert calls(read(prose.format(plan=FORMS[form](PLAN), step=rng.choice(PLAN)))) == wanted


def test_what_was_ignored_is_said_where_the_form_is_unusual() -> None:
    text = "We begin.\nFirst " + ", then ".join(PLAN) + "."
    assert "lines were ignored" in read(text).note or "line was ignored" in read(text).note
    assert not read("\n".join(PLAN)).note


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing has to be done: (stack c a) is not needed.",
        "1. pick up the mug\n2. (stack a b)",  # names that need mapping
        "Actions:\n(pick-up c)\n(stack c a)\nCorrected actions:\n" + "\n".join(PLAN),
        "(pick-up a)\n(stack a b))",  # an unreadable line
        "(pick-up a b)\n(fly c)",
    ],
)
def test_else_the_reader_of_english_decides(text: str) -> None:
    names = mark_actions(text, ARITIES, OBJECTS)
    assert read(text) == unmark_actions(read_actions(names))
