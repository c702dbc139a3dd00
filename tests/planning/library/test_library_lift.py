"""Lifting: objects become variables, conditions come from execution."""

from __future__ import annotations

import pytest

from hvr.errors import PddlError, UsageError
from hvr.knowledge.world_file import load_agent
from hvr.pddl import Atom, Problem, State, Task, TypedName
from hvr.planning.library import Entry, Origin, learn, lift
from hvr.planning.library.entry import is_literal, literal_text, parse_literal, parse_step
from hvr.planning.plans import AABlock, MacroAction, Plan
from hvr.runs.tasks import paper_task_ids
from tests.planning.library.library_worlds import (
    ONTOLOGY,
    after,
    block,
    ground_truth,
    learnt,
    room,
    task_in,
)

SERVE = block(
    "Put the mug on the dining table",
    "(navigate_to_obj mug-1)",
    "(pick_up mug-1)",
    "(navigate_to_obj diningtable-1)",
    "(put_on mug-1 diningtable-1)",
)


def lifted(found: AABlock, task: Task, state: State | None = None, agent: str = "x") -> Entry:
    return lift(found, task, state or task.initial, agent=agent, ontology=ONTOLOGY)


def test_names_become_variables_typed_and_numbered_by_use() -> None:
    entry = lifted(SERVE, room("single-arm"))
    assert entry.name == "Put ?mug1 on ?diningtable1"
    assert [str(p) for p in entry.parameters] == [
        "?mug1 - mug", "?diningtable1 - diningtable", "?countertop1 - countertop",
    ]  # fmt: skip
    assert [str(s) for s in entry.steps][-1] == "(put_on ?mug1 ?diningtable1)"


def test_conditions_are_what_the_block_needs_and_changes() -> None:
    entry = lifted(SERVE, room("single-arm"))
    assert set(entry.postcondition) == {
        "(on ?mug1 ?diningtable1)", "(not (on ?mug1 ?countertop1))",
    }  # fmt: skip
    assert {"(hand_empty)", "(present ?mug1)", "(on ?mug1 ?countertop1)", "(pickupable ?mug1)",
            "(fits ?mug1 ?diningtable1)"} <= set(entry.precondition)  # fmt: skip
    assert not any("near" in text for text in (*entry.precondition, *entry.postcondition))
    assert not any("apple" in str(p) for p in entry.parameters)


def test_being_near_is_a_condition_only_where_it_is_needed() -> None:
    task = room("single-arm")
    there = after(task, task.initial, SERVE.actions[:1])
    assert (
        "(near ?mug1)" in lifted(block("take mug-1", "(pick_up mug-1)"), task, there).precondition
    )


def test_a_faucet_is_tied_to_its_basin() -> None:
    entry = next(e for e in learnt("T5") if "faucet" in e.name)
    faucet = next(p.variable for p in entry.parameters if p.type == "faucet")
    assert f"(faucet_of {faucet} ?sinkbasin1)" in entry.precondition


def test_a_knob_is_tied_to_its_burner() -> None:
    entry = next(e for e in learnt("T9") if e.name.startswith("turn off"))
    assert "(knob_of ?stoveknob1 ?stoveburner1)" in entry.precondition


def test_slicing_names_one_of_all_the_pieces() -> None:
    entries = [e for e in learnt("T8", "T12") if e.name == "slice ?tomato1"]
    assert entries
    for entry in entries:
        pieces = [p for p in entry.parameters if p.type == "tomatosliced"]
        assert len(pieces) == 1
        assert "(piece_of ?tomatosliced1 ?tomato1)" in entry.precondition
        assert {"(sliced ?tomato1)", "(present ?tomatosliced1)"} <= set(entry.postcondition)


def test_bystanders_are_no_part_of_it() -> None:
    task = room("single-arm", "(opened fridge-1)", "(in apple-1 fridge-1)")
    close = block("Close the fridge", "(navigate_to_obj fridge-1)", "(close_obj fridge-1)")
    assert lifted(close, task).postcondition == ("(not (opened ?fridge1))",)


def test_what_the_words_speak_of_is_no_bystander() -> None:
    task = room("single-arm", "(opened fridge-1)", "(in apple-1 fridge-1)")
    for name in ("Chill apple-1", "Chill the apple"):
        chill = block(name, "(navigate_to_obj fridge-1)", "(close_obj fridge-1)")
        entry = lifted(chill, task)
        assert "(chilled ?apple1)" in entry.postcondition
        assert "(in ?apple1 ?fridge1)" in entry.precondition
        assert entry.name == "Chill ?apple1"


