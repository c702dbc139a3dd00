"""Reading and printing of plan files."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError, PddlSyntaxError
from hvr.pddl import GroundAction, TimedAction, parse_plan, plan_from_json, print_plan, read_plan
from hvr.pddl.plan import plain_plan
from hvr.pddl.reader import SourceText

PLAN = (GroundAction("pick", ("b1", "left")), GroundAction("move"))


@pytest.mark.parametrize(
    "text",
    [
        "(pick b1 left)\n(move)\n",
        "(pick b1 left)(move)",
        "( PICK\tB1  left )\r\n\r\n(move )",
        "; a plan\n(pick b1 left) ; first\n(move)\n; cost = 2 (unit cost)\n",
        "0: (pick b1 left)\n1: (move)",
        "1. (pick b1 left)\n2. (move)",
        "0.000: (pick b1 left) [1.000]\n1.001: (move) [ 1 ]",
        "(pick b1 left) [3]\n(move) [0.5]",
        "2: (move)\n1: (pick b1 left)",
        "\ufeff(pick b1 left)\n(move)",
    ],
)
def test_layouts(text: str) -> None:
    assert parse_plan(text) == PLAN


def test_steps_know_where_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    path.write_text("; x\n(pick b1 left)\n  (move)\n")
    steps = parse_plan(path)
    assert [str(s.location) for s in steps] == [f"{path}:2:1", f"{path}:3:3"]
    assert parse_plan("(move)", file="answer")[0].location != steps[1].location
    assert parse_plan("(move)") == steps[1:]


@pytest.mark.parametrize("text", ["", " \r\n\t", "; only a comment"])
def test_a_text_of_nothing_is_the_empty_plan(text: str) -> None:
    assert parse_plan(text) == ()


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("Here is the plan:\n(move)", "1:1", "'here' is not part of a plan"),
        ("(move)\nThat is all.", "2:1", "'that' is not part of a plan"),
        ("move", "1:1", "not part of a plan"),
        ("pick(b1 left)", "1:6", "not separated by commas"),
        ("pick(b1,, left)", "1:8", "not separated by single commas"),
        ("pick(b1, left", "1:1", "not part of a plan"),
        ("(pick ?b)", "1:7", "is not allowed in a step"),
        ("(pick (b1))", "1:7", "a list inside a step"),
        ("()", "1:1", "an empty step"),
        ("(move", "1:6", "the text ends"),
        ("(move))", "1:7", "too many"),
        ("(move)\0", "1:7", "NUL"),
        ("1 (move)", "1:1", "not a step number"),
        ("1: 2: (move)", "1:1", "not followed by a step"),
        ("1:", "1:1", "not followed by a step"),
        ("1/0: (move)", "1:1", "divides by zero"),
        ("(move) [1/0]", "1:9", "divides by zero"),
        ("1" * 5000 + ": (move)", "1:1", "digits"),
        ("[1] (move)", "1:1", "follows no step"),
        ("(move) [cheap]", "1:8", "not the duration or cost"),
        ("(move) [1", "1:8", "not the duration or cost"),
        ("1: (move)\n(stay)", "2:1", "has no number"),
        ('[{"action": "move"', "1:19", "not JSON"),
        ('[{"action": 1}]', "1:1", "no action name"),
        ('[{"action": ' + "1" * 5000 + "}]", "1:1", ""),
    ],
)
def test_what_is_not_a_plan(text: str, place: str, words: str) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        parse_plan(text)
    assert str(caught.value).startswith(f"<plan>:{place}: ")
    assert words in str(caught.value)


def test_steps_at_the_same_time_are_no_sequence() -> None:
    text = "1: (move)\n1.0: (stay)"
    with pytest.raises(PddlSyntaxError, match=r"<plan>:2:6: .* steps at the same time"):
        parse_plan(text)
    assert len(read_plan(text).steps) == 2


@pytest.mark.parametrize(
    ("text", "notation", "warnings"),
    [
        ("pick(b1, left)\nmove()", "call", []),
        ("1. pick( B1 , Left ) ; first\n2. move()", "call", []),
        ("(pick b1, left)\n(move)", "pddl", ["commas between arguments"]),
        ("```pddl\n(pick b1 left)\n(move)\n```", "pddl", ["a code fence", "a code fence"]),
        ('[{"action": "pick", "args": ["b1", "left"]}, {"action": "move"}]', "json", []),
        ('{"blocks": [{"actions": [{"action": "pick", "args": ["b1", "left"]}]},'
         ' {"actions": [{"action": "move"}]}]}', "json", []),
    ],
)  # fmt: skip
def test_other_notations(text: str, notation: str, warnings: list[str]) -> None:
    plan = read_plan(text)
    assert plan.notation == notation
    assert [w.message for w in plan.warnings] == warnings
    assert tuple(s.action if isinstance(s, TimedAction) else s for s in plan.steps) == PLAN


def test_times_and_durations_are_exact() -> None:
    (first, second, third) = read_plan("0.1: (move) [1/3]\n-2.50: (stay)\n7: (go) [.5]").steps
    assert first == TimedAction(GroundAction("move"), Fraction(1, 10), Fraction(1, 3))
    assert second == TimedAction(GroundAction("stay"), Fraction(-5, 2))
    assert third == TimedAction(GroundAction("go"), Fraction(7), Fraction(1, 2))
    assert print_plan([first, second]).startswith("0.1: (move) [1/3]\n-2.5: (stay)\n")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataFileError):
        parse_plan(tmp_path / "none.plan")


def test_printing() -> None:
    assert print_plan(PLAN) == "(pick b1 left)\n(move)\n; cost = 2 (unit cost)\n"
    assert print_plan(PLAN, 7.5).endswith("; cost = 7.5 (general cost)\n")
    assert print_plan(()) == "; cost = 0 (unit cost)\n"


@pytest.mark.parametrize(
    "data",
    [
        None,
        "(move)",
        {"action": "move"},
        ["(move) (move)"],
        [{"action": 1}],
        [{"action": ""}],
        [{"args": []}],
        [{"action": "move", "args": "a"}],
        [{"action": "move", "args": [1]}],
        [{"action": "move", "args": ["a b"]}],
        [{"action": "mo(ve"}],
        [{"action": "move", "why": "because"}],
    ],
)
def test_what_is_not_a_json_plan(data: Any) -> None:
    with pytest.raises(PddlSyntaxError, match="JSON plan"):
        plan_from_json(data)


@given(
    st.lists(
        st.sampled_from(
            [{"action": "a", "args": ["x", "y"]}, "(b x)", {"name": "(c x)"}, {"name": "d"}]
        )
    ),
    st.sampled_from(["{}", '{{"plan": {}}}', '{{"x": [1, {{}}],\n "result": {{"plan": {}}}}}']),
    st.sampled_from([None, 1]),
)
def test_steps_of_json_know_their_places(items: list[Any], around: str, indent: int | None) -> None:
    text = around.format(json.dumps([f"@{i}" for i in range(len(items))], indent=indent))
    places = [text.index(f'"@{i}"') for i in range(len(items))]
    lines = [text.count("\n", 0, place) + 1 for place in places]
    for i, item in enumerate(items):
        text = text.replace(f'"@{i}"', json.dumps(item))
    if not items:
        return
    steps = read_plan(text).steps
    found = [step.location for step in steps if isinstance(step, GroundAction)]
    assert [place.line for place in found if place] == lines
    assert found[0] is not None
    assert found[0].column == places[0] - text.rfind("\n", 0, places[0])


SOME = {
    "timed": ("0:", "1: ", "2 :", "2.5:", "3.05 :", "(a)", "(B c)", "[1]", "[1.5]", "; x\n", "("),
    "calls": ("a(b, c)", "B( c )", "d()", "a(b c)", "; x\n", "\n", "e(f,)", "(a)", "a(;d\n b)"),
    "plain": ("(a)", "(B c)", "; x\n", "\n", "(a ;d\n b)", "()", "a"),
    "json": ('"(a)"', ' "(B  c)"', '"b c"', '"(a) (b)"', "1", '"(\u0061)"', '{"action": "a"}'),
}


@given(st.sampled_from(sorted(SOME)).flatmap(lambda k: st.tuples(st.just(k), st.lists(
    st.sampled_from(SOME[k]), max_size=8))))  # fmt: skip
def test_plain_plans_are_read_as_the_reader_reads_them(given_: tuple[str, list[str]]) -> None:
    kind, pieces = given_
    text = f"[{', '.join(pieces)}]" if kind == "json" else " ".join(pieces)
    quick = plain_plan(SourceText(text, "<plan>"), Fraction(1, 100))
    if quick is None:
        return
    plan = read_plan(text)
    starts = [step.start for step in plan.steps if isinstance(step, TimedAction)]
    assert sorted(set(starts)) == starts and len(starts) in (0, len(plan.steps))
    steps = [step.action if isinstance(step, TimedAction) else step for step in plan.steps]
    assert [str(step) for step in steps] == [f"({' '.join(s.split())})" for s in quick.steps]
    assert quick.calls == (plan.notation == "call")
    for number, step in enumerate(steps, 1):
        assert quick.read(number) == step and quick.read(number).location == step.location


def test_most_plans_are_plain() -> None:
    for text in ("(a b)\n(c)", "0.001: (a b) [1]\n0.02: (c)", "a(b)\nc()", '["(a b)", "(c)"]'):
        quick = plain_plan(SourceText(text, "<plan>"), Fraction(1, 1000))
        assert quick is not None and [s.split() for s in quick.steps] == [["a", "b"], ["c"]]
    assert plain_plan(SourceText("0.001: (a) 0.002: (b)", "<plan>"), Fraction(1, 1000)) is None


def test_json_without_args() -> None:
    assert plan_from_json([{"action": "Move"}]) == (GroundAction("move"),)


@pytest.mark.parametrize(
    "text", ["a(room-1, room-2)\n" * 9, '["(a room-1 room-2)", "(a room-1 room-2)"]']
)
def test_steps_share_the_names_that_they_are_read_with(text: str) -> None:
    first, *_, last = parse_plan(text)
    assert first == last
    assert all(one is two for one, two in zip(first.args, last.args, strict=True))


def test_a_name_of_very_many_digits_is_no_number_of_a_step() -> None:
    quick = plain_plan(SourceText(f"1: (go a{'0' * 200_000})\n2: (b)", "<plan>"), Fraction(1, 10))
    assert quick is not None and quick.steps == [f"go a{'0' * 200_000}", "b"]


TIMED = "0.5: (load t) [2]\n3: (drive t a) [1.25]"


@pytest.mark.parametrize(
    "text",
    [
        '["0.5: (load t) [2]", "3: (drive t a) [1.25]"]',
        '[{"time": 0.5, "action": "load", "args": ["t"], "duration": 2},'
        ' {"time": 3, "action": "drive", "args": ["t", "a"], "duration": 1.25}]',
        '{"steps": [{"time": 0.5, "duration": 2, "action": "(load t)"},'
        ' {"time": "3", "duration": "1.25", "action": "(drive t a)"}]}',
        '{"plan": [{"start_time": 0.5, "name": "load", "parameters": ["t"], "duration": 2.0},'
        ' {"start_time": 3.0, "name": "drive", "parameters": ["t", "a"], "duration": 1.25}]}',
        json.dumps({"plan": TIMED}),
    ],
)
def test_times_and_durations_of_json_plans_are_read(text: str) -> None:
    assert read_plan(text).steps == read_plan(TIMED).steps


def test_a_json_plan_without_times_may_have_durations() -> None:
    (step,) = read_plan('[{"action": "load", "args": ["t"], "duration": 2}]').steps
    assert step == GroundAction("load", ("t",))
    (step,) = read_plan('[{"action": "(load t)", "duration": 2}]').steps
    assert step == GroundAction("load", ("t",))


@pytest.mark.parametrize(
    "text",
    [
        '[{"time": 0, "action": "a"}, {"action": "a"}]',
        '[{"time": "soon", "action": "a"}]',
        '[{"time": 1e999, "action": "a"}]',
        '[{"time": true, "action": "a"}]',
        '[{"time": 0, "action": "1: (a)"}]',
        '["0: (a)", "(a)"]',
    ],
)
def test_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(PddlSyntaxError):
        read_plan(text)


@pytest.mark.parametrize(
    "data",
    [
        {"plan": ["(a)"], "more": ["(b)"]},
        {"plan": ["(a)"], "then": [{"action": "b"}]},
        {"plan": ["(a)"], "also": "then\n(b)\n"},
        {"result": {"plan": ["(a)"], "output": "(b)\n"}},
        {"result": {"plan": ["(a)"]}, "plan": ["(b)"]},
        {"blocks": [{"actions": ["(a)"]}], "actions": ["(b)"]},
        {"blocks": [{"actions": ["(a)"], "more": ["(b)"]}]},
        [{"name": "(a)", "then": ["(b)"]}],
        [{"name": "(a)", "action": "(b)"}],
    ],
)
def test_a_json_plan_with_steps_elsewhere_is_refused(data: object) -> None:
    with pytest.raises(PddlSyntaxError, match=r"in addition to a complete step|different steps in"):
        read_plan(json.dumps(data))


@pytest.mark.parametrize(
    "data",
    [
        {"plan": ["(a)"], "goal": ["(on a b)"], "cost": 1, "note": "it (really) works"},
        {"plan": ["(a)"], "actions_text": "(a)\n; cost = 1\n"},
        {"blocks": [{"macro": {"name": "m", "precondition": ["(p)"]}, "actions": ["(a)"]}]},
        [{"name": "(a)", "action": "(:action a)"}],
        [{"name": "(a)", "time": 0}],
    ],
)
def test_what_else_json_plans_say_is_no_step(data: object) -> None:
    assert [str(step).split(": ")[-1] for step in read_plan(json.dumps(data)).steps] == ["(a)"]
