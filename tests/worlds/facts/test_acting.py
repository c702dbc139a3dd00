"""Execution in worlds of facts: faults are detected at once, and repaired if a plan exists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hvr.errors import SimulatorError, UsageError
from hvr.execution.deviations import DeviationKind
from hvr.execution.events import StepDone
from hvr.execution.facts.running import run_world, save_run
from hvr.pddl import parse_domain, parse_problem
from hvr.worlds.facts.environment import (
    Fact,
    FaultRule,
    FaultyWorld,
    Observation,
    PddlEnvironment,
    WorldFault,
    read_faults,
)
from hvr.worlds.facts.lexicon import lexicon_for
from tests.worlds.facts.small_worlds import ROOMS, TASK, acted, rooms

PLAIN = ("refused", "no-effect", "lost-effect", "changed-fact", "other-agent")


def test_without_faults_nothing_is_noticed() -> None:
    run, env = acted(*rooms())
    assert run.exit_code == 0 and run.finished.failures == () and run.faults == ()
    domain, problem = rooms()
    assert env.env.state.holds(problem.goal) and domain.name == "rooms"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(PLAIN), st.integers(1, 8), st.integers(0, 50))
@example("other-agent", 4, 0)  # charges just after a charge
def test_each_fault_is_noticed_in_its_step_and_nothing_else_is(
    kind: str, step: int, seed: int
) -> None:
    run, env = acted(*rooms(), read_faults([f"{kind}@{step}"]), seed=seed)
    steps = [event for event in run.events if isinstance(event, StepDone)]
    noticed = {event.number for event in steps if event.failures}
    assert noticed == {fault.step for fault in run.faults}
    if run.finished.reached:
        assert env.env.state.holds(rooms()[1].goal)
    else:
        assert run.unreachable


def test_an_effect_that_does_not_come_is_named() -> None:
    run, _ = acted(*rooms(), read_faults(["lost-effect@1"]), seed=3)
    first = next(e for e in run.events if isinstance(e, StepDone))
    (failure,) = first.failures
    assert failure.kind is DeviationKind.WRONG_EFFECT
    (fault,) = run.faults
    said = {str(literal) for literal in failure.literals}
    assert len(fault.changed) == 1 and len(said) == 1 and run.exit_code == 0


def test_what_others_change_is_told_apart_from_the_action() -> None:
    run, _ = acted(*rooms(), read_faults(["changed-fact@2"]), seed=1)
    done = [e for e in run.events if isinstance(e, StepDone)][1]
    assert {f.kind for f in done.failures} == {DeviationKind.CHANGED_BY_OTHERS}


def test_that_no_plan_is_left_is_proven() -> None:
    domain = parse_domain(ROOMS)
    problem = parse_problem(TASK.replace("(at p1 kitchen)", ""), domain)
    run, _ = acted(domain, problem)
    assert run.exit_code == 1 and run.unreachable and run.finished.steps == 0


def test_a_refusal_makes_hidden_beliefs_doubtful() -> None:
    domain, problem = rooms()
    # The hands are actually full at the start, which is unobservable.
    truth = problem.replace(init=problem.init - {a for a in problem.init if a.args == ()})
    env = FaultyWorld(PddlEnvironment(domain, truth, ["hands-free"]), ())
    run = run_world(env, domain, problem, lexicon_for(domain).wording)
    kinds = dict(run.finished.failures)
    assert kinds[DeviationKind.MISPERCEIVED.value] == 1
    # Beliefs are not proofs.
    assert run.exit_code == 2 and not run.unreachable


@pytest.mark.parametrize("step", range(1, 9))
def test_what_fails_unseen_is_done_again_when_it_shows(step: int) -> None:
    """The robot's place is unobservable, so a move without effect shows only later."""
    text = ROOMS.replace(" (>= (battery) 1)", "").replace(" (decrease (battery) 1)", "")
    domain = parse_domain(text)
    problem = parse_problem(TASK, domain)
    rules = [FaultRule(WorldFault.NO_EFFECT, step=step)]
    run, env = acted(domain, problem, rules, hidden=["robot-at"])
    assert run.faults and env.env.state.holds(problem.goal) and run.exit_code == 0


def test_a_goal_that_cannot_be_seen_is_not_claimed() -> None:
    run, _ = acted(*rooms(), hidden=["at"])
    assert run.finished.reached and run.unseen == ("at",) and run.exit_code == 2


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("(:durative-action wait :parameters () :duration (= ?duration 1) :condition (and)"
         " :effect (at end (p)))", "durative actions, such as 'wait'"),
        ("(:event ring :parameters () :precondition (not (p)) :effect (p))",
         "processes or events, such as 'ring'"),
    ],
)  # fmt: skip
def test_what_needs_time_is_refused_by_name(action: str, message: str) -> None:
    domain = parse_domain(f"(define (domain d) (:predicates (p)) {action})")
    problem = parse_problem("(define (problem p) (:domain d) (:init) (:goal (p)))", domain)
    with pytest.raises(UsageError, match=message):
        PddlEnvironment(domain, problem)


