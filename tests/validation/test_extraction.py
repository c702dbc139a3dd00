"""Extraction of plans from planner output and model answers."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Collection
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import PddlSyntaxError
from hvr.pddl import parse_plan, read_plan
from hvr.validation.batch import BatchOptions, ModelReader, judge
from hvr.validation.extraction import extract
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.findings import Judged

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = ROOT / "examples" / "blocks"
OUTPUTS = Path(__file__).parent / "planner_outputs"
PLAN = ("(pick-up a)", "(stack a b)", "(pick-up c)", "(stack c a)")
ACTIONS = ("pick-up", "put-down", "stack")
DOUBT = "this line may be a step but cannot be parsed"


def verdict(text: str, folder: Path, **options: object) -> Judged:
    file = folder / "answer.txt"
    file.write_text(text, encoding="utf-8")
    model = ModelReader(BatchOptions(**options)).read(
        str(BLOCKS / "domain.pddl"), str(BLOCKS / "problem.pddl")
    )
    return judge(model, str(file))


def taken(
    text: str,
    *,
    predicates: Collection[str] = (),
    objects: Collection[str] | None = None,
    **more: Any,
) -> tuple[str, ...] | None:
    known = KnownSymbols(ACTIONS, predicates, objects)
    plan = extract(text, "answer", known, **more)
    if plan is None:
        return None
    return tuple([str(getattr(step, "action", step)) for step in read_plan(plan.text).steps])


@pytest.mark.parametrize(
    ("file", "reader"),
    [
        ("fast-downward.log", "Fast Downward"),
        ("fast-downward-lama.log", "Fast Downward"),
        ("ff.log", "FF"),
        ("lpg.log", "LPG"),
        ("symk.log", "Fast Downward"),
        ("aries.log", "Aries"),
        ("unified-planning.log", "unified-planning"),
        ("unified-planning-shown.log", "unified-planning"),
        ("pyperplan.log", "unified-planning"),
        ("enhsp.log", "ENHSP"),
        ("optic.log", "OPTIC"),
        ("popf.log", "POPF"),
    ],
)
def test_what_planners_print(file: str, reader: str, tmp_path: Path) -> None:
    text = (OUTPUTS / file).read_text(encoding="utf-8")
    assert taken(text) == PLAN
    # OPTIC's steps are 0.001 apart, which counts as simultaneous by default.
    result = verdict(text, tmp_path, epsilon=Fraction("0.0001"))
    assert result.report.valid
    (note,) = (note for note in result.report.notes if "were read as" in note)
    assert reader in note
    assert re.search("other lines? w(as|ere) ignored", note)


def test_ff_says_that_the_empty_plan_is_one() -> None:
    text = (
        "ff: parsing domain file\n\nff: goal can be simplified to TRUE. The empty plan solves it\n"
    )
    assert taken(text) == ()
    assert taken(text.replace("TRUE. The empty plan solves", "FALSE. No plan will solve")) is None


@pytest.mark.parametrize(
    "file",
    [
        "lpg.SOL",
        "pyperplan.soln",
        "aries-shown.log",
        "planning-domains.json",
        "planning-domains-solve.json",
    ],
)
def test_what_planners_write(file: str, tmp_path: Path) -> None:
    result = verdict((OUTPUTS / file).read_text(encoding="utf-8"), tmp_path)
    assert result.report.valid
    assert not [note for note in result.report.notes if "ignored" in note]


def judged_output(file: str, **options: object) -> Judged:
    """Judge a planner's output for the task in its folder."""
    folder = (OUTPUTS / file).parent
    texts = str(folder / "domain.pddl"), str(folder / "problem.pddl")
    return judge(ModelReader(BatchOptions(**options)).read(*texts), str(OUTPUTS / file))


@pytest.mark.parametrize(
    "file", ["haul/tamer.log", "haul/tamer-shown.log", "carry/fmap.log", "errands/lama.log"]
)
def test_what_planners_print_for_other_tasks(file: str) -> None:
    report = judged_output(file, plan_number=0 if "lama" in file else None).report
    assert report.valid
    assert report.steps == {"haul": 5, "carry": 2, "errands": 12}[file.split("/")[0]]


