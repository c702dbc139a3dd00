"""Read scenarios of tau2-bench and BFCL for the benchmarks of tool worlds.

A scenario has the initial state of a world, the words of its user, and the correct calls. `oracle`
turns it into a request: the writing calls become goal calls, and each of their values is

given      it occurs in the user's words, is one of the schema's choices, or is a boolean
           (numbers and dates in any spelling), or nothing distinguishes it from others
unresolved queries from the initial state, or earlier correct calls, return it: hvr gets properties
           of its entity instead, as few as distinguish the entity from its neighbours, preferably
           from the user's words; never the value or the call that returns it
made       neither given nor returned: the user's intention in the tool's format (a date, a
           text, a sum)
granted    only in some runs: a value that no earlier correct call returns is given, too
           (`granted`), since the correct calls use it without a query

The request also has facts: values that the correct queries take from the user (a name, an address).
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from typing import Any

from inputs import records
from toolworld_findings import POSITION, Findings, FoundValue, Trait

from hvr.base.registry import load_apart
from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallOutcome, Json, ToolCall, ToolEnvironment
from hvr.tools.calling.python_world import BfclTools, Tau2Tools
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.navigation.known_values import Flow, ParameterMatcher, key, plain, singular_words
from hvr.tools.navigation.queries import call_key
from hvr.tools.navigation.request import (
    Argument,
    EntityQuery,
    GoalCall,
    NamedValue,
    Order,
    Place,
    Selection,
    ToolRequest,
    given_leaves,
    peers_of,
)

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "toolworlds"
TAU2 = ("retail", "airline", "telecom")
WORLDS = (*TAU2, "bfcl")
SMALL = 9
"""Numbers up to this occur in many texts by chance."""

REFUSALS = 5
"""Attempts of a refused call in an unchanged state: tools may recover in this benchmark."""


@dataclass(frozen=True)
class Scenario:
    id: str
    world: str
    texts: tuple[str, ...]
    gold: tuple[ToolCall, ...]
    open: Callable[[], ToolEnvironment]
    said: tuple[NamedValue, ...] = ()


@dataclass
class Ledger:
    """Numbers of values in goal calls, by how hvr gets them."""

    values: Counter[str] = field(default_factory=Counter)


def read_scenarios(world: str, files: Sequence[Path]) -> list[Scenario]:
    """Return the scenarios in files that have the format of shared/data/toolworlds.

    Raises:
        DataFileError: A file cannot be read or has a different format.
    """
    found = []
    for file in files:
        for number, row in enumerate(read_rows(file), 1):
            try:
                found.append(_bfcl(row) if world == "bfcl" else _tau2(world, row))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise DataFileError(
                    f"{file}: row {number} is not a scenario of {world}: {error!r}"
                ) from None
    return found


def scenarios_of(
    world: str, part: str, data: Path = DATA, files: Sequence[Path] | None = None
) -> list[Scenario]:
    """Return the scenarios of a part: `development`, or `kept` for a final report.

    Args:
        data: Folder of the shared half.
        files: Files in its format to read instead of a part.
    """
    if files or part == "development":
        return read_scenarios(world, files or development_files(world, data))
    shared = [row["id"] for file in development_files(world, data) for row in read_rows(file)]
    rows = kept_rows(world, shared)
    return [_bfcl(row) if world == "bfcl" else _tau2(world, row) for row in rows]


def kept_rows(world: str, shared: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a world's held-out scenarios, which are for final reports only.

    They are tau2-bench's own test split and BFCL's base dialogues that the shared half lacks.

    Args:
        world: `bfcl` or a domain of tau2-bench.
        shared: Ids of the scenarios in the shared half, which are excluded.
    """
    rows = _bfcl_rows() if world == "bfcl" else _tau2_rows(world)
    return [row for row in rows if row["id"] not in set(shared)]


def _tau2_rows(world: str) -> Iterator[dict[str, Any]]:
    """Yield the tasks of tau2-bench's own test split."""
    for task in import_module(f"tau2.domains.{world}.environment").get_tasks("test"):
        criteria = task.evaluation_criteria
        yield {
            "id": f"{world}/{task.id}",
            "scenario": task.user_scenario.model_dump(mode="json"),
            "ticket": task.ticket,
            "initial_state": task.initial_state and task.initial_state.model_dump(mode="json"),
            "gold_calls": [
                {"name": action.name, "arguments": action.arguments}
                for action in (criteria.actions if criteria else None) or ()
            ],
        }


