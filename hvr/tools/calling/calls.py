"""Tool calls, their results, the provenance of arguments, and schema checks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from hvr.base.printable import one_line, short
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema, quoted

# Provenance ---------------------------------------------------------------------------------------
# The provenance of a value decides whether a writing call may use it.

Place: TypeAlias = "tuple[str | int, ...]"
"""Path of a value in the arguments: object keys and list indexes, outermost first."""

_SHOWN = 80
"""Maximum number of characters of a value in a message."""


class Provenance(StrEnum):
    SAID = "said"
    """The user stated it in this request."""
    IDENTIFIED = "identified"
    """It is the id of the only entity that matches the user's description."""
    DEFAULT = "default"
    """It is the default value in the tool's schema."""
    CONFIRMED = "confirmed"
    """The user confirmed it."""
    FOUND = "found"
    """It occurs in a result, but nothing identifies it as the intended value."""
    UNKNOWN = "unknown"

    @property
    def may_be_written(self) -> bool:
        """Whether a writing call may use a value of this provenance."""
        return self not in (Provenance.FOUND, Provenance.UNKNOWN)


@dataclass(frozen=True)
class Source:
    """A value's provenance; `why` explains it to the user, as in "the id of the loan of Dune"."""

    kind: Provenance
    why: str = ""


NO_SOURCE = Source(Provenance.UNKNOWN, "the user has not stated it")
"""The source of a value of unknown origin."""


@dataclass(frozen=True)
class Unsupported:
    """A value in a call's arguments that a writing call must not use."""

    place: Place
    value: Json
    source: Source

    def __str__(self) -> str:
        shown = short(one_line(json.dumps(self.value, ensure_ascii=False)), _SHOWN)
        why = self.source.why or f"its source is: {self.source.kind}"
        return f"{place_text(self.place)} = {shown} ({short(one_line(why), 2 * _SHOWN)})"


def source_of(place: Place, sources: Mapping[Place, Source]) -> Source:
    """Return the source of a value, or of its innermost container that has one, or `NO_SOURCE`."""
    for length in range(len(place), 0, -1):
        if (found := sources.get(place[:length])) is not None:
            return found
    return NO_SOURCE


def unsupported(call: ToolCall, sources: Mapping[Place, Source]) -> tuple[Unsupported, ...]:
    """Return all values of a call (even null or empty) that a writing call must not use."""
    found = ((place, value, source_of(place, sources)) for place, value in leaf_values(call))
    return tuple(Unsupported(*one) for one in found if not one[2].kind.may_be_written)


