"""Requests in words are read without a model: tools by likeness, values by their forms."""

from __future__ import annotations

import pytest

from hvr.calling.worlds import meanings_file, open_tools
from hvr.navigation.reading import ServedRequest, WordReading, read_request
from hvr.retrieval.text_vectors import TextVectors
from hvr.tools.catalogue.merging import meanings, read_overrides
from hvr.world_file import load_world


def read(text: str) -> WordReading:
    world, encoder = load_world("parcels"), TextVectors("lexical-hash")
    tools, file = open_tools(world), meanings_file(world)
    assert file is not None
    found = meanings(tools.catalogue, encoder, overrides=read_overrides(file))
    served = [
        ServedRequest(task.request, task.done, task.known, task.values)
        for task in world.tool_tasks.values()
    ]
    return read_request(text, tools.catalogue, found, served, encoder.encode)


@pytest.mark.parametrize(
    ("text", "done", "values"),
    [
        ("Could cleo@example.org come and pick up the parcel on Friday?", ("book_pickup",),
         {"email": "cleo@example.org", "day": "friday"}),
        ("Please cancel my parcel P-2417.", ("cancel_parcel",), {"parcel_id": "P-2417"}),
        ("Where does parcel P-1001 lie? Get it for me.", ("get_parcel",), {"parcel_id": "P-1001"}),
    ],
)  # fmt: skip
def test_tools_and_values_are_read(
    text: str, done: tuple[str, ...], values: dict[str, str]
) -> None:
    errand = read(text).errand
    assert errand is not None
    assert errand.done == done and errand.values == values


def test_of_two_values_of_one_form_none_is_taken() -> None:
    errand = read("Please cancel my parcel P-2417 or P-2418.").errand
    assert errand is not None and "parcel_id" not in errand.values


def test_what_is_like_nothing_is_not_guessed() -> None:
    found = read("Xyzzy plugh.")
    assert found.errand is None and "--goal" in found.why
