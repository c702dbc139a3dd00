"""Test the judge of agents' logs on correct and on damaged calls of tau2-bench and BFCL.

    python benchmarks/tool_judge.py --data ../shared/data/toolworlds [--seed 1] [--show KIND]

Every log is written as an OpenAI conversation and judged like `hvr judge --tools`. A damaged log
counts as found if the judge criticises it; "at the call" if the criticism names the damaged call.
Each log that is not criticised gets one kind of damage per applicable kind below:

superfluous      a successful read-only call of another log of the same world, with its result;
                 its tool is not listed as writing, and no log shows that it writes
repeated         a call repeated at once; "later": a read-only call repeated before the next write
missing          a read-only call whose result later calls need and nothing else provides
reordered        a read-only call moved behind the first call that needs its result
no argument      a required argument left out
misnamed         an argument under another name
wrong type       an argument of another type
wrong value      an identifier with one digit changed
value of another the arguments of a call of the same tool in another log, with the original result

"Untold" counts the damaged logs that were not found and that contain no evidence of the damage:

superfluous      the tool's effect is unknown, or the user or an earlier result gives one of the
                 call's arguments, or the call has no arguments and the user mentions the call
missing          the call that needs the value also returns it, and so confirms that it is correct
wrong value, value of another
                 no other message, argument or result has the replaced identifiers
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hvr.judging.tool_calls import judge_tool_plan
from hvr.judging.verdict import PlanVerdict
from hvr.tools.call_log import (
    KnownTools,
    KnownWords,
    argument_scalars,
    identifies,
    read_known_tools,
    stems,
)
from hvr.tools.catalogue.schema import Effect
from hvr.tools.logs.reading import read_log

WORLDS = ("retail", "airline", "telecom", "bfcl")


@dataclass(frozen=True)
class Call:
    """A call in a log; `turn` is the number of the user message that it answers."""

    tool: str
    arguments: dict[str, Any]
    result: Any
    ok: bool
    writes: bool
    turn: int


@dataclass(frozen=True)
class Log:
    world: str
    id: str
    said: tuple[str, ...]
    calls: tuple[Call, ...]


Damage = Callable[[Log, Sequence[Log], random.Random], "tuple[Log, set[int]] | None"]
"""Maps a log to a damaged one and the 1-based calls that a criticism may name."""


def load(data: Path) -> list[Log]:
    """Return the logs that have several calls."""
    logs = []
    for world in WORLDS[:-1]:
        for row in _rows(data / world / "tasks_train.jsonl.gz"):
            told = row["scenario"]["instructions"]
            parts = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
            request = " ".join(str(told[p]) for p in parts if told.get(p))
            calls = [Call(c["name"], c["arguments"], c.get("result", c.get("error")), c["ok"],
                          c["writes"], 1) for c in row["gold_calls"]]  # fmt: skip
            logs.append(Log(world, row["id"], (request,), tuple(calls)))
    logs += _dialogues(data / "bfcl" / "multi_turn_base.jsonl.gz")
    return [log for log in logs if len(log.calls) > 1]


def load_others(data: Path) -> dict[str, list[Log]]:
    """Return the correct logs with several calls from the sets to which no damage is added."""
    others = {name: _dialogues(data / "bfcl" / f"multi_turn_{name}.jsonl.gz")
              for name in ("miss_func", "miss_param")}  # fmt: skip
    others["v1_train"] = [
        Log("retail", row["id"], (row["instruction"],),
            tuple(Call(c["name"], c["arguments"], c.get("result", c.get("error")), c["ok"],
                       False, 1) for c in row["gold_calls"]))
        for row in _rows(data / "retail" / "v1_train.jsonl.gz")
    ]  # fmt: skip
    return {name: [log for log in logs if len(log.calls) > 1] for name, logs in others.items()}


def _dialogues(path: Path) -> list[Log]:
    logs = []
    for row in _rows(path):
        said = tuple(" ".join(turn["user"]) for turn in row["turns"])
        calls = [Call(c["api"], c["kwargs"], c["result"], c["ok"], c["writes"], number)
                 for number, turn in enumerate(row["turns"], 1) for c in turn["calls"]]  # fmt: skip
        logs.append(Log("bfcl", row["id"], said, tuple(calls)))
    return logs


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def conversation(log: Log) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for turn, text in enumerate(log.said, 1):
        messages.append({"role": "user", "content": text})
        for number, call in enumerate(log.calls):
            if call.turn != turn:
                continue
            key = f"call_{number}"
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            tool_call = {"id": key, "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [tool_call]})
            content = call.result if isinstance(call.result, str) else json.dumps(call.result)
            content = content if call.ok else f"Error: {content}"
            messages.append({"role": "tool", "tool_call_id": key, "content": content})
    return {"id": log.id, "messages": messages}


# Damage -------------------------------------------------------------------------------------------


def _with(log: Log, calls: Sequence[Call]) -> Log:
    return replace(log, calls=tuple(calls))


def superfluous(known: dict[str, KnownTools], logs: Sequence[Log]) -> Damage:
    """Return the damage that inserts a read-only call from another log."""
    writing = {(log.world, c.tool) for log in logs for c in log.calls if c.writes}
    for world, tools in known.items():
        writing |= {(world, name) for name, schema in tools.schemas.items()
                    if schema.effect in (Effect.WRITES, Effect.DESTROYS)}  # fmt: skip

    def put_in(
        log: Log, logs: Sequence[Log], rng: random.Random
    ) -> tuple[Log, set[int]] | None:  # fmt: skip
        others = [c for o in logs if o.world == log.world and o.id != log.id for c in o.calls
                  if c.ok and (log.world, c.tool) not in writing]  # fmt: skip
        own = {(c.tool, json.dumps(c.arguments)) for c in log.calls}
        others = [c for c in others if (c.tool, json.dumps(c.arguments)) not in own]
        if not others:
            return None
        at = rng.randrange(len(log.calls))
        call = replace(rng.choice(others), turn=log.calls[at].turn)
        return _with(log, [*log.calls[:at], call, *log.calls[at:]]), {at + 1}

    return put_in


def repeated(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
    at = rng.choice([i for i, c in enumerate(log.calls) if c.ok] or [-1])
    if at < 0:
        return None
    return _with(log, [*log.calls[: at + 1], *log.calls[at:]]), {at + 1, at + 2}


def repeated_later(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
    places = []
    for at, call in enumerate(log.calls):
        end = at + 1
        while (
            end < len(log.calls) and not log.calls[end].writes and log.calls[end].turn == call.turn
        ):
            end += 1
        if call.ok and not call.writes:
            places += [(at, place) for place in range(at + 2, end + 1)]
    if not places:
        return None
    at, place = rng.choice(places)
    calls = [*log.calls[:place], log.calls[at], *log.calls[place:]]
    return _with(log, calls), {at + 1, place + 1}


def _needed(log: Log) -> list[tuple[int, int]]:
    """Pair each read-only call with the first call that needs an identifier only it provides."""
    pairs = []
    results = [KnownWords.of(c.result) for c in log.calls]
    for at, call in enumerate(log.calls):
        if call.writes or not call.ok:
            continue
        for later in range(at + 1, len(log.calls)):
            others = KnownWords.of(list(log.said[: log.calls[later].turn]))
            for place in range(later):
                if place != at:
                    others = others | results[place] | KnownWords.of(log.calls[place].arguments)
            own = [v for _, v in argument_scalars(log.calls[at].arguments)]
            values = [v for _, v in argument_scalars(log.calls[later].arguments) if identifies(v)]
            if any(results[at].has(v) and not others.has(v) and v not in own for v in values):
                pairs.append((at, later))
                break
    return pairs


def missing(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
    places = _needed(log)
    if not places or len(log.calls) < 3:
        return None
    at, reader = rng.choice(places)
    return _with(log, [*log.calls[:at], *log.calls[at + 1 :]]), set(range(at + 1, reader + 1))


def reordered(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
    places = [(a, b) for a, b in _needed(log) if log.calls[a].turn == log.calls[b].turn]
    if not places:
        return None
    at, reader = rng.choice(places)
    calls = [
        *log.calls[:at],
        *log.calls[at + 1 : reader + 1],
        log.calls[at],
        *log.calls[reader + 1 :],
    ]
    return _with(log, calls), {reader, reader + 1}


def _changed(
    log: Log, rng: random.Random, change: Callable[[Call], dict[str, Any] | None]
) -> tuple[Log, set[int]] | None:
    found = [(i, new) for i, c in enumerate(log.calls) if c.ok and (new := change(c)) is not None]
    if not found:
        return None
    at, arguments = rng.choice(found)
    calls = list(log.calls)
    calls[at] = replace(calls[at], arguments=arguments)
    return _with(log, calls), {at + 1}


def wrong_arguments(known: dict[str, KnownTools]) -> dict[str, Damage]:
    """Return the kinds of damage to arguments."""

    def without(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
        def change(call: Call) -> dict[str, Any] | None:
            schema = known[log.world].schemas[call.tool]
            names = [p.name for p in schema.takes if p.required and p.name in call.arguments]
            if not names:
                return None
            gone = rng.choice(names)
            return {k: v for k, v in call.arguments.items() if k != gone}

        return _changed(log, rng, change)

    def misnamed(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
        def change(call: Call) -> dict[str, Any] | None:
            if not call.arguments:
                return None
            wrong = rng.choice(list(call.arguments))
            return {(f"{k}_value" if k == wrong else k): v for k, v in call.arguments.items()}

        return _changed(log, rng, change)

    def mistyped(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
        def change(call: Call) -> dict[str, Any] | None:
            schema = known[log.world].schemas[call.tool]
            names = [p.name for p in schema.takes if p.type and p.name in call.arguments]
            if not names:
                return None
            wrong = rng.choice(names)
            return {k: ([[v]] if k == wrong and not isinstance(v, list)
                        else {"value": v} if k == wrong else v)
                    for k, v in call.arguments.items()}  # fmt: skip

        return _changed(log, rng, change)

    def misvalued(log: Log, _: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
        def change(call: Call) -> dict[str, Any] | None:
            names = [k for k, v in call.arguments.items() if isinstance(v, str) and identifies(v)]
            if not names:
                return None
            wrong = rng.choice(names)
            value = call.arguments[wrong]
            places = [i for i, character in enumerate(value) if character.isdigit()]
            at = rng.choice(places)
            digit = rng.choice([d for d in "0123456789" if d != value[at]])
            return {**call.arguments, wrong: value[:at] + digit + value[at + 1 :]}

        return _changed(log, rng, change)

    def foreign(log: Log, logs: Sequence[Log], rng: random.Random) -> tuple[Log, set[int]] | None:
        def change(call: Call) -> dict[str, Any] | None:
            others = [
                c.arguments for o in logs if o.world == log.world and o.id != log.id
                for c in o.calls if c.tool == call.tool
                and any(isinstance(v, str) and identifies(v) and v != call.arguments.get(k)
                        for k, v in c.arguments.items())
            ]  # fmt: skip
            return rng.choice(others) if others else None

        return _changed(log, rng, change)

    return {
        "no argument": without, "misnamed": misnamed, "wrong type": mistyped,
        "wrong value": misvalued, "value of another": foreign,
    }  # fmt: skip


# Evidence -----------------------------------------------------------------------------------------


def untold(kind: str, right: Log, damaged: Log, places: set[int], known: KnownTools) -> bool:
    """Return whether a damaged log has no evidence of the damage; see the module's docstring."""
    at = min(places) - 1
    if kind == "superfluous":
        call = damaged.calls[at]
        heard = damaged.said[: call.turn]
        words = KnownWords.of(list(heard))
        for earlier in damaged.calls[:at]:
            words = words | KnownWords.of(earlier.result)
        values = [value for _, value in argument_scalars(call.arguments)]
        spoken = known.vocabulary.mentions(stems(" ".join(heard)), call.tool)
        return (
            known.effect(call.tool) is not Effect.READS
            or any(words.has(value) for value in values)
            or (not values and spoken)
        )
    if kind == "missing":
        reader = damaged.calls[max(places) - 1]
        gone = KnownWords.of(right.calls[at].result)
        own = KnownWords.of(reader.result)
        values = [v for _, v in argument_scalars(reader.arguments) if identifies(v) and gone.has(v)]
        return any(own.has(value) for value in values)
    if kind not in ("wrong value", "value of another"):
        return False
    before, after = right.calls[at].arguments, damaged.calls[at].arguments
    replaced = [
        v for k, v in argument_scalars(before) if identifies(v) and after.get(k) != before.get(k)
    ]
    seen = KnownWords.of([list(damaged.said), [c.result for c in damaged.calls],
                          [c.arguments for c in damaged.calls]])  # fmt: skip
    return not any(seen.has(value) for value in replaced)