@pytest.mark.parametrize(("file", "count"), [("lama", 3), ("symk", 4)])
def test_of_several_plans_the_best_is_named(file: str, count: int) -> None:
    result = judged_output(f"errands/{file}.log")
    assert result.rule == "HVR001"
    said = str(result.result.diagnostic)
    assert f"--plan-number 1 to {count}; --plan-number 0 is the last and the cheapest" in said
    best = judged_output(f"errands/{file}.log", plan_number=0)
    assert best.report.valid
    assert best.report.cost == 24


def test_the_best_plan_need_not_be_the_last() -> None:
    log = (OUTPUTS / "errands" / "lama.log").read_text(encoding="utf-8")
    with pytest.raises(PddlSyntaxError, match="--plan-number 2 is the cheapest"):
        extract(log.replace("Plan cost: 30", "Plan cost: 3"), "log", KnownSymbols())
    with pytest.raises(PddlSyntaxError, match=r"--plan-number 0 is the last$"):
        extract(log.replace("Plan cost: 30", ""), "log", KnownSymbols())


def test_plan_files_of_lpg_are_read_and_the_epsilon_that_they_need_is_named() -> None:
    report = judged_output("haul/lpg.SOL").report
    assert not report.valid
    assert report.steps == 5
    lpg, epsilon = report.notes
    assert "13:41: a ')' after the duration, as LPG-td prints it" in lpg
    assert epsilon.startswith("with --epsilon 0.0001 the plan is valid")
    report = judged_output("haul/lpg.SOL", epsilon=Fraction("0.0001")).report
    assert report.valid
    assert report.notes == (lpg,)
    # No epsilon is suggested if no smaller one makes the plan valid.
    assert not any("epsilon" in note for note in judged_output("haul/lpg.log").report.notes)


@pytest.mark.parametrize(
    "shown",
    [
        "SequentialPlan([])",
        "SequentialPlan([pick-up(a), stack(a, b), pick-up(c), stack(c, a)])",
        "TimeTriggeredPlan([(Fraction(0, 1), pick-up(a), None), (Fraction(3, 2), stack(a, b), "
        "Fraction(1, 1))])",
    ],
)
def test_plans_as_python_shows_them(shown: str) -> None:
    read = taken(f"{shown}\n")
    assert read is not None
    assert read == PLAN[: len(read)]
    assert len(read) == len(re.findall(r"[a-z]\([abc]", shown))
    with pytest.raises(PddlSyntaxError):
        taken(f"{shown[:-2]}, pick up a{shown[-2:]}\n")


@pytest.mark.parametrize(
    "text",
    [
        "PartialOrderPlan:\n  actions:\n    0) pick-up(a)\n  constraints:\n",
        "PartialOrderPlan({pick-up(a): [stack(a, b)], stack(a, b): []})",
        "PlanGenerationResult(status=1, plan=PartialOrderPlan({pick-up(a): []}))",
    ],
)
def test_partially_ordered_plans_are_no_sequences(text: str, tmp_path: Path) -> None:
    result = verdict(text, tmp_path, extract=True)
    assert result.rule == "HVR001"
    assert "SEQUENTIAL_PLAN" in str(result.result.diagnostic)


@pytest.mark.parametrize(
    "more",
    ["(stack c a)", "(fly c a))", "fly(c, a", "1. `(stack c a)`", "```\n(stack c a)\nso\n```"],
)
def test_steps_beside_a_plan_are_never_left_out(more: str) -> None:
    log = (OUTPUTS / "fast-downward.log").read_text(encoding="utf-8")
    fence = "```\n" + "\n".join(PLAN[:3]) + "\n```\n"
    loose = f"Do\n(pick-up a)\nand then\n{more}\n"
    for text in (f"{fence}\nAnd then:\n{more}\n", f"{more}\n{fence}", loose):
        with pytest.raises(PddlSyntaxError, match=rf"the text contains \d plans|{DOUBT}"):
            taken(text, unmarked=True)
    if "fly" not in more:
        with pytest.raises(PddlSyntaxError, match="2 plans"):
            taken(f"{log}\n{more}\n")


@pytest.mark.parametrize(
    ("line", "form"),
    [
        *product(("stack", "stack)", "- stack b c", "(\nstack\n)", "4. stack", ")"), ("{1}",)),
        *product(("6. flie", "6: Action: stack", "6 . stack"), ("{0}. {1}", "{0}: {1}")),
    ],
)
def test_a_line_that_may_be_a_step_is_never_left_out(line: str, form: str) -> None:
    """The plan is unmarked, and the other lines are steps."""
    steps = [form.format(i, step) for i, step in enumerate(PLAN)]
    assert taken("\n".join(steps), unmarked=True) == PLAN
    for lines in ([line, *steps], [*steps, line]):
        for text in ("\n".join(lines), "\n".join(["```", *lines, "```"])):
            with pytest.raises(PddlSyntaxError, match=DOUBT):
                taken(text, unmarked=True)