def _bfcl_rows() -> Iterator[dict[str, Any]]:
    import bfcl_eval  # type: ignore[import-untyped]

    data, name = Path(bfcl_eval.__path__[0]) / "data", "BFCL_v4_multi_turn_base.json"
    answers = {row["id"]: row["ground_truth"] for _, row in
               read_json_lines(data / "possible_answer" / name, strict=False)}  # fmt: skip
    for _, row in read_json_lines(data / name, strict=False):
        tools = BfclTools(row["involved_classes"], row["initial_config"])
        takes = {t.name: [p.name for p in t.takes] for t in tools.catalogue.tools}
        yield {
            "id": row["id"],
            "classes": row["involved_classes"],
            "initial_config": row["initial_config"],
            "turns": [
                {"user": [said["content"] for said in turn if said["role"] == "user"],
                 "calls": [parsed_call(text, takes) for text in calls]}
                for turn, calls in zip(row["question"], answers[row["id"]], strict=True)
            ],
        }  # fmt: skip


def parsed_call(text: str, takes: dict[str, list[str]]) -> dict[str, Any]:
    """Parse a call in Python syntax into its name and its arguments by parameter.

    Args:
        text: Call such as `cd(folder='document')`.
        takes: Parameters of each function, in order, for positional arguments.

    Raises:
        DataFileError: The text is not a call with literal arguments.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("expected a function call")
        name = call.func.id
        values = [ast.literal_eval(argument) for argument in call.args]
        kwargs = dict(zip(takes.get(name, ()), values, strict=False))
        kwargs |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except (SyntaxError, ValueError) as error:
        raise DataFileError(f"BFCL: {text!r} cannot be read: {error}") from None
    return {"api": name, "kwargs": kwargs}


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON Lines file, plain or gzipped.

    Raises:
        DataFileError: The file cannot be read or is empty, or a line is not an object.
    """
    return records(file)


def development_files(world: str, data: Path = DATA) -> list[Path]:
    name = "multi_turn_base.jsonl.gz" if world == "bfcl" else "tasks_train.jsonl.gz"
    return [data / world / name]


def _tau2(world: str, row: Mapping[str, Any]) -> Scenario:
    initial = row["initial_state"] or {}
    actions = initial.get("initialization_actions") or []

    def opened() -> ToolEnvironment:
        tools = Tau2Tools(world)
        tasks = load_apart("tau2.data_model.tasks")
        data = initial.get("initialization_data")
        tools.environment.set_state(
            tasks.InitializationData(**data) if data else None,
            [tasks.EnvFunctionCall(**action) for action in actions],
            [],
        )
        return tools

    texts = tuple(_strings([row["scenario"], row["ticket"]]))
    own = [
        NamedValue(name, value) for action in actions for name, value in action["arguments"].items()
    ]
    return Scenario(
        row["id"], world, texts,
        tuple(ToolCall(call["name"], call["arguments"]) for call in row["gold_calls"]),
        opened, tuple(fact for fact in own if said(fact.value, texts)),
    )  # fmt: skip


def _bfcl(row: Mapping[str, Any]) -> Scenario:
    return Scenario(
        row["id"], "bfcl",
        tuple(text for turn in row["turns"] for text in turn["user"]),
        tuple(ToolCall(c["api"], c["kwargs"]) for turn in row["turns"] for c in turn["calls"]),
        lambda: BfclTools(row["classes"], row["initial_config"]),
    )  # fmt: skip


def replay(scenario: Scenario) -> tuple[list[CallOutcome], Json]:
    """Make the correct calls; return their outcomes and the final state."""
    tools = scenario.open()
    names = {tool.name for tool in tools.catalogue.tools}
    for call in scenario.gold:
        if call.tool not in names:
            raise DataFileError(f"{scenario.id}: {scenario.world} has no tool {call.tool!r}")
    outcomes = [tools.call(call) for call in scenario.gold]
    return outcomes, tools.state()


