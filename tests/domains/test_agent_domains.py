"""The agents' domains: unique abilities of each, over the same facts."""

from __future__ import annotations

import pytest

from hvr.errors import UsageError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.world_file import load_agent, load_world
from hvr.pddl import (
    Domain,
    GroundAction,
    Task,
    TypedName,
    ground_all,
    parse_formula,
    parse_plan,
    parse_problem,
    print_domain,
)
from hvr.runs.tasks import load_task, paper_task_ids
from hvr.validation import Validator
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

AGENTS = load_world().agents
OBJECTS = """
    cup-1 cup-2 - cup mug-1 - mug knife-1 - knife tomato-1 - tomato tomatosliced-1 - tomatosliced
    egg-1 - egg eggcracked-1 - eggcracked
    countertop-1 - countertop diningtable-1 - diningtable shelf-1 - shelf floor-1 - floor
    fridge-1 - fridge coffeemachine-1 - coffeemachine chair-1 - chair garbagecan-1 - garbagecan
"""
FACTS = """
    (pickupable cup-1) (pickupable cup-2) (pickupable mug-1) (pickupable knife-1)
    (pickupable tomato-1) (pickupable tomatosliced-1) (pickupable egg-1) (pickupable eggcracked-1)
    (surface countertop-1) (surface diningtable-1) (surface shelf-1) (surface coffeemachine-1)
    (surface chair-1) (surface floor-1)
    (container fridge-1) (openable fridge-1) (cools fridge-1) (container garbagecan-1)
    (holds_one coffeemachine-1) (brews coffeemachine-1) (toggleable coffeemachine-1)
    (fillable mug-1) (fillable cup-1) (breakable cup-1) (cutting_tool knife-1) (sliceable tomato-1)
    (piece_of tomatosliced-1 tomato-1) (crackable egg-1) (piece_of eggcracked-1 egg-1)
    (fits cup-1 diningtable-1) (fits cup-2 diningtable-1) (fits mug-1 diningtable-1)
    (fits mug-1 shelf-1) (fits mug-1 coffeemachine-1) (fits mug-1 countertop-1)
    (fits mug-1 floor-1) (fits mug-1 chair-1) (fits cup-1 fridge-1) (fits cup-2 fridge-1)
    (fits knife-1 countertop-1) (fits cup-1 coffeemachine-1) (fits egg-1 garbagecan-1)
    (beside countertop-1 diningtable-1) (beside diningtable-1 countertop-1)
    (present cup-1) (present cup-2) (present mug-1) (present knife-1) (present tomato-1)
    (present egg-1) (present countertop-1) (present diningtable-1) (present shelf-1)
    (present floor-1) (present fridge-1) (present coffeemachine-1) (present chair-1)
    (present garbagecan-1)
    (on cup-1 countertop-1) (on cup-2 countertop-1) (on mug-1 countertop-1)
    (on knife-1 countertop-1) (on tomato-1 countertop-1) (on egg-1 countertop-1)
    (on coffeemachine-1 countertop-1) (on countertop-1 floor-1) (on chair-1 floor-1)
"""


def task_of(agent: str, more: str = "") -> Task:
    domain = load_agent(agent).domain()
    facts = FACTS + more if agent != "pusher" else FACTS
    declared = " ".join(
        f for f in _atoms(facts) if f.strip("()").split()[0] in domain.predicates
    )  # fmt: skip
    hands = "" if agent == "pusher" or "(holding" in more else "(hand_empty)"
    text = (
        f"(define (problem p) (:domain {domain.name}) (:objects {OBJECTS}) "
        f"(:init {hands} {declared}) (:goal (and)))"
    )
    return Task(domain, parse_problem(text, domain))


def _atoms(text: str) -> list[str]:
    return [f"({part.split(')')[0]})" for part in text.split("(")[1:]]


def run(agent: str, *steps: str, more: str = "") -> Validator:
    """Execute steps; those after a `!` must be refused."""
    validator = Validator(task_of(agent, more))
    for step in steps:
        (action,) = parse_plan(step.removeprefix("!"))
        report = validator.apply(action)
        assert report.ok != step.startswith("!"), (step, report.failure)
    return validator


def holds(validator: Validator, text: str) -> bool:
    task = validator.task
    objects = [TypedName(n, kinds) for n, kinds in task.objects.items()]
    return validator.state.holds(parse_formula(text, task.domain, objects))


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    world = World(Kitchen(load_scene("FloorPlan16"), 0), KnowledgeGraph.create())
    return world.graph


# --- shared parts ---


def test_an_unknown_agent_is_an_error_that_lists_all() -> None:
    with pytest.raises(UsageError, match=r"'dualarm'; did you mean dual-arm\? .*pusher"):
        load_agent("dualarm")


