"""The parameters that a JSON Schema describes: references followed, alternatives joined.

Only what says what there is counts: `properties`, `required`, `type`, `enum`, `items`, `$ref`
within the document, and `allOf`, `anyOf`, `oneOf`. A schema that leads to itself is followed once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.catalogue.schema import ToolParameter

Schema = Mapping[str, Any]

DEEPEST = 6
"""Objects within objects beyond are one parameter of type object."""
MOST = 500
"""Parameters that one schema can have; more are left out."""


def parameters(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return the properties of an object's schema: what a call takes.

    Args:
        schema: of the object.
        root: the document, for references.
    """
    flat = _resolved(schema, root)
    return tuple(
        _parameter(name, value, root, name in flat["required"])
        for name, value in list(flat["properties"].items())[:MOST]
    )


def leaves(schema: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return what a value has in it, however deep: what a call gives.

    A value that is no object and no list of objects is one parameter named `result`.
    """
    found: list[ToolParameter] = []
    for leaf in _leaves(schema, root, "", True, ()):
        if len(found) == MOST:
            break
        found.append(leaf)
    return tuple(found)


def _leaves(
    schema: Any, root: Any, name: str, required: bool, above: tuple[int, ...]
) -> Iterator[ToolParameter]:
    flat = _resolved(schema, root)
    inner, marks, shown = flat, "", name
    while inner["items"] is not None and len(marks) < 2 * DEEPEST:
        inner, marks = _resolved(inner["items"], root), marks + "[]"
    properties = inner["properties"]
    looping = id(properties) in above or len(above) >= DEEPEST
    if properties and not looping:
        # Properties of one object in the document are one value, which says where a loop closes.
        for key, value in properties.items():
            path = f"{shown}{marks}.{key}" if shown or marks else str(key)
            yield from _leaves(
                value, root, path.removeprefix("."), required and key in inner["required"],
                (*above, id(properties)),
            )  # fmt: skip
    elif name or flat["type"]:
        # `[]` stands for what is in a list, so the type is that of its parts.
        inner["description"] = inner["description"] or flat["description"]
        yield _parameter((name or "result") + marks, inner, root, required)


def _parameter(name: str, schema: Any, root: Any, required: bool) -> ToolParameter:
    flat = schema if isinstance(schema, _Flat) else _resolved(schema, root)
    return ToolParameter(str(name), flat["type"], flat["description"], required, flat["choices"])


class _Flat(dict[str, Any]):
    """A schema with its references and alternatives taken in."""


def _resolved(schema: Any, root: Any) -> _Flat:
    flat = _Flat(properties={}, required=set(), type="", description="", choices=(), items=None)
    types: list[str] = []
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
            # The same object where it is the only one: that is how loops are recognised.
            flat["properties"] = own if not flat["properties"] else {**own, **flat["properties"]}
        needed = part.get("required")
        if isinstance(needed, list):
            flat["required"] |= {name for name in needed if isinstance(name, str)}
        kinds = part.get("type")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if isinstance(kind, str) and kind != "null":
                types.append(_TYPES.get(kind, kind))
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
    return flat


_TYPES = {"dict": "object", "float": "number", "tuple": "array", "int": "integer", "str": "string",
          "list": "array", "bool": "boolean", "any": ""}  # fmt: skip
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