# Measuring ----------------------------------------------------------------------------------------


def judged(logs: Sequence[Log], known: dict[str, KnownTools]) -> list[PlanVerdict]:
    """Return the verdicts on logs that are read from a file, as `hvr judge` does."""
    if not logs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logs.jsonl"
        lines = [json.dumps(conversation(log)) for log in logs]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        read = read_log(path)
    return [judge_tool_plan(r.plan, known[log.world]) for r, log in zip(read, logs, strict=True)]


def shown(log: Log, verdict: PlanVerdict) -> str:
    said = [f"{c.kind.value} {c.index} {c.actions[0]}: {c.reason}" for c in verdict.critiques]
    return f"    {log.id}: {'; '.join(said) or 'nothing found'}"


def main() -> None:
    from conditions import conditions  # beside this script

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", help="print the missed logs of a kind, or 'right' ones")
    args = parser.parse_args()
    known = {world: read_known_tools(args.data / world / "tools.json") for world in WORLDS}
    logs = load(args.data)
    right = judged(logs, known)
    print(conditions(args.seed))
    print("right logs criticised")
    for world in (*WORLDS, "all"):
        some = [bool(v.critiques) for v, log in zip(right, logs, strict=True)
                if world in (log.world, "all")]  # fmt: skip
        print(f"  {world:10}{sum(some):4} of {len(some)}")
    for name, some_logs in load_others(args.data).items():
        criticised = sum(bool(v.critiques) for v in judged(some_logs, known))
        print(f"  {name:10}{criticised:4} of {len(some_logs)} (not used to derive the rules)")
    if args.show == "right":
        print("\n".join(shown(g, v) for g, v in zip(logs, right, strict=True) if v.critiques))
    clean = [log for log, verdict in zip(logs, right, strict=True) if not verdict.critiques]
    kinds: dict[str, Damage] = {
        "superfluous": superfluous(known, logs), "repeated": repeated,
        "repeated later": repeated_later, "missing": missing, "reordered": reordered,
        **wrong_arguments(known),
    }  # fmt: skip
    heads = "".join(f"{world:>10}" for world in WORLDS)
    print(f"{'damaged logs':20}{'logs':>6}{'found':>8}{'untold':>8}{'at the call':>13}{heads}")
    for kind, damage in kinds.items():
        rng = random.Random(f"{args.seed} {kind}")
        made = [(log, *found) for log in clean if (found := damage(log, logs, rng)) is not None]
        verdicts = judged([log for _, log, _ in made], known)
        rows = [(log, bool(v.critiques), any(c.index in places for c in v.critiques),
                 not v.critiques and untold(kind, right_log, log, places, known[log.world]))
                for (right_log, log, places), v in zip(made, verdicts, strict=True)]  # fmt: skip
        cells = [_share([row[1] for row in rows if row[0].world == w]) for w in WORLDS]
        print(f"  {kind:18}{len(rows):6}{_share([r[1] for r in rows]):>8}"
              f"{sum(r[3] for r in rows):8}{_share([r[2] for r in rows]):>13}",
              *(f"{c:>9}" for c in cells))  # fmt: skip
        if args.show == kind:
            print("\n".join(shown(log, v) for (_, log, _), v in zip(made, verdicts, strict=True)
                            if not v.critiques))  # fmt: skip


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else "-"


if __name__ == "__main__":
    main()
