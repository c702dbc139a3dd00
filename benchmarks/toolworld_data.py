"""Read tools and recorded calls of API-Bank, UltraTool, BFCL and tau2-bench into one format."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.inputs import records
from hvr.base.texts import read_json
from hvr.errors import DataFileError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.calling.calls import CallFailure, CallOutcome, ToolCall
from hvr.tools.calling.log import ValueOrigin, ValueSource, log_line, trace
from hvr.tools.catalogue.reading import read_tools
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import ParameterMeaning, meanings
from hvr.tools.navigation.graph import ObservedCall
from hvr.tools.navigation.graph_log import MeaningNames, observations

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class RecordedRun:
    """The calls made for a request.

    Args:
        request: Id of the request; runs of the same request stay in the same split.
        text: Text of the request; empty if unknown.
        origins: Origins of each call's arguments.
    """

    request: str
    text: str
    outcomes: tuple[CallOutcome, ...]
    origins: tuple[Mapping[str, ValueOrigin], ...]


@dataclass(frozen=True)
class ToolSet:
    name: str
    catalogue: Catalogue
    runs: tuple[RecordedRun, ...] = field(repr=False)


def tool_sets(shared: Path = SHARED, names: Sequence[str] = ()) -> list[ToolSet]:
    """Return the tool sets of the shared data.

    Raises:
        DataFileError: A file is missing or damaged.
    """
    graphs, worlds = shared / "toolgraphs", shared / "toolworlds"
    readers = {
        "apibank": lambda: call_set("apibank", graphs / "apibank_apis.json", graphs),
        "ultratool": lambda: call_set("ultratool", graphs / "ultratool_apis.json", graphs),
        "bfcl": lambda: bfcl_set(worlds / "bfcl"),
        "retail": lambda: tau_set(worlds / "retail"),
        "airline": lambda: tau_set(worlds / "airline"),
        "telecom": lambda: tau_set(worlds / "telecom"),
    }
    return [readers[name]() for name in names or readers]


def call_set(name: str, apis: Path, calls: Path, source: str | None = None) -> ToolSet:
    """Return the set made of an API list and a file `api_calls.jsonl`, or that file's folder."""
    entries = read_json(apis, strict=False)
    if not isinstance(entries, list) or not entries:
        raise DataFileError(f"{apis}: must be a list of APIs")
    tools = tuple(_api(api, f"{apis}: API {number}") for number, api in enumerate(entries, 1))
    path = calls / "api_calls.jsonl" if calls.is_dir() else calls
    rows = list(enumerate(records(path, "id", "calls", "feeds"), 1))
    sources = {record.get("source") for _, record in rows}
    if source is None and not sources <= {None, name}:
        # A file other than the shared one gets its own name.
        of = sources & {name} or sources
        if len(of) > 1:
            listed = ", ".join(sorted(map(str, of)))
            raise DataFileError(f"{path}: has calls of several sources ({listed}); keep one")
        source = str(next(iter(of)))
    runs = [
        _checked_run(record, f"{path}: row {number}") for number, record in rows
        if record.get("source") in (None, source or name)
    ]  # fmt: skip
    if not any(run.outcomes for run in runs):
        raise DataFileError(f"{path}: has no call of {name}")
    return ToolSet(name, Catalogue(tools), tuple(runs))


def _api(api: Any, place: str) -> ToolSchema:
    try:
        return ToolSchema(api["name"], api.get("description") or "",
                          _parameters(api.get("parameters") or ()),
                          _parameters(api.get("results") or ()))  # fmt: skip
    except (AttributeError, KeyError, TypeError) as error:
        raise DataFileError(f"{place} is not an API: {error!r}") from None


def _checked_run(record: Mapping[str, Any], place: str) -> RecordedRun:
    try:
        return _fed_run(record)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataFileError(f"{place} is not a run of calls: {error!r}") from None


def bfcl_set(folder: Path) -> ToolSet:
    """Return BFCL's multi-turn dialogues; the three variants of a dialogue are one request."""
    tools = read_tools(folder / "tools.json")
    runs = []
    for path in sorted(folder.glob("multi_turn_*.jsonl.gz")):
        for record in records(path, "id", "turns"):
            calls = [
                (call["api"], call["kwargs"], call["ok"], call["result"])
                for turn in record["turns"] for call in turn["calls"]
            ]  # fmt: skip
            text = "\n".join(said for turn in record["turns"] for said in turn["user"])
            runs.append(_traced_run(str(record["id"]).rpartition("_")[2], text, calls))
    return ToolSet(folder.name, Catalogue(tools), tuple(runs))