@pytest.mark.parametrize("more", ["(fly)", "(", " fly", "; C:", ", 1", "e"])
def test_nothing_in_the_brackets_of_a_step_is_left_out(more: str) -> None:
    steps = [f"{i}.000: {step} [1.0]" for i, step in enumerate(PLAN)]
    assert taken("\n".join(steps)) == PLAN
    for place, step in enumerate(steps):
        changed = [*steps[:place], step.replace("]", f"{more}]"), *steps[place + 1 :]]
        assert taken("\n".join(changed)) is None


def test_facts_and_the_plan_again_are_no_other_plan() -> None:
    again = "\n".join(f"{n}. {s}" for n, s in enumerate(PLAN, 1))
    text = f"The goal:\n(on c a)\n\n{FENCED}\n{again}\n"
    assert taken(text, unmarked=True, predicates=["on"]) == PLAN


def test_two_ways_of_printing_one_plan_are_one_plan() -> None:
    log = (OUTPUTS / "fast-downward.log").read_text(encoding="utf-8")
    shown = (OUTPUTS / "unified-planning-shown.log").read_text(encoding="utf-8")
    assert taken(log + shown) == PLAN
    with pytest.raises(PddlSyntaxError, match="2 plans"):
        taken(log + shown.replace("pick-up(c), ", ""))


def test_places_are_those_of_the_text(tmp_path: Path) -> None:
    text = (OUTPUTS / "fast-downward.log").read_text(encoding="utf-8").replace("k c a (", "k c c (")
    result = verdict(text, tmp_path)
    failure = result.report.failure
    assert failure is not None and failure.location is not None
    assert text.splitlines()[failure.location.line - 1] == "stack c c (1)"


