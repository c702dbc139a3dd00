"""Preconditions learnt from refused calls: required states, and calls that must come first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.files import write_whole
from hvr.base.texts import read_json
from hvr.errors import DataFileError
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.calling.log import redacted
from hvr.tools.catalogue.schema import quoted
from hvr.tools.navigation.entities import EntityProperty
from hvr.tools.navigation.known_values import key, plain
from hvr.tools.navigation.request import given_leaves, scalars_in

# Enabling calls -----------------------------------------------------------------------------------
# If a refused call succeeds later, and exactly one other call succeeded in between, that call
# enabled it. A refusal that follows the same kind of call about the same entity refutes the
# enabler.

MIN_CONFIRMED_ENTITIES = 2
"""Number of entities that must confirm an enabler before it is trusted."""


@dataclass(frozen=True)
class Enabler:
    """The hypothesis that a call of the tool `by` makes a refused call of `tool` possible.

    Args:
        shared: Pairs of a parameter of `tool` and a parameter of `by` that always had the same
            value.
        well: Number of different calls of `tool` that confirm the hypothesis.
        refused: Number of different calls of `tool` that refute it.
    """

    tool: str
    by: str
    shared: frozenset[tuple[str, str]] = frozenset()
    well: int = 0
    refused: int = 0

    @property
    def confirmed(self) -> bool:
        return self.well >= MIN_CONFIRMED_ENTITIES and not self.refused


@dataclass
class LearntEnablers:
    """Hypotheses about enablers, confirmed and refuted by calls; each call counts once."""

    known: dict[tuple[str, str], Enabler] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    # Refused calls of the current run, each with the successful calls since then.
    _waiting: dict[str, tuple[ToolCall, list[ToolCall]]] = field(default_factory=dict)

    def observe(self, outcome: CallOutcome) -> None:
        """Learn from a successful or refused call; other failures carry no information."""
        if not outcome.ok and outcome.failure is not CallFailure.REFUSED:
            return
        call, name = outcome.call, json.dumps([outcome.call.tool, outcome.call.arguments])
        _, since = self._waiting.pop(name, (call, []))
        if len(since) == 1:
            self._judge(call, since[0], digest(call.tool, since[0].tool, name), ok=outcome.ok)
        if not outcome.ok:
            self._waiting[name] = call, []
            return
        for waiting, later in self._waiting.values():
            if waiting.tool != call.tool:
                later.append(call)

    def of(self, tool: str) -> tuple[Enabler, ...]:
        mine = [one for one in self.known.values() if one.tool == tool]
        return tuple(sorted(mine, key=lambda one: (not one.confirmed, one.by)))

    def confirmed(self, tools: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the confirmed enablers of each of the tools that has any, by tool name."""
        found = {tool: tuple(one.by for one in self.of(tool) if one.confirmed) for tool in tools}
        return {tool: makers for tool, makers in found.items() if makers}

    def _judge(self, call: ToolCall, between: ToolCall, thing: str, *, ok: bool) -> None:
        both, pairs = (call.tool, between.tool), _shared(call, between)
        old = self.known.get(both, Enabler(*both))
        other_thing = old.shared and not old.shared & pairs
        if thing in self.seen or (not ok and other_thing):
            return
        self.seen.add(thing)
        shared = old.shared & pairs if old.well else pairs
        self.known[both] = replace(
            old,
            shared=shared if ok else old.shared,
            well=old.well + ok,
            refused=old.refused + (not ok),
        )


def digest(*parts: str) -> str:
    """Return a hash of `parts`, which is stored so that ids need not be."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _shared(call: ToolCall, other: ToolCall) -> frozenset[tuple[str, str]]:
    return frozenset(
        (name, of_other)
        for _, name, value in given_leaves(call.arguments)
        for _, of_other, same in given_leaves(other.arguments)
        if key(value) == key(same) and not isinstance(value, bool) and value is not None
    )


# Preconditions ------------------------------------------------------------------------------------
# Learn state conditions by comparing the entities of successful and refused calls. Suppose a
# property such as `status` has only a few values in successful calls and another value in a refused
# call. Then the candidate condition requires one of the values seen in successful calls. Properties
# of different parameters are never mixed: a card has paid orders of every status. A property with
# several values, such as the colours of the ordered items, is not a state.
#
# A candidate must make correct predictions. It is trusted once later calls on other entities
# succeed with one of its values and are refused with another. A success with another value refutes
# it.

MAX_STATE_VALUES = 3
"""Maximum number of values in successful calls; a property with more is a name, not a state."""

MIN_CONFIRMED_SUCCESSES = 2
"""Number of successful calls per value that a candidate must predict to be trusted."""

MIN_CONFIRMED_REFUSALS = 2
"""Number of refused calls that a candidate must predict to be trusted."""


KnownEntities: TypeAlias = "Mapping[str, frozenset[EntityProperty]]"
"""The known properties of the entity that each parameter of a call names."""


@dataclass(frozen=True)
class StateCondition:
    """The hypothesis that a tool accepts an entity only if a property has one of certain values.

    Args:
        parameter: Parameter that names the entity.
        name: Words of the property's name.
        values: Values with which calls succeeded.
        well: Number of entities whose successful calls it predicted.
        refused: Number of entities whose refused calls it predicted.
    """

    tool: str
    parameter: str
    name: frozenset[str]
    values: tuple[Json, ...]
    well: int = 0
    refused: int = 0

    @property
    def confirmed(self) -> bool:
        enough = MIN_CONFIRMED_SUCCESSES * len(self.values)
        return self.well >= enough and self.refused >= MIN_CONFIRMED_REFUSALS

    def holds(self, known: KnownEntities) -> bool | None:
        """Return whether the condition holds; None if the property is unknown or ambiguous."""
        has = _state(known, self.parameter, self.name)
        return None if has is None else key(has) in {key(value) for value in self.values}


Place: TypeAlias = "tuple[str, str, frozenset[str]]"
"""A tool, one of its parameters, and the words of a property's name."""