def oracle(
    scenario: Scenario, outcomes: Sequence[CallOutcome], ledger: Ledger,
    flow: Flow | None = None, *, granted: bool = False,
) -> ToolRequest:  # fmt: skip
    """Return the request of a scenario; the module's docstring lists the values that it contains.

    Args:
        outcomes: Outcomes of the scenario's correct calls.
        ledger: Ledger that receives the numbers of given values.
        flow: Counts of the values passed on in other scenarios, which tell the candidates for an
            unresolved value.
        granted: Whether to give the values that the correct calls take for granted.
    """
    tools = scenario.open()
    schemas = {tool.name: tool for tool in tools.catalogue.tools}
    reads = [o.call for o in outcomes if schemas[o.call.tool].effect is Effect.READS]
    seen = explored(tools, scenario.said, (), schemas, None)
    facts = _facts(scenario, outcomes, schemas, seen, ledger)
    writes = [o.call for o in outcomes if schemas[o.call.tool].effect is not Effect.READS]
    said_by_calls = [
        NamedValue(name, value)
        for call in writes
        for name, value in call.arguments.items()
        if not isinstance(value, (list, dict)) and said(value, scenario.texts)
    ]
    seen = explored(tools, [*facts, *said_by_calls], reads, schemas, flow)
    first = seen.calls
    wants = []
    known = {key(fact.value) for fact in facts}
    reading = {name: tool.effect is Effect.READS for name, tool in schemas.items()}
    for outcome in outcomes:
        tool = schemas[outcome.call.tool]
        if outcome.ok and tool.effect is not Effect.READS:
            given = _Giving(scenario, tool, seen, first, ledger, known, reading, granted)
            wants.append(GoalCall(tool.name, given.arguments(outcome.call)))
        if outcome.ok:
            seen.add(outcome)
    return ToolRequest(tuple(wants), tuple(facts))


def _facts(
    scenario: Scenario, outcomes: Sequence[CallOutcome], schemas: Mapping[str, ToolSchema],
    seen: Findings, ledger: Ledger,
) -> list[NamedValue]:  # fmt: skip
    """Return the inputs of correct queries that the user supplies, and the properties stated.

    Values of other correct calls are not facts, nor are values outside the user's words that some
    query returns under the same name.
    """
    facts = dict.fromkeys(scenario.said)
    found = Findings()
    for outcome in outcomes:
        reads = schemas[outcome.call.tool].effect is Effect.READS
        for name, value in outcome.call.arguments.items() if reads else ():
            known = said(value, scenario.texts)
            yielded = any(
                key(one.value) == key(value) and one.call >= 0
                for one in [*found.all, *seen.suiting(name)]
            )
            if not isinstance(value, (list, dict)) and (known or not yielded):
                ledger.values["fact said" if known else "fact made"] += 1
                facts[NamedValue(name, value)] = None
        if outcome.ok:
            found.add(outcome)
    return list(facts)


def explored(
    tools: ToolEnvironment, facts: Iterable[NamedValue], reads: Sequence[ToolCall],
    schemas: Mapping[str, ToolSchema], flow: Flow | None, most: int = 80,
) -> Findings:  # fmt: skip
    """Return the values that queries find in the initial state, starting from the user's words."""
    seen = Findings(facts, (), ParameterMatcher(flow))
    explore(tools, seen, schemas, reads, most)
    return seen


def explore(
    tools: ToolEnvironment, seen: Findings, schemas: Mapping[str, ToolSchema],
    reads: Sequence[ToolCall] = (), most: int = 80, inputs: int = 1,
) -> None:  # fmt: skip
    """Make queries and collect their results until nothing new appears.

    Args:
        seen: Collection that receives the results.
        schemas: Schemas of the tools to use.
        reads: Calls to begin with.
        most: Maximum number of calls.
        inputs: Maximum number of inputs of a tool that is called with all combinations of values.
    """
    made: set[str] = set()
    readers = [tool for tool in schemas.values() if tool.effect is Effect.READS]
    calls = list(reads)
    while len(made) < most:
        for call in calls:
            if call_key(call) not in made:
                made.add(call_key(call))
                outcome = tools.call(call)
                if outcome.ok:
                    seen.add(outcome)
        calls = [call for tool in readers for call in _calls_of(tool, seen, inputs)]
        calls = [call for call in calls if call_key(call) not in made]
        if not calls:
            break