@pytest.mark.parametrize(
    ("name", "message"), [("reach", "'reach' cannot be hidden"), ("far", "because it is derived")]
)
def test_what_cannot_be_hidden(name: str, message: str) -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (near) (far)) (:derived (far) (not (near)))"
        " (:action go :parameters () :effect (not (near))))"
    )
    problem = parse_problem("(define (problem p) (:domain d) (:init (near)) (:goal (far)))", domain)
    with pytest.raises(UsageError, match=message):
        PddlEnvironment(domain, problem, [name])
    run, _ = acted(domain, problem, hidden=["near"])
    assert run.finished.reached and run.unseen == ("near",) and run.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lost:0.1", "unknown fault kind 'lost'"),
        ("refused:2", "at most 1"),
        ("refused@0", "counted from 1"),
        ("refused", "'refused' is not a fault rule"),
    ],
)
def test_rules_of_faults_that_are_none(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_faults([text])


def test_what_is_to_be_kept_is_kept_by_new_plans_too() -> None:
    domain = parse_domain(
        "(define (domain d) (:types room) (:predicates (at ?r - room) (way ?a ?b - room))"
        " (:action go :parameters (?a ?b - room) :precondition (and (at ?a) (way ?a ?b))"
        " :effect (and (at ?b) (not (at ?a)))))"
    )
    # To d by way of b or c; c is forbidden, and the first step is refused permanently.
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects a b c d - room) (:init (at a) (way a b)"
        " (way b d) (way a c) (way c d) (way b a)) (:goal (at d))"
        " (:constraints (always (not (at c)))))",
        domain,
    )
    env = FaultyWorld(PddlEnvironment(domain, problem), read_faults(["lost-effect@1"]), 1)
    run = run_world(env, domain, problem, lexicon_for(domain).wording)
    went = [str(event.action) for event in run.events if isinstance(event, StepDone)]
    assert run.finished.reached and run.faults and not any(" c" in action for action in went)


def test_the_same_seed_gives_the_same_run() -> None:
    rules = [FaultRule(kind, 0.2) for kind in WorldFault]
    one, two = (acted(*rooms(), rules, seed=7)[0] for _ in range(2))
    assert one.faults == two.faults and one.finished == two.finished


def test_a_run_is_saved_whole(tmp_path: Path) -> None:
    domain, problem = rooms()
    run, _ = acted(domain, problem, read_faults(["no-effect@2"]))
    save_run(tmp_path / "run", domain, problem, run, request="both parcels delivered")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names >= {"domain.pddl", "problem.pddl", "plan.pddl", "trace.jsonl", "faults.jsonl"}
    assert len((tmp_path / "run" / "trace.jsonl").read_text().splitlines()) == len(run.events)


class Broken:
    """A faulty environment."""

    def __init__(self, facts: Collection[Fact], numbers: Mapping[Fact, float] = {}) -> None:
        self.facts, self.numbers = facts, numbers

    def reset(self) -> None: ...
    def step(self, name: str, args: tuple[str, ...]) -> str:
        raise RuntimeError(f"no motor for {name}{args}")

    def observe(self) -> Observation:
        return Observation(self.facts, self.numbers)


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Broken([("robot-at", "mars")]), r"\(robot-at mars\): the problem has no object 'mars'"),
        (Broken([("flying",)]), r"\(flying\): the domain has no predicate 'flying'"),
        (Broken([("robot-at",)]), "robot-at takes 1 object"),
        (Broken(["robot-at hall"]), "expected a tuple of names"),  # type: ignore[list-item]
        (Broken([], {("battery",): float("nan")}), "expected a number"),
    ],
)
def test_an_environment_that_shows_what_cannot_be(env: Broken, message: str) -> None:
    domain, problem = rooms()
    with pytest.raises(SimulatorError, match=message):
        run_world(env, domain, problem, lexicon_for(domain).wording)


def test_an_environment_that_raises() -> None:
    domain, problem = rooms()
    shown = PddlEnvironment(domain, problem).observe()
    env = Broken(shown.facts, dict(shown.numbers))  # type: ignore[arg-type]
    with pytest.raises(SimulatorError, match=r"failed at step .*RuntimeError: no motor"):
        run_world(env, domain, problem, lexicon_for(domain).wording)
