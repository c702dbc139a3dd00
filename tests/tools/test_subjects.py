"""The entity type and property held by a parameter."""

from __future__ import annotations

from typing import Any

import pytest

from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.openapi import read_openapi
from hvr.tools.catalogue.schema import Catalogue, Slot, ToolParameter, ToolSchema, subjects_of
from hvr.tools.catalogue.schema_matching import meanings, tool_graph


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def thing(**kinds: Any) -> dict[str, Any]:
    properties = {n: {"type": k} if isinstance(k, str) else k for n, k in kinds.items()}
    return {"type": "object", "properties": properties}


def answer(schema: Any) -> dict[str, Any]:
    return {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}


def slot(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}}


TRACKER = {
    "openapi": "3.1.0",
    "paths": {
        "/issues": {"get": {"operationId": "list_issues"}
                    | answer({"type": "array", "items": ref("simple-issue")})},
        "/issues/{issue_number}": {"parameters": [slot("issue_number")], "get": {
            "operationId": "get_issue"} | answer(ref("full-issue"))},
        "/issues/{issue_number}/comments": {"parameters": [slot("issue_number")], "get": {
            "operationId": "list_comments"}
            | answer({"type": "array", "items": ref("issue-comment")})},
        "/pulls/comments/{comment_id}": {"parameters": [slot("comment_id")], "get": {
            "operationId": "get_review"} | answer(ref("pull-comment"))},
        "/issues/comments/{comment_id}": {"parameters": [slot("comment_id")], "get": {
            "operationId": "get_comment"} | answer(ref("issue-comment"))},
        "/pulls": {"get": {"operationId": "list_pulls"}
                   | answer(thing(total="integer", pulls={"type": "array", "items": ref("pull")}))},
    },
    "components": {"schemas": {
        "simple-issue": thing(id="integer", number="integer", title="string"),
        "full-issue": thing(id="integer", number="integer", title="string", user=ref("user")),
        "issue-comment": thing(id="integer", body="string", user=ref("user")),
        "pull-comment": thing(id="integer", body="string"),
        "pull": thing(id="integer", number="integer"),
        "user": thing(id="integer", login="string"),
    }},
}  # fmt: skip


@pytest.fixture(scope="module")
def tracker() -> dict[str, str]:
    """The subject of each slot, as `property of entity`."""
    operations = read_openapi(TRACKER, "tracker").operations
    found = subjects_of(Catalogue(tuple(one.tool for one in operations)))
    return {str(slot): f"{of.property} of {of.resource}" for slot, of in found.items()}


def test_references_and_paths_say_what_a_value_is_of(tracker: dict[str, str]) -> None:
    assert tracker["get_issue <- issue_number"] == tracker["list_issues -> [].number"]
    assert tracker["get_issue <- issue_number"] == tracker["list_comments <- issue_number"]
    assert tracker["get_issue <- issue_number"] != tracker["list_pulls -> pulls[].number"]
    assert tracker["get_issue -> user.id"] == tracker["list_comments -> [].user.id"] == "id of user"
    # Views with more or less detail show the same type of entity.
    assert tracker["get_issue -> title"] == tracker["list_issues -> [].title"]


def test_a_kind_of_thing_may_take_two_words(tracker: dict[str, str]) -> None:
    assert tracker["get_comment <- comment_id"] == tracker["list_comments -> [].id"]
    assert tracker["get_review <- comment_id"] == tracker["get_review -> id"]
    assert tracker["get_review <- comment_id"] != tracker["get_comment <- comment_id"]


@pytest.mark.parametrize("name", ["itemId", "item_id", "item-id", "ITEM_ID", "ItemID", "itemIds"])
def test_an_id_is_that_of_its_thing_however_it_is_spelled(name: str) -> None:
    given = (ToolParameter("items[].id", "string", resource="items"),)
    tools = (
        ToolSchema("list_items", gives=given),
        ToolSchema("drop", takes=(ToolParameter(name, "string"),)),
        ToolSchema("get_order", gives=(ToolParameter("id", "string"),)),
    )
    found = meanings(Catalogue(tools), TextVectors("lexical-hash"))
    assert tool_graph(Catalogue(tools), found).links == (("list_items", "drop"),)


def test_a_bare_name_is_of_the_thing_that_the_tool_is_about() -> None:
    tools = [
        {"name": "get_pet", "parameters": thing(id="string")},
        {"name": "get_order", "parameters": thing(id="string"), "returns": thing(pet_id="string")},
        {"name": "find_user_id_by_email", "parameters": thing(email="string"),
         "returns": {"type": "string"}},
        {"name": "get_user", "parameters": thing(user_id="string")},
    ]  # fmt: skip
    catalogue = Catalogue(tuple(read_tool(tool, "here") for tool in tools))
    found = meanings(catalogue, TextVectors("lexical-hash"))
    assert tool_graph(catalogue, found).links == (
        ("get_order", "get_pet"), ("find_user_id_by_email", "get_user"),
    )  # fmt: skip


def test_two_things_of_one_kind_in_one_call_are_told_apart() -> None:
    takes = tuple(ToolParameter(name, "string") for name in ("from_account_id", "to_account_id"))
    found = subjects_of(Catalogue((ToolSchema("pay", takes=takes),)))
    one, other = (found[Slot("pay", p.name)] for p in takes)
    assert (one.property, one.role, other.role) == ("id", "from", "to")
    assert one.resource == other.resource == "account" and one.identifies()


def test_a_value_that_a_tool_was_given_leads_nowhere_new() -> None:
    page = (ToolParameter("page_size", "integer"),)
    tools = Catalogue((ToolSchema("a", takes=page, gives=page), ToolSchema("b", takes=page)))
    assert tool_graph(tools, meanings(tools, TextVectors("lexical-hash"))).links == ()
