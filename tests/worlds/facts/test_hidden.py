"""Hidden facts behind disjunctions, quantifiers, derived predicates and numbers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hvr.errors import ImpossibleGoalError
from hvr.execution.belief import contradicted, revised
from hvr.execution.events import StepDone
from hvr.execution.facts.planning import StatePlanner, problem_at
from hvr.execution.facts.running import run_world
from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
from hvr.worlds.facts.environment import FaultRule, FaultyWorld, PddlEnvironment, WorldFault
from hvr.worlds.facts.lexicon import lexicon_for

HERE = Path(__file__).parent / "hidden"
KINDS = list(WorldFault)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mine", "packing", "workshop"])
def test_no_reachable_goal_is_missed_and_none_is_falsely_claimed(name: str) -> None:
    domain = parse_domain(HERE / f"{name}.pddl")
    problem = parse_problem(HERE / f"{name}-1.pddl", domain)
    task = Task(domain, problem)
    wording = lexicon_for(domain).wording
    hideable = sorted(task.fluent_predicates - task.derived_predicates)
    drawn = random.Random(name)
    for _ in range(12):
        hidden, kind, step = drawn.choice(hideable), drawn.choice(KINDS), drawn.randint(1, 10)
        env = FaultyWorld(
            PddlEnvironment(domain, problem, [hidden]), [FaultRule(kind, step=step)], step
        )
        run = run_world(env, domain, problem, wording, planner=StatePlanner(seconds=10))
        case = f"{hidden} hidden, {kind} at step {step}"
        if run.finished.reached:
            assert run.unseen or env.env.state.holds(problem.goal), case
        else:
            here = Task(domain, problem_at(problem, env.env.state))
            with pytest.raises(ImpossibleGoalError):
                StatePlanner(seconds=10).plan(here)
                pytest.fail(case)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "hidden", "step"),
    [
        ("station", "at", 6),  # the robot was moved, and each place must be tried
        ("garden", "near", 7),
        ("harbour", "aboard", 3),  # what vanished from the quay was loaded, which is hidden
        ("harbour", "ashore", 12),
    ],
)
def test_hidden_effects_of_another_agent_are_considered(name: str, hidden: str, step: int) -> None:
    domain = parse_domain(HERE / f"{name}.pddl")
    problem = parse_problem(HERE / f"{name}-1.pddl", domain)
    rules = [FaultRule(WorldFault.OTHER_AGENT, step=step)]
    env = FaultyWorld(PddlEnvironment(domain, problem, [hidden]), rules, step)
    run = run_world(env, domain, problem, lexicon_for(domain).wording)
    assert run.faults and run.finished.reached
    assert env.env.state.holds(problem.goal)


DOORS = """
(define (domain doors) (:requirements :adl :fluents :derived-predicates)
  (:types door key)
  (:predicates (unlocked ?d - door) (fits ?k - key ?d - door) (held ?k - key) (watched ?d - door)
               (usable ?d - door) (passed))
  (:functions (charge))
  (:derived (usable ?d - door) (or (unlocked ?d) (exists (?k - key) (and (held ?k) (fits ?k ?d)))))
  (:action pass :parameters (?d - door)
    :precondition (and (usable ?d) (forall (?o - door) (not (watched ?o))) (>= (* 2 (charge)) 3))
    :effect (passed))
  (:action watch :parameters (?d - door) :effect (watched ?d))
  (:action unlock :parameters (?d - door) :effect (unlocked ?d))
  (:action forge :parameters (?k - key ?d - door) :effect (fits ?k ?d))
  (:action grab :parameters (?k - key) :effect (held ?k))
  (:action load :effect (increase (charge) 1)))
"""


def _refusal(*hidden: str) -> set[frozenset[str]]:
    domain = parse_domain(DOORS)
    problem = parse_problem(
        "(define (problem d) (:domain doors) (:objects a b - door k m - key)"
        "(:init (unlocked a) (fits k a) (held k) (fits m a) (= (charge) 5)) (:goal (passed)))",
        domain,
    )
    state = Task(domain, problem).initial
    action = GroundAction("pass", ("a",))
    found = contradicted(
        state, [action], lambda what: getattr(what, "predicate", "charge") in hidden
    )
    for revision in found:
        after = revised(state, revision)
        assert not after.task.precondition(action).holds(after.bits, after.values)
    return {frozenset(f"{what} {value}" for what, value in one) for one in found}


def test_every_true_part_of_a_disjunction_is_revised() -> None:
    assert _refusal("unlocked") == set()  # the key still opens the door
    assert _refusal("unlocked", "held") == {frozenset({"(unlocked a) False", "(held k) False"})}


def test_one_instance_of_a_quantified_condition_is_revised() -> None:
    assert _refusal("watched") == {frozenset({"(watched a) True"}), frozenset({"(watched b) True"})}


def test_a_number_is_revised_to_the_nearest_value_that_explains_a_refusal() -> None:
    assert _refusal("charge") == {frozenset({"(charge) 1/2"})}


def test_a_refused_action_is_not_sent_again_without_new_evidence() -> None:
    domain = parse_domain(DOORS)
    problem = parse_problem(
        "(define (problem d) (:domain doors) (:objects a - door)"
        "(:init (unlocked a) (= (charge) 5)) (:goal (passed)))",
        domain,
    )
    never = [FaultRule(WorldFault.REFUSED)]
    env = FaultyWorld(PddlEnvironment(domain, problem), never)
    run = run_world(env, domain, problem, lexicon_for(domain).wording)
    sent = [event for event in run.events if isinstance(event, StepDone)]
    # Once, and each retry of the retry strategy.
    assert len(sent) == 4 and not run.finished.reached and not run.unreachable
