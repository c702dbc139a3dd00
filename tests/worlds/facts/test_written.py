"""Language models plan in any world: prompts, answers, corrections, outcomes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hvr.execution.facts.planning import StatePlanner
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.world_file import find_world
from hvr.pddl import Task, parse_domain, parse_plan, parse_problem
from hvr.planning.library import read_library
from hvr.policies.facts import GOAL_PROMPTS
from hvr.policies.llm.answers import read_actions
from hvr.policies.llm.answers.conditions import read_literals
from hvr.policies.llm.answers.plans import mark_actions, unmark_actions
from hvr.policies.llm.mapper import ActionSet, Mapper
from hvr.policies.llm.prediction import PredictedFacts, count_applicable, run_actions
from hvr.policies.llm.prompts import DEFAULT_PROMPTS, load_prompts
from hvr.validation import Validator
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import lexicon_for
from tests.conftest import Hvr
from tests.models.servers import OpenAIServer, Received, Reply
from tests.worlds.facts.small_worlds import ROOMS, TASK

TOWER = (
    "(unstack white yellow)", "(put-down white)", "(unstack green red)", "(stack green white)",
    "(unstack yellow blue)", "(put-down yellow)", "(pick-up blue)", "(stack blue green)",
    "(pick-up red)", "(stack red blue)",
)  # fmt: skip
MACROS = "1. Put green on white\n2. Free blue and put it on green\n3. Put red on blue"
CONDITIONS = """1. Put green on white
Preconditions: (clear green) (clear white)
Postconditions: (on green white)
2. Free blue and put it on green
Preconditions: (on green white)
Postconditions: (on blue green)
3. Put red on blue
Preconditions: (on blue green)
Postconditions: (on red blue)
"""


def blocks() -> WorldFolder:
    return WorldFolder(find_world("blocksworld"))


@pytest.fixture
def rooms_files(tmp_path: Path) -> tuple[Path, Path]:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(ROOMS)
    problem.write_text(TASK)
    return domain, problem


def builder(asked: Received) -> Reply:
    """A model that builds the tower; its first version of the second macro action omits a step."""
    text = asked.text
    if "Kinds of objects that there are" in text:
        return Reply("block")
    if "A validator has checked the actions" in text:
        return Reply("Actions:\n" + "\n".join(TOWER[4:8]))
    if "You divide a task" in text:
        return Reply(MACROS)
    if "Preconditions" in text:
        return Reply(CONDITIONS)
    first, second, third = TOWER[:4], (TOWER[4], *TOWER[6:8]), TOWER[8:]
    parts = [
        f"Macro action {number}:\n" + "\n".join(steps)
        for number, steps in enumerate((first, second, third), 1)
    ]
    return Reply("\n".join(parts))


@pytest.mark.slow
def test_a_model_behind_a_server_plans_is_corrected_and_judged(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    saved = tmp_path / "run"
    with OpenAIServer(builder) as server:
        ended = hvr_(
            "solve", "--world", "blocksworld", "--llm", "openai:m", "--base-url", server.url,
            "--setting", "HVR+-structured", "--save", saved,
        )  # fmt: skip
        asked = [request.text for request in server.received]
    assert ended.code == 0, ended.err
    assert "plan found: 10 steps, valid" in ended.out
    plan = (saved / "plan.pddl").read_text()
    assert [line for line in plan.splitlines() if line.startswith("(")] == list(TOWER)
    assert json.loads((saved / "planning.json").read_text())[0]["blocks"][1]["tries"] == 1
    assert (saved / "llm.jsonl").is_file()
    # Prompts are built from the world: its words, its actions with their conditions, its facts.
    (correction,) = [text for text in asked if "A validator has checked the actions" in text]
    assert "(pick-up, ?block): pick ?block up" in correction
    assert "cannot be done: (hand-empty)" in correction
    goal = "the goal as PDDL: (on red blue) (on blue green) (on green white)"
    assert any("You divide a task" in text and goal in text for text in asked)


def test_templates_for_any_world_know_no_kitchen() -> None:
    ontology = load_ontology()
    known = {name.lower() for name in ontology.object_types}
    every = {
        **load_prompts(world=DEFAULT_PROMPTS).by_name,
        **load_prompts(world=GOAL_PROMPTS).by_name,
    }
    assert {"goal", "correct_goal"} <= set(every)
    for name, prompt in every.items():
        said = set(re.findall(r"[a-z]+", prompt.source.decode().lower()))
        strange = said & known - {"box"}
        assert not strange, f"{name} speaks of {strange}"


@pytest.mark.parametrize("setting", ["HVR+", "HV", "VR"])
def test_a_simulated_model_with_errors_is_corrected(hvr_: Hvr, setting: str) -> None:
    ended = hvr_(
        "solve", "--world", "logistics", "--llm", "scripted:error=0.3", "--setting", setting,
        "--seed", 1, "--json",
    )  # fmt: skip
    if setting == "HVR+":
        assert ended.code == 0, ended.err
        solution = json.loads(ended.out)
        assert solution["solved"] and any("SIMULATED" in note for note in solution["notes"])
    else:
        assert ended.code == 0 or "was rejected" in ended.err


def test_numbers_are_told_and_followed(hvr_: Hvr, rooms_files: tuple[Path, Path]) -> None:
    ended = hvr_(
        "solve", *rooms_files, "--llm", "scripted:error=0.2", "--execute",
        "--faults", "lost-effect@2", "--seed", 3,
    )  # fmt: skip
    assert ended.code == 0, ended.out
    assert "goal reached" in ended.out and "1 fault injected" in ended.out
    domain = parse_domain(ROOMS)
    task = Task(domain, parse_problem(TASK, domain))
    words = lexicon_for(domain)
    predicted = PredictedFacts(task, words.wording, words.types)
    assert "(= (battery) 2)" in predicted.objects(["p1"])
    steps = StatePlanner("forward", 10).plan(task).plan.actions
    assert count_applicable(task, task.initial, steps) == len(steps)
    predicted.advance(steps[:1])
    assert "(= (battery) 1)" in predicted.objects(["p1"])
    assert run_actions(task, task.initial, steps).holds(task.problem.goal)
    # A planner that continues from there starts with the numbers of that state.
    planner_task = predicted.planner_task(
        predicted.state, task.problem.goal, (), task.problem.goal, ()
    )
    assert planner_task is not None
    rest = StatePlanner("forward", 10).plan(planner_task).plan.actions
    assert Validator(task).check((*steps[:1], *rest)).valid


@pytest.mark.slow
def test_macro_actions_are_kept_and_used_again(hvr_: Hvr, tmp_path: Path) -> None:
    library = tmp_path / "library.ttl"
    options = ("solve", "--world", "blocksworld", "--library", library, "--llm")
    assert hvr_(*options, "scripted:error=0", "--save", tmp_path / "first").code == 0
    ended = hvr_(*options, "scripted:error=0.3", "--execute", "--save", tmp_path / "second")
    assert ended.code == 0
    (first,) = json.loads((tmp_path / "first" / "planning.json").read_text())
    (second,) = json.loads((tmp_path / "second" / "planning.json").read_text())
    used = [sum(bool(b["from_library"]) for b in record["blocks"]) for record in (first, second)]
    assert used[0] == 0 and used[1] > 0
    assert len(read_library(library).entries) >= 3


@pytest.mark.slow
def test_what_is_out_of_reach_is_proven_where_the_planner_may_repair(
    hvr_: Hvr, rooms_files: tuple[Path, Path]
) -> None:
    pytest.importorskip("openai")
    domain, problem = rooms_files
    problem.write_text(TASK.replace("(joined hall store)", ""))
    with OpenAIServer(lambda _: Reply("I do not know.")) as server:
        ended = hvr_(
            "solve", domain, problem, "--llm", "openai:m", "--base-url", server.url, "--quiet"
        )
    assert ended.code == 1
    assert "no plan exists" in ended.err + ended.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--setting", "HVR"), "name one with --llm"),
        (("--llm", "scripted", "--planner", "forward"), "cannot be combined with --llm"),
        (("--llm", "scripted", "--optimal"), "cannot be combined with --llm"),
        (("--llm", "scripted", "--library", "x.ttl"), "needs a world with an ontology"),
    ],
)
def test_options_that_do_not_fit(
    hvr_: Hvr, rooms_files: tuple[Path, Path], options: tuple[str, ...], message: str
) -> None:
    ended = hvr_("solve", *rooms_files, *options)
    assert ended.code == 2
    assert message in ended.err and len(ended.err.strip().splitlines()) == 1


def test_kinds_and_names_choose_objects() -> None:
    world = blocks()
    problem, _ = world.problem("tower")
    words = world.words
    predicted = PredictedFacts(Task(world.domain, problem), words.wording, words.types)
    for said in ("block", "cubes", "Block", "object"):
        reasons, unmatched = predicted.pick(
            [said], "red is on blue", LexicalEmbedder(), knowledge=True, expansion=True
        )
        assert set(reasons) == {"red", "green", "blue", "yellow", "white"} and not unmatched
    reasons, unmatched = predicted.pick(
        ["spaceship"], "red is on blue", LexicalEmbedder(), knowledge=True, expansion=False
    )
    assert list(reasons) == ["red", "blue"] and unmatched == ("spaceship",)
    # Without a kind, the objects on the named ones are included.
    reasons, _ = predicted.pick(
        [], "red is on blue", LexicalEmbedder(), knowledge=True, expansion=True
    )
    assert {"green", "yellow"} <= set(reasons)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("1. (pick-up a)\n2. (stack a b)", [("pick-up", "a"), ("stack", "a", "b")]),
        ("Actions:\n1. (Pick_Up a)\n2. (noop)", [("pick-up", "a"), ("noop",)]),
        ("(stack, a, b)\n(fly a b a)", [("stack", "a", "b"), ("fly", "a", "b", "a")]),
        ("fly(a, b, a)", [("fly", "a", "b", "a")]),
    ],
)
def test_calls_to_the_letter(text: str, calls: list[tuple[str, ...]]) -> None:
    plain = mark_actions(text, {"pick-up": 1, "stack": 2, "noop": 0, "fly": 3}, {"a", "b"})
    found = unmark_actions(read_actions(plain)).actions
    assert [(call.name.lower().replace("_", "-"), *call.args) for call in found] == calls


@pytest.mark.parametrize("text", ["(pick-up c)", "(stack a)", "()", "(the end)"])
def test_what_is_no_call_stays_as_it_is(text: str) -> None:
    assert mark_actions(text, {"pick-up": 1, "stack": 2}, {"a", "b"}) == text


def test_literals_to_the_letter() -> None:
    """Articles may be names, and only the domain's predicates count."""
    domain = parse_domain(
        "(define (domain d) (:types t) (:predicates (has ?x ?y - t) (four ?a ?b ?c ?d - t))"
        " (:action go :parameters (?x - t) :precondition (has ?x ?x) :effect (four ?x ?x ?x ?x)))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects a an robot two - t) (:init (has a an))"
        " (:goal (four a a a a)))", domain,
    )  # fmt: skip
    mapper = Mapper(ActionSet(Task(domain, problem)), LexicalEmbedder())
    text = "(has a an) (not (has robot two)) (four a an robot two)"
    literals, problems = read_literals(text)
    assert not problems
    assert " ".join(str(mapper.map_literal(one).literal) for one in literals) == text