def test_agents_are_found_whatever_the_case() -> None:
    assert load_agent(" Pusher ") is AGENTS["pusher"]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_problem_of_every_agent_comes_from_one_graph(agent: str, graph: KnowledgeGraph) -> None:
    domain = load_agent(agent).domain()
    problem = graph.problem(domain, "p")
    single = graph.problem(load_agent("single-arm").domain(), "p")
    assert problem.objects == single.objects
    assert {a for a in single.init if a.predicate in domain.predicates} == problem.init


@pytest.mark.parametrize("agent", AGENTS)
def test_the_types_are_the_same(agent: str) -> None:
    assert load_agent(agent).domain().types == load_agent("single-arm").domain().types


@pytest.mark.parametrize("agent", AGENTS)
def test_what_no_fact_of_the_graph_stands_for_is_a_fluent_that_starts_false(agent: str) -> None:
    domain = load_agent(agent).domain()
    new = set(domain.predicates) - set(load_agent("single-arm").domain().predicates)
    task = task_of(agent)
    assert new <= task.fluent_predicates
    assert new.isdisjoint(a.predicate for a in task.initial.atoms())


# --- two arms ---


def test_two_arms_have_the_actions_of_one() -> None:
    def schemas(domain: Domain) -> dict[str, str]:
        return {name: str(schema) for name, schema in domain.actions.items()}

    assert schemas(load_agent("dual-arm").domain()) == schemas(load_agent("single-arm").domain())


@pytest.mark.slow
@pytest.mark.parametrize("task_id", paper_task_ids())
def test_every_plan_for_one_arm_is_one_for_two(task_id: str) -> None:
    chosen = load_task(task_id)
    world = World(
        Kitchen(load_scene(chosen.ground_truth.scene), 0),
        KnowledgeGraph.create(None, load_ontology()),
    )
    states = []
    for agent in ("single-arm", "dual-arm"):
        domain = load_agent(agent).domain()
        names = sorted({a for s in chosen.ground_truth.steps for a in s.args})
        # All pieces and neighbours of the plan's objects, without other furniture.
        facts = world.graph.facts()
        names += [a.args[1] for a in facts if a.predicate in {"on", "in"} and a.args[0] in names]
        names += [o for a in facts if a.predicate in {"knob_of", "faucet_of"} for o in a.args]
        names += [a.args[0] for a in facts if a.predicate == "piece_of" and a.args[1] in names]
        objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in sorted(set(names))]
        goal = parse_formula(chosen.goal, domain, objects)
        problem = world.graph.problem(domain, "p", names, goal)
        validator = Validator(Task(domain, problem))
        assert validator.check(chosen.ground_truth.steps).valid
        for step in chosen.ground_truth.steps:
            assert validator.apply(step).ok
        states.append(validator.state.atoms())
    assert states[0] == states[1]


def test_two_arms_hold_two_things_and_no_third() -> None:
    done = run(
        "dual-arm",
        "(navigate_to_obj cup-1)", "(pick_up cup-1)", "!(pick_up cup-1)",
        "(navigate_to_obj cup-2)", "(pick_up cup-2)",
        "(navigate_to_obj mug-1)", "!(pick_up mug-1)",
    )  # fmt: skip
    assert holds(done, "(and (holding cup-1) (holding cup-2) (hands_full) (not (hand_empty)))")


def test_hands_are_counted_down_again() -> None:
    done = run(
        "dual-arm",
        "(navigate_to_obj cup-1)", "(pick_up cup-1)", "(navigate_to_obj cup-2)", "(pick_up cup-2)",
        "(navigate_to_obj diningtable-1)", "(put_on cup-1 diningtable-1)",
    )  # fmt: skip
    assert holds(done, "(and (not (hands_full)) (not (hand_empty)) (holding cup-2))")
    done.apply(GroundAction("put_on", ("cup-2", "diningtable-1")))
    assert holds(done, "(and (not (hands_full)) (hand_empty))")


def test_two_arms_open_a_door_with_one_thing_in_a_hand_and_not_with_two() -> None:
    one = ("(navigate_to_obj cup-1)", "(pick_up cup-1)")
    two = (*one, "(navigate_to_obj cup-2)", "(pick_up cup-2)", "(navigate_to_obj fridge-1)")
    into = ("(navigate_to_obj fridge-1)", "(open_obj fridge-1)", "(put_in cup-1 fridge-1)")
    run("dual-arm", *one, *into)
    run("dual-arm", *two, "!(open_obj fridge-1)")
    run("single-arm", *one, "(navigate_to_obj fridge-1)", "!(open_obj fridge-1)")


