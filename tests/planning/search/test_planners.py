"""Fast Downward and unified-planning: proven lengths, determinism, clean exits."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from hvr.errors import PlannerError, UsageError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.search import fast_downward
from hvr.planning.search.fast_downward import search, solve, to_sas
from hvr.planning.search.ground import build, plan_actions
from hvr.planning.search.planners import FastDownward, UnifiedPlanning, make_planner
from hvr.planning.search.unified import GroundProblem, installed_engines, solve_with, to_unified
from hvr.validation import Outcome, Validator
from hvr.validation.minimise import reaches_goal
from tests.planning.search.planning_worlds import ROOM, shortest, tasks

FETCH = """
(define (problem p) (:domain room) (:objects knife loaf - thing table shelf box - place)
  (:init (free) (at table) (on knife shelf) (on loaf box) (door box) (tool knife))
  (:goal {goal}))
"""
CUT_ON_TABLE = "(and (cut loaf) (on loaf table) (free) (not (open box)))"


def room(goal: str) -> Task:
    domain = parse_domain(ROOM)
    return Task(domain, parse_problem(FETCH.format(goal=goal), domain))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parent folder of temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(tasks)
def test_proven_plans_are_as_short_as_those_of_a_blind_search(task: Task) -> None:
    expected = shortest(task)
    result = solve(task, 600)
    assert result.optimal
    if expected is None:
        assert result.plan is None
    else:
        assert result.plan is not None
        assert len(result.plan) == len(expected) == result.lower_bound
        assert reaches_goal(task, result.plan)


def test_a_goal_that_holds_needs_no_steps() -> None:
    result = solve(room("(on knife shelf)"), 600)
    assert (result.plan, result.optimal) == ((), True)


def test_the_absence_of_a_plan_is_proven() -> None:
    result = solve(room("(warm loaf)"), 600)
    assert (result.plan, result.optimal) == (None, True)
    # One hand cannot hold both.
    result = solve(room("(and (held knife) (held loaf))"), 600)
    assert (result.plan, result.optimal) == (None, True)
    # Going to one of them means leaving the other.
    result = solve(room("(and (near knife) (near loaf) (at shelf))"), 600)
    assert (result.plan, result.optimal) == (None, True)


@pytest.mark.slow
def test_every_process_finds_the_same_proven_plan() -> None:
    code = (
        "from tests.planning.search.test_planners import *;"
        "print(*solve(room(CUT_ON_TABLE), 600).plan, sep='\\n')"
    )
    path = str(Path(__file__).parents[3])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True, check=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    (output,) = outputs
    assert output.split() == [
        w for a in solve(room(CUT_ON_TABLE), 600).plan or () for w in str(a).split()
    ]


def test_nothing_is_left_behind(temporary: Path) -> None:
    assert solve(room(CUT_ON_TABLE), 600).plan
    assert not list(temporary.iterdir())


def test_an_interrupt_ends_the_searches(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = []

    def interrupted(prover: fast_downward._Search, *_: object) -> None:
        running.append(prover)
        raise KeyboardInterrupt

    monkeypatch.setattr(fast_downward, "_race", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(room(CUT_ON_TABLE), 600)
    assert [search._process.code is None for search in running] == [False]
    assert not list(temporary.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize(
    ("script", "seconds", "message"),
    [
        ("exit 22", 600, "out of memory"),
        ("exit 23", 600, "no plan was found in 600 s; a larger budget gives more time"),
        ("exec sleep 3600", 0.5, "no plan was found in 0.5 s; a larger budget gives more time"),
        ("echo no such heuristic; exit 33", 600, "failed with status 33: no such heuristic"),
    ],
)
def test_failures_are_said_plainly(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, script: str, seconds: float, message: str
) -> None:
    stand_in = temporary / "downward"
    stand_in.write_text(f"#!/bin/sh\n{script}\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(fast_downward, "binary", lambda: stand_in)
    with pytest.raises(PlannerError, match=message):
        solve(room(CUT_ON_TABLE), seconds)
    assert list(temporary.iterdir()) == [stand_in]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
@pytest.mark.parametrize("patience", [0.0, 0.2], ids=["until the time is up", "with patience"])
def test_an_unproven_plan_comes_with_the_bound_that_was_proven(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    stand_in = temporary / "downward"
    stand_in.write_text(
        """#!/bin/sh
        case "$2" in
            *lazy_evaluator*) echo "[t=0.1s, 9 KB] f = 3, 8 evaluated"; echo "height = 12,";;
            *) echo "; cost = 0" > plan.1;;
        esac
        exec sleep 3600
        """
    )
    stand_in.chmod(0o755)
    monkeypatch.setattr(fast_downward, "binary", lambda: stand_in)
    if not patience:
        monkeypatch.setattr(fast_downward, "time", _TimeUpWithPlan(temporary))
    result = solve(room(CUT_ON_TABLE), 3000, patience=patience)
    assert (result.plan, result.optimal, result.lower_bound) == ((), False, 3)


class _TimeUpWithPlan:
    """A clock that stands still until both searches have written their results."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def perf_counter(self) -> float:
        plans = [p.read_text() for p in self._folder.glob("hvr-fd-*/anytime/plan.1")]
        logs = [p.read_text() for p in self._folder.glob("hvr-fd-*/optimal/log")]
        return 4000.0 if "; cost" in str(plans) and "height" in str(logs) else 0.0

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def test_a_missing_planner_is_said_plainly(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_downward, "binary", lambda: temporary / "nothing")
    with pytest.raises(PlannerError, match="cannot be started"):
        solve(room(CUT_ON_TABLE), 1)
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(PlannerError, match="pip install up-fast-downward"):
        fast_downward.binary()


