"""Conditions of macro actions: accepted ones, their check, and their correction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import PddlError
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.planning.plans import MacroAction
from hvr.policies.llm.answers import read_conditions
from hvr.policies.llm.conditions import (
    check_macros,
    describe_macros,
    literal,
    with_conditions,
    without_nearness,
)
from hvr.policies.llm.mapper import ActionSet, Mapper
from hvr.policies.llm.record import ConditionsWritten, MacroCheck, MacroPlanChecked, PolicyEvent
from tests.policies.llm.llm_worlds import Fake, answer_of, macro, predicted_scene, write

WORLD = predicted_scene()
TAKE = macro("Take the cup", "(hand_empty)", "(holding cup-1), (not (hand_empty))")
PUT = macro("Put it on the table", "(holding cup-1)",
            "(hand_empty), (not (holding cup-1)), (on cup-1 diningtable-1)")  # fmt: skip
OPEN = macro("Open the fridge", "(hand_empty), (not (opened fridge-1))", "(opened fridge-1)")


def check(*macros: MacroAction) -> MacroCheck:
    return check_macros(WORLD.task, WORLD.task.initial, macros)


def kept(answer: str, *names: str) -> tuple[list[tuple[tuple[str, ...], tuple[str, ...]]], str]:
    """Return the accepted conditions of an answer, and the notes about the others."""
    mapper = Mapper(ActionSet(WORLD.task), LexicalEmbedder(), tuple(WORLD.task.objects))
    written = read_conditions(answer, len(names))
    macros, dropped = with_conditions(names, written, mapper, WORLD.nearness)
    return [(m.precondition, m.postcondition) for m in macros], "\n".join(dropped)


# The check ----------------------------------------------------------------------------------


def test_a_macro_plan_whose_preconditions_hold_is_verified() -> None:
    assert check(TAKE, PUT, OPEN) == MacroCheck(3, 3)


def test_an_empty_macro_plan_and_one_without_conditions_are_verified() -> None:
    assert check() == MacroCheck(0, 0)
    assert check(macro("Cook"), macro("Serve")) == MacroCheck(2, 2)


def test_an_unmet_precondition_is_named_with_the_macro_action_that_changed_it() -> None:
    found = check(TAKE, macro("Wait"), OPEN)
    assert (found.verified, found.total) == (2, 3)
    assert "macro action 3 (Open the fridge)" in found.problem
    assert "(hand_empty)" in found.problem
    assert "by macro action 1" in found.problem
    assert "macro-1" not in found.problem


def test_all_that_is_wrong_is_told_at_once_as_if_what_cannot_follow_had_happened() -> None:
    found = check(PUT, TAKE, macro("Wait"), OPEN, TAKE)
    assert found.verified == 0
    first, second, third = found.problem.splitlines()
    assert first.startswith("macro action 1 (Put it on the table) cannot follow")
    assert second.startswith("macro action 4 (Open the fridge)") and "macro action 2" in second
    assert third.startswith("macro action 5 (Take the cup)")
    assert "macro-" not in found.problem


def test_a_prompt_is_told_of_a_few_macro_actions_that_cannot_follow() -> None:
    found = check(TAKE, *[OPEN] * 9)
    assert len(found.problem.splitlines()) == 5
    assert found == MacroCheck(1, 10, found.problem)


def test_a_precondition_that_nothing_changed_is_said_to_be_so() -> None:
    found = check(macro("Wait"), PUT)
    assert found.verified == 1
    assert "(holding cup-1)" in found.problem
    assert "no macro action before it changes that" in found.problem


def test_a_negative_precondition_is_checked_too() -> None:
    found = check(OPEN, OPEN)
    assert found.verified == 1
    assert "(opened fridge-1)" in found.problem


def test_facts_that_never_change_can_be_preconditions() -> None:
    assert check(macro("Open", "(openable fridge-1)")).verified == 1
    assert check(macro("Open", "(openable apple-1)")).verified == 0


@pytest.mark.slow
def test_the_state_is_that_which_is_given() -> None:
    after = predicted_scene()
    after.advance(())
    state = next(
        after.task.ground(a).apply(after.state.bits)
        for a in ActionSet(after.task).of("navigate_to_obj")
    )
    assert state != after.task.initial.bits
    assert check_macros(after.task, after.state, [TAKE]).verified == 1


def test_more_than_nine_macro_actions_are_told_apart() -> None:
    found = check(*[macro(f"Wait {i}") for i in range(10)], TAKE, OPEN)
    assert found.verified == 11
    assert "macro action 12 (Open the fridge)" in found.problem
    assert "by macro action 11" in found.problem


def test_contradictory_postcondition() -> None:
    found = check(TAKE, macro("Do magic", "", "(holding cup-1), (not (holding cup-1))"))
    assert found.verified == 1
    assert "Do magic" in found.problem
    assert "(holding cup-1)" in found.problem


def test_a_contradictory_precondition_cannot_hold() -> None:
    assert check(macro("Do magic", "(hand_empty), (not (hand_empty))")).verified == 0


LITERALS = ("(hand_empty)", "(holding cup-1)", "(opened fridge-1)", "(on cup-1 diningtable-1)")


@st.composite
def macros_(draw: st.DrawFn) -> list[tuple[dict[str, bool], dict[str, bool]]]:
    side = st.dictionaries(st.sampled_from(LITERALS), st.booleans(), max_size=3)
    return draw(st.lists(st.tuples(side, side), max_size=5))


@pytest.mark.slow
@settings(max_examples=30)
@given(macros_())
def test_it_is_verified_as_far_as_the_preconditions_hold_one_after_the_other(
    sides: list[tuple[dict[str, bool], dict[str, bool]]],
) -> None:
    def texts(side: dict[str, bool]) -> str:
        return ",".join(a if positive else f"(not {a})" for a, positive in side.items())

    now = {text: WORLD.task.initial.holds(literal(WORLD.task, text)) for text in LITERALS}
    verified = 0
    for before, after in sides:
        if any(now[atom] != positive for atom, positive in before.items()):
            break
        now |= after
        verified += 1
    found = check(*[macro(f"Do {i}", texts(b), texts(a)) for i, (b, a) in enumerate(sides)])
    assert (found.verified, found.total) == (verified, len(sides))
    assert bool(found.problem) == (verified < len(sides))


# Accepted conditions ------------------------------------------------------------------------


def test_what_the_prompt_shows_can_be_read_again() -> None:
    names = [TAKE.name, PUT.name, OPEN.name]
    found, dropped = kept(describe_macros([TAKE, PUT, OPEN]), *names)
    assert found == [(m.precondition, m.postcondition) for m in (TAKE, PUT, OPEN)]
    assert dropped == ""


def test_postconditions_that_no_action_changes_are_dropped_and_preconditions_are_not() -> None:
    (found,), dropped = kept(
        "1. Open\nPreconditions: (openable fridge-1)\n"
        "Postconditions: (openable fridge-1) (opened fridge-1)", "Open",
    )  # fmt: skip
    assert found == (("(openable fridge-1)",), ("(opened fridge-1)",))
    assert "(openable fridge-1)" in dropped


def test_nearness_is_dropped_on_both_sides() -> None:
    (found,), _ = kept(
        "1. Go\nPreconditions: (near cup-1) (hand_empty)\n"
        "Postconditions: (not (near cup-1)) (near fridge-1)", "Go",
    )  # fmt: skip
    assert found == (("(hand_empty)",), ())


@pytest.mark.parametrize(
    "wrong", ["(holding unicorn-7 cup-1)", "(flibbertigibbet cup-1)", "(or (holding cup-1) (cup))"]
)
def test_what_cannot_be_read_is_reported_and_the_rest_is_kept(wrong: str) -> None:
    (found,), dropped = kept(
        f"1. Take\nPreconditions: (hand_empty)\nPostconditions: {wrong} (holding cup-1)", "Take"
    )
    assert found == (("(hand_empty)",), ("(holding cup-1)",))
    assert wrong.strip("(").split()[0] in dropped


def test_a_literal_counts_once() -> None:
    (found,), _ = kept(
        "1. Take\nPreconditions: (hand_empty) (hand_empty)\nPostconditions: none", "Take"
    )
    assert found == (("(hand_empty)",), ())


def test_a_text_that_is_no_literal_is_a_pddl_error() -> None:
    with pytest.raises(PddlError):
        literal(WORLD.task, "(holding unicorn-1)")


# The correction -----------------------------------------------------------------------------

SELECT = "Cup, Fridge, DiningTable, CounterTop"
PLAN = "1. Take the cup\n2. Open the fridge"
WRONG = describe_macros([TAKE, OPEN])
RIGHT = describe_macros([TAKE, macro("Open the fridge", "(not (opened fridge-1))")])


def corrected(
    answers: list[str], first: str = WRONG
) -> tuple[Fake, list[PolicyEvent], MacroCheck, MacroCheck]:
    model = Fake({
        "select": SELECT, "macro_plan": PLAN, "conditions": first,
        "correct_conditions": answers, "block": "none", "correct_block": "none",
    })  # fmt: skip
    events: list[PolicyEvent] = []
    record = write(model, "HVR", listen=events.append)
    assert record.macro_before is not None and record.macro_after is not None
    return model, events, record.macro_before, record.macro_after


def test_conditions_that_never_get_right_are_corrected_five_times() -> None:
    model, events, before, after = corrected([WRONG])
    assert model.asked("conditions") == 1
    assert model.asked("correct_conditions") == 5
    assert before == after
    assert after.verified == 1
    attempts = [e.attempt for e in events if isinstance(e, MacroPlanChecked)]
    # The first block fixed the rest, which is checked a second time.
    assert attempts == [0, 1, 2, 3, 4, 5, 0]


@pytest.mark.slow
def test_after_a_block_the_conditions_of_the_rest_are_checked_where_it_ended() -> None:
    """The block unexpectedly ends with a cup in the hand."""
    take = answer_of("navigate_to_obj cup-1", "pick_up cup-1")
    wait = macro("Wait")
    model = Fake({
        "select": SELECT, "macro_plan": "1. Wait\n2. Open the fridge",
        "conditions": describe_macros([wait, OPEN]), "block": [take, "none"],
        "correct_block": "none",
        "correct_conditions": describe_macros([macro("Open the fridge", "", "(opened fridge-1)")]),
    })  # fmt: skip
    events: list[PolicyEvent] = []
    record = write(model, "HVR", listen=events.append)
    assert record.macro_before == record.macro_after == MacroCheck(2, 2)
    (prompt,) = model.prompts("correct_conditions")
    assert "1. Open the fridge" in prompt and "Wait" not in prompt
    assert "macro action 1 (Open the fridge) cannot follow: (hand_empty)" in prompt
    assert "cup-1 (Cup): held by the robot" in prompt
    checks = [e.check for e in events if isinstance(e, MacroPlanChecked)]
    assert [c.verified for c in checks] == [2, 0, 1]


@pytest.mark.parametrize("wrong", [0, 3])
def test_correction_stops_when_nothing_is_wrong_any_more(wrong: int) -> None:
    model, _, before, after = corrected([*[WRONG] * wrong, RIGHT])
    assert model.asked("correct_conditions") == wrong + 1
    assert (before.verified, before.total) == (1, 2)
    assert (after.verified, after.total, after.problem) == (2, 2, "")


def test_conditions_that_are_right_are_not_corrected() -> None:
    model, _, before, after = corrected([WRONG], first=RIGHT)
    assert model.asked("correct_conditions") == 0
    assert before == after == MacroCheck(2, 2)


def test_the_correction_is_told_the_conditions_and_what_is_wrong() -> None:
    model, _, before, _ = corrected([WRONG, RIGHT])
    for prompt in model.prompts("correct_conditions"):
        assert WRONG in prompt
        assert before.problem in prompt
    assert len(set(model.prompts("correct_conditions"))) == 2, "else a cache answers the same"


def test_a_correction_of_one_keeps_the_others() -> None:
    answer = "2. Open the fridge\nPreconditions: (not (opened fridge-1))\nPostconditions: none"
    _, events, _, _ = corrected([answer])
    last = [e for e in events if isinstance(e, ConditionsWritten)][-1].macros
    assert last[0].precondition == TAKE.precondition
    assert last[0].postcondition == TAKE.postcondition
    assert last[1].precondition == ("(not (opened fridge-1))",)


@pytest.mark.slow
def test_a_correction_that_says_nothing_verifies_nothing() -> None:
    _, _, _, after = corrected(["I am sorry, I cannot help with that."])
    assert after.verified == 1
    assert after.problem


def test_without_verification_no_conditions_are_asked_for() -> None:
    model = Fake({"select": SELECT, "macro_plan": PLAN, "block": "none"})
    record = write(model, "HR")
    assert record.macro_before is None and record.macro_after is None


def test_what_lasts_of_conditions_says_nothing_of_where_the_robot_stands() -> None:
    found = without_nearness(
        macro("Take it", "(near cup-1), (hand_empty)", "(holding cup-1), (not (near cup-1))"),
        WORLD.nearness,
    )
    assert found == macro("Take it", "(hand_empty)", "(holding cup-1)")
