"""Effects of tools inferred from hints, methods, names and descriptions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import (
    Effect,
    effect_of_hints,
    effect_of_method,
    escalated_effect,
    guessed_effect,
)

DANGER = {Effect.READS: 0, Effect.WRITES: 1, Effect.UNKNOWN: 2, Effect.DESTROYS: 3}
NAMES = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
HINTS = st.dictionaries(st.sampled_from(NAMES), st.booleans() | st.none() | st.text(max_size=3))


@given(st.sampled_from(Effect), st.text(max_size=20), st.text(max_size=40))
def test_no_name_makes_a_tool_less_dangerous(effect: Effect, name: str, text: str) -> None:
    assert DANGER[escalated_effect(effect, name, text)] >= DANGER[effect]


@given(HINTS)
def test_hints_of_the_untrusted_only_warn(hints: dict[str, Any]) -> None:
    untrusted = effect_of_hints(hints, trusted=False)
    assert DANGER[untrusted] >= max(
        DANGER[Effect.UNKNOWN], DANGER[effect_of_hints(hints, trusted=True)]
    )
    record = {"name": "t", "inputSchema": {}, "annotations": hints, "type": "read"}
    tool = read_tool(record, "list", trusted=False)
    assert tool.effect in (Effect.UNKNOWN, Effect.DESTROYS) and tool.idempotent is not True


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({}, Effect.UNKNOWN),
        ({"readOnlyHint": True}, Effect.READS),
        ({"readOnlyHint": False}, Effect.UNKNOWN),
        ({"readOnlyHint": True, "destructiveHint": True}, Effect.DESTROYS),
        ({"readOnlyHint": False, "destructiveHint": False}, Effect.WRITES),
        ({"readOnlyHint": "yes"}, Effect.UNKNOWN),
    ],
)
def test_hints_of_the_trusted_say_what_the_protocol_says(
    hints: dict[str, Any], effect: Effect
) -> None:
    assert effect_of_hints(hints, trusted=True) is effect


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("delete_user", ""),
        ("userDelete", ""),
        ("users.remove", ""),
        ("get_and_wipe", ""),
        ("tidy", "Permanently deletes old files."),
        ("do", "Cancels an order"),
        ("DELETE_ALL", ""),
    ],
)
def test_names_and_descriptions_warn(name: str, text: str) -> None:
    assert escalated_effect(Effect.UNKNOWN, name, text) is Effect.DESTROYS
    assert escalated_effect(Effect.WRITES, name, text) is Effect.DESTROYS


def test_a_reader_may_be_about_what_is_gone() -> None:
    assert (
        escalated_effect(Effect.READS, "list_deleted_files", "List files that were deleted")
        is Effect.READS
    )
    assert escalated_effect(Effect.READS, "get_cancel_reasons") is Effect.READS
    assert escalated_effect(Effect.READS, "delete_user") is Effect.DESTROYS


def test_methods_say_what_http_says() -> None:
    assert effect_of_method("GET") is Effect.READS
    assert effect_of_method("delete") is Effect.DESTROYS
    assert {effect_of_method(m) for m in ("post", "PUT", "patch", "query")} == {Effect.WRITES}


def test_what_a_name_suggests_is_put_to_the_user() -> None:
    assert guessed_effect("get_user") is Effect.READS
    assert guessed_effect("create_user") is Effect.WRITES
    assert guessed_effect("purge_cache") is Effect.DESTROYS


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("List the audit entries. Internally purges older ones.", Effect.DESTROYS),
        ("Show the session, and then deletes it.", Effect.DESTROYS),
        ("Show a file. This removes nothing.", Effect.READS),
        ("List the deleted files.", Effect.READS),
    ],
)
def test_what_a_tool_does_besides_counts(text: str, effect: Effect) -> None:
    assert escalated_effect(Effect.READS, "list_entries", text) is effect