def test_what_was_held_when_the_graph_was_read_fills_one_of_two_hands() -> None:
    held = "(holding knife-1)"
    run("dual-arm", "(navigate_to_obj cup-1)", "(pick_up cup-1)", more=held)
    run("single-arm", "(navigate_to_obj cup-1)", "!(pick_up cup-1)", more=held)


def test_two_arms_slice_with_a_knife_in_either_hand_and_need_one() -> None:
    cut = ("(navigate_to_obj tomato-1)", "(slice_obj tomato-1)")
    both = ("(navigate_to_obj cup-1)", "(pick_up cup-1)", "(navigate_to_obj knife-1)")
    run("dual-arm", *both, "(pick_up knife-1)", *cut)
    run("dual-arm", *both, "(navigate_to_obj tomato-1)", "!(slice_obj tomato-1)")


def test_an_egg_cracked_in_a_hand_leaves_that_hand_full() -> None:
    done = run(
        "dual-arm",
        "(navigate_to_obj egg-1)", "(pick_up egg-1)", "(navigate_to_obj cup-1)", "(pick_up cup-1)",
        "(crack_obj egg-1)", "(navigate_to_obj mug-1)", "!(pick_up mug-1)",
    )  # fmt: skip
    assert holds(done, "(and (holding eggcracked-1) (holding cup-1) (hands_full))")


@pytest.mark.parametrize(
    ("let_go", "thing"),
    [("(throw_away egg-1 garbagecan-1)", "egg-1"), ("(drop_obj knife-1)", "knife-1")],
)
def test_whatever_lets_go_frees_one_hand(let_go: str, thing: str) -> None:
    steps = (f"(navigate_to_obj {thing})", f"(pick_up {thing})")
    other = ("(navigate_to_obj cup-1)", "(pick_up cup-1)", "(navigate_to_obj garbagecan-1)")
    done = run("dual-arm", *steps, *other, let_go)
    assert holds(done, f"(and (not (hands_full)) (not (hand_empty)) (not (holding {thing})))")


# --- no arm ---


def test_a_pusher_takes_nothing_into_a_hand() -> None:
    domain = load_agent("pusher").domain()
    assert set(domain.actions) == {
        "navigate_to_obj", "push_to", "open_obj", "close_obj", "toggle_on", "toggle_off",
    }  # fmt: skip
    assert "hand" not in print_domain(domain)


def test_a_pusher_pushes_to_the_surface_beside() -> None:
    done = run("pusher", "(navigate_to_obj mug-1)", "(push_to mug-1 diningtable-1)")
    assert holds(done, "(and (on mug-1 diningtable-1) (not (on mug-1 countertop-1)))")
    assert done.apply(GroundAction("push_to", ("mug-1", "countertop-1"))).ok


def test_a_pusher_pushes_only_what_it_has_gone_to_and_only_next_door() -> None:
    run("pusher", "!(push_to mug-1 diningtable-1)", "(navigate_to_obj mug-1)",
        "!(push_to mug-1 shelf-1)", "!(push_to mug-1 countertop-1)")  # fmt: skip


def test_a_pusher_pushes_nothing_to_the_floor_or_across_it() -> None:
    run("pusher", "(navigate_to_obj mug-1)", "!(push_to mug-1 floor-1)",
        "!(push_to mug-1 chair-1)")  # fmt: skip


def test_a_pusher_makes_coffee_along_the_counter() -> None:
    done = run(
        "pusher",
        "(navigate_to_obj mug-1)", "(push_to mug-1 coffeemachine-1)",
        "(navigate_to_obj cup-1)", "!(push_to cup-1 coffeemachine-1)",
        "(navigate_to_obj coffeemachine-1)", "(toggle_on coffeemachine-1)",
        "(toggle_off coffeemachine-1)", "(navigate_to_obj mug-1)", "(push_to mug-1 countertop-1)",
    )  # fmt: skip
    assert holds(done, "(and (contains mug-1 coffee) (on mug-1 countertop-1))")


def test_a_pusher_opens_and_closes() -> None:
    done = run("pusher", "(navigate_to_obj fridge-1)", "(open_obj fridge-1)",
               "!(open_obj fridge-1)", "(close_obj fridge-1)")  # fmt: skip
    assert holds(done, "(not (opened fridge-1))")


def test_a_pushed_thing_is_always_in_one_place() -> None:
    task = task_of("pusher")
    pushes = [a for a in ground_all(task) if a.name == "push_to"]
    tried = 0
    for push in pushes:
        validator = Validator(task)
        validator.apply(GroundAction("navigate_to_obj", (push.args[0],)))
        if validator.apply(push).ok:
            tried += 1
            places = [a for a in validator.state.atoms()
                      if a.predicate in {"on", "in"} and a.args[0] == push.args[0]]  # fmt: skip
            assert [a.args[1] for a in places] == [push.args[1]]
    assert tried >= 4
