"""Tools from lists of function schemas (OpenAI, Anthropic, MCP, plain) and their JSON Schemas."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hvr.errors import DataFileError
from hvr.tools.catalogue.schema import (
    Effect,
    ToolParameter,
    ToolSchema,
    effect_of_hints,
    escalated_effect,
    quoted,
)

# Json schema --------------------------------------------------------------------------------------
# The parameters that a JSON Schema describes: references followed, alternatives joined.
#
# Only what says what there is counts: `properties`, `required`, `type`, `enum`, `items`, `$ref`
# within the document, and `allOf`, `anyOf`, `oneOf`. A schema that leads to itself is followed
# once.

Schema = Mapping[str, Any]

MAX_OBJECT_DEPTH = 6
"""Objects within objects beyond are one parameter of type object."""
MAX_PARAMETERS = 500
"""Parameters that one schema can have; more are left out, the optional ones first."""
MAX_SCHEMA_VALUES = 200
"""Values within a result that are named; of more those that lie deepest are left out."""


def parameters(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return the properties of an object's schema: what a call takes.

    What is `readOnly` is not sent. What has to be sent and may be null needs no value.
    """
    flat = _resolved(schema, root)
    found = []
    for name, value in flat["properties"].items():
        inner = _resolved(value, root)
        needed = name in flat["required"]
        if not inner["readOnly"]:
            one = _parameter(name, inner, needed and not inner["nullable"], flat["named"])
            items = "" if inner["items"] is None else _resolved(inner["items"], root)["type"]
            found.append(replace(one, or_null=needed and inner["nullable"], items=items))
    if len(found) > MAX_PARAMETERS:
        kept = sorted(range(len(found)), key=lambda n: (not found[n].required, n))[:MAX_PARAMETERS]
        found = [found[n] for n in sorted(kept)]
    return tuple(found)


def parameter(name: str, schema: Any, root: Any) -> ToolParameter:
    """Return the one value that a schema describes, as an optional parameter of this name."""
    return _parameter(name, _resolved(schema, root), required=False)


def schema_name(schema: Any) -> str:
    """Return the name of the things in a schema, from a reference or a title.

    Names of alternatives are joined by `|`.
    """
    return "|".join(dict.fromkeys(_names(schema, 0)))


def listed_name(schema: Any, root: Any) -> str:
    """Return the name of the objects in a list, or in the only list of an envelope."""
    flat, marks = _parts(_resolved(schema, root), root)
    if marks:
        return str(flat["named"])
    lists = [_parts(_resolved(value, root), root) for value in flat["properties"].values()]
    found = [str(inner["named"]) for inner, mark in lists if mark and inner["properties"]]
    return found[0] if len(found) == 1 else ""


