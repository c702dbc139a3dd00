"""The stand-in without a client: one answer per action, whatever the action."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.doors.stand_in.process import ClientDialogue, SceneRenderer, converse
from hvr.doors.stand_in.protocol import Reply
from hvr.worlds import Kitchen, scene_names
from hvr.worlds.kitchen.actions import ACTIONS


def _conversation(**given: Any) -> ClientDialogue:
    conversation = ClientDialogue(Kitchen("FloorPlan1"), **given)
    assert _ask(conversation, "Reset", sceneName="FloorPlan1_physics")["lastActionSuccess"]
    return conversation


def _ask(conversation: ClientDialogue, name: Any, **args: Any) -> Mapping[str, Any]:
    return conversation.answer({"action": name, "sequenceId": 1, **args}).metadata


IDS = [o["objectId"] for o in Kitchen("FloorPlan1").last_event.metadata["objects"]]
OWN = ("Reset", "GetScenesInBuild", "ChangeResolution", "SetObjectFilter", "ResetObjectFilter")
NAMES = (
    *("objectId", "forceAction", "degrees", "moveMagnitude", "position", "rotation", "openness"),
    *("objectIds", "x", "y", "sceneName", "gridSize", "fillLiquid", "renderImage", "agentId"),
    "renderDepthImage",
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 500) | st.floats() | st.text(max_size=5)
    | st.sampled_from([*IDS[:20], "FloorPlan2"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=4,
)  # fmt: skip
actions = st.builds(
    lambda name, args: {**args, "action": name},
    st.sampled_from([*ACTIONS, *OWN]) | values,
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), values, max_size=4),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(actions, min_size=1, max_size=6))
def test_every_action_is_answered_and_the_conversation_goes_on(asked: list[dict[str, Any]]) -> None:
    conversation = _conversation()
    for number, action in enumerate(asked):
        reply = conversation.answer({**action, "sequenceId": number})
        assert reply.sequence_id == number
        assert reply.metadata["lastActionSuccess"] or reply.metadata["errorMessage"]
        assert reply.metadata["lastAction"] == str(action["action"])
        json.dumps({k: v for k, v in reply.metadata.items() if k != "objects"})
    json.dumps(conversation.hello().metadata)
    assert _ask(conversation, "Reset", sceneName="FloorPlan3")["sceneName"] == "FloorPlan3_physics"
    assert _ask(conversation, "Pass")["lastActionSuccess"]


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(actions.filter(lambda a: a["action"] != "Reset"), max_size=6))
def test_what_is_refused_changes_nothing(asked: list[dict[str, Any]]) -> None:
    kitchen = Kitchen("FloorPlan1")
    conversation = ClientDialogue(kitchen)
    _ask(conversation, "Reset", sceneName="FloorPlan1")
    for action in asked:
        before = kitchen.world.things, kitchen.world.agent, kitchen.world.held
        if not conversation.answer(action).metadata["lastActionSuccess"]:
            now = kitchen.world.things, kitchen.world.agent, kitchen.world.held
            assert now[1:] == before[1:]
            assert {k: v.parents for k, v in now[0].items()} == {
                k: v.parents for k, v in before[0].items()
            }


@pytest.mark.parametrize(
    ("action", "code", "said"),
    [
        ({"action": "Fly"}, "InvalidAction", "Invalid action: Fly"),
        ({"action": None}, "InvalidAction", "Invalid action: None"),
        ({}, "InvalidAction", "Invalid action"),
        ({"action": "PickupObject"}, "MissingArguments", "missing the following arguments"),
        ({"action": "Pass", "loud": True}, "InvalidArgument", "invalid argument: loud"),
        ({"action": "Pass", "agentId": 1}, "InvalidArgument", "one agent, number 0"),
        ({"action": "Pass", "renderDepthImage": True}, "InvalidArgument", "only RGB images"),
        ({"action": "Initialize", "agentCount": 2}, "InvalidArgument", "one agent"),
        (
            {"action": "Initialize", "agentMode": "drone"},
            "InvalidArgument",
            "only the agent 'default'",
        ),
        ({"action": "Initialize", "renderInstanceSegmentation": True}, "InvalidArgument", "RGB"),
        ({"action": "RandomizeMaterials"}, "InvalidAction", "no textures"),
        ({"action": "ChangeResolution", "x": 0, "y": 300}, "InvalidArgument", "pixels"),
        ({"action": "ChangeResolution", "x": True, "y": 300}, "InvalidArgument", "pixels"),
        ({"action": "Reset", "sceneName": "FloorPlan99"}, "InvalidArgument", "unknown scene"),
        ({"action": "SetObjectFilter", "objectIds": 3}, "InvalidArgument", "list of object ids"),
        ({"action": "PickupObject", "objectId": "Mug|0"}, None, "objectId: Mug|0 is not"),
    ],
)
def test_errors(action: dict[str, Any], code: str | None, said: str) -> None:
    metadata = _conversation().answer(action).metadata
    assert not metadata["lastActionSuccess"]
    assert metadata["errorCode"] == code
    assert said in metadata["errorMessage"]


def test_before_reset_there_is_no_scene() -> None:
    conversation = ClientDialogue(Kitchen("FloorPlan1"))
    assert conversation.hello().sequence_id == 0
    refused = _ask(conversation, "MoveAhead")
    assert (refused["errorCode"], refused["lastActionSuccess"]) == ("InvalidAction", False)
    assert "send Reset first" in refused["errorMessage"]
    scenes = _ask(conversation, "GetScenesInBuild")["actionReturn"]
    assert scenes == [f"{name}_physics" for name in scene_names()]


def test_only_the_chosen_objects_are_told_of_until_the_next_reset() -> None:
    conversation = _conversation()
    every = len(_ask(conversation, "Pass")["objects"])
    few = _ask(conversation, "SetObjectFilter", objectIds=IDS[:2])
    assert [o["objectId"] for o in few["objects"]] == IDS[:2]
    assert len(_ask(conversation, "Pass")["objects"]) == 2
    assert len(_ask(conversation, "ResetObjectFilter")["objects"]) == every
    assert _ask(conversation, "SetObjectFilter", objectIds=[])["objects"] == []
    assert len(_ask(conversation, "Reset")["objects"]) == every


def test_the_image_is_drawn_when_wanted_and_only_when_something_changed() -> None:
    drawn: list[tuple[int, int]] = []

    def draw(_metadata: Mapping[str, Any], width: int, height: int) -> bytes:
        drawn.append((width, height))
        return bytes(width * height * 3)

    conversation = _conversation(width=20, height=10, camera=SceneRenderer(draw))
    first = conversation.answer({"action": "Pass"}).image
    assert conversation.answer({"action": "Pass"}).image is first
    assert conversation.answer({"action": "RotateRight", "renderImage": False}).image is None
    assert drawn == [(20, 10)]
    assert conversation.answer({"action": "Pass"}).image is not first
    reply = conversation.answer({"action": "ChangeResolution", "x": 4, "y": 5})
    assert drawn == [(20, 10), (20, 10), (4, 5)]
    assert (reply.metadata["screenWidth"], reply.metadata["screenHeight"]) == (4, 5)
    assert reply.image is not None and len(reply.image) == 60


def test_it_ends_when_the_link_does() -> None:
    class Script:
        def __init__(self) -> None:
            self.got: list[Reply] = []

        def exchange(self, reply: Reply) -> dict[str, Any] | None:
            self.got.append(reply)
            number = len(self.got)
            return {"action": "Pass", "sequenceId": number} if number < 3 else None

    link = Script()
    converse(ClientDialogue(Kitchen("FloorPlan1")), link)
    assert [reply.sequence_id for reply in link.got] == [0, 1, 2]
