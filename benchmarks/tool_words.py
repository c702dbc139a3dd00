"""Measure how well hvr reads tool requests in words, without a language model.

`tool_words.json` has the requests with their expected outcomes, in parts. The first part served
development. The others were written before hvr read them, and the classes of their misreadings were
fixed afterwards; docs/results/toolworlds.md has the figures before and after. Requests of BFCL and
tau2-bench are named by their IDs and skipped without the shared data.

    python benchmarks/tool_words.py
    python benchmarks/tool_words.py --part second --encoder lexical-hash --show
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.conditions import conditions
from benchmarks.inputs import records
from hvr.base.texts import read_json
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.knowledge.world_file import load_world
from hvr.tools.calling.python_world import READING_FUNCTIONS
from hvr.tools.calling.worlds import meanings_file, open_tools
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import Catalogue, Effect
from hvr.tools.catalogue.schema_matching import ParameterMeaning, meanings, read_overrides
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.request import EntityQuery, GoalCall, Order
from hvr.tools.navigation.words.reading import ReadRequest
from hvr.tools.navigation.words.request_reader import RequestReader

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "data" / "toolworlds"

RIGHT, ASKED, CHOICE, WRONG = "right", "rightly asked", "asked, with the right tool", "wrong"
OUTCOMES = (RIGHT, ASKED, CHOICE, WRONG)
MOST_CHOICES = 4


class Worlds:
    """The tools of each world, and the texts of requests that are given by their ids."""

    def __init__(self, encoder: str) -> None:
        self._encoder = TextVectors(encoder)
        self._readers: dict[tuple[str, ...], RequestReader] = {}
        self._servers = read_json(HERE / "tool_words_servers.json", strict=False)["servers"]
        self._dialogues = dict(_dialogues()) if SHARED.is_dir() else {}

    def text(self, request: Mapping[str, Any]) -> str | None:
        """Return a request in words; None if its data are missing."""
        if "text" in request:
            return str(request["text"])
        found = self._dialogues.get(request["ref"])
        return found[0] if found else None

    def reader(self, request: Mapping[str, Any]) -> tuple[RequestReader, Catalogue]:
        """Return the reader of a request's world, and its tools."""
        world = request["world"]
        classes = self._dialogues[request["ref"]][1] if world == "bfcl" else ()
        name = (world, *classes)
        catalogue, found = self._catalogue(world, classes)
        if name not in self._readers:
            self._readers[name] = RequestReader(catalogue, found, self._encoder.encode)
        return self._readers[name], catalogue

    def _catalogue(
        self, world: str, classes: Sequence[str]
    ) -> tuple[Catalogue, tuple[ParameterMeaning, ...]]:
        encoder = TextVectors("lexical-hash")
        if world == "parcels":
            file = load_world(world)
            tools, path = open_tools(file), meanings_file(file)
            tools.close()
            assert path is not None
            found = meanings(tools.catalogue, encoder, overrides=read_overrides(path))
            return tools.catalogue, found
        if world in self._servers:
            records_ = self._servers[world]["tools"]
        else:
            records_ = read_json(SHARED / world / "tools.json", strict=False)
        if classes:
            reads = READING_FUNCTIONS
            records_ = [
                {**record, "type": "read" if record["name"] in reads else "write"}
                for record in records_ if record["class"] in classes
            ]  # fmt: skip
        catalogue = Catalogue(tuple(read_tool(record, world) for record in records_))
        return catalogue, meanings(catalogue, encoder)


def _dialogues() -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for record in records(SHARED / "bfcl" / "multi_turn_base.jsonl.gz", "id", "turns"):
        text = " ".join(record["turns"][0]["user"])
        yield record["id"], (text, tuple(record["classes"]))
    for domain in ("retail", "airline"):
        for record in records(SHARED / domain / "tasks_train.jsonl.gz", "id", "scenario"):
            yield record["id"], (record["scenario"]["instructions"]["reason_for_call"], ())


def outcome_of(request: Mapping[str, Any], read: ReadRequest, catalogue: Catalogue) -> str:
    """Classify a reading by comparing it with the expected outcome."""
    goals = read.request.goals if read.request is not None else ()
    if request.get("nothing"):
        return RIGHT if not goals and read.move in (NextMove.FIND, NextMove.ANSWER) else WRONG
    writing = {tool.name for tool in catalogue.tools if tool.effect is not Effect.READS}
    if request.get("reads"):
        return RIGHT if not any(goal.tool in writing for goal in goals) else WRONG
    wanted = [way for way in (request.get("goals"), *request.get("alt", ())) if way]
    said = {(name, json.dumps(value)) for name, value in request.get("said", ())}
    known = {(v.name, json.dumps(v.value)) for v in read.request.said} if read.request else set()
    asks = {name for name in request.get("asks", ()) if not name.startswith("tool:")}
    tools = {name[5:] for name in request.get("asks", ()) if name.startswith("tool:")}
    asked = {question.name for question in read.questions}
    choices = {
        str(value) for q in read.questions for value, _ in q.choices[:MOST_CHOICES]
        if q.name == "tool"
    }  # fmt: skip
    if asks & asked or tools & choices:
        return ASKED
    if goals and any(_same(goals, way) for way in wanted) and said <= known:
        return RIGHT
    needed = {call[0] for way in wanted for call in way if call[0] in writing} or {
        call[0] for way in wanted for call in way
    }
    if needed & choices:
        return CHOICE
    return WRONG