def leaf_values(call: ToolCall) -> Iterator[tuple[Place, Json]]:
    todo: list[tuple[Place, Json]] = [((k,), v) for k, v in reversed(list(call.arguments.items()))]
    while todo:
        place, value = todo.pop()
        if isinstance(value, dict) and value:
            todo += [((*place, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and value:
            parts = list(enumerate(value))
            todo += [((*place, index), inner) for index, inner in reversed(parts)]
        else:
            yield place, value


def sources_json(call: ToolCall, sources: Mapping[Place, Source]) -> list[Json]:
    """Return the source of each argument value as an object with `place`, `source` and `why`.

    Places are lists of keys and indexes, since keys may contain any text.
    """
    listed: list[Json] = []
    for place, _ in leaf_values(call):
        source = source_of(place, sources)
        listed.append({"place": list(place), "source": source.kind.value, "why": source.why})
    return listed


def place_text(place: Place) -> str:
    """Return a path as text, such as `items[0].id`, shortened if it is long."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in place]
    return short(one_line("".join(parts).removeprefix(".")), _SHOWN)


# Values -------------------------------------------------------------------------------------------

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""


class CallFailure(StrEnum):
    REFUSED = "refused"
    """The tool declined: a precondition on the world's state or on argument values failed."""
    BAD_ARGUMENTS = "bad arguments"
    """An argument is missing, unknown or of the wrong type."""
    UNKNOWN_TOOL = "unknown tool"
    TIMED_OUT = "timed out"
    UNAVAILABLE = "unavailable"
    """The tool or its server is broken, which says nothing about the arguments."""
    WRONG_TYPE = "wrong type"
    """The type of the result differs from the schema."""
    EMPTY = "empty"
    """The result is empty although content was expected."""
    NOT_ALLOWED = "not allowed"
    """hvr did not make the call: no budget, a dry run, an unsourced value, or a repeated call."""


@dataclass(frozen=True)
class ToolCall:
    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True)
class CallOutcome:
    """The outcome of a call.

    Args:
        result: Value that the tool returned, even if the call counts as failed; None if there is
            none.
        error: Error message from the tool or from hvr; it is data, never an instruction.
        sources: Known sources of the argument values, by path.
    """

    call: ToolCall
    result: Json = None
    failure: CallFailure | None = None
    error: str = ""
    seconds: float = 0.0
    sources: Mapping[Place, Source] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.failure is None


# Argument checks ----------------------------------------------------------------------------------


def argument_faults(tool: ToolSchema, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    known = {parameter.name: parameter for parameter in tool.takes}
    faults = [
        f"{quoted(tool.name)} requires {quoted(name)}"
        for name, parameter in known.items()
        if parameter.required and name not in arguments
    ]
    wrong_types = type_faults(tool, arguments)
    for name, value in arguments.items():
        parameter = known.get(name)
        if parameter is None:
            faults.append(f"{quoted(tool.name)} has no parameter {quoted(name)}")
        elif name in wrong_types:
            faults.append(wrong_types[name])
        elif value is None and not parameter.required:
            continue
        elif parameter.choices and not _chosen(value, parameter):
            faults.append(f"{quoted(name)} must be one of {', '.join(parameter.choices)}")
    return tuple(faults)


def type_faults(tool: ToolSchema, arguments: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: f"{quoted(name)} must be of type {parameter.type}, found {type_name(arguments[name])}"
        for parameter in tool.takes
        if (name := parameter.name) in arguments
        # An optional argument may be null.
        and (arguments[name] is not None or parameter.required)
        and not has_type(arguments[name], parameter.type)
    }


def type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = ((int, "integer"), (float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def has_type(value: Any, types: str) -> bool:
    """Return whether a value has one of the JSON Schema types in `types`, joined by `|`.

    A float without a fraction counts as an integer. Empty or unknown types permit every value.
    """
    allowed = set(types.split("|")) if types else set()
    if not allowed or not allowed <= _TYPES:
        return True
    name = type_name(value)
    if name == "integer" or (isinstance(value, float) and value.is_integer()):
        return bool(allowed & {"integer", "number"})
    return name in allowed


_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}


def _chosen(value: Any, parameter: ToolParameter) -> bool:
    return any(json.loads(choice) == value for choice in parameter.choices)


# Schema checks ------------------------------------------------------------------------------------


def find_tool(catalogue: Catalogue, name: str) -> ToolSchema | None:
    return next((tool for tool in catalogue.tools if tool.name == name), None)


def checked_tool(catalogue: Catalogue, call: ToolCall) -> ToolSchema | CallOutcome:
    """Return the tool of a call, or a failed outcome if the call violates the tool's schema."""
    tool = find_tool(catalogue, call.tool)
    if tool is None:
        return CallOutcome(
            call, failure=CallFailure.UNKNOWN_TOOL, error=f"no tool named {quoted(call.tool)}"
        )
    wrong = argument_faults(tool, call.arguments)
    if wrong:
        return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error="; ".join(wrong))
    return tool


def with_nulls(tool: ToolSchema, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return a call's arguments with null added for each missing parameter that has `or_null`."""
    return {p.name: None for p in tool.takes if p.or_null} | dict(arguments)


def check_result(tool: ToolSchema, outcome: CallOutcome) -> CallOutcome:
    """Return an outcome, marked as a failure if the result violates the tool's schema.

    The failure is `EMPTY` if the schema requires content and the result has none, and `WRONG_TYPE`
    if the result has another type. A tool without a result schema may return anything. A failed
    outcome keeps its result.
    """
    if not outcome.ok or not tool.gives:
        return outcome
    required = any(parameter.required for parameter in tool.gives)
    if required and (outcome.result is None or outcome.result in ("", [], {})):
        error = f"{quoted(tool.name)} returned nothing"
        return replace(outcome, failure=CallFailure.EMPTY, error=error)
    faults = (_result_fault(parameter, outcome.result) for parameter in tool.gives)
    if error := next(filter(None, faults), ""):
        return replace(outcome, failure=CallFailure.WRONG_TYPE, error=error)
    return outcome


def _result_fault(parameter: ToolParameter, result: Json) -> str:
    name = parameter.name
    if name.partition("[")[0] == "result" and not (isinstance(result, dict) and "result" in result):
        return _part_fault(parameter, result, name.removeprefix("result"))
    return _part_fault(parameter, result, f".{name}")


def _part_fault(parameter: ToolParameter, result: Json, steps: str) -> str:
    name, parts = parameter.name, [result]
    for step in steps.replace("[]", ".[]").split("."):
        if not step:
            continue
        inner: list[Json] = []
        for part in parts:
            if step == "[]":
                if part is None and not parameter.required:
                    continue
                if not isinstance(part, list):
                    return f"{quoted(name)} must be inside a list, found {type_name(part)}"
                inner += part
            elif part is None and not parameter.required:
                continue  # null, or an optional field that was written as null
            elif not isinstance(part, dict):
                return f"{quoted(name)} must be inside an object, found {type_name(part)}"
            elif step in part:
                inner.append(part[step])
            elif parameter.required:
                return f"{quoted(name)} is missing"
        parts = inner
    for part in parts:
        if part is None and not parameter.required:
            continue
        if not has_type(part, parameter.type):
            return f"{quoted(name)} must be of type {parameter.type}, found {type_name(part)}"
    return ""


# Environment --------------------------------------------------------------------------------------
# The protocol of tool environments, and several environments joined into one.


class ToolEnvironment(Protocol):
    """A set of callable tools that share a state."""

    @property
    def catalogue(self) -> Catalogue: ...

    def reset(self) -> None:
        """Restore the initial state; a live server may be unable to."""
        ...

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool; a failure is returned as an outcome, never raised."""
        ...

    def state(self) -> Json:
        """Return the complete state, by which runs are judged; None if it is not observable."""
        ...

    def close(self) -> None: ...


class ListedTools:
    """Tools that have descriptions but cannot be called."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def reset(self) -> None:
        pass

    def call(self, call: ToolCall) -> CallOutcome:
        return CallOutcome(
            call, failure=CallFailure.NOT_ALLOWED, error="the tool is only described, not callable"
        )

    def state(self) -> Json:
        return None

    def close(self) -> None:
        pass


# Joined tools -------------------------------------------------------------------------------------


def joined(
    sources: Sequence[tuple[str, Catalogue]],
) -> tuple[Catalogue, dict[str, tuple[int, str]]]:
    """Merge the tools of several sources, each given as its name and its tools.

    A tool whose name occurs more than once is renamed `SOURCE.TOOL`.

    Returns:
        The merged catalogue and, for each tool in it, the index of its source and its name in that
        source.
    """
    times = Counter(tool.name for _, one in sources for tool in one.tools)
    tools, homes = [], {}
    for index, (label, catalogue) in enumerate(sources):
        for tool in catalogue.tools:
            name = tool.name if times[tool.name] == 1 else f"{label}.{tool.name}"
            homes[name] = index, tool.name
            tools.append(replace(tool, name=name))
    left_out = tuple(text for _, one in sources for text in one.left_out)
    return Catalogue(tuple(tools), left_out), homes


class JoinedTools:
    """The tools of several sources, named `SOURCE.TOOL` where names clash."""

    def __init__(self, sources: Sequence[tuple[str, ToolEnvironment]]) -> None:
        self._sources = tuple(sources)
        self._catalogue, self._homes = joined([(name, one.catalogue) for name, one in sources])

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        for _, source in self._sources:
            source.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        if call.tool not in self._homes:
            error = f"no tool named {quoted(call.tool)}"
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL, error=error)
        index, name = self._homes[call.tool]
        return replace(self._sources[index][1].call(replace(call, tool=name)), call=call)

    def state(self) -> Json:
        """Return the state of each observable source by name; None if no source is observable."""
        states = {label: source.state() for label, source in self._sources}
        return {label: state for label, state in states.items() if state is not None} or None

    def close(self) -> None:
        """Close all sources, even if closing one of them fails."""
        with ExitStack() as stack:
            for _, source in self._sources:
                stack.callback(source.close)
