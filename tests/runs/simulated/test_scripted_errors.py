"""Errors of the simulated model: each kind has its effect, at its rate."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.policies.llm.answers import read_actions, read_conditions, read_macro_plan, read_objects
from hvr.runs.simulated import ErrorModel, Scripted
from hvr.runs.simulated.step_errors import STEP_KINDS
from tests.runs.simulated.simulated_cases import (
    COFFEE,
    COFFEE_OBJECTS,
    DISTRACTORS,
    KINDS,
    coffee,
    only,
    request,
    scene,
    script,
)

TRUE = [(a.name, *a.args) for a in COFFEE.steps]
NAMES = [block.macro.name for block in COFFEE.blocks]
OBJECTS = COFFEE_OBJECTS + DISTRACTORS
LISTED = {line.split(" ")[0] for line in OBJECTS.splitlines()}


def plan(errors: ErrorModel, seed: int, objects: str = OBJECTS) -> list[tuple[str, ...]]:
    answer = coffee(errors, seed).answer(request("plan", objects=objects))
    return [(a.name, *a.args) for a in read_actions(answer.text).actions]


def rare(kind: str) -> ErrorModel:
    """Return errors of a kind, usually none or one in a plan of seven steps."""
    return only(kind, error=0.15)


def changes(kind: str) -> list[list[tuple[str, ...]]]:
    """Return plans with errors, over many seeds."""
    found = [plan(rare(kind), seed) for seed in range(120)]
    wrong = [steps for steps in found if steps != TRUE]
    assert 20 < len(wrong) < 119
    return wrong


def replaced(steps: list[tuple[str, ...]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    assert len(steps) == len(TRUE)
    return [(old, new) for old, new in zip(TRUE, steps, strict=True) if old != new]


@pytest.mark.slow
def test_dropped_steps_are_no_navigation() -> None:
    for steps in changes("dropped"):
        assert Counter(TRUE) - Counter(steps)
        assert not Counter(steps) - Counter(TRUE)
        assert [s for s in steps if s[0] == "navigate_to_obj"] == [TRUE[0], TRUE[2]]


@pytest.mark.slow
def test_missing_navigation_is_navigation_only() -> None:
    for steps in changes("missing_navigation"):
        lost = Counter(TRUE) - Counter(steps)
        assert lost
        assert {s[0] for s in lost} == {"navigate_to_obj"}


@pytest.mark.slow
def test_swapped_steps_are_the_same_steps_in_another_order() -> None:
    for steps in changes("swapped"):
        assert Counter(steps) == Counter(TRUE)
    one = next(s for s in changes("swapped") if len(replaced(s)) == 2)
    place = next(i for i, (a, b) in enumerate(zip(TRUE, one, strict=True)) if a != b)
    assert one[place : place + 2] == [TRUE[place + 1], TRUE[place]]


@pytest.mark.slow
def test_wrong_objects_are_listed_and_could_be_meant() -> None:
    seen = set()
    for steps in changes("wrong_object"):
        for old, new in replaced(steps):
            assert old[0] == new[0]
            (was, instead), *more = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
            assert not more
            assert instead in LISTED
            seen.add((old[0], was, instead))
    # Another mug for the mug, never a fork if there is one; a toaster for the coffee machine.
    assert ("pick_up", "mug-1", "mug-2") in seen
    assert ("toggle_on", "coffeemachine-1", "toaster-1") in seen
    assert not {x for x in seen if x[1:] == ("mug-1", "fork-1")}
    assert not {x for x in seen if x[0] == "put_on" and x[2] in {"fork-1", "mug-2"}} - {
        ("put_on", "mug-1", "mug-2")
    }


@pytest.mark.slow
def test_without_distractors_nothing_is_confused() -> None:
    errors = only("wrong_object", error=1.0)
    assert all(plan(errors, seed, COFFEE_OBJECTS) == TRUE for seed in range(20))
    # With one alternative object, the right one is picked half the time.
    right = total = 0
    for seed in range(200):
        steps = plan(errors, seed, OBJECTS)
        right += steps[1] == TRUE[1]
        total += 1
    assert 0.38 < right / total < 0.62


@pytest.mark.slow
def test_more_distractors_make_more_confusions() -> None:
    errors = only("wrong_object", error=0.5)
    many = OBJECTS + "".join(f"\nmug-{n} (Mug): can be picked up" for n in range(3, 30))
    few_wrong = sum(plan(errors, seed)[1] != TRUE[1] for seed in range(200))
    many_wrong = sum(plan(errors, seed, many)[1] != TRUE[1] for seed in range(200))
    assert many_wrong > few_wrong + 20


@pytest.mark.slow
def test_hallucinated_objects_are_not_listed() -> None:
    seen = set()
    for steps in changes("hallucinated_object"):
        for old, new in replaced(steps):
            assert old[0] == new[0]
            assert len(set(new) - LISTED - {new[0]}) == 1
            seen |= set(new) - LISTED - {new[0]}
    assert any(name.startswith("mug-") for name in seen)
    assert any(not name.startswith(("mug-", "coffeemachine-")) for name in seen)


@pytest.mark.slow
def test_hallucinated_actions_do_not_exist() -> None:
    known = set(scene("T2")[2].domain.actions)
    for steps in changes("hallucinated_action"):
        for old, new in replaced(steps):
            assert new[0] not in known
            assert new[1:] == old[1:2]


@pytest.mark.slow
def test_superfluous_steps_leave_the_others() -> None:
    for steps in changes("superfluous"):
        assert len(steps) > len(TRUE)
        codes = SequenceMatcher(None, TRUE, steps, autojunk=False).get_opcodes()
        assert {code[0] for code in codes} == {"equal", "insert"}


def test_macro_actions_change_places() -> None:
    errors = only("macro_swapped", error=0.3)
    answers = [
        read_macro_plan(coffee(errors, s).answer(request("macro_plan")).text) for s in range(100)
    ]
    assert all(sorted(names) == sorted(NAMES) for names in answers)
    assert 0.35 < sum(list(names) != NAMES for names in answers) / 100 < 0.67


def test_macro_actions_are_dropped() -> None:
    errors = only("macro_dropped", error=0.3)
    answers = [
        read_macro_plan(coffee(errors, s).answer(request("macro_plan")).text) for s in range(200)
    ]
    assert all([n for n in NAMES if n in names] == list(names) for names in answers if names)
    assert 0.2 < 1 - sum(map(len, answers)) / 600 < 0.4


def conditions(errors: ErrorModel, seed: int) -> list[tuple[str, ...]]:
    macros = "\n".join(f"{i}. {name}" for i, name in enumerate(NAMES, start=1))
    asked = request("conditions", objects=OBJECTS, macros=macros)
    found = read_conditions(coffee(errors, seed).answer(asked).text, len(NAMES))
    return [
        tuple(x.text for x in side) for c in found for side in (c.precondition, c.postcondition)
    ]


def words(literal: str) -> list[str]:
    """Return the predicate and the arguments."""
    return literal.removeprefix("(not ").strip("()").split()


RIGHT = conditions(ErrorModel(error=0.0), 0)


def altered(kind: str) -> list[tuple[str, str]]:
    """Return pairs of original and replacing literals, over many seeds."""
    pairs: list[tuple[str, str]] = []
    for seed in range(80):
        for old, new in zip(RIGHT, conditions(only(kind, error=0.4), seed), strict=True):
            assert len(old) == len(new)
            pairs += [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert pairs
    return pairs


@pytest.mark.slow
def test_literals_are_dropped() -> None:
    found = [conditions(only("literal_dropped", error=0.4), seed) for seed in range(80)]
    for sides in found:
        assert all(set(new) <= set(old) for old, new in zip(RIGHT, sides, strict=True))
    kept = sum(len(side) for sides in found for side in sides) / 80
    assert 0.5 < kept / sum(map(len, RIGHT)) < 0.7


@pytest.mark.slow
def test_literals_are_negated() -> None:
    for old, new in altered("literal_negated"):
        assert new == (old[5:-1] if old.startswith("(not ") else f"(not {old})")


@pytest.mark.slow
def test_literals_have_wrong_objects() -> None:
    pairs = altered("literal_wrong_object")
    assert ("(holding mug-1)", "(holding mug-2)") in pairs
    for old, new in pairs:
        (predicate, *_), (other, *args) = words(old), words(new)
        assert old.startswith("(not ") == new.startswith("(not ")
        assert predicate == other
        assert set(args) <= LISTED | {"coffee", "cabinet-4"}


@pytest.mark.slow
def test_literals_have_unknown_predicates() -> None:
    known = scene("T2")[2].domain.predicates
    for old, new in altered("literal_unknown_predicate"):
        assert old.startswith("(not ") == new.startswith("(not ")
        assert words(old)[0] in known
        assert words(new)[0] not in known
        assert words(old)[1:] == words(new)[1:]


def test_classes_are_dropped_and_surplus() -> None:
    kinds = "CoffeeMachine, Fork, Mug, Pan, Toaster"
    needed = {"CoffeeMachine", "Mug"}
    dropped = surplus = 0
    for seed in range(200):
        model = coffee(only("class_dropped", error=0.3), seed)
        chosen = set(read_objects(model.answer(request("select", classes=kinds)).text))
        assert chosen - {"none"} <= needed
        dropped += len(needed - chosen)
        model = coffee(only("class_surplus", error=0.3), seed)
        chosen = set(read_objects(model.answer(request("select", classes=kinds)).text))
        assert needed <= chosen <= set(kinds.split(", "))
        surplus += len(chosen) > 2
    assert 0.2 < dropped / 400 < 0.4
    assert 0.35 < surplus / 200 < 0.67


# Rates --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.1, 0.3, 0.6])
def test_the_rate_of_errors_is_met(error: float) -> None:
    """Counts invalid actions; each replaces one step."""
    known = set(scene("T2")[2].domain.actions)
    wrong = total = 0
    for seed in range(300):
        steps = plan(only("hallucinated_action", error=error), seed)
        assert len(steps) == len(TRUE)
        wrong += sum(s[0] not in known for s in steps)
        total += len(steps)
    assert abs(wrong / total - error) < 0.05


@pytest.mark.slow
def test_shares_scale_the_rate() -> None:
    none = only("hallucinated_action", error=1.0, steps=0.0)
    assert plan(none, 0) == TRUE
    half = only("hallucinated_action", error=1.0, steps=0.5)
    found = [step for seed in range(100) for step in plan(half, seed)]
    known = set(scene("T2")[2].domain.actions)
    assert 0.42 < sum(s[0] not in known for s in found) / len(found) < 0.58


@pytest.mark.slow
def test_errors_may_grow_with_the_length_of_an_answer() -> None:
    known = set(scene("T2")[2].domain.actions)
    found = [plan(only("hallucinated_action", error=0.1, length=0.5), s) for s in range(300)]
    rates = [sum(steps[i][0] not in known for steps in found) / 300 for i in (0, 6)]
    assert 0.04 < rates[0] < 0.17
    assert 0.32 < rates[1] < 0.48  # 0.1 * (1 + 0.5 * 6)
    assert ErrorModel(error=0.5, length=10.0).rate(50) == 0.95
    assert ErrorModel(error=1.0, length=10.0).rate(50) == 1.0


def test_kinds_come_in_proportion_to_their_weights() -> None:
    from random import Random

    rng = Random(5)
    errors = only("dropped", "swapped", dropped=3.0)
    drawn = Counter(errors.kind(STEP_KINDS, rng) for _ in range(4000))
    assert set(drawn) == {"dropped", "swapped"}
    assert 0.72 < drawn["dropped"] / 4000 < 0.78
    assert only().kind(STEP_KINDS, rng) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_with_weight_nought_does_not_occur(kind: str) -> None:
    """Without any kind, an error rate of 1 changes nothing."""
    errors = only(kind, error=1.0, **{kind: 0.0})
    assert plan(errors, 1) == TRUE
    assert conditions(errors, 1) == RIGHT
    assert read_macro_plan(coffee(errors, 1).answer(request("macro_plan")).text) == tuple(NAMES)


@pytest.mark.slow
def test_a_higher_rate_keeps_the_errors_of_a_lower_one() -> None:
    known = set(scene("T2")[2].domain.actions)
    for seed in range(40):
        low, high = (plan(only("hallucinated_action", error=e), seed) for e in (0.2, 0.6))
        wrong = [{i for i, s in enumerate(x) if s[0] not in known} for x in (low, high)]
        assert wrong[0] <= wrong[1]


# Chat ---------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), task_id=st.sampled_from(["T2", "T3", "T9", "T11"]))
def test_chat_does_not_change_what_is_said(seed: int, task_id: str) -> None:
    objects = scene(task_id)[0]
    plain, chatty = (
        Scripted(script(task_id), ErrorModel(error=0.3, chatty=c), seed) for c in (0.0, 1.0)
    )
    names = [b.macro.name for b in script(task_id).blocks]
    macros = "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))
    for asked in (
        request("plan", objects=objects),
        request("block", objects=objects, macro=names[0]),
    ):
        one, other = (read_actions(m.answer(asked).text) for m in (plain, chatty))
        assert one.unread == other.unread == ()
        assert [(a.name, a.args) for a in one.actions] == [(a.name, a.args) for a in other.actions]
    asked = request("conditions", objects=objects, macros=macros)
    texts = [m.answer(asked).text for m in (plain, chatty)]
    assert read_conditions(texts[0], len(names)) == read_conditions(texts[1], len(names))
    texts = [m.answer(request("macro_plan")).text for m in (plain, chatty)]
    assert read_macro_plan(texts[0]) == read_macro_plan(texts[1])
    asked = request("select", classes=scene(task_id)[1])
    texts = [m.answer(asked).text for m in (plain, chatty)]
    assert read_objects(texts[0]) == read_objects(texts[1])


@pytest.mark.slow
def test_answers_are_chatty_as_often_as_set() -> None:
    answers = [
        coffee(ErrorModel(error=0.0, chatty=0.3), s).answer(request("plan")).text
        for s in range(300)
    ]
    assert 0.22 < sum(not a.startswith("Description:") for a in answers) / 300 < 0.38
    looks = {a.splitlines()[-2][:3] for a in answers}
    assert len(looks) > 3
