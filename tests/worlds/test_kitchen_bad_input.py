"""Any bad request gives an error in the event, or ValueError where AI2-THOR's Python client raises
one, and leaves the world unchanged.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.worlds import Kitchen
from hvr.worlds.kitchen.actions import ACTIONS

KITCHEN = Kitchen("FloorPlan1")
FIRST = KITCHEN.snapshot()
IDS = [o.object_id for o in KITCHEN.scene.objects][::4]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(max_size=8)
    | st.sampled_from(IDS)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x", "y", "z", "objectName", "position", "objectType", "count"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
ARGUMENTS = sorted({name for spec in ACTIONS.values() for name in spec.allowed} - {"action"})
SLOW = {"GetReachablePositions", "GetInteractablePoses"}
"""Actions that may take long on unusual grids; called with few arguments only."""


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_nothing_but_a_value_error_comes_out(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(ACTIONS)))
    spec = ACTIONS[name]
    known = sorted(spec.allowed - {"action"})
    chosen = data.draw(st.lists(st.sampled_from(known), unique=True, max_size=4))
    arguments = {key: data.draw(ANYTHING) for key in {*chosen, *spec.required}}
    if name == "Initialize" or (name in SLOW and "gridSize" in arguments):
        arguments.pop("gridSize", None)
    KITCHEN.restore(FIRST)
    refused = False
    try:
        KITCHEN.step(action=name, **arguments)
    except ValueError:
        refused = True
    event = KITCHEN.last_event
    assert refused <= (not event)
    if not event:
        assert event.metadata["errorMessage"]
        assert KITCHEN.world.things is FIRST.world.things
        assert KITCHEN.world.agent == FIRST.world.agent
    json.dumps(event.metadata, allow_nan=False)


@settings(max_examples=25)
@given(st.text(max_size=12), st.dictionaries(st.sampled_from(ARGUMENTS), SCALARS, max_size=2))
def test_the_run_goes_on_after_unknown_actions(name: str, arguments: dict[str, Any]) -> None:
    if name in ACTIONS:
        return
    KITCHEN.restore(FIRST)
    try:
        KITCHEN.step(name, **arguments)
    except ValueError as error:
        assert str(error) == f"Invalid action: {name}"
    assert KITCHEN.last_event.metadata["errorCode"] == "InvalidAction"
    assert KITCHEN.step("Pass")