@dataclass(frozen=True)
class SeenStates:
    """Observed values of a property in calls of a tool.

    Args:
        well: Values in successful calls, with the number of calls; None if there are too many
            values.
        refused: Values in refused calls.
    """

    well: tuple[tuple[Json, int], ...] | None = ()
    refused: tuple[Json, ...] = ()

    def after(self, value: Json, *, ok: bool) -> SeenStates:
        if not ok:
            known = len(self.refused) > MAX_STATE_VALUES or value in self.refused
            return self if known else replace(self, refused=(*self.refused, value))
        if self.well is None:
            return self
        times = {key(other): number for other, number in self.well}
        if key(value) not in times:
            more = len(self.well) == MAX_STATE_VALUES
            return replace(self, well=None if more else (*self.well, (value, 1)))
        return replace(self, well=tuple((v, n + (key(v) == key(value))) for v, n in self.well))

    def candidate(self) -> tuple[Json, ...]:
        """Return the values that seem to be required; empty if the calls do not suggest any."""
        well = self.well or ()
        if len(well) > 1 and all(times == 1 for _, times in well):
            return ()  # different values each time indicate a name, not a state
        right = {key(value) for value, _ in well}
        wrong = any(key(value) not in right for value in self.refused)
        return tuple(value for value, _ in well) if wrong else ()


@dataclass
class LearntConditions:
    """Hypotheses about preconditions, confirmed and refuted by calls.

    Args:
        states: Observed values by property.
        candidates: Hypothesis about each property that seems to matter.
        seen: Digests of the entities already counted.
    """

    states: dict[Place, SeenStates] = field(default_factory=dict)
    candidates: dict[Place, StateCondition] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    enabling: LearntEnablers = field(default_factory=LearntEnablers)

    def observe(self, outcome: CallOutcome, known: KnownEntities) -> None:
        """Learn from a successful or refused call; other failures carry no information."""
        tool = outcome.call.tool
        if not outcome.ok and outcome.failure is not CallFailure.REFUSED:
            return
        self.enabling.observe(outcome)
        self._predicted(outcome.call, known, ok=outcome.ok)
        named = {key(plain(value)) for value in scalars_in(outcome.call.arguments)}
        for parameter, traits in known.items():
            for name, value in _single(traits):
                if key(value) in named:
                    continue  # skip the id itself
                place = tool, parameter, name
                states = self.states.get(place, SeenStates())
                self.states[place] = states.after(value, ok=outcome.ok)
        self._propose(tool)

    def conditions(self, tool: str) -> tuple[StateCondition, ...]:
        mine = [one for one in self.candidates.values() if one.tool == tool]
        return tuple(sorted(mine, key=_order))

    def violated(self, tool: str, known: KnownEntities) -> StateCondition | None:
        for condition in self.conditions(tool):
            if condition.confirmed and condition.holds(known) is False:
                return condition
        return None

    def confirmed(self, tool: str) -> tuple[str, ...]:
        """Return a sentence about each confirmed precondition and enabler of a tool."""
        said = [
            f"{quoted(tool)} is refused unless {' '.join(sorted(one.name))} of {one.parameter} is "
            + " or ".join(map(str, one.values))
            for one in self.conditions(tool)
            if one.confirmed
        ]
        makers = self.enabling.confirmed([tool]).get(tool, ())
        return (*said, *(f"{quoted(by)} made {quoted(tool)} possible" for by in makers))

    def _predicted(self, call: ToolCall, known: KnownEntities, *, ok: bool) -> None:
        things = _things(call, "well" if ok else "refused")
        for place, condition in list(self.candidates.items()):
            holds = condition.holds(known) if condition.tool == call.tool else None
            if holds is None:
                continue
            new = things.get(condition.parameter) not in self.seen
            if ok and not holds:
                del self.candidates[place]
            elif ok and new:
                self.candidates[place] = replace(condition, well=condition.well + 1)
            elif not ok and not holds and new:
                self.candidates[place] = replace(condition, refused=condition.refused + 1)
        self.seen |= set(things.values())

    def _propose(self, tool: str) -> None:
        for place, states in self.states.items():
            if place[0] == tool and place not in self.candidates and (values := states.candidate()):
                self.candidates[place] = StateCondition(*place, values)


