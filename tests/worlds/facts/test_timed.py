"""Execution of durative actions: times, refusals, and interruptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvr.errors import SimulatorError, UsageError
from hvr.execution.events import StepDone
from hvr.execution.facts.running import WorldRun, run_world, save_run
from hvr.pddl import Domain, Problem, parse_domain, parse_problem, read_plan
from hvr.validation import validate
from hvr.worlds.facts.environment import FaultyWorld, read_faults
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import lexicon_for
from hvr.worlds.facts.timed_environment import SplitEnvironment
from tests.command_line import Hvr
from tests.worlds.facts.stoves import STOVE, TEA, Kitchen


def tea() -> tuple[Domain, Problem]:
    domain = parse_domain(STOVE)
    return domain, parse_problem(TEA, domain)


def steps_of(run: WorldRun) -> list[StepDone]:
    return [event for event in run.events if isinstance(event, StepDone)]


def carried_out(env: object) -> WorldRun:
    domain, problem = tea()
    return run_world(env, domain, problem, lexicon_for(domain).wording)  # type: ignore[arg-type]


def test_starts_and_ends_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    domain, problem = tea()
    run = carried_out(SplitEnvironment(domain, problem))
    steps = steps_of(run)
    assert run.exit_code == 0 and run.finished.failures == ()
    times = {str(step.action): step.time for step in steps if step.time is not None}
    assert len(times) == len(steps) == 9 and list(times.values()) == sorted(times.values())
    assert times["(heat-ends a)"] - times["(heat-starts a)"] == 10
    assert run.timed is not None and run.timed.simulated and run.timed.now == steps[-1].time
    save_run(tmp_path, domain, problem, run, request="tea")
    for timed in ("", "timed-"):
        files = [tmp_path / f"{timed}{name}.pddl" for name in ("domain", "problem", "plan")]
        assert validate(*files).valid
    assert len(read_plan((tmp_path / "timed-plan.pddl").read_text()).steps) == 5


@pytest.mark.parametrize("step", [1, 5, 6, 8, 9])
@pytest.mark.parametrize("kind", ["refused", "no-effect", "lost-effect"])
def test_each_fault_is_noticed_and_the_goal_reached_in_truth(kind: str, step: int) -> None:
    domain, problem = tea()
    env = FaultyWorld(SplitEnvironment(domain, problem), read_faults([f"{kind}@{step}"]), 4)
    run = carried_out(env)
    noticed = {event.number for event in steps_of(run) if event.failures}
    assert {fault.step for fault in run.faults} <= noticed
    assert run.exit_code == 0 and env.env.state.holds(problem.goal)
    assert not [a for a in env.env.state.atoms() if a.predicate.endswith("goes-on")]


def test_a_condition_over_all_that_breaks_ends_the_action_and_the_plan() -> None:
    kitchen = Kitchen(off_at=8)
    run = carried_out(kitchen)
    broken = [f for step in steps_of(run) for f in step.failures if "broken off" in f.explanation]
    assert {f.explanation for f in broken} == {
        "(heat a) was broken off, because on does not hold.",
        "(heat b) was broken off, because on does not hold.",
    }
    assert kitchen.calls.count("stop heat a") == 1 and kitchen.calls.count("end heat a") == 1
    assert run.exit_code == 0 and kitchen.hot == {"a", "b"} and run.finished.replans == 1
    assert run.timed is not None and not run.timed.simulated
    assert float(run.timed.now) == pytest.approx(kitchen.now)


def test_a_condition_at_the_end_is_looked_at_when_the_action_ends() -> None:
    kitchen = Kitchen(spilt_at=8)
    run = carried_out(kitchen)
    assert any("a is not full" in f.explanation for s in steps_of(run) for f in s.failures)
    # Heating is interrupted, filled and resumed.
    assert run.exit_code == 0
    assert kitchen.calls.count("start fill a 3") == 2 and kitchen.calls.count("end heat a") == 1


def test_what_goes_on_ends_before_a_new_plan() -> None:
    kitchen = Kitchen(no_heat_before=5)
    run = carried_out(kitchen)
    assert run.exit_code == 0 and kitchen.hot == {"a", "b"} and run.finished.replans >= 1
    failures = dict(run.finished.failures)
    assert failures == {"action failed": 5}
    begins = [call for call in kitchen.calls if call.startswith("start fill")]
    assert len(begins) == len({*begins}) == 2  # nothing is repeated


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(at end (hot ?p))", "(increase (heat ?p) (* #t 1))", "continuous effects"),
        ("(= ?duration 10)", "(>= ?duration 1)", "depends on a duration that is not fixed"),
        ("(at end (hot ?p))", "(when (at start (full ?p)) (at end (hot ?p)))", "several times"),
        ("(:goal", "(:constraints (always (hands-free))) (:goal", "trajectory constraints"),
        ("(:init", "(:init (at 5 (on))", "timed initial literals"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_by_name(old: str, new: str, message: str) -> None:
    text = STOVE.replace("(:predicates", "(:functions (heat ?p - pot)) (:predicates")
    if "duration" in old:
        text = text.replace("(at end (hot ?p))", "(at end (increase (heat ?p) ?duration))")
    domain = parse_domain(text.replace(old, new))
    with pytest.raises(UsageError, match=message):
        SplitEnvironment(domain, parse_problem(TEA.replace(old, new), domain))


def test_a_model_plans_without_time(hvr_: Hvr, tmp_path: Path) -> None:
    for name, text in (("stove", STOVE), ("tea", TEA)):
        (tmp_path / f"{name}.pddl").write_text(text)
    files = tmp_path / "stove.pddl", tmp_path / "tea.pddl"
    ended = hvr_("solve", *files, "--execute", "--llm", "scripted:error=0")
    assert ended.code == 2 and "durative actions, such as 'fill'" in ended.err


def test_an_environment_without_starts_is_refused() -> None:
    class Still:
        reset = step = observe = None

    with pytest.raises(UsageError, match="lacks start and end, which durative actions require"):
        carried_out(Still())


@pytest.mark.slow
def test_a_world_of_its_own_process_has_time_to_wait_and_none_to_hang(tmp_path: Path) -> None:
    (tmp_path / "stove.pddl").write_text(STOVE)
    (tmp_path / "tea.pddl").write_text(TEA)
    (tmp_path / "world.toml").write_text(
        'domain = "stove.pddl"\nproblems = ["tea.pddl"]\nenvironment = "env:opened"\n'
        "env_timeout = 1\n"
    )
    (tmp_path / "env.py").write_text(
        "import time\nfrom tests.worlds.facts.stoves import Kitchen\n"
        "class Slow(Kitchen):\n"
        "    def wait(self, seconds):\n"
        "        time.sleep(seconds / 2)\n"
        "        super().wait(seconds)\n"
        "    def end(self, name, args):\n"
        "        time.sleep(600 * (name == 'fill'))\n"
        "        return super().end(name, args)\n"
        "def opened(setup):\n    return Slow()\n"
    )
    world = WorldFolder(tmp_path, trusted=True)
    _, problem = tea()
    env = world.open(problem)
    with pytest.raises(SimulatorError, match=r"did not finish end .fill [ab]. within 1 s"):
        carried_out(env)
