"""Observations from a log of calls: names and outcomes, with the sources of values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("immutables")

from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.calling.log import log_line, trace
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import ParameterMeaning, Slot
from hvr.tools.navigation.graph import NavigationGraph, ObservedCall
from hvr.tools.navigation.graph_log import MeaningNames, observations

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
CATALOGUE = Catalogue((
    ToolSchema("find", takes=(ToolParameter("email", "string", required=True),),
               gives=(ToolParameter("user_id", required=True), ToolParameter("tags[]"))),
    ToolSchema("list", takes=(ToolParameter("user", required=True), ToolParameter("page"))),
))  # fmt: skip
NAMES = MeaningNames(CATALOGUE, [
    ParameterMeaning("user", (Slot("find", "user_id", gives=True), Slot("list", "user"))),
])  # fmt: skip


def lines(*calls: tuple[str, dict[str, Json], Json | CallFailure], **more: Any) -> list[Any]:
    outcomes: list[CallOutcome] = []
    made = []
    for name, arguments, result in calls:
        failed = isinstance(result, CallFailure)
        outcome = CallOutcome(
            ToolCall(name, arguments), None if failed else result, result if failed else None
        )
        origins = trace(arguments, outcomes)
        time = BEGIN + timedelta(seconds=len(outcomes))
        made.append({**log_line("shop", outcome, origins, time), **more})
        outcomes.append(outcome)
    return made


def test_a_value_is_followed_from_result_to_argument() -> None:
    log = lines(
        ("find", {"email": "a@b.c"}, {"user_id": "u-17", "tags": ["new"]}),
        ("list", {"user": "u-17"}, [{"order": {"id": 4}}]),
    )
    first, second = observations(log, NAMES)
    start = BEGIN.timestamp()
    assert first == ObservedCall("find", True, start, "", ("find.email",), ("user", "find.tags"))
    assert second == ObservedCall(
        "list", True, start + 1, "find", ("user",), ("list.id",), (), (("user", "user"),)
    )


def test_what_was_promised_and_did_not_come_is_missing() -> None:
    (refused,) = observations(lines(("find", {"email": "x"}, CallFailure.REFUSED)), NAMES)
    assert not refused.ok and refused.missing == ("user", "find.tags") and not refused.returned
    (partly,) = observations(lines(("find", {"email": "x"}, {"tags": []})), NAMES)
    assert partly.ok and partly.missing == ("user",)


def test_calls_that_say_nothing_of_the_tool_are_passed_over() -> None:
    log = lines(
        ("find", {"email": "x"}, {"user_id": "u-1"}),
        ("find", {"mail": "x"}, CallFailure.BAD_ARGUMENTS),
        ("list", {"user": "u-1"}, []),
    )
    seen = list(observations(log, NAMES))
    assert [s.tool for s in seen] == ["find", "list"]
    assert seen[1].before == "find" and seen[1].passed == (("user", "user"),)


def test_runs_are_kept_apart() -> None:
    one = lines(("find", {"email": "x"}, {"user_id": "u-1"}), run="1")
    other = lines(("list", {"user": "u-2"}, []), run="2")
    assert [s.before for s in observations(one + other, NAMES)] == ["", ""]


def test_a_graph_has_the_schemas_and_what_calls_showed() -> None:
    graph = NavigationGraph.of(NAMES.graph_tools())
    assert graph.tools["list"].needs == {"user"}
    assert graph.tools["list"].takes == {"user", "list.page"}
    assert "list.id" not in graph.tools["list"].gives
    for seen in observations(lines(("list", {"user": "u"}, [{"id": 3}])), NAMES):
        graph = graph.observe(seen)
    assert "list.id" in graph.tools["list"].gives
    evidence = graph.outputs.get("list", "list.id")
    assert evidence is not None and (evidence.successes, evidence.failures) == (1, 0)


@pytest.mark.parametrize(
    "change", [{"failure": "nonsense"}, {"time": "soon"}, {"arguments": None}, {"tool": ...}]
)
def test_a_line_that_is_none_is_named(change: dict[str, Any]) -> None:
    (line,) = lines(("find", {"email": "x"}, {}))
    broken = {k: v for k, v in (line | change).items() if v is not ...}
    with pytest.raises(DataFileError, match="line 1 "):
        list(observations([broken], NAMES))