def _calls_of(tool: ToolSchema, seen: Findings, inputs: int) -> list[ToolCall]:
    """Return the calls of a tool that needs at most `inputs` texts, all of them known."""
    needed = [parameter for parameter in tool.takes if parameter.required]
    if len(needed) > inputs or any(parameter.type != "string" for parameter in needed):
        return []
    values = [
        list(dict.fromkeys(f.value for f in seen.suiting(p.name) if isinstance(f.value, str)))
        for p in needed
    ]
    return [
        ToolCall(tool.name, {p.name: value for p, value in zip(needed, some, strict=True)})
        for some in islice(product(*values), 40 if len(needed) > 1 else None)
    ]


class _Giving:
    """Splits the arguments of a correct writing call into given and described values."""

    def __init__(
        self, scenario: Scenario, tool: ToolSchema, seen: Findings, first: int, ledger: Ledger,
        known: set[str], reads: Mapping[str, bool], granted: bool,
    ) -> None:  # fmt: skip
        self._granted = granted
        self._hidden: frozenset[Json] = frozenset()
        self._facts = known
        self._reads = reads
        self._scenario, self._tool = scenario, tool
        self._seen, self._first, self._ledger = seen, first, ledger
        self._choices = [choice for p in tool.takes for choice in map(json.loads, p.choices)]

    def arguments(self, call: ToolCall) -> dict[str, Argument]:
        origins: dict[Place, list[FoundValue]] = {}
        bound: dict[Place, Json] = {}
        before: dict[Place, Json] = {}
        for place, name, value in given_leaves(call.arguments):
            found = self._origins(name, value)
            if found:
                origins[place] = found
            else:
                bound[place] = value
        sought: dict[Place, EntityQuery] = {}
        self._hidden = frozenset(
            plain(v) for p, _, v in given_leaves(call.arguments) if p in origins
        )
        for place, name, value in given_leaves(call.arguments):
            if place in origins:
                features = self._features(name, origins[place], place, bound, before)
                if features is not None:
                    at = [int(f.value) for f in features if singular_words(f.name) == POSITION]
                    features = tuple(f for f in features if singular_words(f.name) != POSITION)
                    listed = Selection(Order.LISTED, position=at[0]) if at else None
                    sought[place] = EntityQuery(features, listed)
                bound[place] = value
            before[place] = value
        return {name: replaced(value, sought, (name,)) for name, value in call.arguments.items()}

    def _origins(self, name: str, value: Json) -> list[FoundValue]:
        """Return the places of a value in results; none if the value is given.

        A text counts wherever an earlier correct call returned it. A number, which may match by
        chance, and a value that only other queries return must also match the parameter by name or
        use.
        """
        if value is None or isinstance(value, bool) or value in self._choices:
            return []
        if said(value, self._scenario.texts) or (len(str(value)) > 2 and key(value) in self._facts):
            self._facts.add(key(value))
            self._ledger.values["given"] += 1
            return []
        same = [one for one in self._seen.all if one.call >= 0 and key(one.value) == key(value)
                and not self._seen.echoed(one)]  # fmt: skip
        same = [one for one in same if self._reads[one.tool]] or same
        shown = [one for one in same if one.call >= self._first]
        if self._granted and same and not shown:
            self._ledger.values["granted"] += 1
            self._facts.add(key(value))
            return []
        same = shown or same
        fitting = [one for one in same if self._seen.fit(one, name) >= 0.3]
        if not fitting and isinstance(value, str) and len(value) > 2:
            fitting = [one for one in same if one.call >= self._first]
        self._ledger.values["sought" if fitting else "made"] += 1
        if not fitting:
            self._facts.add(key(value))
        return fitting

    def _features(
        self, name: str, found: Sequence[FoundValue], place: Place, bound: Mapping[Place, Json],
        before: Mapping[Place, Json],
    ) -> tuple[NamedValue, ...] | None:  # fmt: skip
        """Return the fewest properties that distinguish an entity, or None if none do."""
        peers = peers_of(place, before)
        own = max(found, key=lambda one: (
            self._seen.within(one, peers), self._seen.within(one, bound.values()),
            len(one.traits)))  # fmt: skip
        beside = self._seen.within(own, bound.values()) > 0
        near: dict[str, frozenset[Trait]] = {}
        far: dict[str, frozenset[Trait]] = {}
        for one in self._seen.suiting(name) or self._seen.all:
            if key(one.value) != key(own.value) and one.call >= 0:
                close = not beside or (one.call == own.call and one.path == own.path)
                (near if close else far)[key(one.value)] = self._seen.traits(one)
        mine = {t for one in found for t in self._seen.traits(one) if self._usable(t, own.value)}
        chosen: list[Trait] = []
        others = near
        for some in (
            {t for t in mine if self._in_words(t)},
            {t for t in mine if t[0] != POSITION and t in own.traits},
            {t for t in mine if t[0] == POSITION},
            mine,
        ):
            others = self._narrowed(others, some, chosen)
        self._narrowed(far, {t for t in mine if self._in_words(t)}, chosen)
        for one in chosen:
            self._ledger.values["feature said" if self._in_words(one) else "feature not said"] += 1
        if others:
            # No property identifies it, so the user has to supply it.
            self._ledger.values["sought"] -= 1
            self._ledger.values["given, since nothing tells it from others"] += 1
            self._facts.add(key(own.value))
            return None
        return tuple(NamedValue("_".join(sorted(words)), value) for words, value in chosen)

    def _narrowed(
        self, others: dict[str, frozenset[Trait]], mine: set[Trait], chosen: list[Trait]
    ) -> dict[str, frozenset[Trait]]:
        """Choose traits until no other entity has them all; return the entities left."""
        others = {k: traits for k, traits in others.items() if traits.issuperset(chosen)}
        while others and mine:
            best = max(
                sorted(mine, key=_wordy),
                key=lambda one: -sum(one in traits for traits in others.values()),
            )
            alike = {k: traits for k, traits in others.items() if best in traits}
            if len(alike) == len(others):
                break
            chosen.append(best)
            mine.discard(best)
            others = alike
        return others

    def _in_words(self, one: Trait) -> bool:
        """Return whether the user states a trait other than a small number."""
        words, value = one
        small = isinstance(value, (int, float)) and abs(value) <= SMALL
        return words != POSITION and not small and said(value, self._scenario.texts)

    def _usable(self, one: Trait, value: Json) -> bool:
        """Return whether a user would state a trait, or does state it.

        Ids are excluded, as are traits that reveal another unresolved value of the call.
        """
        words, other = one
        if other is None or other == "" or key(other) == key(value) or not words:
            return False
        told = "id" in words or other in self._hidden
        return not told or said(other, self._scenario.texts)