WRITTEN = {
    "ff": "0: PICK-UP A\n1: STACK A B\n2: PICK-UP C\n3: STACK C A\n",
    "steps": "STEP 0: pick-up(a)\nSTEP 1: stack(a,b)\nSTEP 2: pick-up(c)\nSTEP 3: stack(c,a)\n",
    "bullets": "- (pick-up a)\n- (stack a b)\n- (pick-up c)\n- (stack c a)\n",
    "numbers": "1. (pick-up a)\n2. (stack a b)\n3. (pick-up c)\n4. (stack c a)\n",
    "json texts": json.dumps(PLAN),
    "json calls": '["pick-up(a)", "stack(a, b)", "pick-up c", "stack c a"]',
    "unified-planning": "[pick-up(a), stack(a, b), pick-up(c), stack(c, a)]",
    "unified-planning's plan": "SequentialPlan:\n    pick-up(a)\n    stack(a, b)\n    pick-up(c)\n"
    "    stack(c, a)\n",
    "names and parameters": json.dumps(
        {"plan": [{"name": s[1:-1].split()[0], "parameters": s[1:-1].split()[1:]} for s in PLAN]}
    ),
    "planning.domains": json.dumps(
        {"status": "ok", "result": {"plan": [
            {"name": s, "action": f"(:action {s} ...)"} for s in PLAN], "cost": 4}}
    ),
    "planning.domains, with its planner's output": json.dumps(
        {"status": "ok", "result": {"output": "Searching...", "parse_status": "ok", "plan": [
            {"name": s, "action": f"(:action {s} ...)"} for s in PLAN], "length": 4}}
    ),
    "planning.domains, newer": json.dumps(
        {"status": "ok", "result": {"output": {"sas_plan": "\n".join(PLAN) + "\n; cost = 4\n"}}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_notations_that_have_nothing_but_a_plan(text: str, tmp_path: Path) -> None:
    assert verdict(text, tmp_path).report.valid


FENCED = (
    f"Sure! First (pick-up a), then:\n\n```pddl\n{chr(10).join(PLAN)}\n```\nI hope this helps.\n"
)
ANSWERS = {
    "a fence": FENCED,
    "json in a fence": f"Here it is:\n```json\n{json.dumps(PLAN)}\n```\nDone.",
    "steps": "The plan is\n\n" + "\n".join(PLAN) + "\n\nThat is all.\n",
    "a list": "Plan:\n" + "\n".join(f"{n}. `{s}`" for n, s in enumerate(PLAN, 1)) + "\nDone.",
    "no parentheses": "\n".join(s[1:-1].upper() for s in PLAN),
    "bullets without parentheses": "\n".join(f"- **{s[1:-1]}**" for s in PLAN),
    "a fence without parentheses": "So:\n```\n" + "\n".join(s[1:-1] for s in PLAN) + "\n```\n",
    "headlines": "\n".join(f"Step {n}:\n{s}" for n, s in enumerate(PLAN, 1)),
    "the same twice": FENCED + "Again:\n```\n" + "\n".join(PLAN) + "\n```\n",
}


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_answers_of_models_when_asked(text: str, tmp_path: Path) -> None:
    assert taken(text, unmarked=True) == PLAN
    assert verdict(text, tmp_path, extract=True).report.valid


@pytest.mark.parametrize(
    "text", [FENCED, ANSWERS["steps"], ANSWERS["a list"], ANSWERS["no parentheses"]]
)
def test_answers_are_not_searched_unless_asked(text: str, tmp_path: Path) -> None:
    result = verdict(text, tmp_path)
    assert result.rule == "HVR001"
    plan = extract(text, "answer", KnownSymbols(ACTIONS), unmarked=True)
    assert plan is not None and f"{plan.place}; --extract reads it" in str(result.result.diagnostic)


def test_words_without_parentheses_are_steps_only_where_all_lines_begin_with_actions() -> None:
    assert taken("pick-up a\nand stack a b\n", unmarked=True) is None
    assert taken("pick-up a: take it\nstack a b\n", unmarked=True) is None


def test_standard_input_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelReader(BatchOptions()).read(
        str(BLOCKS / "domain.pddl"), str(BLOCKS / "problem.pddl")
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO(FENCED))
    assert judge(model, "-").report.valid


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (FENCED + "Or:\n```\n(pick-up c)\n```\n", ["lines 4 to 7", "line 12"]),
        ("(pick-up a)\n(stack a b)\nthen\n(pick-up c)\n", ["lines 1 to 2", "line 4"]),
    ],
)
def test_two_plans_are_an_error_that_names_both(
    text: str, places: list[str], tmp_path: Path
) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        taken(text, unmarked=True)
    assert all(place in str(caught.value) for place in places)
    result = verdict(text, tmp_path, extract=True)
    assert result.rule == "HVR001" and result.report.outcome.value == "unknown"


def test_steps_that_prose_mentions_are_ignored_and_the_report_says_so(tmp_path: Path) -> None:
    text = f"Do (stack a b) after this:\n{chr(10).join(PLAN)}\nHere (stack c a) ends it.\n"
    assert taken(text, unmarked=True, objects="abc") == PLAN
    with pytest.raises(PddlSyntaxError, match=DOUBT):
        taken(text, unmarked=True)
    report = verdict(text, tmp_path, extract=True).report
    assert report.valid
    (note,) = (note for note in report.notes if "were read as" in note)
    assert "2 other lines were ignored, which mention steps in lines 1, 6" in note


def test_one_of_several_may_be_chosen(tmp_path: Path) -> None:
    log = (OUTPUTS / "fast-downward.log").read_text(encoding="utf-8")
    worse = log.replace("stack c a (1)", "put-down c (1)")
    with pytest.raises(PddlSyntaxError, match="2 plans"):
        taken(worse + log)
    assert taken(worse + log, number=2) == taken(worse + log, number=0) == PLAN
    assert verdict(worse + log, tmp_path, plan_number=0).report.valid
    assert not verdict(worse + log, tmp_path, plan_number=1).report.valid
    with pytest.raises(PddlSyntaxError, match="no plan 3"):
        taken(worse + log, number=3)


@pytest.mark.parametrize(
    "text", ["", "prose\n", "; nothing", "[", "{}", "(a (b))", "Plan length: 3"]
)
def test_where_there_is_no_plan_none_is_found(text: str) -> None:
    assert taken(text, unmarked=True) is None


STEP = st.builds(lambda name, args: f"({' '.join((name, *args))})", st.sampled_from(ACTIONS),
                 st.lists(st.sampled_from("abc"), max_size=2))  # fmt: skip


@given(st.lists(STEP, min_size=1, max_size=5), st.sampled_from(["", "prose", "the end."]),
       st.sampled_from(["{}", "- {}", "`{}`", "  {},"]))  # fmt: skip
def test_what_is_written_is_read(steps: list[str], prose: str, form: str) -> None:
    text = "\n".join([prose, *map(form.format, steps), prose])
    assert taken(text, unmarked=True) == tuple(map(str, parse_plan("\n".join(steps))))


LINES = [
    "(a b)", "Plan length: 2 step(s).", "a b (1)", "```", "step 0: A", "1: B", "Found Plan:",
    "0.0: (a)", "prose (pick-up a)", "; Plan found with metric 2", "[", "{", '["(a)"]', "",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=12))
