"""Sources of call values; values from other sources are never written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.tools.calling.calls import (
    CallFailure,
    Json,
    Place,
    Provenance,
    Source,
    ToolCall,
    leaf_values,
    place_text,
    source_of,
    sources_json,
    unsupported,
)
from hvr.tools.calling.guard import GuardedTools
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)
KINDS = st.sampled_from(Provenance)


def at(value: Json, place: Place) -> Json:
    for step in place:
        value = value[step]  # type: ignore[index, call-overload]
    return value


@pytest.mark.slow
@given(ARGUMENTS)
def test_leaves_are_all_that_arguments_hold(arguments: dict[str, Json]) -> None:
    leaves = dict(leaf_values(ToolCall("t", arguments)))
    assert all(at(arguments, place) == value for place, value in leaves.items())
    assert all(not isinstance(value, (list, dict)) or not value for value in leaves.values())
    # Every part is a leaf, or a prefix of a leaf's path.
    todo: list[tuple[Place, Json]] = [((k,), v) for k, v in arguments.items()]
    while todo:
        place, value = todo.pop()
        assert any(leaf[: len(place)] == place for leaf in leaves)
        if isinstance(value, dict):
            todo += [((*place, k), v) for k, v in value.items()]
        elif isinstance(value, list):
            todo += [((*place, n), v) for n, v in enumerate(value)]


@pytest.mark.slow
@given(ARGUMENTS, st.data())
def test_what_is_supported_is_what_has_a_source_that_allows_it(
    arguments: dict[str, Json], data: st.DataObject
) -> None:
    call = ToolCall("t", arguments)
    kinds = {place: data.draw(KINDS) for place, _ in leaf_values(call)}
    sources = {place: Source(kind, "") for place, kind in kinds.items()}
    wrong = {one.place for one in unsupported(call, sources)}
    refused = {Provenance.FOUND, Provenance.UNKNOWN}
    assert wrong == {place for place, kind in kinds.items() if kind in refused}
    assert {one.place for one in unsupported(call, {})} == set(kinds)
    assert [one["source"] for one in sources_json(call, sources)] == [  # type: ignore[index, call-overload]
        kind.value for kind in kinds.values()
    ]


def test_the_nearest_source_holds() -> None:
    sources = {("a",): Source(Provenance.SAID), ("a", 1): Source(Provenance.FOUND)}
    assert source_of(("a", 0, "x"), sources).kind is Provenance.SAID
    assert source_of(("a", 1, "x"), sources).kind is Provenance.FOUND
    assert source_of(("b",), sources).kind is Provenance.UNKNOWN
    assert place_text(("items", 0, "id")) == "items[0].id"


def deep() -> Json:
    value: Json = "x"
    for _ in range(5_000):
        value = [value]
    return value


def test_depth_is_no_way_around() -> None:
    assert len(unsupported(ToolCall("t", {"a": deep()}), {})) == 1


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("kind", Provenance)
def test_only_tools_that_read_are_called_with_what_no_one_said(
    effect: Effect, kind: Provenance
) -> None:
    made: list[str] = []

    def order(item: str) -> None:
        made.append(item)

    tool = ToolSchema("order", takes=(ToolParameter("item", "string", required=True),))
    tools = PythonTools(Catalogue((replace(tool, effect=effect),)), {"order": order})
    guarded = GuardedTools(tools, "shop")
    source = Source(kind, "the item of an old order")
    outcome = guarded.call_with(ToolCall("order", {"item": "lamp"}), {("item",): source})
    allowed = effect is Effect.READS or kind not in (Provenance.FOUND, Provenance.UNKNOWN)
    assert (made == ["lamp"]) is allowed
    assert outcome.ok is allowed
    if not allowed:
        assert outcome.failure is CallFailure.NOT_ALLOWED
        assert 'item = "lamp" (the item of an old order)' in outcome.error
    assert outcome.sources == {("item",): source}
    # Without sources only reads are allowed.
    assert guarded.call(ToolCall("order", {"item": "desk"})).ok is (effect is Effect.READS)