def test_planners_by_name() -> None:
    assert make_planner("fast-downward", 3) == FastDownward(3)
    assert make_planner("up:fast-downward", 3) == UnifiedPlanning("fast-downward", 3)
    assert FastDownward(600).solve(room(CUT_ON_TABLE)).optimal
    assert FastDownward(600, prove=True).solve(room(CUT_ON_TABLE)).optimal
    for name, seconds in (("up:", 3.0), ("magic", 3.0), ("fast-downward", 0.0)):
        with pytest.raises(UsageError):
            make_planner(name, seconds)


# unified-planning ---------------------------------------------------------------------------


@pytest.mark.slow
def test_engines_of_unified_planning(capfd: pytest.CaptureFixture[str]) -> None:
    goal = "(and (cut loaf) (free) (or (on loaf table) (on loaf shelf)))"
    task = room(goal)
    proven = solve(task, 600)
    assert proven.plan is not None
    found = UnifiedPlanning("fast-downward").solve(task)
    assert Validator(task).check(found.plan or ()).outcome is Outcome.VALID
    assert not found.optimal
    best = solve_with(room(goal), "fast-downward-opt", 30)
    assert Validator(room(goal)).check(best.plan or ()).outcome is Outcome.VALID
    assert len(best.plan or ()) == len(proven.plan)
    assert capfd.readouterr() == ("", "")


def test_converted_problems_have_an_action_for_each_operator_and_goal() -> None:
    for goal, goals in (("(on loaf table)", 0), ("(or (cut loaf) (held knife))", 2)):
        problem = build(room(goal), reduce=False)
        converted = to_unified(GroundProblem.of(problem))
        assert len(converted.actions) == len(problem.operators) + goals


def test_an_unknown_engine_is_answered_with_those_there_are() -> None:
    assert "fast-downward" in installed_engines()
    with pytest.raises(UsageError, match=r"no engine 'enhsq'.*fast-downward"):
        solve_with(room(CUT_ON_TABLE), "enhsq", 5)


@pytest.mark.slow
def test_an_engine_that_cannot_treat_a_task_is_an_error() -> None:
    domain = parse_domain(ROOM)
    problem = FETCH.format(goal="(warm loaf)").replace("(door box)", "(lamp box)")
    task = Task(domain, parse_problem(problem, domain))
    with pytest.raises(PlannerError, match="unsupported problem"):
        solve_with(task, "fast-downward-opt", 30)


def test_unified_planning_is_not_asked_where_there_is_no_plan() -> None:
    result = solve_with(room("(warm loaf)"), "fast-downward", 30)
    assert (result.plan, result.optimal) == (None, True)


def test_one_search_on_sas_text_finds_a_plan_or_proves_that_there_is_none() -> None:
    task = room("(and (cut loaf) (free))")
    problem = build(task)
    plan = search(to_sas(problem), "astar(lmcut())", 600)
    assert plan is not None and reaches_goal(task, tuple(plan_actions(problem, plan)))
    lines = "begin_version 3 end_version begin_metric 1 end_metric 1 begin_variable v -1 2".split()
    lines += ["Atom a()", "NegatedAtom a()", "end_variable", "0", "begin_state", "1", "end_state"]
    lines += ["begin_goal", "1", "0 0", "end_goal", "0", "0", ""]
    assert search("\n".join(lines), "astar(lmcut())", 600) is None
    with pytest.raises(PlannerError, match=r"no plan was found in 0 s"):
        search(to_sas(problem), "astar(lmcut())", 0)
