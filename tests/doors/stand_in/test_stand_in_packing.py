"""The stand-in sends the exact metadata, however much of it was encoded before."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.doors.stand_in.protocol import JsonEncoder, MetadataEncoder, MsgpackEncoder, Reply

msgpack = pytest.importorskip("msgpack", reason="msgpack comes with the extra thor")

Make = Callable[[], MetadataEncoder]
Read = Callable[[bytes], Any]
WAYS: list[tuple[Make, Read]] = [
    (MsgpackEncoder, lambda data: msgpack.unpackb(data, raw=False)),
    (JsonEncoder, json.loads),
]

scalars = st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(-9, 9) | st.text()
entries = st.builds(
    lambda name, more, seen, distance: {
        "objectId": name, **more, "visible": seen, "isInteractable": seen, "distance": distance,
    },
    st.sampled_from("abcd"),
    st.dictionaries(st.sampled_from([f"field{i}" for i in range(20)]), scalars),
    st.booleans(),
    st.floats(0, 9),
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Draw lists of objects in which dicts recur unchanged, copied, or slightly changed."""
    pool = draw(st.lists(entries, min_size=1, max_size=5))
    moments = []
    for _ in range(draw(st.integers(1, 5))):
        now: dict[str, dict[str, Any]] = {}
        for entry in draw(st.lists(st.sampled_from(pool), max_size=5)):
            change = draw(st.sampled_from(["", "copy", "visible", "distance", "field0", "new"]))
            later = dict(entry) if change == "copy" else entry
            if change not in ("", "copy"):
                later = {**entry, change: draw(scalars)}
            now[later["objectId"]] = later
            pool.append(later)
        moments.append(list(now.values()))
    return moments


@pytest.mark.slow
@pytest.mark.parametrize(("make", "read"), WAYS, ids=["msgpack", "json"])
@given(histories(), st.dictionaries(st.text(), scalars, max_size=20))
@settings(max_examples=25)
def test_read_back_it_is_the_metadata(
    make: Make, read: Read, moments: list[list[dict[str, Any]]], others: dict[str, Any]
) -> None:
    reusing = make()
    for number, objects in enumerate(moments):
        metadata = {**others, "objects": objects}
        wanted = {
            "agents": [metadata],
            "thirdPartyCameras": [],
            "activeAgentId": 0,
            "sequenceId": number,
        }
        reply = Reply(metadata, number)
        for encoder in (reusing, make()):
            assert read(encoder.envelope(reply)) == wanted
        patch = {k: v for k, v in metadata.items() if k != "objects"}
        assert patch == {} or read(reusing.without_objects(reply)) == patch


def test_what_did_not_change_is_not_encoded_again() -> None:
    class Counting(JsonEncoder):
        encoded = 0

        def _fields(self, fields: Any) -> bytes:
            Counting.encoded += len(fields)
            return super()._fields(fields)

    def cost(objects: list[dict[str, Any]]) -> int:
        Counting.encoded = 0
        encoder.envelope(Reply({"objects": objects, "lastAction": "Pass"}, 0))
        return Counting.encoded

    encoder = Counting()
    steady = {f"field{i}": i for i in range(40)}
    first = {"objectId": "a", **steady, "visible": True, "isInteractable": True, "distance": 1.0}
    whole = cost([first])
    assert cost([first]) == whole - len(first)
    assert cost([{**first, "distance": 2.0}]) == whole - len(first) + 3
    assert cost([{**first, "field0": -1}]) == whole
