"""Tools in every description format, and parameters with the same meaning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError, HvrError, UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.formats import parameters, result_parameters
from hvr.tools.catalogue.reading import read_catalogue, read_tool_graph, read_tools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import Overrides, meanings, read_overrides, tool_graph
from hvr.tools.datasets import read_plans
from tests.command_line import Hvr

TOWN = {"type": "string", "description": "the town"}
ARGUMENTS = {"type": "object", "properties": {"town": TOWN}, "required": ["town"]}
WEATHER = {"name": "weather", "description": "Tells the weather", "parameters": ARGUMENTS}
EXPECTED = (ToolParameter("town", "string", "the town", required=True),)


def written(folder: Path, value: Any, name: str = "tools.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "document",
    [
        [{"type": "function", "function": WEATHER}],
        {"tools": [{"type": "function", **WEATHER}]},
        {"functions": [WEATHER]},
        [{"name": "weather", "description": "Tells the weather", "input_schema": ARGUMENTS}],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [
            {"name": "weather", "description": "Tells the weather", "inputSchema": ARGUMENTS}]}},
        {"openapi": "3.1.0", "paths": {"/weather/{town}": {
            "parameters": [{"name": "town", "in": "path", "required": True, "schema": TOWN}],
            "get": {"operationId": "weather", "summary": "Tells the weather"}}}},
    ],
    ids=["chat", "responses", "functions", "anthropic", "mcp", "openapi"],
)  # fmt: skip
def test_one_tool_in_every_format_is_the_same_tool(document: Any, tmp_path: Path) -> None:
    (tool,) = read_tools(written(tmp_path, document))
    assert (tool.name, tool.description, tool.takes) == ("weather", "Tells the weather", EXPECTED)


def test_python_functions_are_read_and_not_executed(tmp_path: Path) -> None:
    source = '''
from typing import Literal, Optional
raise SystemExit("executed")
class Report:
    degrees: float
    rain: bool
def weather(town: str, unit: Literal["c", "f"] = "c", days: Optional[int] = None) -> list[Report]:
    """Tells the weather.

    Args:
        town: the town,
            however small.
    """
def _hidden(): ...
'''
    (tool,) = read_tools(written(tmp_path, source, "tools.py"))
    assert [(p.name, p.type, p.required) for p in tool.takes] == [
        ("town", "string", True), ("unit", "string", False), ("days", "integer", False),
    ]  # fmt: skip
    assert tool.takes[0].description == "the town, however small."
    assert tool.takes[1].choices == ('"c"', '"f"')
    assert [(p.name, p.type) for p in tool.gives] == [
        ("[].degrees", "number"), ("[].rain", "boolean"),
    ]  # fmt: skip


def test_what_an_operation_writes_gives_and_refers_to(tmp_path: Path) -> None:
    document = {
        "openapi": "3.0.3",
        "paths": {"/orders": {"post": {
            "requestBody": {"$ref": "#/components/requestBodies/Order"},
            "responses": {"404": {}, "201": {"content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/Order"}}}}},
        }}},
        "components": {
            "requestBodies": {"Order": {"content": {"application/json": {
                "schema": {"allOf": [{"$ref": "#/components/schemas/Order"}],
                           "required": ["item"]}}}}},
            "schemas": {"Order": {"type": "object", "properties": {
                "item": {"type": ["string", "null"]},
                "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}}}}},
        },
    }  # fmt: skip
    (tool,) = read_tools(written(tmp_path, document))
    assert (tool.name, tool.effect, tool.idempotent) == ("post_orders", Effect.WRITES, False)
    # A required nullable value may be omitted.
    assert [(p.name, p.type, p.required, p.or_null) for p in tool.takes] == [
        ("item", "string", False, True), ("parts", "array", False, False),
    ]  # fmt: skip
    # A recursive schema is followed once.
    assert [p.name for p in tool.gives] == ["item", "parts[]"]


PATIENT = {
    "Person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "Patient": {"allOf": [{"$ref": "#/components/schemas/Person"}, {
        "type": "object", "required": ["patient_id", "guardian"], "properties": {
            "patient_id": {"type": "string", "readOnly": True},
            "pin": {"type": "string", "writeOnly": True},
            "guardian": {"oneOf": [{"$ref": "#/components/schemas/Patient"}, {"type": "null"}]},
            "doctor": {"$ref": "#/components/schemas/Doctor"}}}]},
    "Doctor": {"allOf": [{"$ref": "#/components/schemas/Person"}, {"properties": {
        "patients": {"type": "array", "items": {"$ref": "#/components/schemas/Patient"}}}}]},
}  # fmt: skip


def operation(body: Any = None, answer: Any = None) -> dict[str, Any]:
    content = {"content": {"application/json": {"schema": answer}}}
    return {"responses": {"200": content}} | (
        {"requestBody": {"content": {"application/json": {"schema": body}}}} if body else {}
    )


def test_schemas_that_are_joined_and_lead_to_each_other_are_followed_once(tmp_path: Path) -> None:
    patient = {"$ref": "#/components/schemas/Patient"}
    document = {"openapi": "3.1.0", "components": {"schemas": PATIENT}, "paths": {
        "/patients": {"post": operation(patient, patient)}}}  # fmt: skip
    (tool,) = read_tools(written(tmp_path, document))
    # Read-only properties are not inputs; write-only properties are not outputs.
    assert [(p.name, p.required, p.or_null) for p in tool.takes] == [
        ("name", True, False), ("pin", False, False), ("guardian", False, True),
        ("doctor", False, False),
    ]  # fmt: skip
    assert {p.name: p.required for p in tool.gives} == {
        "name": True, "patient_id": True, "guardian": False, "doctor.name": False,
        "doctor.patients[]": False,
    }  # fmt: skip


def test_of_alternatives_what_all_need_is_needed(tmp_path: Path) -> None:
    ways = [{"properties": {"kind": {"const": kind}, kind: {"type": "string"}},
             "required": ["kind", kind]} for kind in ("doctor", "field")]  # fmt: skip
    document = {"openapi": "3.0.3", "paths": {
        "/a-b": {"post": operation({"oneOf": ways})},
        "/a_b": {"post": operation({"type": "array", "items": {"type": "string"}})},
    }}  # fmt: skip
    one, other = read_tools(written(tmp_path, document))
    assert [(p.name, p.required) for p in one.takes] == [
        ("kind", True), ("doctor", False), ("field", False),
    ]  # fmt: skip
    # Names made of paths do not clash, and a non-object body is a parameter.
    assert (one.name, other.name) == ("post_a_b", "post_a_b_2")
    assert [(p.name, p.type, p.required) for p in other.takes] == [("body", "array", True)]


def test_of_a_huge_schema_what_is_needed_and_what_lies_outside_is_kept(
    tmp_path: Path, hvr_: Hvr
) -> None:
    wide = {f"p{n}": {"type": "string"} for n in range(2_000)}
    found = parameters({"properties": wide, "required": ["p1999"]}, {})
    assert len(found) == 500 and found[-1].name == "p1999"
    given_ = result_parameters(
        {"properties": {"inner": {"properties": wide}, "last": {"type": "string"}}}, {}
    )
    assert len(given_) == 200 and given_[-1].name == "last"
    tools = [{"name": f"tool{n}", "parameters": {"properties": {"town": {}}}} for n in range(30)]
    tools.append({"name": "wide", "parameters": {"properties": wide}})
    said = hvr_("tools", "import", str(written(tmp_path, tools))).out
    assert "only 500 parameters" in said and said.endswith("were read: wide\n")
    assert "and 10 more (--json or --out has all)" in said


SHAPES = '''
from __future__ import annotations
import enum, typing
from dataclasses import dataclass
from datetime import date
class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"
class Level(enum.IntEnum):
    LOW = enum.auto()
    HIGH = enum.auto()
Kind = typing.Literal["single", "double"]
class Room(typing.TypedDict):
    room_id: str
    size: typing.NotRequired[Size]
class Suite(Room):
    beds: list[Bed] | None
@dataclass
class Bed:
    wide: bool
Rooms = list[Room]
def find(size: Size, when: date | None, kind: Kind = "single", level: Level = 1, *t: str) -> Rooms:
    """Find rooms.

    Parameters
    ----------
    size, kind : Size
        How large,
        and which.
    """
async def suite(owner: Unknown, /, *, room: Room) -> "Suite | None": ...
class Desk:
    @property
    def rooms(self) -> int: ...
'''


ENUMS = """
import enum, os
class Access(enum.Flag):
    _ignore_ = "x"
    READ = enum.auto()
    WRITE = 4
    RUN = enum.auto()