def test_no_text_is_an_unforeseen_error(lines: list[str]) -> None:
    try:
        plan = extract("\n".join(lines), "text", KnownSymbols(ACTIONS), unmarked=True)
        if plan is not None:
            read_plan(plan.text)
    except PddlSyntaxError:
        pass


def test_a_cost_of_very_many_digits_that_is_not_closed_is_read_once() -> None:
    short, long = (
        extract(f"(stack a b) [{'0' * digits}", "text", KnownSymbols(ACTIONS), unmarked=True)
        for digits in (2, 100_000)
    )
    assert short == long


TANK = """(define (domain tank)
  (:requirements :typing :fluents :time :negative-preconditions)
  (:predicates (on) (ready)) (:functions (level))
  (:action open-tap :parameters () :precondition (not (on)) :effect (on))
  (:action look :parameters () :precondition (on) :effect (ready))
  (:process fill :precondition (on) :effect (increase (level) (* #t 2))))
"""
TANK_PROBLEM = """(define (problem p) (:domain tank) (:init (= (level) 0))
  (:goal (and (ready) (>= (level) 10))))
"""
WAITING = """0: (open-tap)
0: -----waiting---- [2.0]
2.0: (look)
"""


def _filled(text: str, folder: Path, **options: object) -> Judged:
    for name, content in (("d.pddl", TANK), ("p.pddl", TANK_PROBLEM), ("plan", text)):
        (folder / name).write_text(content, encoding="utf-8")
    model = ModelReader(BatchOptions(values=True, **options)).read(
        str(folder / "d.pddl"), str(folder / "p.pddl")
    )
    return judge(model, str(folder / "plan"))


@pytest.mark.parametrize(
    "around", ["{}", "Problem Solved\n\nFound Plan:\n{}\nPlan-Length:5\n", "Here:\n```\n{}```\n"]
)
@pytest.mark.parametrize(
    ("last", "valid"),
    [
        ("", False),
        ("2.0: -----waiting---- [4.5]\n", False),
        ("2.0: -----waiting---- [5.0]\n", True),
        ("2.0: -----waiting---- [4.5]\n4.5: -----waiting---- [6.0]\n", True),
    ],
)
def test_plans_that_wait(around: str, last: str, valid: bool, tmp_path: Path) -> None:
    result = _filled(around.format(WAITING + last), tmp_path, extract=True)
    report = result.report
    assert report.valid == valid, report.explain()
    assert report.steps == 2
    assert any("waits until" in note for note in report.notes) == bool(last)
    assert (result.values is not None) and bool(result.values)


def test_a_plan_file_that_waits_needs_no_flag_and_until_goes_first(tmp_path: Path) -> None:
    text = WAITING + "2.0: -----waiting---- [5.0]\n"
    assert _filled(text, tmp_path).report.valid
    assert not _filled(text, tmp_path, until=Fraction(4)).report.valid


@pytest.mark.parametrize(("file", "waits"), [("enhsp.log", False), ("enhsp.plan", True)])
def test_a_plan_with_processes_goes_on_until_its_planner_ends_it(file: str, waits: bool) -> None:
    folder = OUTPUTS / "bath"
    model = ModelReader(BatchOptions(values=True)).read(
        str(folder / "domain.pddl"), str(folder / "problem.pddl")
    )
    judged = judge(model, str(folder / file))
    assert judged.report.valid
    assert any("waits until 12" in note for note in judged.report.notes) is waits


