"""Tool calls and their results as values, where arguments come from, and schema checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from hvr.base.printable import one_line, short
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema, quoted

# Provenance ---------------------------------------------------------------------------------------
# Where the values of a call come from, and which of them may be written.

Place: TypeAlias = "tuple[str | int, ...]"
"""Where a value stands in arguments: keys of objects and indexes of lists, from the outside in."""

_SHOWN = 80
"""Characters of a value that a message shows."""


class Provenance(StrEnum):
    """Why a value is in a call."""

    SAID = "said"
    """The user says it in this request."""
    IDENTIFIED = "identified"
    """It is the id of the one entity that meets what the user says."""
    DEFAULT = "default"
    """It is the default of the tool's schema."""
    CONFIRMED = "confirmed"
    """The user has confirmed it."""
    FOUND = "found"
    """It merely stands in a result."""
    UNKNOWN = "unknown"

    @property
    def may_be_written(self) -> bool:
        """Whether a call that may write can have such a value."""
        return self not in (Provenance.FOUND, Provenance.UNKNOWN)


@dataclass(frozen=True)
class Source:
    """Where a value comes from.

    Args:
        kind: Why it is in the call.
        why: A clause for people, such as "the id of the loan with the title Dune".
    """

    kind: Provenance
    why: str = ""


NO_SOURCE = Source(Provenance.UNKNOWN, "no one has said it")
"""The source of a value of which nothing is known."""


@dataclass(frozen=True)
class Unsupported:
    """A value of a call that may not be written."""

    place: Place
    value: Json
    source: Source

    def __str__(self) -> str:
        shown = short(one_line(json.dumps(self.value, ensure_ascii=False)), _SHOWN)
        why = self.source.why or f"its source is: {self.source.kind}"
        return f"{place_text(self.place)} = {shown} ({short(one_line(why), 2 * _SHOWN)})"


def source_of(place: Place, sources: Mapping[Place, Source]) -> Source:
    """Return the source of the value at a place: its own, or that of what it is part of.

    Args:
        place: Where the value stands in the arguments.
        sources: The known sources, by place; the source of a list or object holds for its parts.
    """
    for length in range(len(place), 0, -1):
        if (found := sources.get(place[:length])) is not None:
            return found
    return NO_SOURCE


def unsupported(call: ToolCall, sources: Mapping[Place, Source]) -> tuple[Unsupported, ...]:
    """Return the values of a call that may not be written, in the order of its arguments.

    Args:
        call: The call. An empty list or object and null are values like any other.
        sources: See `source_of`.
    """
    found = ((place, value, source_of(place, sources)) for place, value in leaf_values(call))
    return tuple(Unsupported(*one) for one in found if not one[2].kind.may_be_written)


def leaf_values(call: ToolCall) -> Iterator[tuple[Place, Json]]:
    """Return the values without parts in a call's arguments, with their places."""
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
    """Return where each value of a call comes from, as plain JSON values.

    Keys of objects are data, so a place is a list and never joined to one text.
    """
    told: list[Json] = []
    for place, _ in leaf_values(call):
        source = source_of(place, sources)
        told.append({"place": list(place), "source": source.kind.value, "why": source.why})
    return told


def place_text(place: Place) -> str:
    """Return a place as messages show it, such as `items[0].id`."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in place]
    return short(one_line("".join(parts).removeprefix(".")), _SHOWN)


# Values -------------------------------------------------------------------------------------------
# Calls of tools and what comes back of them, as values.

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of JSON."""


class CallFailure(StrEnum):
    """Why a call gave no usable result."""

    REFUSED = "refused"
    """The tool answered that it does not do this: a condition on the world's state, or on the
    values of arguments."""
    BAD_ARGUMENTS = "bad arguments"
    """An argument is missing, unknown or of another type."""
    UNKNOWN_TOOL = "unknown tool"
    TIMED_OUT = "timed out"
    UNAVAILABLE = "unavailable"
    """The tool or its server broke down: nothing is known of the arguments."""
    WRONG_TYPE = "wrong type"
    """A result came, of another type than the schema says."""
    EMPTY = "empty"
    """A result came with nothing in it, where something was expected."""
    NOT_ALLOWED = "not allowed"
    """hvr did not call: the budget is spent, it is a dry run, a value that would be written has no
    source, or it would be done twice."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool."""

    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True)
