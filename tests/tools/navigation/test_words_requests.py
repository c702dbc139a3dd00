"""Requests read without a model: goal calls, values, questions, and unread words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.knowledge.world_file import load_world
from hvr.tools.calling.calls import Json
from hvr.tools.calling.worlds import meanings_file, open_tools
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import meanings, read_overrides
from hvr.tools.navigation.binding import QuestionKind
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.request import EntityQuery, Order, Selection
from hvr.tools.navigation.words.reading import ReadRequest
from hvr.tools.navigation.words.request_reader import RequestReader

SERVERS = Path(__file__).parents[3] / "benchmarks" / "tool_words_servers.json"
ENCODER = TextVectors("lexical-hash")


@pytest.fixture(scope="module")
def parcels() -> RequestReader:
    world = load_world("parcels")
    tools, file = open_tools(world), meanings_file(world)
    assert file is not None
    found = meanings(tools.catalogue, ENCODER, overrides=read_overrides(file))
    return RequestReader(tools.catalogue, found, ENCODER.encode)


def server(name: str) -> RequestReader:
    """Return a reader for the tools of a public MCP server."""
    listed = json.loads(SERVERS.read_text())["servers"][name]["tools"]
    catalogue = Catalogue(tuple(read_tool(tool, name) for tool in listed))
    return RequestReader(catalogue, meanings(catalogue, ENCODER), ENCODER.encode)


def calls(read: ReadRequest) -> list[tuple[str, dict[str, Json]]]:
    goals = read.request.goals if read.request is not None else ()
    return [
        (g.tool, {n: v for n, v in g.arguments.items() if not isinstance(v, EntityQuery)})
        for g in goals
    ]


@pytest.mark.parametrize(
    ("name", "text", "tool", "values"),
    [
        ("filesystem", "Show me the first 5 lines of log.txt", "read_text_file",
         {"path": "log.txt", "head": 5}),
        ("filesystem", "Create a directory called reports", "create_directory",
         {"path": "reports"}),
        ("filesystem", "Move a.txt to b.txt", "move_file",
         {"source": "a.txt", "destination": "b.txt"}),
        ("time", "What time is it now in Tokyo?", "get_current_time", {"timezone": "Asia/Tokyo"}),
        ("time", "Convert 14:30 from Europe/London to Asia/Tokyo", "convert_time",
         {"source_timezone": "Europe/London", "time": "14:30", "target_timezone": "Asia/Tokyo"}),
        ("memory", "Search for nodes about tea", "search_nodes", {"query": "tea"}),
        ("memory", "Open the nodes Ann and Bob", "open_nodes", {"names": ["Ann", "Bob"]}),
        ("git", "Stage a.py and b.py in /srv/site", "git_add",
         {"repo_path": "/srv/site", "files": ["a.py", "b.py"]}),
        ("everything", "What is the sum of 3 and 4?", "get-sum", {"a": 3, "b": 4}),
    ],
)  # fmt: skip
def test_values_go_to_the_parameters_that_take_them(
    name: str, text: str, tool: str, values: dict[str, Json]
) -> None:
    read = server(name).read(text)
    assert calls(read) == [(tool, values)] and not read.questions


def test_several_clauses_are_several_goals_in_order(parcels: RequestReader) -> None:
    read = parcels.read("Show P-1002 and then cancel it because it is late.")
    assert calls(read) == [
        ("get_parcel", {"parcel_id": "P-1002"}),
        ("cancel_parcel", {"parcel_id": "P-1002", "reason": "it is late"}),
    ]
    assert read.request is not None and read.request.ordered


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Cancel all parcels of ann@example.org because they are late.", EntityQuery(every=True)),
        ("Cancel the last parcel of ann@example.org because it is late.",
         EntityQuery(selection=Selection(Order.LISTED, position=-1))),
        ("Cancel the parcel of ann@example.org because it is late.", EntityQuery()),
    ],
)  # fmt: skip
def test_an_entity_without_an_id_is_a_query(
    parcels: RequestReader, text: str, query: EntityQuery
) -> None:
    read = parcels.read(text)
    assert read.request is not None
    (goal,) = read.request.goals
    assert goal.arguments["parcel_id"] == query
    assert [(one.name, one.value) for one in read.request.said] == [("email", "ann@example.org")]


@pytest.mark.parametrize(
    "text",
    ["Don't cancel P-1002.", "Please never cancel P-1002!", "I have cancelled P-1002.",
     "I am thinking about cancelling P-1002."],
)  # fmt: skip
def test_what_is_forbidden_or_stated_calls_nothing(parcels: RequestReader, text: str) -> None:
    read = parcels.read(text)
    assert read.request is None and read.move is NextMove.ANSWER


@pytest.mark.parametrize(
    "text",
    ["Did Ann cancel P-1002?", "Should I cancel P-1002?", "Can you tell me if P-1002 is cancelled?",
     "What would happen if I cancelled P-1002?", "Is it possible to cancel P-1002?"],
)  # fmt: skip
def test_a_question_only_reads(parcels: RequestReader, text: str) -> None:
    assert all(tool.startswith(("get", "list", "find")) for tool, _ in calls(parcels.read(text)))


def test_what_is_ordered_under_a_condition_is_asked(parcels: RequestReader) -> None:
    read = parcels.read("If P-1001 is late, redirect it to D-1.")
    assert read.request is None and read.move is NextMove.ASK
    assert [value for q in read.questions for value, _ in q.choices] == ["redirect_parcel"]


@pytest.mark.parametrize(
    "text",
    ["Cancel P-1002 and the lamp because it is late.", "Cancel no other parcel than P-1002.",
     "Cancel only the green parcel P-1002 because it is late."],
)  # fmt: skip
def test_a_write_whose_words_are_not_understood_is_asked(parcels: RequestReader, text: str) -> None:
    read = parcels.read(text)
    assert read.request is None


_ACCOUNTS = tuple(ToolParameter(name, "string", required=True)
                  for name in ("from_account", "to_account"))  # fmt: skip
BANK = Catalogue((
    ToolSchema("transfer_money", "Transfer an amount of money between accounts.",
               (*_ACCOUNTS, ToolParameter("amount", "number", required=True)),
               effect=Effect.WRITES),
    ToolSchema("get_balance", "Get the balance of an account.",
               (ToolParameter("account_id", "string", required=True),), effect=Effect.READS),
    ToolSchema("get_customer", "Show a customer.",
               (ToolParameter("customer_id", "string", required=True),), effect=Effect.READS),
))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Transfer 100 euros from A-1 to A-2 and 50 to A-3.", "A-3"),
        ("Transfer 100 euros from A-1 to A-2 and the rest.", "and the rest"),
    ],
)
def test_a_value_that_a_write_passes_over_is_asked(text: str, left: str) -> None:
    read = RequestReader(BANK, (), ENCODER.encode).read(text)
    assert read.request is None and read.move is NextMove.ASK and left in read.why


def test_an_id_goes_to_no_parameter_of_another_thing() -> None:
    read = RequestReader(BANK, (), ENCODER.encode).read("Show the customer C-4.")
    assert calls(read) == [("get_customer", {"customer_id": "C-4"})]
    read = RequestReader(BANK, (), ENCODER.encode).read("What is the balance of C-4?")
    assert all(
        "C-4" not in values.values() for tool, values in calls(read) if tool[4:] == "balance"
    )


def test_a_text_after_a_colon_is_taken_whole(parcels: RequestReader) -> None:
    read = parcels.read("Open a claim for P-1004: the lid is broken.")
    assert calls(read) == [("open_claim", {"parcel_id": "P-1004", "damage": "the lid is broken"})]


@pytest.mark.parametrize(
    ("name", "text", "tool", "values"),
    [
        ("git", "Don't commit /srv/site, just show its status.", "git_status",
         {"repo_path": "/srv/site"}),
        ("git", "What changed in /srv/site that is not staged?", "git_diff_unstaged",
         {"repo_path": "/srv/site"}),
        ("git", "Create the branch feature/login in /srv/site.", "git_create_branch",
         {"repo_path": "/srv/site", "branch_name": "feature/login"}),
        ("time", "If it is 3 pm in New York, what time is it in London?", "convert_time",
         {"source_timezone": "America/New_York", "time": "15:00",
          "target_timezone": "Europe/London"}),
        ("filesystem", "How big is report.pdf?", "get_file_info", {"path": "report.pdf"}),
        ("everything", "Echo the message hello there", "echo", {"message": "hello there"}),
    ],
)  # fmt: skip
def test_words_beside_a_value_and_before_it_are_heeded(
    name: str, text: str, tool: str, values: dict[str, Json]
) -> None:
    assert calls(server(name).read(text)) == [(tool, values)]


def test_an_order_whose_verb_no_tool_has_calls_nothing() -> None:
    for name, text in (("filesystem", "Delete notes.txt"), ("git", "Push the branch main"),
                       ("filesystem", "Zip the folder /srv/data")):  # fmt: skip
        assert server(name).read(text).request is None


def test_a_missing_value_is_asked_by_its_name(parcels: RequestReader) -> None:
    read = parcels.read("Cancel P-1002.")
    assert [(q.kind, q.name) for q in read.questions] == [(QuestionKind.MISSING, "reason")]


@pytest.mark.parametrize(
    "text", ["Order a pizza.", "Sing me a song.", "Xyzzy plugh.", "Who wrote Hamlet?"]
)
def test_what_no_tool_serves_finds_nothing(parcels: RequestReader, text: str) -> None:
    read = parcels.read(text)
    assert read.request is None and read.move is NextMove.FIND


def test_between_two_tools_that_write_the_user_chooses() -> None:
    number = (ToolParameter("card_id", "string", required=True),)
    tools = Catalogue((
        ToolSchema("block_card_today", "Block a card for a day.", number, effect=Effect.WRITES),
        ToolSchema("block_card_forever", "Block a card.", number, effect=Effect.DESTROYS),
    ))  # fmt: skip
    read = RequestReader(tools, (), ENCODER.encode).read("Block the card C-77.")
    assert read.move is NextMove.ASK
    assert {value for q in read.questions for value, _ in q.choices} == {
        "block_card_today", "block_card_forever"
    }  # fmt: skip


def test_a_reading_says_how_each_value_was_told(parcels: RequestReader) -> None:
    read = parcels.read("How much does it cost to send 1.2 kg?")
    assert "weight_grams = 1200 (number)" in read.why
    read = parcels.read("Where is the beautiful parcel P-1001?")
    assert read.unread == ("beautiful",) and "'beautiful'" in read.why


@pytest.mark.parametrize(
    "text",
    [
        "Redirect P-1001 and P-1003 to D-1.",
        "Redirect both P-1001 and P-1003 to D-1",
        "Redirect P-1001, P-1003 to D-1",
    ],
)
def test_an_order_about_a_list_of_values_is_about_each(parcels: RequestReader, text: str) -> None:
    both = [("redirect_parcel", {"parcel_id": p, "depot_id": "D-1"}) for p in ("P-1001", "P-1003")]
    assert calls(parcels.read(text)) == both


def test_a_question_about_a_list_of_values_is_about_each(parcels: RequestReader) -> None:
    both = [("get_parcel", {"parcel_id": p}) for p in ("P-1001", "P-1003")]
    assert calls(parcels.read("Show P-1001 and P-1003")) == both


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("I need P-1002 cancelled because it is late.", "P-1002"),
        ("Please have P-1002 cancelled because it is late.", "P-1002"),
        ("Cancel P-1002 instead of P-1001 because it is late.", "P-1002"),
    ],
)
def test_what_shall_be_done_is_an_order(parcels: RequestReader, text: str, called: str) -> None:
    ((tool, values),) = calls(parcels.read(text))
    assert tool == "cancel_parcel" and values["parcel_id"] == called


@pytest.mark.parametrize(
    "text",
    [
        "Forget parcel P-1002.",
        "Un-cancel P-1002",
        "Purge P-1002",
        'Email "your parcel is here" to bob@example.org',
        'Tell bob@example.org "your parcel is here"',
        "Redirect P-1001 to D-1. Make it D-2.",
    ],
)
def test_other_orders_are_not_answered_by_reading(parcels: RequestReader, text: str) -> None:
    read = parcels.read(text)
    assert read.request is None and read.move is NextMove.ASK


def house() -> RequestReader:
    room = ToolParameter(
        "room", "string", choices=('"kitchen"', '"hall"', '"bedroom"'), required=True
    )
    tools = (
        ToolSchema("set_light", "Switch the light of a room on or off.", effect=Effect.WRITES,
                   takes=(room, ToolParameter("on", "boolean", required=True))),
        ToolSchema("stop_music", "Stop the music.", effect=Effect.WRITES),
        ToolSchema("add_to_list", "Add a product to the shopping list.", effect=Effect.WRITES,
                   takes=(ToolParameter("product", "string", required=True),)),
        ToolSchema("set_heat", "Set the heat of a room in degrees.", effect=Effect.WRITES,
                   takes=(room, ToolParameter("degrees", "integer", required=True))),
    )  # fmt: skip
    return RequestReader(Catalogue(tools), (), ENCODER.encode)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Turn the kitchen light on", [("set_light", {"room": "kitchen", "on": True})]),
        ("Switch off the light in the hall and the bedroom",
         [("set_light", {"room": room, "on": False}) for room in ("hall", "bedroom")]),
        ("Turn off the music", [("stop_music", {})]),
        ("Put eggs and bread on the shopping list",
         [("add_to_list", {"product": one}) for one in ("eggs", "bread")]),
        ("Set the hall to 19 degrees and the kitchen to 21 degrees",
         [("set_heat", {"room": r, "degrees": d}) for r, d in (("hall", 19), ("kitchen", 21))]),
    ],
)  # fmt: skip
def test_particles_choices_and_lists_of_words(
    text: str, called: list[tuple[str, dict[str, Json]]]
) -> None:
    read = house().read(text)
    assert calls(read) == called and (called or read.move is NextMove.ASK)


def test_a_condition_without_a_comma_holds_its_order() -> None:
    read = house().read("If it is under 18 set the hall to 20 degrees")
    assert read.request is None and read.move is NextMove.ASK


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Redirect P-1001 to D-1 and P-1003 to D-2.",
         [("redirect_parcel", {"parcel_id": p, "depot_id": d})
          for p, d in (("P-1001", "D-1"), ("P-1003", "D-2"))]),
        ("The address of P-1001 should be 5 Oak Avenue, Leeds.",
         [("change_address", {"parcel_id": "P-1001", "address": "5 Oak Avenue, Leeds"})]),
    ],
)  # fmt: skip
def test_repeated_arguments_and_wanted_values(
    parcels: RequestReader, text: str, called: list[tuple[str, dict[str, Json]]]
) -> None:
    assert calls(parcels.read(text)) == called


def _tool(name: str, about: str, effect: Effect, **takes: tuple[str, str]) -> ToolSchema:
    parameters = tuple(
        ToolParameter(parameter, kind, required=not parameter.endswith("_"), description=said)
        for parameter, (kind, said) in takes.items()
    )
    return ToolSchema(name, about, parameters, effect=effect)


DESK = Catalogue(
    (
        _tool("get_account", "Show an account.", Effect.READS,
              account_id=("string", "Such as A-1.")),
        _tool("transfer_money", "Transfer money between accounts.", Effect.WRITES,
              source_account=("string", "Account that the money leaves."),
              target_account=("string", "Account that gets it."), amount=("number", "Euros.")),
        _tool("close_account", "Close an account.", Effect.DESTROYS,
              account_id=("string", "Such as A-1.")),
        _tool("open_account", "Open an account.", Effect.WRITES, owner=("string", "Full name.")),
        _tool("set_card_limit", "Change the limit of a card.", Effect.WRITES,
              card_id=("string", "Such as C-7."), limit=("integer", "Euros.")),
        _tool("extend_stay", "Extend a stay.", Effect.WRITES,
              booking_id=("string", "Such as B-10."), days=("integer", "Number of days.")),
        _tool("set_wakeup_call", "Set a wake-up call for a room.", Effect.WRITES,
              room=("integer", "Room number."), time=("string", "When, HH:MM.")),
        _tool("request_cleaning", "Ask housekeeping to clean a room.", Effect.WRITES,
              room=("integer", "Room number.")),
        _tool("back_up", "Make a backup of a server.", Effect.WRITES,
              server=("string", "Name of the server."), keep_days=("integer", "Days to keep it.")),
        _tool("restart_server", "Restart a server.", Effect.WRITES,
              server=("string", "Name of the server.")),
        _tool("send_message", "Send a message to a customer.", Effect.WRITES,
              recipient=("string", "Full name of the customer."), text=("string", "Text.")),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how much money is in A-2?", [("get_account", {"account_id": "A-2"})]),
        ("transfer 10 to A-1 and 15 to A-2 from A-3",
         [("transfer_money", {"source_account": "A-3", "target_account": "A-1", "amount": 10}),
          ("transfer_money", {"source_account": "A-3", "target_account": "A-2", "amount": 15})]),
        ("open accounts for Max Weber and Lea Roth",
         [("open_account", {"owner": "Max Weber"}), ("open_account", {"owner": "Lea Roth"})]),
        ("raise the limit of C-7 to 2000",
         [("set_card_limit", {"card_id": "C-7", "limit": 2000})]),
        ("extend B-10 by two weeks", [("extend_stay", {"booking_id": "B-10", "days": 14})]),
        ("wake room 14 at 6 and room 20 at half past seven",
         [("set_wakeup_call", {"room": 14, "time": "06:00"}),
          ("set_wakeup_call", {"room": 20, "time": "07:30"})]),
        ("clean rooms 12 and 14",
         [("request_cleaning", {"room": 12}), ("request_cleaning", {"room": 14})]),
        ("back up db-1 for 30 days, then restart it",
         [("back_up", {"server": "db-1", "keep_days": 30}),
          ("restart_server", {"server": "db-1"})]),
        ("tell Ann Miller that the card is ready",
         [("send_message", {"recipient": "Ann Miller", "text": "card is ready"})]),
        # The owner of an account is no account, and two orders are not one.
        ("move 20 from Ann Miller's account to A-2", []),
        ("close A-2 after transferring its balance to A-1", []),
    ],
)  # fmt: skip
def test_values_are_bound_by_type_and_meaning(
    text: str, expected: list[tuple[str, dict[str, Json]]]
) -> None:
    reader = RequestReader(DESK, meanings(DESK, ENCODER), ENCODER.encode)
    assert calls(reader.read(text)) == expected
