"""Tools from an OpenAPI 3 document: one for each operation.

https://spec.openapis.org/oas/v3.1.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

from hvr.errors import DataFileError
from hvr.tools.catalogue.effects import effect_of_method, worsened
from hvr.tools.catalogue.json_schema import leaves, parameters, referred
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema

_METHODS = ("get", "head", "options", "trace", "put", "post", "delete", "patch")
_IDEMPOTENT = ("get", "head", "options", "trace", "put", "delete")
"""RFC 9110, 9.2.2."""


def is_openapi(document: Any) -> bool:
    """Say whether a document is OpenAPI's, of whatever version."""
    return isinstance(document, dict) and ("openapi" in document or "swagger" in document)


def read_openapi(document: Mapping[str, Any], place: str) -> tuple[ToolSchema, ...]:
    """Return the operations of a document as tools, named by `operationId` or by method and path.

    A tool takes the parameters of path, query, headers and cookies and the properties of the body,
    and gives what the first successful answer has.

    Args:
        document: the document.
        place: where it is, for messages.

    Raises:
        DataFileError: it is of another version, or has no operation.
    """
    version = str(document.get("openapi", document.get("swagger")))
    if not version.startswith("3."):
        raise DataFileError(f"{place}: this is version {version[:20]}; OpenAPI 3 is read")
    paths = document.get("paths")
    tools = _named_apart(_operations(paths, document)) if isinstance(paths, dict) else ()
    if not tools:
        raise DataFileError(f"{place}: this OpenAPI document has no operation below 'paths'")
    return tools


def _operations(paths: Mapping[str, Any], root: Any) -> Iterator[tuple[ToolSchema, bool]]:
    """Give the operations, and whether each has a name of its own."""
    for path, value in paths.items():
        item = _followed(value, root)
        if not isinstance(item, dict):
            continue
        for method in _METHODS:
            operation = item.get(method)
            if isinstance(operation, dict):
                named = operation.get("operationId")
                said = isinstance(named, str) and bool(named.strip())
                words = re.sub(r"\W+", "_", path).strip("_")
                name = str(named) if said else f"{method}_{words}"
                yield _tool(name, method, item, operation, root), said


def _named_apart(tools: Iterator[tuple[ToolSchema, bool]]) -> tuple[ToolSchema, ...]:
    """Return tools; those that were named by method and path, with a number where others are."""
    found = list(tools)
    used = {tool.name for tool, said in found if said}
    named = []
    for tool, said in found:
        numbered = (f"{tool.name}_{number}" for number in count(2))
        free = (name for name in chain([tool.name], numbered) if name not in used)
        name = tool.name if said else next(free)
        used.add(name)
        named.append(replace(tool, name=name))
    return tuple(named)


def _tool(name: str, method: str, item: Any, operation: Any, root: Any) -> ToolSchema:
    told = [operation.get("summary"), operation.get("description")]
    takes = {p.name: p for p in _fields(item, root)}
    takes |= {p.name: p for p in _fields(operation, root)}
    for parameter in _body(operation.get("requestBody"), root):
        takes.setdefault(parameter.name, parameter)
    description = ". ".join(text.strip(" .") for text in told if isinstance(text, str))
    return ToolSchema(
        name=name,
        description=description,
        takes=tuple(takes.values()),
        gives=leaves(*_content(_success(operation.get("responses")), root)),
        effect=worsened(effect_of_method(method), name, description),
        idempotent=method in _IDEMPOTENT,
    )


def _fields(holder: Mapping[str, Any], root: Any) -> Iterator[ToolParameter]:
    """Return the parameters outside the body."""
    some = holder.get("parameters")
    for entry in some if isinstance(some, list) else []:
        value = _followed(entry, root)
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            continue
        (read,) = parameters({"properties": {value["name"]: value.get("schema") or {}}}, root)
        told = value.get("description")
        yield replace(
            read,
            description=" ".join(told.split()) if isinstance(told, str) else read.description,
            required=value.get("required") is True,
        )


def _body(holder: Any, root: Any) -> tuple[ToolParameter, ...]:
    """Return the properties of a body; one that is no object is the parameter `body`."""
    schema, _ = _content(holder, root)
    found = parameters(schema, root)
    if found or not isinstance(schema, dict):
        return found
    wrapped = {"properties": {"body": schema}, "required": ["body"]}
    whole = parameters(wrapped, root)
    return tuple(one for one in whole if one.type not in ("", "object"))


def _success(responses: Any) -> Any:
    """Return the first successful answer; the default one where there is none."""
    if not isinstance(responses, dict):
        return None
    for code in sorted(str(code) for code in responses):
        if code.startswith("2"):
            return responses.get(code, responses.get(int(code) if code.isdigit() else code))
    return responses.get("default")


def _content(holder: Any, root: Any) -> tuple[Any, Any]:
    """Return the schema of a body, JSON's before others, and the document."""
    holder = _followed(holder, root)
    content = holder.get("content") if isinstance(holder, dict) else None
    if not isinstance(content, dict):
        return None, root
    kinds = sorted(content, key=lambda kind: "json" not in str(kind))
    media = content[kinds[0]] if kinds else None
    return (media.get("schema") if isinstance(media, dict) else None), root


def _followed(value: Any, root: Any) -> Any:
    """Return what a value refers to, through at most a few references."""
    for _ in range(8):
        if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
            break
        value = referred(value["$ref"], root)
    return value
