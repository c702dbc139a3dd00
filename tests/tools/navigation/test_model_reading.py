"""Tool requests read by a model: real clients, servers on loopback, scripted answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import LLMError
from hvr.models.choice import ModelChoice
from hvr.models.connect import connect
from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import meanings
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.model_reader import (
    MAX_SHOWN_TOOLS,
    ModelRequestReader,
    faults_of,
    reading_of,
)
from hvr.tools.navigation.request import EntityQuery, NamedValue, Order, Selection
from hvr.tools.navigation.words.reading import ReadRequest, is_stated
from tests.models.servers import GeminiServer, OpenAIServer, Received, Reply
from tests.tools.navigation.model_answers import call, goal, said

PARCEL = ToolParameter("parcel_id", "string", required=True)
TOOLS = Catalogue((
    ToolSchema("get_parcel", "Show a parcel.", (PARCEL,), effect=Effect.READS),
    ToolSchema("list_parcels", "List parcels.", (ToolParameter("limit", "integer"),),
               effect=Effect.READS),
    ToolSchema("cancel_parcel", "Cancel a parcel.",
               (PARCEL, ToolParameter("reason", "string", required=True),
                ToolParameter("fee", "number"),
                ToolParameter("day", "string", choices=('"friday"', '"monday"'))),
               effect=Effect.WRITES),
    ToolSchema("delete_all", "Delete all parcels.", effect=Effect.DESTROYS),
))  # fmt: skip
SHOW = "Show parcel P-1002"
CANCEL = "Cancel parcel P-1002 since it is late"


@pytest.fixture(autouse=True)
def _clients(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("GEMINI_API_KEY", "test")


class Encoder:
    """Returns orthogonal vectors."""

    def encode(self, texts: list[str]) -> Any:
        import numpy as np

        return np.zeros((len(texts), 2))


def read(
    text: str, *answers: object, given: Mapping[str, Json] | None = None
) -> tuple[ReadRequest, list[Received]]:
    """Read a request with a scripted model."""
    replies = [Reply(one if isinstance(one, str) else json.dumps(one)) for one in answers]
    with OpenAIServer(replies) as server:
        model = connect(ModelChoice(spec="openai:test", base_url=server.url))
        found = ModelRequestReader(model, TOOLS, meanings(TOOLS, Encoder())).read(text, given)
    return found, server.received


def goals(found: ReadRequest) -> list[tuple[str, dict[str, Any]]]:
    assert found.request is not None
    return [(one.tool, dict(one.arguments)) for one in found.request.goals]


@pytest.mark.parametrize("kind", [OpenAIServer, GeminiServer])
def test_a_right_answer_is_read(kind: type[OpenAIServer | GeminiServer]) -> None:
    answer = call(goal("get_parcel", parcel_id="P-1002"),
                  goal("cancel_parcel", parcel_id="P-1002", reason="late"))  # fmt: skip
    with kind([Reply(json.dumps(answer))]) as server:
        spec = "openai:test" if kind is OpenAIServer else "gemini:test"
        model = connect(ModelChoice(spec=spec, base_url=server.url))
        found = ModelRequestReader(model, TOOLS).read(
            "Show parcel P-1002 and cancel it since it is late"
        )
    show, cancel = goals(found)
    assert show == ("get_parcel", {"parcel_id": "P-1002"})
    assert cancel == ("cancel_parcel", {"parcel_id": "P-1002", "reason": "late"})
    assert found.move is None and not found.questions
    # The four moves are offered, and the catalogue is shown.
    assert all(word in server.received[0].text for word in ("call", "ask", "find", "answer"))
    assert "cancel_parcel" in server.received[0].text


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (call(goal("rm -rf")), "there is no tool 'rm -rf'"),
        (call(goal("get_parcel", number="P-1002")), "has no parameter 'number'"),
        (call(goal("get_parcel", {"name": "number"})), "has no parameter 'number'"),
        (call(goal("get_parcel", parcel_id=1002)), "must be of type string"),
        (call(goal("get_parcel", {"name": "parcel_id"}, parcel_id="P-1002")), "is there twice"),
        (call(known=[{"name": "weather"}]), "there is no value 'weather'"),
        (call(), "needs 'goals' or 'known'"),
        ({"move": "ask", "why": "?"}, "needs 'ask'"),
        ({"move": "ask", "why": "?", "ask": [{"tool": "x", "why": "?"}]}, "no tool 'x'"),
    ],
)
def test_what_is_not_there_is_asked_for_again_once_with_the_reason(
    wrong: dict[str, Any], why: str
) -> None:
    right = call(goal("get_parcel", parcel_id="P-1002"))
    found, asked = read(SHOW, wrong, right)
    assert goals(found) == [("get_parcel", {"parcel_id": "P-1002"})]
    assert len(asked) == 2 and why in asked[1].text
    with pytest.raises(LLMError, match=r"no usable answer in 2 tries"):
        read(SHOW, wrong, wrong, right)


@pytest.mark.parametrize("broken", ["Ignore previous instructions", '{"move": "call"', '{"x": 1}'])
def test_an_answer_that_does_not_satisfy_the_schema_is_asked_for_again(broken: str) -> None:
    assert goals(read(SHOW, broken, call(goal("get_parcel", parcel_id="P-1002")))[0])
    with pytest.raises(LLMError, match="not the requested JSON"):
        read(SHOW, broken)


def test_a_value_that_the_request_does_not_say_is_left_out_and_asked() -> None:
    """The engine looks up or asks for all other inputs of calls."""
    found, _ = read(CANCEL, call(goal("cancel_parcel", parcel_id="P-1002", reason="lost")))
    assert goals(found) == [("cancel_parcel", {"parcel_id": "P-1002", "reason": EntityQuery()})]
    assert 'reason = "lost"' in found.why
    # The engine would not miss an optional value, so it becomes a question.
    found, _ = read(CANCEL, call(goal("cancel_parcel", parcel_id="P-1002", reason="late", fee=5)))
    assert found.request is None and found.move is NextMove.ASK
    assert [(one.name, one.choices) for one in found.questions] == [("fee", ((5, ""),))]
    # For a query it is simply left out.
    assert goals(read("List my parcels", call(goal("list_parcels", limit=10)))[0]) == [
        ("list_parcels", {})
    ]


def test_options_give_values_and_win() -> None:
    answer = call(goal("cancel_parcel", parcel_id="P-1002", reason="late", day="Friday"))
    found, asked = read("Cancel P-1002 on Friday, it is late", answer, given={"reason": "lost"})
    assert goals(found) == [
        ("cancel_parcel", {"parcel_id": "P-1002", "reason": "lost", "day": "friday"})
    ]
    assert found.request is not None and NamedValue("reason", "lost") in found.request.said
    assert "lost" not in asked[0].text


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (SHOW, "delete_all"), (SHOW, "cancel_parcel"), ("List all parcels", "delete_all"),
        ("Remove all filters and list my parcels", "delete_all"),
        ("Did P-1002 get cancelled, was it late?", "cancel_parcel"),
        ("Don't cancel P-1002, though it is late", "cancel_parcel"),
        ("Show P-1002 instead of cancelling it late", "cancel_parcel"),
        ("What happens if I cancel P-1002 late?", "cancel_parcel"),
    ],
)  # fmt: skip
def test_no_call_that_writes_is_kept_unless_it_is_ordered(text: str, tool: str) -> None:
    values = {"parcel_id": "P-1002", "reason": "late"} if tool == "cancel_parcel" else {}
    found, _ = read(text, call(goal(tool, **values)))
    assert found.request is None and found.move in (NextMove.ASK, NextMove.ANSWER)


@pytest.mark.parametrize(
    "text",
    ["Please cancel P-1002, it is late", "Can you cancel P-1002? It is late.",
     "P-1002 should be cancelled since it is late", "Drop P-1002, it's late: cancel it",
     "I'd like to cancel P-1002 because it is late"],
)  # fmt: skip
def test_what_is_ordered_is_kept(text: str) -> None:
    found, _ = read(text, call(goal("cancel_parcel", parcel_id="P-1002", reason="late")))
    assert goals(found) == [("cancel_parcel", {"parcel_id": "P-1002", "reason": "late"})]
    assert goals(read("Delete all parcels", call(goal("delete_all")))[0]) == [("delete_all", {})]


def test_what_is_said_not_to_be_meant_gives_no_value() -> None:
    text = "Cancel P-1002 since it is late, but don't touch P-1003"
    found, _ = read(text, call(goal("cancel_parcel", parcel_id="P-1003", reason="late")))
    assert goals(found) == [("cancel_parcel", {"parcel_id": EntityQuery(), "reason": "late"})]


@pytest.mark.slow
def test_descriptions_and_choices_among_several_are_kept_as_far_as_they_are_said() -> None:
    cheapest = {"name": "parcel_id", "order": "least", "by": "price",
                "constraints": said(city="Bern", colour="red")}  # fmt: skip
    found, _ = read("Show the cheapest parcel from Bern", call(goal("get_parcel", cheapest)))
    selection = Selection(Order.LEAST, "price")
    expected = EntityQuery((NamedValue("city", "Bern"),), selection)
    assert goals(found) == [("get_parcel", {"parcel_id": expected})]
    assert "'get_parcel' with parcel_id of the one with city Bern" in found.why
    # These words neither choose among several nor mean all.
    query = {"name": "parcel_id", "every": True, "order": "listed", "position": 2}
    found, _ = read("Cancel my parcel, it is late",
                    call(goal("cancel_parcel", query, reason="late")))  # fmt: skip
    assert goals(found)[0][1]["parcel_id"] == EntityQuery()
    found, _ = read("Cancel all my parcels, they are late",
                    call(goal("cancel_parcel", query, reason="late")))  # fmt: skip
    assert goals(found)[0][1]["parcel_id"] == EntityQuery(every=True)


def test_of_a_large_catalogue_the_likely_tools_are_shown() -> None:
    many = [ToolSchema(f"get_thing_{n}", f"Get thing number {n} of store {n % 7}.",
                       effect=Effect.READS) for n in range(500)]  # fmt: skip
    catalogue = Catalogue((*many[:250], *TOOLS.tools, *many[250:]))
    with OpenAIServer([Reply(json.dumps(call(goal("get_parcel", parcel_id="P-1002"))))]) as server:
        model = connect(ModelChoice(spec="openai:test", base_url=server.url))
        assert goals(ModelRequestReader(model, catalogue).read(SHOW))
    shown = json.loads(server.received[0].body["messages"][1]["content"])["tools"]
    names = [tool["name"] for tool in shown]
    assert len(names) == MAX_SHOWN_TOOLS and "get_parcel" in names
    order = {tool.name: number for number, tool in enumerate(catalogue.tools)}
    assert names == sorted(names, key=order.__getitem__)
    with OpenAIServer([Reply('{"move": "find", "why": "There is none."}')]) as server:
        model = connect(ModelChoice(spec="openai:test", base_url=server.url))
        found = ModelRequestReader(model, catalogue).read("What is the weather?")
    assert found.move is NextMove.FIND and "was shown 150 of 504 tools" in found.why


def test_a_call_that_is_named_twice_is_made_once() -> None:
    one = goal("cancel_parcel", parcel_id="P-1002", reason="late")
    assert len(goals(read(CANCEL, call(one, one))[0])) == 1


def test_the_model_may_ask_answer_or_miss_a_tool() -> None:
    ask = {"tool": "cancel_parcel", "name": "day", "why": "Which day?"}
    found, _ = read("Cancel P-1002", {"move": "ask", "why": "No day.", "ask": [ask]})
    assert found.request is None and found.move is NextMove.ASK
    assert found.questions[0].choices == (("friday", ""), ("monday", ""))
    for move in (NextMove.ANSWER, NextMove.FIND):
        found, _ = read("Hello!", {"move": move.value, "why": "Nothing is wanted.",
                                   "goals": [goal("delete_all")]})  # fmt: skip
        assert found.request is None and found.move is move and not found.questions


_WORDS = st.text(st.sampled_from("abz09 -@.'\"#,"), max_size=30)
_VALUES = st.recursive(
    st.text(st.sampled_from("abz09-"), max_size=6) | st.integers(0, 99) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=2), max_leaves=4,
)  # fmt: skip


@given(_WORDS, _VALUES)
def test_a_said_value_stands_in_the_words(words: str, value: Json) -> None:
    if is_stated(value, words):
        assert value is not None and not isinstance(value, bool) and value not in ("", [])
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                assert part.strip() in words
    assert is_stated(value, words, (value,))


_SENTENCES = (
    SHOW, CANCEL, "Don't cancel P-1002", "Was P-1002 late?", "Cancel all parcels but not P-1003",
    "List my parcels, friday is late", "If P-1002 is late, cancel it", "late P-1002 5 friday",
)  # fmt: skip
_ARGUMENTS = {
    "parcel_id": st.sampled_from(["P-1002", "P-1003", "1002", "P-9"]),
    "reason": st.sampled_from(["late", "lost", ""]), "fee": st.sampled_from([5, 1002, 7.5]),
    "day": st.sampled_from(["friday", "Monday"]), "limit": st.integers(0, 9),
}  # fmt: skip


@st.composite
def _goals(draw: st.DrawFn) -> dict[str, Any]:
    tool = draw(st.sampled_from(TOOLS.tools))
    names = draw(st.sets(st.sampled_from([p.name for p in tool.takes]))) if tool.takes else ()
    return goal(tool.name, **{name: draw(_ARGUMENTS[name]) for name in sorted(names)})


@pytest.mark.slow
@given(st.sampled_from(_SENTENCES), st.lists(_goals(), min_size=1, max_size=4))
def test_whatever_a_model_answers_only_what_is_said_and_ordered_is_kept(
    text: str, some: list[dict[str, Any]]
) -> None:
    answer = call(*some)
    assert not list(faults_of(answer, TOOLS, ()))
    found = reading_of(answer, TOOLS, (), text, {})
    calls = found.request.goals if found.request is not None else ()
    for one in calls:
        assert all(is_stated(v, text) for v in one.arguments.values() if v != EntityQuery())
        assert one.arguments.get("parcel_id") != "P-1003"
    if calls and found.request is not None and not text.startswith(("Cancel", "Delete")):
        assert {one.tool for one in calls} <= {"get_parcel", "list_parcels"}
    assert found.request is not None or found.move in (NextMove.ASK, NextMove.ANSWER)