def _order(one: StateCondition) -> tuple[bool, str, list[str]]:
    return not one.confirmed, one.parameter, sorted(one.name)


def _state(known: KnownEntities, parameter: str, name: frozenset[str]) -> Json:
    mine = [trait for trait in known.get(parameter, ()) if trait[0] == name]
    return next((value for _, value in _single(mine)), None)


def _single(traits: Iterable[EntityProperty]) -> Iterator[tuple[frozenset[str], Json]]:
    has: dict[frozenset[str], dict[str, Json]] = {}
    for name, value in traits:
        has.setdefault(name, {})[key(value)] = value
    for name, values in has.items():
        value = next(iter(values.values()))
        named = {"_".join(sorted(name)): value}
        if len(values) == 1 and value is not None and redacted(named) == named:
            yield name, value


def _things(call: ToolCall, what: str) -> dict[str, str]:
    named: dict[str, list[str]] = {}
    for _, name, value in given_leaves(call.arguments):
        named.setdefault(name, []).append(key(value))
    return {name: digest(call.tool, name, what, *values) for name, values in named.items()}


# Conditions file ----------------------------------------------------------------------------------
# The file lies beside the graph's log. It contains the names of tools, parameters and properties,
# counts, and a few values per property. Ids in calls are stored as digests.

FORM = "hvr-conditions-1"
"""Name and version of the format."""


def conditions_path(graph: Path) -> Path:
    return graph.with_name(f"{graph.stem}.conditions.json")


def read_conditions(path: Path) -> LearntConditions:
    """Read learnt conditions from a file; a missing file counts as empty.

    Raises:
        DataFileError: The file cannot be read, or has another format.
    """
    if not path.exists():
        return LearntConditions()
    document: Any = read_json(path)
    try:
        if document["form"] != FORM:
            raise ValueError(f"expected format {FORM!r}, found {document['form']!r}")
        return LearntConditions(
            dict(map(_states, document["states"])),
            dict(map(_condition, document["conditions"])),
            set(map(str, document["things"])),
            LearntEnablers(
                dict(map(_enabler, document["enablers"])), set(map(str, document["enabled"]))
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataFileError(
            f"{path}: not a file of learnt conditions ({type(error).__name__}: {error}); move "
            "the file, or use another graph"
        ) from None


def write_conditions(path: Path, learnt: LearntConditions) -> None:
    document = {
        "form": FORM,
        "conditions": [
            _at(place) | {"values": one.values, "well": one.well, "refused": one.refused}
            for place, one in sorted(learnt.candidates.items(), key=_place_order)
        ],
        "states": [
            _at(place) | asdict(states)
            for place, states in sorted(learnt.states.items(), key=_place_order)
        ],
        "things": sorted(learnt.seen),
        "enablers": [
            asdict(one) | {"shared": sorted(map(list, one.shared))}
            for _, one in sorted(learnt.enabling.known.items())
        ],
        "enabled": sorted(learnt.enabling.seen),
    }
    write_whole(path, json.dumps(document, ensure_ascii=True, indent=1) + "\n")


def _at(place: Place) -> dict[str, Any]:
    return {"tool": place[0], "parameter": place[1], "name": sorted(place[2])}


def _place_order(entry: tuple[Place, object]) -> tuple[str, str, list[str]]:
    tool, parameter, name = entry[0]
    return tool, parameter, sorted(name)


def _place(row: Mapping[str, Any]) -> Place:
    return str(row["tool"]), str(row["parameter"]), frozenset(map(str, row["name"]))


def _states(row: Mapping[str, Any]) -> tuple[Place, SeenStates]:
    well = row["well"]
    values = None if well is None else tuple((value, int(times)) for value, times in well)
    return _place(row), SeenStates(values, tuple(row["refused"]))


def _condition(row: Mapping[str, Any]) -> tuple[Place, StateCondition]:
    place, counts = _place(row), (int(row["well"]), int(row["refused"]))
    return place, StateCondition(*place, tuple(row["values"]), *counts)


def _enabler(row: Mapping[str, Any]) -> tuple[tuple[str, str], Enabler]:
    shared = frozenset((str(one), str(other)) for one, other in row["shared"])
    both, counts = (str(row["tool"]), str(row["by"])), (int(row["well"]), int(row["refused"]))
    return both, Enabler(*both, shared, *counts)