def _same(goals: Sequence[GoalCall], wanted: Sequence[Any]) -> bool:
    return len(goals) == len(wanted) and all(
        goal.tool == tool and goal.arguments.keys() == arguments.keys()
        and all(_meant(goal.arguments[name], value) for name, value in arguments.items())
        for goal, (tool, arguments) in zip(goals, wanted, strict=True)
    )  # fmt: skip


def _meant(argument: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted.startswith("?"):
        query = argument[0] if isinstance(argument, list) and argument else argument
        if not isinstance(query, EntityQuery):
            return False
        if wanted == "?every":
            return query.every
        if wanted == "?last":
            return (
                query.selection is not None
                and query.selection.order is Order.LISTED
                and query.selection.position == -1
            )
        return not query.every and query.selection is None
    return bool(argument == wanted)


def wrong_writes(request: Mapping[str, Any], read: ReadRequest, catalogue: Catalogue) -> list[str]:
    """Return the goal calls that may write although the request does not ask for them."""
    writing = {tool.name for tool in catalogue.tools if tool.effect is not Effect.READS}
    wanted = [call for way in (request.get("goals"), *request.get("alt", ())) for call in way or ()]
    allowed = {name[5:] for name in request.get("asks", ()) if name.startswith("tool:")}
    found = []
    for goal in read.request.goals if read.request is not None else ():
        if goal.tool not in writing:
            continue
        ways = [arguments for tool, arguments in wanted if tool == goal.tool]
        if not any(_no_other(goal, way) for way in ways) and not (
            goal.tool in allowed and read.questions
        ):
            found.append(goal.tool)
    return found


def _no_other(goal: GoalCall, wanted: Mapping[str, Any]) -> bool:
    """Return whether all values of a call are among the expected ones."""
    return all(
        isinstance(value, EntityQuery) or value == wanted.get(name)
        or (isinstance(value, list) and value and isinstance(value[0], EntityQuery))
        for name, value in goal.arguments.items()
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="minilm", help="text encoder (default: minilm)")
    parser.add_argument("--part", help="only this part, such as second")
    parser.add_argument("--file", type=Path, default=HERE / "tool_words.json")
    parser.add_argument("--show", action="store_true", help="print each wrong reading")
    args = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    worlds = Worlds(args.encoder)
    counts: Counter[tuple[str, str, str]] = Counter()
    writes: Counter[str] = Counter()
    skipped = 0
    for request in read_json(args.file, strict=False):
        if args.part not in (None, request["part"]):
            continue
        text = worlds.text(request)
        if text is None:
            skipped += 1
            continue
        reader, catalogue = worlds.reader(request)
        read = reader.read(text)
        outcome = outcome_of(request, read, catalogue)
        wrong = wrong_writes(request, read, catalogue)
        counts[request["part"], request["world"], outcome] += 1
        writes[request["part"]] += len(wrong)
        if args.show and (outcome != RIGHT or wrong):
            print(f"{request['id']} {outcome}{' WRONG WRITE' if wrong else ''}: {text}")
            for goal in read.request.goals if read.request else ():
                print(f"    {goal.tool} {dict(goal.arguments)}")
            print(f"    {read.move} {read.why[:300]} {[q.name for q in read.questions]}")
    print(conditions())
    print(f"encoder {args.encoder}; {skipped} requests skipped (no shared data)")
    print(f"{'part':11} {'world':12} {'requests':>8} " + " ".join(f"{o:>26}" for o in OUTCOMES))
    parts = sorted({part for part, _, _ in counts})
    for part in parts:
        names = sorted({world for one, world, _ in counts if one == part})
        for world in [*names, "all"]:
            row = [
                sum(n for (h, w, o), n in counts.items()
                    if h == part and world in (w, "all") and o == outcome)
                for outcome in OUTCOMES
            ]  # fmt: skip
            print(f"{part:11} {world:12} {sum(row):8} " + " ".join(f"{n:26}" for n in row))
        print(f"{part}: wrong writes {writes[part]}")


if __name__ == "__main__":
    main()