class Named(enum.StrEnum):
    North = enum.auto()
class Mixed(enum.Enum):
    A = "a"
    B = enum.auto()
class Computed(enum.Enum):
    A = "a"
    B = os.sep
def go(access: Access, named: Named, mixed: Mixed, computed: Computed): ...
"""


def test_an_enum_whose_members_are_not_all_told_leaves_the_choice_open(tmp_path: Path) -> None:
    (go,) = read_tools(written(tmp_path, ENUMS, "enums.py"))
    assert [p.choices for p in go.takes] == [("1", "4", "8"), ('"north"',), (), ()]


def test_hints_are_explained_by_the_module(tmp_path: Path) -> None:
    find, suite = read_tools(written(tmp_path, SHAPES, "shapes.py"))
    assert [(p.name, p.type, p.required, p.or_null, p.choices) for p in find.takes] == [
        ("size", "string", True, False, ('"s"', '"l"')), ("when", "string", False, True, ()),
        ("kind", "string", False, False, ('"single"', '"double"')),
        ("level", "integer", False, False, ("1", "2")),
    ]  # fmt: skip
    told = "How large, and which."
    assert [p.description for p in find.takes] == [told, "", told, ""]
    assert [p.name for p in find.gives] == ["[].room_id", "[].size"]
    # Unexplained types accept anything.
    assert [(p.name, p.type) for p in suite.takes] == [("owner", ""), ("room", "object")]
    assert [(p.name, p.type) for p in suite.gives] == [
        ("room_id", "string"), ("size", "string"), ("beds[].wide", "boolean")]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", "{}", "no list of tools found"),
        ("a.json", "[]", "list of tools is empty"),
        ("a.json", "[3]", "tool 1: a tool must be an object"),
        ("a.json", '[{"parameters": {}}]', "tool 1: a tool must have a name"),
        ("a.json", '{"swagger": "2.0", "paths": {}}', "expected OpenAPI 3"),
        ("a.json", '{"openapi": "3.0.0", "paths": {"/a": 3}}', "no operation"),
        ("a.py", "def f(:", "a.py:1: not valid Python"),
        ("a.py", "x = 1", "no public function"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=says):
        read_tools(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([WEATHER, 3], "tool 2: a tool must be an object"),
        ([WEATHER, {"parameters": {}}], "tool 2: a tool must have a name"),
        ([WEATHER, {"name": "b", "parameters": "none"}], "'b' must have an object as parameters"),
        ([WEATHER, {"name": "b", "inputSchema": {"properties": [1]}}], "inputSchema.properties"),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "weather"}, "put": 3}}},
         "PUT '/a' must be an object"),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "weather"}}, "/b": 3}},
         "path '/b' must be an object"),
        ({"openapi": "3.1.0", "paths": {"/a": {
            "get": {"operationId": "weather"}, "put": {"parameters": [{"in": "query"}]}}}},
         "PUT '/a' has a parameter without a name"),
        ({"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "weather"}},
                                        "/b/{c}": {"get": {}}}}, "path parameter 'c'"),
    ],
)  # fmt: skip
def test_a_malformed_tool_is_left_out_and_named(
    tmp_path: Path, hvr_: Hvr, document: Any, said: str
) -> None:
    path = written(tmp_path, document)
    catalogue = read_catalogue([path])
    assert [tool.name for tool in catalogue.tools] == ["weather"]
    assert len(catalogue.left_out) == 1 and said in catalogue.left_out[0]
    assert f"left out: {catalogue.left_out[0]}" in hvr_("tools", "import", path).out


def test_a_path_parameter_is_sent_whatever_its_schema_says_of_results(tmp_path: Path) -> None:
    slot = {"name": "id", "in": "path", "required": True,
            "schema": {"type": "integer", "readOnly": True}}  # fmt: skip
    document = {"openapi": "3.1.0", "paths": {"/a/{id}": {"get": {"parameters": [slot]}}}}
    (tool,) = read_tools(written(tmp_path, document))
    assert [(p.name, p.type, p.required) for p in tool.takes] == [("id", "integer", True)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "properties", "items", "$ref", "allOf", "enum", "required",
                         "name", "function", "parameters", "response", "description"])
        | st.text(max_size=3), some, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(_JSON)
def test_any_schema_has_some_parameters(schema: Any) -> None:
    for parameter in (*parameters(schema, schema), *result_parameters(schema, schema)):
        assert isinstance(parameter.name, str) and isinstance(parameter.type, str)


def tool(name: str, takes: str = "", gives: str = "") -> ToolSchema:
    return ToolSchema(
        name, "", tuple(ToolParameter(p, "string") for p in takes.split()),
        tuple(ToolParameter(p, "string") for p in gives.split()),
    )  # fmt: skip


FLIGHTS = Catalogue(
    (
        tool("search_flights", "origin destination", "flights[].flight_id flights[].price"),
        tool("book_flight", "flight_id", "booking.booking_id"),
        tool("cancel", "booking_id"),
    )
)


def test_a_tool_leads_to_those_that_take_what_it_gives() -> None:
    found = meanings(FLIGHTS, TextVectors("lexical-hash"))
    assert tool_graph(FLIGHTS, found).links == (
        ("search_flights", "book_flight"), ("book_flight", "cancel"),
    )  # fmt: skip


def test_each_slot_has_one_meaning_and_no_tool_takes_one_twice() -> None:
    found = meanings(FLIGHTS, TextVectors("lexical-hash"), min_cosine=0.01)
    slots = [slot for meaning in found for slot in meaning.slots]
    assert len(slots) == len(set(slots)) == 7
    assert len({meaning.name for meaning in found}) == len(found)
    of = {slot: meaning.name for meaning in found for slot in meaning.slots}
    taken = [of[s] for s in slots if s.tool == "search_flights" and not s.gives]
    assert len(set(taken)) == 2


def test_names_of_one_tool_that_differ_only_in_spelling_are_two_things() -> None:
    spelt = (ToolParameter("ID", "string"), ToolParameter("id", "string"))
    tools = (ToolSchema("lend", takes=spelt), ToolSchema("look", takes=spelt[1:]))
    found = meanings(Catalogue(tools), TextVectors("lexical-hash"))
    meaning = {str(slot): m.name for m in found for slot in m.slots}
    assert meaning["lend <- ID"] != meaning["lend <- id"]
    # The words alone also suffice.
    telling = (ToolParameter("BOOK_ID"), ToolParameter("book_id"))
    found = meanings(Catalogue((ToolSchema("lend", takes=telling),)), TextVectors("lexical-hash"))
    assert len(found) == 2


def test_the_user_has_the_last_word(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'apart = [["book_flight.flight_id", "search_flights.flights[].flight_id"]]\n'
        '[same]\nplace = ["search_flights.origin", "search_flights.destination"]\n',
        "meanings.toml",
    )
    found = meanings(FLIGHTS, TextVectors("lexical-hash"), overrides=read_overrides(path))
    (said,) = [m for m in found if m.by_user]
    assert (said.name, len(said.slots)) == ("place", 2)
    assert ("search_flights", "book_flight") not in tool_graph(FLIGHTS, found).links
    with pytest.raises(UsageError, match=r"no parameter named 'a\.b'"):
        meanings(FLIGHTS, TextVectors("lexical-hash"), overrides=Overrides({"x": ("a.b",)}))
    with pytest.raises(DataFileError, match="'sane' is not a known key"):
        read_overrides(written(tmp_path, "sane = 3", "bad.toml"))


def test_names_are_data(tmp_path: Path, hvr_: Hvr) -> None:
    odd = 'a"b\n9 tools, 9 links'
    path = written(tmp_path, [{**WEATHER, "name": odd}, {**WEATHER, "name": f"{odd}!"}])
    assert read_catalogue([path]).tools[0].name == odd
    said = hvr_("tools", "import", str(path)).out
    assert odd.replace("\n", r"\n") in said and "\n9 tools" not in said
    path = written(tmp_path, [WEATHER, {**WEATHER, "name": "Weather"}, WEATHER])
    with pytest.raises(UsageError, match="'weather' is duplicated"):
        read_catalogue([path])


def test_a_file_of_tools_and_links_and_one_of_schemas_make_graphs(tmp_path: Path) -> None:
    own = {"nodes": [{"id": "a", "output-type": ["x"]}, {"id": "b"}],
           "links": [{"source": "a", "target": "b"}]}  # fmt: skip
    assert read_tool_graph(written(tmp_path, own)).links == (("a", "b"),)
    graph = read_tool_graph(written(tmp_path, [WEATHER]))
    assert graph.tool("weather").inputs == ("town",)


def test_a_conversation_with_calls_is_a_plan(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "help"},
        {"role": "user", "content": [{"type": "text", "text": "Rain in Rome?"}]},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "no"},
    ]
    (plan,) = read_plans(written(tmp_path, [{"messages": messages}], "calls.json"))
    assert (plan.request, plan.tools) == ("Rain in Rome?", ("weather",))
    # Lists of messages, and lists of such lists, also count as logs.
    assert read_plans(written(tmp_path, messages, "messages.json")) == (plan,)
    two = read_plans(written(tmp_path, [messages, messages], "two.json"))
    assert [(p.id, p.tools) for p in two] == [("1", ("weather",)), ("2", ("weather",))]


@pytest.mark.parametrize(
    "said",
    [
        {"content": None, "function_call": {"name": "weather", "arguments": "{}"}},
        {"content": [
            {"type": "text", "text": "Let me look.", "name": "look"},
            {"type": "tool_use", "id": "1", "name": "weather", "input": {"name": "Rome"}},
        ]},
        {"content": [{"type": "tool_use", "id": "1", "name": "weather", "input": {}}],
         "tool_calls": [{"id": "1", "name": "weather", "args": {}}], "function_call": None},
    ],
)  # fmt: skip
def test_calls_of_other_protocols_are_read(tmp_path: Path, said: dict[str, object]) -> None:
    messages = [
        {"role": "user", "content": "Rain in Rome?"},
        {"role": "assistant", **said},
        # Results have a name, too, but are not calls.
        {"role": "function", "name": "weather", "content": "no"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no"}]},
        {"role": "assistant", "content": "No rain.", "function_call": "none"},
        {"role": "assistant", "function_call": {"name": "draw", "arguments": "{}"}},
    ]
    (plan,) = read_plans(written(tmp_path, [{"messages": messages}], "calls.json"))
    assert (plan.request, plan.tools) == ("Rain in Rome?", ("weather", "draw"))


def test_the_command_writes_what_others_read(tmp_path: Path, hvr_: Hvr) -> None:
    tools = written(tmp_path, [
        {**WEATHER, "response": {"properties": {"degrees": {"type": "number"}}}},
        {"name": "draw", "parameters": {"properties": {"degrees": {"type": "number"}}}},
        {"name": "sing", "parameters": {"properties": {}}},
    ])  # fmt: skip
    out = tmp_path / "catalogue.json"
    said = hvr_("tools", "import", tools, "--out", out)
    assert said.code == 0 and "3 tools, 3 parameters with 2 meanings, 1 links" in said.out
    calls = [{"name": "weather", "arguments": {"city": "Rome"}}, {"name": "sing", "arguments": {}}]
    plan = written(tmp_path, [{"id": 1, "query": "Rome?", "calls": calls}], "plan.json")
    judged = hvr_("judge", plan, "--tools", tools)
    assert judged.code == 1 and "1 (weather)  ARGUMENT" in judged.out, judged
    assert hvr_("judge", plan, "--tools", out).code == 2  # it has no schemas
    assert hvr_("tools", "import", tmp_path / "none.json").code == 2
    with pytest.raises(HvrError):
        read_tools(tmp_path)