OPEN = """(define (domain boxes) (:requirements :strips :durative-actions)
 (:predicates (opened) (full)) (:action open :parameters () :effect (opened))
 (:action fill :parameters () :precondition (opened) :effect (full))
 (:durative-action unlock :parameters () :duration (= ?duration 5)
  :condition (over all (full)) :effect (at end (opened)))
 (:durative-action stow :parameters () :duration (= ?duration 2) :effect (at end (full))))"""
BOX = "(define (problem box) (:domain boxes) (:init {}) (:goal ({})))"


def outcome(text: str, folder: Path, goal: str = "full", init: str = "") -> str:
    for name, content in (("d", OPEN), ("p", BOX.format(init, goal)), ("answer", text)):
        (folder / name).write_text(content, encoding="utf-8")
    model = ModelReader(BatchOptions(extract=True)).read(str(folder / "d"), str(folder / "p"))
    return judge(model, str(folder / "answer")).report.outcome.value


@pytest.mark.parametrize(
    "form",
    [
        "{0}: (open)\n{1}: (fill)\n", "The plan:\n{0}: (open)\n{1}: (fill)\n",
        "```\n{0}: (open)\n{1}: (fill)\n```\n", "So:\n```\n{0}: (open)\n{1}: (fill)\n```\n",
        "{0}: open\n{1}: fill\n", "{0}. open\n{1}. fill\n", "#{0} (open)\n#{1} (fill)\n",
        "{0} - (open)\n{1} - (fill)\n", "[{0}] (open)\n[{1}] (fill)\n",
        "| {0} | (open) |\n| {1} | (fill) |\n", "at {0} (open)\nat {1} (fill)\n",
        "At time {0}: (open)\nAt time {1}: (fill)\n", "t={0}: (open)\nt={1}: (fill)\n",
        "1.0E{0}: (open)\n1.0E{1}: (fill)\n", "x\n1e-{1}: (open)\n1e-{0}: (fill)\n",
        "- {0}.5: (open)\n- {1}.5: (fill)\n", "x\n.{0}: (open)\n.{1}: (fill)\n",
    ],
)  # fmt: skip
def test_numbers_before_steps_are_never_ignored(form: str, tmp_path: Path) -> None:
    assert outcome(form.format(1, 2), tmp_path) == "valid"
    assert outcome(form.format(2, 1), tmp_path) != "valid"


@pytest.mark.parametrize(
    "text",
    [
        "0,5: (open)\n1,5: (fill)\n",
        "00:59: (open)\n01:00: (fill)\n",
        "step 0: OPEN\n     2: FILL\n",
        "step 0: OPEN\n     1: FILL\n     0: FILL\n",
    ],
)
def test_numbers_that_cannot_be_read_or_lack_one_are_no_plan(text: str, tmp_path: Path) -> None:
    assert outcome(text, tmp_path) == "unknown"


def test_numbers_of_robots_are_no_times(tmp_path: Path) -> None:
    text = "Robot 1: (open)\nRobot 2: (open)\nRobot 1: (fill)\n"
    assert outcome(text, tmp_path) == "valid"


@pytest.mark.parametrize("head", ["", "The plan:\n"])
@pytest.mark.parametrize("form", ["{}: {} [{}]", "{}.0: {} [{}.0]", "{}e0: {} [{}e0]",
                                  "**{}:** {} [{}]", "At time {}: {} [{}]"])  # fmt: skip
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_whole_numbers_before_steps_with_durations_are_times(
    head: str, form: str, fence: str, tmp_path: Path
) -> None:
    def text(*steps: tuple[int, str, int]) -> str:
        return head + fence + "".join(form.format(*step) + "\n" for step in steps) + fence

    stowed = (0, "(stow)", 2)
    assert outcome(text(stowed, (3, "(unlock)", 5)), tmp_path, "opened") == "valid"
    assert outcome(text(stowed, (1, "(unlock)", 5)), tmp_path, "opened") == "invalid"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(pick-up a)\n(stack a b)\n(pick-up", ["closed"]),
        ("(pick-up a)\n(stack a", ["closed"]),
        ("0: (pick-up a) [-2]\n", ["duration"]),
        ("(pick-up a)\0", ["NUL"]),
    ],
)
def test_broken_plans_are_not_called_several(text: str, words: list[str], tmp_path: Path) -> None:
    report = verdict(text, tmp_path).report
    assert report.outcome.value == "unknown"
    told = str(report.to_json())
    assert all(word in told for word in words)
    assert "several" not in told