def result_parameters(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return what a value has in it, however deep: what a call gives.

    A value that is no object and no list of objects is one parameter named `result`. What may be
    null is not always there. What is `writeOnly` is not given.
    """
    found: list[tuple[tuple[int, ...], ToolParameter]] = []
    todo = deque([_Place(_resolved(schema, root), "", True, (), (), "")])
    while todo and len(found) < MAX_SCHEMA_VALUES:
        place = todo.popleft()
        inner, marks = _parts(place.flat, root)
        properties = inner["properties"]
        if properties and not (
            inner["objects"] in place.above or len(place.above) >= MAX_OBJECT_DEPTH
        ):
            above = (*place.above, inner["objects"])
            always = place.required and not place.flat["nullable"] and not inner["nullable"]
            thing = inner["named"] or place.name.rpartition(".")[2].replace("[]", "")
            for number, (key, value) in enumerate(properties.items()):
                flat = _resolved(value, root)
                if not flat["writeOnly"]:
                    path = f"{place.name}{marks}.{key}".removeprefix(".")
                    todo.append(
                        _Place(
                            flat,
                            path,
                            always and key in inner["required"],
                            above,
                            (*place.order, number),
                            thing,
                        )
                    )
        elif place.name or place.flat["type"]:
            # `[]` stands for what is in a list, so the type is that of its parts.
            inner["description"] = inner["description"] or place.flat["description"]
            always = place.required and not place.flat["nullable"] and not inner["nullable"]
            name = (place.name or "result") + marks
            found.append((place.order, _parameter(name, inner, always, place.resource)))
    return tuple(parameter for _, parameter in sorted(found, key=lambda one: one[0]))


class _Place(NamedTuple):
    """A value within a result."""

    flat: _Flat
    name: str
    required: bool
    above: tuple[frozenset[int], ...]
    order: tuple[int, ...]
    resource: str


def _parts(flat: _Flat, root: Any) -> tuple[_Flat, str]:
    marks = ""
    while flat["items"] is not None and len(marks) < 2 * MAX_OBJECT_DEPTH:
        flat, marks = _resolved(flat["items"], root), marks + "[]"
    return flat, marks


def _parameter(name: str, flat: _Flat, required: bool, resource: str = "") -> ToolParameter:
    return ToolParameter(
        str(name), flat["type"], flat["description"], required, flat["choices"], resource=resource
    )


class _Flat(dict[str, Any]):
    """A schema with its references and alternatives taken in.

    `objects` says which objects of the document its properties come from, so that a schema that
    leads to itself is recognised, also where several are joined.
    """


def _resolved(schema: Any, root: Any) -> _Flat:
    flat = _Flat(
        properties={},
        required=frozenset(),
        type="",
        description="",
        choices=(),
        items=None,
        nullable=False,
        readOnly=False,
        writeOnly=False,
    )
    types: list[str] = []
    objects: set[int] = set()
    todo, seen = [schema], set[int]()
    while todo:
        part = todo.pop(0)
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        reference = part.get("$ref")
        if isinstance(reference, str):
            todo.insert(0, referred(reference, root))
        for key in ("allOf", "anyOf", "oneOf"):
            some = part.get(key)
            if isinstance(some, list):
                todo += some
        own = part.get("properties")
        if isinstance(own, dict):
            flat["properties"] = {**flat["properties"], **own, **flat["properties"]}
            objects |= {id(own)} if own else set()
        kinds = part.get("type")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            flat["nullable"] |= kind == "null" or part.get("nullable") is True
            if isinstance(kind, str) and kind != "null":
                types.append(_TYPES.get(kind, kind))
        flat["readOnly"] |= part.get("readOnly") is True
        flat["writeOnly"] |= part.get("writeOnly") is True
        if not flat["description"] and isinstance(part.get("description"), str):
            flat["description"] = " ".join(part["description"].split())
        choices = part.get("enum", [part["const"]] if "const" in part else None)
        if isinstance(choices, list):
            flat["choices"] += tuple(json.dumps(choice) for choice in choices if choice is not None)
        if flat["items"] is None and isinstance(part.get("items"), dict):
            flat["items"] = part["items"]
    if not types and flat["properties"]:
        types = ["object"]
    flat["type"] = "|".join(dict.fromkeys(types))
    flat["objects"] = frozenset(objects)
    flat["required"] = _required(schema, root, frozenset())
    flat["named"] = schema_name(schema)
    return flat


def _names(schema: Any, depth: int) -> Iterator[str]:
    """Give the names of a schema: each reference, or else the title."""
    if not isinstance(schema, dict) or depth > _DEEP:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield reference.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        return
    for part in _listed(schema, "allOf"):
        found = list(_names(part, depth + 1))
        if found:  # what an object extends comes first
            yield from found
            return
    found = [
        n
        for key in ("anyOf", "oneOf")
        for part in _listed(schema, key)
        for n in _names(part, depth + 1)
    ]
    title = schema.get("title")
    if not found and isinstance(title, str) and isinstance(schema.get("properties"), dict):
        found = [title]
    yield from found


def _listed(schema: Schema, key: str) -> list[Any]:
    some = schema.get(key)
    return some if isinstance(some, list) else []


def _required(schema: Any, root: Any, above: frozenset[int]) -> frozenset[str]:
    """Return the properties that an object needs: of alternatives those that all of them need."""
    if not isinstance(schema, dict) or id(schema) in above or len(above) > _DEEP:
        return frozenset()
    above |= {id(schema)}
    needed = schema.get("required")
    found = (
        {name for name in needed if isinstance(name, str)} if isinstance(needed, list) else set()
    )
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found |= _required(referred(reference, root), root, above)
    joined = schema.get("allOf")
    for part in joined if isinstance(joined, list) else ():
        found |= _required(part, root, above)
    for key in ("anyOf", "oneOf"):
        some = schema.get(key)
        # That there may be null instead says nothing of what an object needs.
        some = [s for s in some if s != {"type": "null"}] if isinstance(some, list) else []
        if some:
            found |= frozenset.intersection(*(_required(s, root, above) for s in some))
    return frozenset(found)


_DEEP = 20
"""References and alternatives within each other that are followed for what is required."""

_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "int": "integer",
    "str": "string",
    "list": "array",
    "bool": "boolean",
    "any": "",
}
"""Names that schemas of Python functions give JSON Schema's types."""


def referred(reference: str, root: Any) -> Any:
    """Return what a reference within the document names; None for any other."""
    if not reference.startswith("#"):
        return None
    value = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, dict) else None
    return value


# Formats ------------------------------------------------------------------------------------------
# Tools from lists of function schemas: OpenAI's, Anthropic's, MCP's `tools/list`, plain ones.

Record = Mapping[str, Any]

_SCHEMAS = ("parameters", "inputSchema", "input_schema")
"""What OpenAI, MCP and Anthropic call the schema of a tool's arguments."""


def tool_list(value: Any) -> list[Any] | None:
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
        effect=escalated_effect(_effect(body, hints, trusted), name, description),
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
            return result_parameters(body[name], body[name])
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
