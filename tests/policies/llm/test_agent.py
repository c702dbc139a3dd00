"""The policy `agent`: tools that work on the predicted world, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hvr.errors import ImpossibleGoalError
from hvr.models.errors import ModelError
from hvr.models.model import Answer, ModelToolCall, Request
from hvr.policies.llm.agent import AgentWriting
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.record import PlanningRecord
from tests.policies.llm.llm_worlds import policy, predicted_scene

Step = tuple[str, Mapping[str, Any]] | Answer | Exception


class Caller:
    """A model that makes the given calls, one per answer; an exception in the list is raised."""

    name = "fake"
    simulated = True

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.asked: list[Request] = []

    def answer(self, request: Request) -> Answer:
        step = self.steps[len(self.asked)]
        self.asked.append(request)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, Answer):
            return step
        assert step[0] in [tool.name for tool in request.tools] or step[0] == "unknown"
        return Answer(text="", calls=(ModelToolCall(f"c{len(self.asked)}", *step),))

    def result(self, number: int) -> str:
        """Return the result of a call, by its 1-based number."""
        wanted = f"c{number}"
        return next(m.text for m in self.asked[-1].messages if m.call_id == wanted)


def write(model: Caller) -> PlanningRecord:
    equipment = policy(model, "AGENT").equipment
    equipment = replace(equipment, prompts=load_prompts(structured=True))
    return AgentWriting(equipment, "make coffee", predicted_scene()).write()


def do(name: str, *args: str) -> dict[str, Any]:
    return {"do": name, "args": list(args)}


FINISH = ("finish", {})


@pytest.mark.slow
def test_calls_after_the_end_change_nothing() -> None:
    take = {"steps": [do("pick_up", "mug-1")]}
    calls = [("apply", take), FINISH, ("undo", {"count": 9}), ("give_up", {"reason": "bored"})]
    answer = Answer(text="", calls=tuple(ModelToolCall(f"c{n}", *c) for n, c in enumerate(calls)))
    assert [a.name for a in write(Caller([answer])).plan.actions][-1] == "pick_up"


@pytest.mark.slow
def test_tools_look_act_and_say_what_is_wrong() -> None:
    wrong = [do("pick_up", "mug-1"), do("open_obj", "mug-1")]
    model = Caller(
        [
            ("look", {"names": ["Mug"]}),
            ("actions", {"on": "mug-1"}),
            ("apply", {"steps": wrong}),
            ("undo", {"count": 9}),
            ("plan", {"facts": [{"fact": "contains", "args": ["mug-1", "coffee"]}]}),
            ("validate", {}),
            ("unknown", {}),
            ("apply", {"steps": 3}),
            ("plan", {"facts": [{"fact": "no", "args": []}]}),
            FINISH,
        ]
    )
    record = write(model)
    assert "mug-1 (Mug)" in model.result(1)
    assert "(pick_up, mug-1)" in model.result(2)
    assert model.result(3).startswith("1 done. (open_obj, mug-1) is impossible:")
    assert model.result(4) == "The plan has 0 steps."
    assert "coffeemachine-1" in model.result(5)
    assert "became true: (contains mug-1 coffee)" in model.result(6)
    assert "no tool named 'unknown'" in model.result(7)
    assert all("cannot be used" in model.result(n) for n in (8, 9))
    assert record.plan.actions[0].name == "navigate_to_obj"
    assert record.blocks[0].repaired and record.planner_calls == 1


@pytest.mark.slow
def test_an_empty_plan_is_questioned_once() -> None:
    model = Caller([FINISH, FINISH])
    assert write(model).plan.actions == ()
    assert model.result(1).startswith("The plan is empty.")


@pytest.mark.slow
def test_giving_up_has_a_reason() -> None:
    take = ("apply", {"steps": [do("pick_up", "mug-1")]})
    record = write(Caller([take, ("give_up", {"reason": "no beans"})]))
    with pytest.raises(ImpossibleGoalError, match="gives up: no beans"):
        record.require_steps()


@pytest.mark.slow
def test_a_repeated_call_is_told_and_then_ends_the_plan() -> None:
    look, take = ("look", {"names": ["Mug"]}), ("apply", {"steps": [do("pick_up", "mug-1")]})
    model = Caller([look, take, look, look, ("validate", {}), look])
    record = write(model)
    assert "as before" not in model.result(3) and "as before" in model.result(4)
    assert record.repeated == 2 and len(record.plan.actions) == 2
    assert record.stopped is not None and "repeated the call look" in record.stopped.reason


@pytest.mark.slow
def test_going_to_and_fro_ends() -> None:
    take, back = ("apply", {"steps": [do("pick_up", "mug-1")]}), ("undo", {"count": 9})
    record = write(Caller([take, back] * 9))
    assert record.stopped is not None and record.stopped.kind == "repeated call"


@pytest.mark.slow
def test_the_same_call_twice_in_an_answer_is_no_repetition() -> None:
    look = ("look", {"names": ["Mug"]})
    several = Answer(text="", calls=tuple(ModelToolCall(f"c{n}", *look) for n in range(4)))
    assert write(Caller([several, FINISH, FINISH])).repeated == 0


@pytest.mark.slow
def test_a_model_that_writes_no_calls_ends() -> None:
    broken = ModelError("the model called no tool", kind="schema")
    model = Caller([broken] * 3)
    record = write(model)
    assert record.unreadable == 3 == len(model.asked)
    assert record.stopped is not None and record.stopped.kind == "unreadable answer"


@pytest.mark.slow
def test_an_answer_that_is_cut_off_does_not_end_the_plan() -> None:
    cut = Answer(text="I will first look at", finish="length")
    model = Caller([cut, ("apply", {"steps": [do("pick_up", "mug-1")]}), FINISH])
    record = write(model)
    assert record.unreadable == 1 and len(record.plan.actions) == 2


@pytest.mark.slow
def test_a_list_with_an_unusable_step_is_applied_not_at_all() -> None:
    unusable = [do("pick_up", "mug-1"), {"args": []}]
    model = Caller(
        [("apply", {"steps": unusable}), ("undo", {"count": float("inf")}), FINISH, FINISH]
    )
    record = write(model)
    assert "cannot be used" in model.result(1) and "cannot be used" in model.result(2)
    assert not record.plan.actions
