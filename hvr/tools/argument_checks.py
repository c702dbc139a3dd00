"""Arguments of calls, compared with what the tool's schema says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hvr.tools.catalogue.schema import ToolParameter, ToolSchema, quoted


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