def renamed(task: Task, found: AABlock) -> tuple[Task, AABlock]:
    """Return the same block with all objects renumbered in reverse order."""
    names = {
        o.name: f"{o.name.rpartition('-')[0]}-{100 - int(o.name.rpartition('-')[2])}"
        for o in task.problem.objects
    }
    problem = Problem(
        "renamed",
        task.domain.name,
        tuple(TypedName(names[o.name], o.types) for o in task.problem.objects),
        frozenset(
            Atom(a.predicate, tuple(names.get(x, x) for x in a.args)) for a in task.problem.init
        ),
    )
    words = " ".join(names.get(w, w) for w in found.macro.name.split())
    actions = tuple(
        a.replace(args=tuple(names.get(x, x) for x in a.args), location=None) for a in found.actions
    )
    return Task(task.domain, problem), AABlock(MacroAction(words), actions)


@pytest.mark.parametrize("task_id", ["T2", "T5", "T8", "T9", "T12"])
def test_blocks_equal_up_to_renaming_are_one_entry(task_id: str) -> None:
    task, plan = ground_truth(task_id)
    first = plan.blocks[0]
    other, same = renamed(task, first)
    assert same.actions != first.actions
    assert lifted(first, task).id == lifted(same, other).id


def test_agents_do_not_share_entries() -> None:
    task = room("single-arm")
    assert lifted(SERVE, task, agent="a").id != lifted(SERVE, task, agent="b").id


def test_a_block_that_does_not_work_is_not_lifted() -> None:
    with pytest.raises(UsageError, match=r"step 1, \(pick_up mug-1\), is not applicable"):
        lifted(block("take mug-1", "(pick_up mug-1)"), room("single-arm"))


@pytest.mark.parametrize("task_id", paper_task_ids())
def test_the_conditions_are_sound(task_id: str) -> None:
    """Preconditions of a block hold before it, and postconditions after it."""
    task, plan = ground_truth(task_id)
    state = task.initial
    for found in plan.blocks:
        (entry,) = learn(Plan((found,)), task, "single-arm", Origin(), state=state) or (None,)
        following = after(task, state, found.actions)
        assert entry is not None
        objects = dict(zip((a for s in entry.steps for a in s.args),
                           (a for s in found.actions for a in s.args), strict=True))  # fmt: skip
        for literals, where in ((entry.needs, state), (entry.effects, following)):
            for atom, positive in literals:
                if all(a in objects or not a.startswith("?") for a in atom.args):
                    ground = Atom(atom.predicate, tuple(objects.get(a, a) for a in atom.args))
                    assert (ground in where.atoms(static=True)) == positive, ground
        state = following


def test_going_somewhere_is_not_worth_learning() -> None:
    task = room("single-arm")
    plan = Plan((block("Go to the mug", "(navigate_to_obj mug-1)"), AABlock(MacroAction("x"), ())))
    assert learn(plan, task, "single-arm", Origin()) == ()


@pytest.mark.slow
def test_a_plan_is_learnt_block_by_block_from_where_the_last_one_ended() -> None:
    task = task_in("FloorPlan16")
    plan = Plan((
        block("Take the knife", "(navigate_to_obj knife-1)", "(pick_up knife-1)"),
        block("Slice the tomato", "(navigate_to_obj tomato-1)", "(slice_obj tomato-1)"),
    ))  # fmt: skip
    found = learn(plan, task, "single-arm", Origin(request="T"), ontology=ONTOLOGY)
    assert sorted(e.name for e in found) == ["Slice ?tomato1", "Take ?knife1"]
    assert all(e.origins == (Origin(request="T"),) for e in found)


def test_the_domain_of_every_agent_can_be_lifted_from() -> None:
    push = block("Move the mug to the table", "(navigate_to_obj mug-1)",
                 "(push_to mug-1 diningtable-1)")  # fmt: skip
    entry = lifted(push, room("pusher"), agent=load_agent("pusher").name)
    assert "(beside ?countertop1 ?diningtable1)" in entry.precondition
    assert "(on ?mug1 ?diningtable1)" in entry.postcondition


@pytest.mark.parametrize(
    "text", ["(on ?a ?b)", "(not (on ?a ?b))", "(hand_empty)", "(not (hand_empty))"]
)
def test_literals_are_read_as_they_are_written(text: str) -> None:
    assert literal_text(parse_literal(text)) == text


@pytest.mark.parametrize(
    "text", ["", "on a b", "(on a", "(and (on a b))", "(not on a)", "((on a b))", "(= a b)"]
)
def test_what_is_no_literal_is_refused(text: str) -> None:
    assert not is_literal(text)
    with pytest.raises(PddlError):
        parse_literal(text)


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(PddlError, match="expected an action"):
        parse_step("pick up the mug")
