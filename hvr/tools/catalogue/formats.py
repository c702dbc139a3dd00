"""Tools from lists of function schemas: OpenAI's, Anthropic's, MCP's `tools/list`, plain ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvr.errors import DataFileError
from hvr.tools.catalogue.effects import effect_of_hints, worsened
from hvr.tools.catalogue.json_schema import leaves, parameters
from hvr.tools.catalogue.schema import Effect, ToolParameter, ToolSchema, quoted

Record = Mapping[str, Any]

_SCHEMAS = ("parameters", "inputSchema", "input_schema")
"""What OpenAI, MCP and Anthropic call the schema of a tool's arguments."""


def listed(value: Any) -> list[Any] | None:
    """Return the list of tools in a document; None if it has none.

    It is the document itself, or what it calls `tools`, `functions` or `nodes`, or what the
    `result` of a JSON-RPC answer calls so.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    for holder in (value, value.get("result")):
        for name in ("tools", "functions", "nodes"):
            if isinstance(holder, dict) and isinstance(holder.get(name), list):
                return list(holder[name])
    return None


def is_schema(record: Any) -> bool:
    """Say whether an entry has a schema of its arguments, rather than names of types."""
    body = record.get("function", record) if isinstance(record, dict) else None
    return isinstance(body, dict) and any(isinstance(body.get(n), dict) for n in _SCHEMAS)


def read_tool(record: Any, place: str, *, trusted: bool = True) -> ToolSchema:
    """Return the tool that an entry of a list describes.

    Args:
        record: the entry.
        place: where it is, for messages.
        trusted: Whether what it says of its effect counts; else it can only warn.

    Raises:
        DataFileError: it is no object, or has no name.
    """
    if not isinstance(record, dict):
        raise DataFileError(f"{place}: a tool is an object with a name, not {quoted(record)}")
    inner = record.get("function")
    body: Record = inner if isinstance(inner, dict) else record
    name = body.get("name", body.get("id"))
    if not isinstance(name, str) or not name.strip():
        raise DataFileError(f"{place}: has no name and no id: {quoted(record)}")
    if fault := _schema_fault(body):
        raise DataFileError(f"{place}: {quoted(name)} {fault}")
    annotations = body.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    description = _text(body.get("description") or body.get("desc"))
    return ToolSchema(
        name=name,
        description=description,
        takes=_takes(body),
        gives=_gives(body),
        effect=worsened(_effect(body, hints, trusted), name, description),
        idempotent=_idempotent(hints, trusted),
    )


def _schema_fault(body: Record) -> str:
    """Return what is wrong with the schema of a tool's arguments; empty if nothing is."""
    for name in _SCHEMAS:
        schema = body.get(name)
        if schema is None:
            continue
        if not isinstance(schema, dict):
            return f"must have an object as {name}, found {quoted(schema)}"
        properties = schema.get("properties") or {}
        if not isinstance(properties, dict):
            return f"must have an object as {name}.properties, found {quoted(properties)}"
    return ""


def _takes(body: Record) -> tuple[ToolParameter, ...]:
    for name in _SCHEMAS:
        if isinstance(body.get(name), dict):
            return parameters(body[name], body[name])
    return tuple(ToolParameter(kind, required=True) for kind in _types(body, "input"))


def _gives(body: Record) -> tuple[ToolParameter, ...]:
    for name in ("outputSchema", "output_schema", "response", "returns"):
        if isinstance(body.get(name), dict):
            return leaves(body[name], body[name])
    return tuple(ToolParameter(kind, required=True) for kind in _types(body, "output"))


def _types(body: Record, which: str) -> list[str]:
    """Return the types of GNN4TaskPlan's files."""
    for name in (f"{which}-type", f"{which}_types"):
        value = body.get(name)
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return list(dict.fromkeys(str(kind) for kind in value))
    return []


def _effect(body: Record, hints: Record, trusted: bool) -> Effect:
    # As tau2-bench's lists say it.
    listed = {"read": Effect.READS, "write": Effect.WRITES}.get(str(body.get("type")))
    if trusted and listed is not None:
        return listed
    return effect_of_hints(hints, trusted=trusted)


def _idempotent(hints: Record, trusted: bool) -> bool | None:
    value = hints.get("idempotentHint")
    # What only an untrusted server says must not have a call made twice.
    return value if isinstance(value, bool) and (trusted or not value) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
