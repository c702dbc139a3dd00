"""Tools from lists of function schemas (OpenAI, Anthropic, MCP, plain), and their JSON Schemas."""

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

# JSON Schema --------------------------------------------------------------------------------------
# Only the structure matters: `properties`, `required`, `type`, `enum`, `items`, local `$ref`, and
# `allOf`, `anyOf`, `oneOf`. References are followed, alternatives merged, and a recursive schema
# is expanded once.

Schema = Mapping[str, Any]

MAX_OBJECT_DEPTH = 6
"""Maximum nesting depth; deeper objects are one parameter of type object."""
MAX_PARAMETERS = 500
"""Maximum number of parameters per schema; optional ones are dropped first."""
MAX_SCHEMA_VALUES = 200
"""Maximum number of values in a result; the most deeply nested ones are dropped first."""


def parameters(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return the properties of an object schema as the parameters of a call.

    `readOnly` properties are left out. A required property that is nullable becomes optional. If
    there are more than `MAX_PARAMETERS`, optional ones are dropped first.

    Args:
        root: Document in which local references are resolved.
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
    return _parameter(name, _resolved(schema, root), required=False)


def schema_name(schema: Any) -> str:
    """Return the name of the entity that a schema describes, from its `$ref` or title.

    The names of alternatives are joined by `|`. The result is empty if there is no name.
    """
    return "|".join(dict.fromkeys(_names(schema, 0)))


def listed_name(schema: Any, root: Any) -> str:
    """Return the kind of entity in a list, or in a wrapper's only list; empty if it is unknown."""
    flat, marks = _parts(_resolved(schema, root), root)
    if marks:
        return str(flat["named"])
    lists = [_parts(_resolved(value, root), root) for value in flat["properties"].values()]
    found = [str(inner["named"]) for inner, mark in lists if mark and inner["properties"]]
    return found[0] if len(found) == 1 else ""


def result_parameters(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return the values nested in a result schema as outputs of a call.

    A result that is neither an object nor a list of objects becomes one parameter named `result`.
    Nullable values are optional; `writeOnly` values are left out. At most `MAX_SCHEMA_VALUES` are
    returned; the most deeply nested ones are dropped first.
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
            entity = inner["named"] or place.name.rpartition(".")[2].replace("[]", "")
            for number, (key, value) in enumerate(properties.items()):
                flat = _resolved(value, root)
                if not flat["writeOnly"]:
                    path = f"{place.name}{marks}.{key}".removeprefix(".")
                    required = always and key in inner["required"]
                    order = (*place.order, number)
                    todo.append(_Place(flat, path, required, above, order, entity))
        elif place.name or place.flat["type"]:
            # The name `[]` stands for the items of a list, so use their type and description.
            inner["description"] = inner["description"] or place.flat["description"]
            always = place.required and not place.flat["nullable"] and not inner["nullable"]
            name = (place.name or "result") + marks
            found.append((place.order, _parameter(name, inner, always, place.resource)))
    return tuple(parameter for _, parameter in sorted(found, key=lambda one: one[0]))


class _Place(NamedTuple):
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
    """A schema with references and alternatives merged; `objects` guards against recursion."""


def _resolved(schema: Any, root: Any) -> _Flat:
    flat = _Flat(properties={}, type="", description="", choices=(), items=None)
    flat.update(nullable=False, readOnly=False, writeOnly=False)
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
    if not isinstance(schema, dict) or depth > _DEEP:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield reference.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        return
    for part in _listed(schema, "allOf"):
        found = list(_names(part, depth + 1))
        if found:  # the base type of an extended object takes precedence
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
    # Alternatives require only the properties that all of them require.
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
        # An alternative of type null does not make the properties optional.
        some = [s for s in some if s != {"type": "null"}] if isinstance(some, list) else []
        if some:
            found |= frozenset.intersection(*(_required(s, root, above) for s in some))
    return frozenset(found)


_DEEP = 20
"""Maximum nesting of references and alternatives searched for required properties."""

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
"""JSON Schema types by their Python names, which some schemas use."""


def referred(reference: str, root: Any) -> Any:
    """Return the schema in `root` to which a local `$ref` points; None if there is none."""
    if not reference.startswith("#"):
        return None
    value = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, dict) else None
    return value


# Formats ------------------------------------------------------------------------------------------

Record = Mapping[str, Any]

_SCHEMAS = ("parameters", "inputSchema", "input_schema")
"""Keys of the argument schema in OpenAI's, MCP's and Anthropic's formats."""


def tool_list(value: Any) -> list[Any] | None:
    """Return the list of tools in a document; None if it has none.

    The list is the document itself, or the value of `tools`, `functions` or `nodes` in it or in the
    `result` of a JSON-RPC response.
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
    body = record.get("function", record) if isinstance(record, dict) else None
    return isinstance(body, dict) and any(isinstance(body.get(n), dict) for n in _SCHEMAS)


def read_tool(record: Any, place: str, *, trusted: bool = True) -> ToolSchema:
    """Decode an entry of a tool list.

    Unless `trusted`, the entry's annotations about effects can only make the tool count as more
    dangerous. `place` is the place of the entry, for error messages.

    Raises:
        DataFileError: The entry has no name, or its schema is invalid.
    """
    if not isinstance(record, dict):
        raise DataFileError(
            f"{place}: a tool must be an object with a name, found {quoted(record)}"
        )
    inner = record.get("function")
    body: Record = inner if isinstance(inner, dict) else record
    name = body.get("name", body.get("id"))
    if not isinstance(name, str) or not name.strip():
        raise DataFileError(f"{place}: a tool must have a name or id, found {quoted(record)}")
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
    for name in (f"{which}-type", f"{which}_types"):
        value = body.get(name)
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return list(dict.fromkeys(str(kind) for kind in value))
    return []


def _effect(body: Record, hints: Record, trusted: bool) -> Effect:
    # tau2-bench states effects in this field.
    listed = {"read": Effect.READS, "write": Effect.WRITES}.get(str(body.get("type")))
    if trusted and listed is not None:
        return listed
    return effect_of_hints(hints, trusted=trusted)


def _idempotent(hints: Record, trusted: bool) -> bool | None:
    value = hints.get("idempotentHint")
    # A claim by an untrusted server must never cause a repeated call.
    return value if isinstance(value, bool) and (trusted or not value) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