GOAL = "(and (on red blue) (on-table blue))"


@pytest.mark.slow
def test_a_model_writes_the_goal_of_a_sentence_and_is_told_what_is_wrong_with_it(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    written = iter(["(on red pink)", "(and (on red blue) (on blue red))", f"Goal: {GOAL} Done."])
    asked: list[str] = []

    def answer(request: Received) -> Reply:
        asked.append(request.text)
        return Reply(next(written))

    with OpenAIServer(answer) as server:
        ended = hvr_(
            "solve", "--world", "blocksworld", "one-tower", "--setting", "LLM+P-structured",
            "--goal", "pile red upon blue, would you", "--llm", "openai:m",
            "--base-url", server.url, "--save", tmp_path / "run",
        )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "pile red upon blue" in asked[0] and "is on the table" in asked[0]
    assert "pink" in asked[1] and "no plan reaches this goal" in asked[2]
    domain = parse_domain(tmp_path / "run" / "domain.pddl")
    task = Task(domain, parse_problem(tmp_path / "run" / "problem.pddl", domain))
    assert str(task.problem.goal) == GOAL
    assert Validator(task).check(parse_plan(tmp_path / "run" / "plan.pddl")).valid


@pytest.mark.slow
def test_a_goal_that_is_not_the_one_given_is_no_success(hvr_: Hvr, tmp_path: Path) -> None:
    options = ("--setting", "LLM+P", "--save", tmp_path / "run")
    ended = hvr_("solve", "--world", "logistics", "--llm", "scripted:error=0.5", *options)
    assert ended.code == 4
    assert "but not the given goal" in ended.err
    assert not (tmp_path / "run" / "plan.pddl").exists()


def test_a_simulated_model_has_to_know_the_goal(hvr_: Hvr) -> None:
    ended = hvr_(
        "solve", "--world", "blocksworld", "one-tower", "--llm", "scripted", "--setting", "LLM+P",
        "--goal", "make it nice",
    )  # fmt: skip
    assert ended.code == 2
    assert "cannot read free text" in ended.err


def test_an_empty_goal_does_not_stand_for_the_problems_own(hvr_: Hvr) -> None:
    ended = hvr_("solve", "--world", "blocksworld", "one-tower", "--goal", " ")
    assert ended.code == 2
    assert "--goal is empty" in ended.err


def test_a_note_says_what_the_planner_completed(hvr_: Hvr) -> None:
    model = ("--llm", "scripted:error=0.6,seed=3")
    ended = hvr_("solve", "--world", "blocksworld", *model)
    assert ended.code == 0, ended.err
    (note,) = [line for line in ended.out.splitlines() if "completed" in line]
    assert (
        note.startswith("note: the planner Fast Downward") and "of 4 blocks: 'clear yellow'" in note
    )
    right = hvr_("solve", "--world", "blocksworld", "--llm", "scripted:error=0")
    assert "completed" not in right.out