def _wordy(one: Trait) -> tuple[bool, str]:
    """Sort key that prefers words to numbers among equally distinctive traits."""
    return isinstance(one[1], (int, float)), str(one)


def replaced(value: Json, found: Mapping[Place, Argument], place: Place) -> Argument:
    """Return the value at a place of an argument, with the arguments in `found` inserted."""
    if place in found:
        return found[place]
    if isinstance(value, dict):
        return {name: replaced(inner, found, (*place, name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, found, (*place, index)) for index, inner in enumerate(value)]
    return value


def said(value: Json, texts: Iterable[str]) -> bool:
    """Return whether a value occurs in texts; numbers and dates may have any spelling."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, (int, float)):
        numbers = {float(n.replace(",", "")) for text in texts for n in _NUMBER.findall(text)}
        return float(value) in numbers
    wanted = str(value).lower().replace("_", " ").strip()
    if not wanted:
        return True
    forms = [re.escape(wanted)]
    if date := _DATE.fullmatch(wanted):
        month, day = _MONTHS[int(date[2]) - 1], int(date[3])
        forms += [rf"{month[:3]}(?:{month[3:]})?\.? {day}(?:st|nd|rd|th)?",
                  rf"{day}(?:st|nd|rd|th)? (?:of )?{month[:3]}(?:{month[3:]})?"]  # fmt: skip
    inside = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(forms)})(?![a-z0-9])")
    return any(inside.search(text.lower().replace("_", " ")) for text in texts)


_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(\d\d)")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
           "october", "november", "december")  # fmt: skip


_NUMBER = re.compile(r"\d[\d,]*\.?\d*(?<![,.])")


def _strings(value: Any) -> Iterator[str]:
    todo = [value]
    for one in todo:
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list):
            todo += one
        elif isinstance(one, str):
            yield one