def tau_set(folder: Path) -> ToolSet:
    """Return tau2-bench's tasks of a domain, with tau-bench's recorded calls."""
    tools = read_tools(folder / "tools.json")
    runs = []
    for name, request, calls in (
        ("tasks_train", "id", "gold_calls"), ("v1_train", "id", "gold_calls"),
        ("gpt4o_calls", "task", "calls"),
    ):  # fmt: skip
        path = folder / f"{name}.jsonl.gz"
        for record in records(path, request, calls) if path.exists() else ():
            text = json.dumps([record.get("scenario"), record.get("ticket"),
                               record.get("instruction")])  # fmt: skip
            made = [(c["name"], c["arguments"], c["ok"], c.get("result")) for c in record[calls]]
            runs.append(_traced_run(str(record[request]), text, made))
    return ToolSet(folder.name, Catalogue(tuple(tools)), tuple(runs))


def _parameters(entries: Sequence[Mapping[str, Any]]) -> tuple[ToolParameter, ...]:
    made = {
        entry["name"]: ToolParameter(
            entry["name"], _TYPES.get(str(entry.get("type")), str(entry.get("type") or "")),
            entry.get("description") or "", entry.get("required", True) is not False,
        ) for entry in entries
    }  # fmt: skip
    return tuple(made.values())


_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array",
          "dict": "object"}  # fmt: skip


def _outcome(tool: str, arguments: Mapping[str, Any], ok: bool, result: Any) -> CallOutcome:
    failure = None if ok else CallFailure.REFUSED
    return CallOutcome(ToolCall(tool, arguments), result if ok else None, failure)


def _fed_run(record: Mapping[str, Any]) -> RecordedRun:
    """Return a run whose record contains the origins of values."""
    origins: list[dict[str, ValueOrigin]] = [{} for _ in record["calls"]]
    for feed in record["feeds"]:
        path = (str(feed["from_field"]),)
        origins[feed["to"]][feed["to_param"]] = ValueOrigin(
            ValueSource.RESULT, int(feed["from"]), path
        )
    outcomes = tuple(
        _outcome(call["api"], call["arguments"], not call.get("exception"), call.get("result"))
        for call in record["calls"]
    )
    return RecordedRun(str(record["id"]), record.get("request") or "", outcomes, tuple(origins))


def _traced_run(
    request: str, text: str, calls: Sequence[tuple[str, Mapping[str, Any], bool, Any]]
) -> RecordedRun:
    """Return a run whose arguments originate in the request or else in an earlier result."""
    outcomes: list[CallOutcome] = []
    origins: list[Mapping[str, ValueOrigin]] = []
    for name, arguments, ok, result in calls:
        # Booleans and single digits match by chance.
        telling = {k: v for k, v in arguments.items() if len(str(v)) > 1 and v not in (True, False)}
        unsaid = {k: v for k, v in telling.items() if str(v) not in text}
        origins.append(trace(unsaid, outcomes))
        outcomes.append(_outcome(name, arguments, ok, result))
    return RecordedRun(request, text, tuple(outcomes), tuple(origins))


@dataclass(frozen=True)
class Understood:
    """A tool set with the meanings of its parameters and the observations in its runs.

    Args:
        found: Meanings of the parameters.
        names: Names of the slots.
        seen: Observations of each run, for the graph.
    """

    tools: ToolSet
    found: tuple[ParameterMeaning, ...]
    names: MeaningNames
    seen: tuple[tuple[ObservedCall, ...], ...]


def understood(tools: ToolSet, encoder: TextVectors) -> Understood:
    found = meanings(tools.catalogue, encoder)
    names = MeaningNames(tools.catalogue, found)
    seen = tuple(tuple(observations(_lines(tools.name, run), names)) for run in tools.runs)
    return Understood(tools, found, names, seen)


def _lines(world: str, run: RecordedRun) -> Iterator[dict[str, Any]]:
    for number, (outcome, origins) in enumerate(zip(run.outcomes, run.origins, strict=True)):
        yield log_line(world, outcome, origins, _BEGIN + timedelta(seconds=number))


def parted(requests: Sequence[str], seed: int, shares: Mapping[str, float]) -> dict[str, str]:
    """Split requests by a hash of their name and the seed.

    Args:
        requests: Names of the requests, possibly repeated.
        shares: Share of each part, in order; their sum is 1.
    """
    order = sorted(set(requests), key=lambda r: hashlib.sha256(f"{seed} {r}".encode()).hexdigest())
    part: dict[str, str] = {}
    at = 0.0
    for name, share in shares.items():
        start, at = at, at + share
        for request in order[round(start * len(order)) : round(at * len(order))]:
            part[request] = name
    return part