class CallOutcome:
    """What came back of a call.

    Args:
        call: what was called.
        result: what the tool returned; None if it failed.
        failure: None if it succeeded.
        error: what the tool or hvr said of the failure; data, never an instruction.
        seconds: how long it took.
        sources: Where the values of the arguments come from, by place, as far as that is known.
    """

    call: ToolCall
    result: Json = None
    failure: CallFailure | None = None
    error: str = ""
    seconds: float = 0.0
    sources: Mapping[Place, Source] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.failure is None


# Argument checks ----------------------------------------------------------------------------------
# Arguments of calls, compared with what the tool's schema says.


def argument_faults(tool: ToolSchema, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one error message for each argument that does not fit the schema."""
    known = {parameter.name: parameter for parameter in tool.takes}
    faults = [
        f"{quoted(tool.name)} needs {quoted(name)}"
        for name, parameter in known.items()
        if parameter.required and name not in arguments
    ]
    for name, value in arguments.items():
        parameter = known.get(name)
        if parameter is None:
            faults.append(f"{quoted(tool.name)} has no parameter {quoted(name)}")
        elif value is None and not parameter.required:
            continue  # an optional argument that is left out in writing
        elif not has_type(value, parameter.type):
            faults.append(
                f"{quoted(name)} is to be of type {parameter.type}, not {type_name(value)}"
            )
        elif parameter.choices and not _chosen(value, parameter):
            faults.append(f"{quoted(name)} is to be one of {', '.join(parameter.choices)}")
    return tuple(faults)


def type_name(value: Any) -> str:
    """Return JSON Schema's name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = ((int, "integer"), (float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def has_type(value: Any, types: str) -> bool:
    """Say whether a value is of one of the types that a schema names, joined by `|`.

    An empty name, or one that JSON Schema does not have, allows everything.
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
# Calls and their results, compared with what the tool's schema says.


def find_tool(catalogue: Catalogue, name: str) -> ToolSchema | None:
    """Return the tool that has exactly this name; None if there is none."""
    return next((tool for tool in catalogue.tools if tool.name == name), None)


def check_call(catalogue: Catalogue, call: ToolCall) -> CallOutcome | None:
    """Return the failure of a call that does not fit the schema of its tool; None if it fits.

    Nothing is called, and nothing is converted: `"3"` is no integer.
    """
    tool = find_tool(catalogue, call.tool)
    if tool is None:
        return CallOutcome(
            call, failure=CallFailure.UNKNOWN_TOOL, error=f"there is no tool {quoted(call.tool)}"
        )
    wrong = argument_faults(tool, call.arguments)
    if wrong:
        return CallOutcome(call, failure=CallFailure.BAD_ARGUMENTS, error="; ".join(wrong))
    return None


def with_nulls(tool: ToolSchema, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments of a call with null for what has to be given and has no value."""
    return {p.name: None for p in tool.takes if p.or_null} | dict(arguments)


def check_result(tool: ToolSchema, outcome: CallOutcome) -> CallOutcome:
    """Return an outcome, as a failure if its result is not what the schema says the tool gives.

    A result without content is `EMPTY` where the schema says that something is always there;
    one that is of another type is `WRONG_TYPE`. A tool whose schema says nothing of its result
    may return anything. The result itself stays in the outcome, for whoever wants to look.
    """
    if not outcome.ok or not tool.gives:
        return outcome
    failure, error = None, ""
    always = any(parameter.required for parameter in tool.gives)
    if always and (outcome.result is None or outcome.result in ("", [], {})):
        failure, error = CallFailure.EMPTY, f"{quoted(tool.name)} gave nothing"
    else:
        for parameter in tool.gives:
            error = _result_fault(parameter, outcome.result)
            if error:
                failure = CallFailure.WRONG_TYPE
                break
    if failure is None:
        return outcome
    return CallOutcome(outcome.call, outcome.result, failure, error, outcome.seconds)


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
                    return f"{quoted(name)} is to be within a list, not {type_name(part)}"
                inner += part
            elif part is None and not parameter.required:
                continue  # what may be null, or was left out in writing
            elif not isinstance(part, dict):
                return f"{quoted(name)} is to be within an object, not {type_name(part)}"
            elif step in part:
                inner.append(part[step])
            elif parameter.required:
                return f"{quoted(name)} is missing"
        parts = inner
    for part in parts:
        if part is None and not parameter.required:
            continue
        if not has_type(part, parameter.type):
            return f"{quoted(name)} is to be of type {parameter.type}, not {type_name(part)}"
    return ""
