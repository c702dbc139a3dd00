"""`hvr judge` as people and scripts call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Hvr
from tests.judging.test_symbolic import GRIPPER

PROBLEM = """(define (problem p) (:domain gripper) (:objects ball bag a b c)
(:init (at ball a) (at bag a) (robot a) (free)) (:goal (at ball b)))"""
GOOD = "(pick ball a)\n(move a b)\n(drop ball b)\n"
WORDY = "(pick bag a)\n(drop bag a)\n" + GOOD
TASK = ("--domain", "domain.pddl", "--problem", "problem.pddl")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"domain.pddl": GRIPPER, "problem.pddl": PROBLEM, "good.plan": GOOD,
             "wordy.plan": WORDY, "short.plan": "(pick ball a)\n"}  # fmt: skip
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("plan", "code", "word"),
    [("good", 0, "clean"), ("wordy", 1, "2 redundant"), ("short", 1, "2 missing")],
)
def test_the_exit_code_says_what_came_out(hvr_: Hvr, plan: str, code: int, word: str) -> None:
    result = hvr_("judge", f"{plan}.plan", *TASK)
    assert result.code == code
    assert word in result.out


def test_a_fixed_plan_is_clean(hvr_: Hvr) -> None:
    assert hvr_("judge", "wordy.plan", *TASK, "--fix", "fixed.plan").code == 1
    assert Path("fixed.plan").read_text(encoding="utf-8").startswith(GOOD)
    assert hvr_("judge", "fixed.plan", *TASK).code == 0
    assert hvr_("judge", "wordy.plan", *TASK, "--fix").out.startswith(GOOD)


def test_json_has_steps_reasons_and_evidence(hvr_: Hvr) -> None:
    document = json.loads(hvr_("judge", "wordy.plan", *TASK, "--json").out)
    assert document["outcome"] == "criticised"
    assert [c["step"] for c in document["critiques"]] == [1, 2]
    assert document["critiques"][0]["evidence"]


def test_sarif_points_at_the_steps(hvr_: Hvr) -> None:
    log = json.loads(hvr_("judge", "wordy.plan", *TASK, "--sarif").out)
    results = log["runs"][0]["results"]
    lines = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results]
    assert lines == [1, 2]


def test_the_page_has_the_verdict(hvr_: Hvr) -> None:
    hvr_("judge", "wordy.plan", *TASK, "--html", "page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    assert "REMOVE" in text and "(holds bag)" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("good.plan",),
        ("no.plan", *TASK),
        ("good.plan", *TASK, "--goal", "make coffee"),
        ("good.plan", *TASK, "--json", "--sarif"),
        ("good.plan", *TASK, "--html", "no/folder/page.html"),
    ],
)
def test_what_cannot_be_judged_is_said(hvr_: Hvr, arguments: tuple[str, ...]) -> None:
    result = hvr_("judge", *arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_the_fix_of_a_plan_with_times_keeps_them(hvr_: Hvr) -> None:
    Path("lamps.pddl").write_text(
        "(define (domain t) (:requirements :durative-actions) (:predicates (lit ?l) (power))"
        "(:durative-action on :parameters (?l) :duration (= ?duration 2)"
        " :condition (at start (power)) :effect (at end (lit ?l))))",
        encoding="utf-8",
    )
    Path("two.pddl").write_text(
        "(define (problem p) (:domain t) (:objects a b) (:init (power)) (:goal (lit a)))",
        encoding="utf-8",
    )
    Path("timed.plan").write_text("0: (on a) [2]\n3: (on b) [2]\n", encoding="utf-8")
    task = ("--domain", "lamps.pddl", "--problem", "two.pddl")
    assert hvr_("judge", "timed.plan", *task, "--fix", "fixed.plan").code == 1
    assert hvr_("judge", "fixed.plan", *task).code == 0


def test_plans_over_tools(hvr_: Hvr) -> None:
    plans = [
        {"id": "one", "task_nodes": [{"task": "a"}, {"task": "b"}, {"task": "c"}],
         "task_links": [{"source": "a", "target": "c"}, {"source": "d", "target": "c"}]},
        {"id": "two", "task_nodes": [{"task": "a"}]},
    ]  # fmt: skip
    Path("calls.jsonl").write_text("\n".join(map(json.dumps, plans)), encoding="utf-8")
    result = hvr_("judge", "calls.jsonl", "--fix", "fixed.jsonl")
    assert result.code == 1 and "plan one" in result.out and "plan two" in result.out
    first, _ = map(json.loads, Path("fixed.jsonl").read_text(encoding="utf-8").splitlines())
    assert [node["task"] for node in first["task_nodes"]] == ["a", "b", "d", "c"]
    assert hvr_("judge", "fixed.jsonl").code == 0
    for option in (("--goal", "make coffee"), ("--llm", "openai:m"), ("--graph", "graph.json")):
        refused = hvr_("judge", "calls.jsonl", *option)
        assert refused.code == 2 and option[0] in refused.err
    assert hvr_("judge", "good.plan", "--tools", "tools.json").code == 2
    Path("empty.json").write_text('{"id": 1}', encoding="utf-8")
    assert hvr_("judge", "empty.json").code == 2


@pytest.mark.slow
def test_a_kitchen_plan_is_judged_by_its_sentence(hvr_: Hvr) -> None:
    steps = [
        "(navigate_to_obj fridge-1)", "(open_obj fridge-1)", "(navigate_to_obj apple-1)",
        "(pick_up apple-1)", "(navigate_to_obj fridge-1)", "(navigate_to_obj fridge-1)",
        "(put_in apple-1 fridge-1)",
    ]  # fmt: skip
    Path("apple.plan").write_text("\n".join(steps), encoding="utf-8")
    result = hvr_("judge", "apple.plan", "--goal", "put the apple in the fridge", "--json")
    document = json.loads(result.out)
    assert result.code == 1
    said = [(c["kind"], c["actions"]) for c in document["critiques"]]
    assert said == [
        ("REMOVE", ["(navigate_to_obj fridge-1)"]),
        ("MISSING", ["(close_obj fridge-1)"]),
    ]
    unread = hvr_("judge", "apple.plan", "--goal", "frobnicate the apple")
    assert unread.code == 2 and "undecided" in unread.out
    Path("strange.plan").write_text("(navigate_to_obj mug-77)\n", encoding="utf-8")
    strange = hvr_("judge", "strange.plan", "--goal", "put the apple in the fridge")
    assert strange.code == 2 and "mug-77" in strange.out


def test_a_shorter_plan_with_other_steps_is_advice_and_no_finding(hvr_: Hvr) -> None:
    around = "(pick ball a)\n(move a c)\n(move c b)\n(drop ball b)\n"
    Path("around.plan").write_text(around, encoding="utf-8")
    result = hvr_("judge", "around.plan", *TASK, "--advise")
    assert result.code == 0 and "clean" in result.out
    assert "IMPROVE: 3 steps are enough, 1 fewer; instead of steps 2, 3:" in result.out
    shortest = json.loads(hvr_("judge", "good.plan", *TASK, "--advise", "--json").out)
    assert shortest["improvement"] is None


def test_a_json_plan_is_judged_against_a_problem(hvr_: Hvr) -> None:
    steps = ["(pick ball a)", ["move", "a", "b"], {"name": "drop", "args": ["ball", "b"]}]
    Path("plan.json").write_text(json.dumps({"plan": steps}), encoding="utf-8")
    assert hvr_("judge", "plan.json", *TASK).code == 0
    Path("plan.json").write_text(json.dumps([*steps, 5]), encoding="utf-8")
    refused = hvr_("judge", "plan.json", *TASK)
    assert refused.code == 2 and "step 4" in refused.err


def test_the_plan_in_an_answer_is_judged(hvr_: Hvr) -> None:
    plan = Path("good.plan").read_text(encoding="utf-8")
    Path("answer.md").write_text(f"I thought about it.\n```\n{plan}```\nDone.", encoding="utf-8")
    ended = hvr_("judge", "answer.md", *TASK)
    assert ended.code == 0
    assert "were read as a fenced plan; 2 other lines were ignored" in ended.err
    Path("two.md").write_text(f"{plan}\nBetter:\n{plan}{plan}", encoding="utf-8")
    refused = hvr_("judge", "two.md", *TASK)
    assert refused.code == 2 and "contains 2 plans" in refused.err


def test_a_file_without_a_step_says_so(hvr_: Hvr) -> None:
    Path("prose.plan").write_text("; Go to b with the ball.\n", encoding="utf-8")
    assert "has no steps" in hvr_("judge", "prose.plan", *TASK, "--lenient").err


def test_verdicts_are_data_to_learn_from(hvr_: Hvr) -> None:
    (line,) = hvr_("judge", "short.plan", *TASK, "--format", "jsonl").out.splitlines()
    document = json.loads(line)
    assert document["repaired"] == ["(pick ball a)", "(move a b)", "(drop ball b)"]
    assert document["proof"]["proven"] and document["proof"]["least"] == 2
    assert document["critique"][0]["kind"] == "MISSING" and document["request"] == "(at ball b)"


def test_a_dash_is_not_standard_input_where_a_file_is_needed(hvr_: Hvr) -> None:
    for command in (("judge", "-", *TASK), ("lint", "-"), ("validate", "-", "problem.pddl", "x")):
        ended = hvr_(*command)
        assert ended.code == 2
        assert "does not accept - for standard input" in ended.out + ended.err


def test_outputs_replace_no_input_except_a_repaired_plan(hvr_: Hvr) -> None:
    for option, file in [
        ("--html", "wordy.plan"),
        ("--html", "problem.pddl"),
        ("--fix", "domain.pddl"),
    ]:
        before = Path(file).read_text(encoding="utf-8")
        ended = hvr_("judge", "wordy.plan", *TASK, option, file)
        assert ended.code == 2
        assert "would overwrite" in ended.err
        assert Path(file).read_text(encoding="utf-8") == before
    assert hvr_("judge", "wordy.plan", *TASK, "--fix", "wordy.plan").code == 1
    assert Path("wordy.plan").read_text(encoding="utf-8").startswith(GOOD)
