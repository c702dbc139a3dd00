"""Tools from an OpenAPI 3 document: one per operation, with the encoding of its request.

https://spec.openapis.org/oas/v3.1.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, count
from typing import Any

from hvr.errors import DataFileError
from hvr.tools.catalogue.formats import (
    listed_name,
    parameter,
    parameters,
    referred,
    result_parameters,
    schema_name,
)
from hvr.tools.catalogue.schema import (
    BARE_NAMES,
    ToolParameter,
    ToolSchema,
    effect_of_method,
    entity_words,
    escalated_effect,
    name_words,
    quoted,
)

# Path resources -----------------------------------------------------------------------------------

_SLOT = re.compile(r"\{[^{}]*\}")


class PathResources:
    """The kinds of entities that path parameters identify, such as an issue in `/issues/{number}`.

    A path parameter identifies an item of the collection before it in the path. Its kind is the
    name of the schema that the path returns, or else of the items that the collection lists.
    Failing both, the kind is the collection's name if the parameter's name fits, as `id` or `petId`
    does in `pets`.

    Args:
        returned: Schema name of the object that each path template returns.
        listed: Schema name of the objects that each path template lists.
    """

    def __init__(self, returned: Mapping[str, str], listed: Mapping[str, str]) -> None:
        self._returned = {_template(path): name for path, name in returned.items() if name}
        self._listed = {_template(path): name for path, name in listed.items() if name}

    def of(self, path: str, parameter: str) -> str:
        before, mark, _ = path.partition("{" + parameter + "}")
        if not mark:
            return ""
        here, above = _template(f"{before}{mark}"), _template(before)
        if here in self._returned:
            return self._returned[here]
        if above in self._listed:
            return self._listed[above]
        segment = above.rpartition("/")[2]
        entity, said = entity_words(segment), name_words(parameter)
        named = set(said) <= BARE_NAMES or entity[-1:] == said[: len(said) - 1][-1:]
        return segment if named and "{" not in segment else ""


def _template(path: str) -> str:
    return re.sub(r"\.(json|xml)$", "", _SLOT.sub("{}", path).rstrip("/"))


# Operations ---------------------------------------------------------------------------------------

_METHODS = ("get", "head", "options", "trace", "put", "post", "delete", "patch")
_IDEMPOTENT = ("get", "head", "options", "trace", "put", "delete")
"""Idempotent methods of RFC 9110, 9.2.2."""


class RequestPart(StrEnum):
    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"
    """A single property of the body."""
    WHOLE = "whole body"


@dataclass(frozen=True)
class RequestField:
    """How a parameter is encoded in a request.

    Args:
        style: OpenAPI's serialisation style; empty for the default of `place`.
        explode: Whether to write each item of a list or object separately; None for the default.
        as_json: Whether to write the value as JSON, as for parameters described by `content`.
    """

    name: str
    place: RequestPart
    style: str = ""
    explode: bool | None = None
    as_json: bool = False


@dataclass(frozen=True)
class ApiOperation:
    """An operation of an OpenAPI document.

    Args:
        path: Path template, relative to the server's URL.
        fields: Encoding of each parameter, by its name in the tool.
        media: Media type of the body; empty if there is no body.
        servers: Server URLs of the operation or its path, with variables replaced by their
            defaults; empty if the document's servers apply.
        security: Alternative sets of security schemes; None if the document's apply.
    """

    tool: ToolSchema
    method: str
    path: str
    fields: Mapping[str, RequestField]
    media: str = ""
    servers: tuple[str, ...] = ()
    security: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class ApiDescription:
    """The operations of an OpenAPI document; `left_out` has a message for each unreadable one."""

    operations: tuple[ApiOperation, ...]
    left_out: tuple[str, ...] = ()


def is_openapi(document: Any) -> bool:
    return isinstance(document, dict) and ("openapi" in document or "swagger" in document)


def read_openapi(document: Mapping[str, Any], place: str) -> ApiDescription:
    """Return the operations of a document, named by `operationId` or by method and path.

    The tool of an operation takes its path, query, header, cookie and body parameters, and gives
    the values in its first successful response.

    Raises:
        DataFileError: The document is not OpenAPI 3, or has no readable operation.
    """
    version = str(document.get("openapi", document.get("swagger")))
    if not version.startswith("3."):
        raise DataFileError(f"{place}: expected OpenAPI 3, found version {version[:20]}")
    paths = document.get("paths")
    reader = _Reader(document, paths if isinstance(paths, dict) else {}, place)
    found = list(reader.operations())
    if not found:
        more = f"; {reader.left_out[0]}" if reader.left_out else ""
        raise DataFileError(f"{place}: this OpenAPI document has no operation below 'paths'{more}")
    return ApiDescription(_named_apart(found), tuple(reader.left_out))


class _Reader:
    def __init__(self, root: Mapping[str, Any], paths: Mapping[Any, Any], place: str) -> None:
        self._root = root
        self._place = place
        self.left_out: list[str] = []
        self._paths: dict[str, dict[str, Any]] = {}
        for path, value in paths.items():
            item = _followed(value, root)
            if str(path).startswith("x-"):
                continue
            if isinstance(item, dict):
                self._paths[str(path)] = item
            else:
                self._leave_out(f"path {quoted(path)} must be an object, found {quoted(item)}")
        self._resources = PathResources(*self._schema_names())

    def operations(self) -> Iterator[tuple[ApiOperation, bool]]:
        """Yield each readable operation, and whether the document itself gives its name."""
        for path, item in self._paths.items():
            for method in _METHODS:
                operation = item.get(method)
                if operation is None:
                    continue
                where = f"{method.upper()} {quoted(path)}"
                try:
                    if not isinstance(operation, dict):
                        raise ValueError(f"must be an object, found {quoted(operation)}")
                    named = operation.get("operationId")
                    said = isinstance(named, str) and bool(named.strip())
                    words = re.sub(r"\W+", "_", path).strip("_")
                    name = str(named) if said else f"{method}_{words}"
                    yield self._operation(name, method, path, item, operation), said
                except ValueError as wrong:
                    self._leave_out(f"{where} {wrong}")

    def _leave_out(self, text: str) -> None:
        self.left_out.append(f"{self._place}: {text}")

    def _operation(
        self, name: str, method: str, path: str, item: Mapping[str, Any], operation: Any
    ) -> ApiOperation:
        takes: dict[str, ToolParameter] = {}
        fields: dict[str, RequestField] = {}
        outside = {
            (field.place, field.name): (one, field)
            for holder in (item, operation)
            for one, field in self._outside(holder, path)
        }
        media, inside = self._body(operation.get("requestBody"))
        for one, field in (*outside.values(), *inside):
            key = one.name if one.name not in takes else f"{field.place.name.lower()}_{one.name}"
            takes[key], fields[key] = replace(one, name=key), field
        undescribed = set(re.findall(r"\{([^{}]*)\}", path)) - {
            field.name for field in fields.values() if field.place is RequestPart.PATH
        }
        if undescribed:
            raise ValueError(
                f"does not describe its path parameter {quoted(sorted(undescribed)[0])}"
            )
        tool = _tool(name, method, operation, tuple(takes.values()), self._gives(operation))
        return ApiOperation(
            _with_resources(tool),
            method.upper(),
            path,
            fields,
            media,
            read_servers(operation.get("servers")) or read_servers(item.get("servers")),
            read_security(operation.get("security")),
        )

    def _outside(
        self, holder: Mapping[str, Any], path: str
    ) -> Iterator[tuple[ToolParameter, RequestField]]:
        some = holder.get("parameters")
        if some is not None and not isinstance(some, list):
            raise ValueError(f"must have a list of parameters, found {quoted(some)}")
        for entry in some or ():
            value = _followed(entry, self._root)
            if not isinstance(value, dict) or not isinstance(value.get("name"), str):
                raise ValueError(f"has a parameter without a name: {quoted(entry)}")
            name, where = value["name"], value.get("in")
            if where not in ("path", "query", "header", "cookie"):
                raise ValueError(
                    f"does not give the location ('in') of its parameter {quoted(name)}"
                )
            if where == "header" and name.lower() in ("accept", "content-type", "authorization"):
                continue  # according to the specification, clients set these headers themselves
            # Parameters are always sent; `readOnly` in their schema applies only to results.
            schema, as_json = _schema_of(value)
            read = parameter(name, schema, self._root)
            told = value.get("description")
            explode = value.get("explode")
            yield (
                replace(
                    read,
                    description=" ".join(told.split())
                    if isinstance(told, str)
                    else read.description,
                    required=value.get("required") is True or where == "path",
                    resource=self._resources.of(path, name) if where == "path" else "",
                ),
                RequestField(
                    name,
                    RequestPart(where),
                    str(value.get("style", "")),
                    explode if isinstance(explode, bool) else None,
                    as_json,
                ),
            )

    def _body(self, holder: Any) -> tuple[str, list[tuple[ToolParameter, RequestField]]]:
        # A body without properties is one parameter.
        holder = _followed(holder, self._root)
        media, schema = _content(holder)
        found = parameters(schema, self._root)
        if found:
            return media, [(one, RequestField(one.name, RequestPart.BODY)) for one in found]
        if not media or not isinstance(schema, dict):
            return media, []
        read = parameter("body", schema, self._root)
        whole = read.type not in ("", "object") or holder.get("required") is True
        needed = replace(read, required=True)
        return media, [(needed, RequestField("body", RequestPart.WHOLE))] if whole else []

    def _gives(self, operation: Mapping[str, Any]) -> tuple[ToolParameter, ...]:
        _, schema = _content(_followed(_success(operation.get("responses")), self._root))
        return result_parameters(schema, self._root)

    def _schema_names(self) -> tuple[dict[str, str], dict[str, str]]:
        returned, lists = {}, {}
        for path, item in self._paths.items():
            operation = item.get("get")
            if isinstance(operation, dict):
                answer = _followed(_success(operation.get("responses")), self._root)
                _, schema = _content(answer)
                returned[path] = schema_name(schema)
                lists[path] = listed_name(schema, self._root)
        return returned, lists


def _tool(
    name: str,
    method: str,
    operation: Mapping[str, Any],
    takes: tuple[ToolParameter, ...],
    gives: tuple[ToolParameter, ...],
) -> ToolSchema:
    told = [operation.get("summary"), operation.get("description")]
    description = ". ".join(text.strip(" .") for text in told if isinstance(text, str))
    return ToolSchema(
        name=name,
        description=description,
        takes=takes,
        gives=gives,
        effect=escalated_effect(effect_of_method(method), name, description),
        idempotent=method in _IDEMPOTENT,
    )


def _with_resources(tool: ToolSchema) -> ToolSchema:
    given = {one.leaf: one for one in reversed(tool.gives) if one.name.lstrip("[].") == one.leaf}
    return replace(
        tool,
        takes=tuple(
            replace(one, resource=given[one.leaf].resource)
            if not one.resource and one.leaf in given and given[one.leaf].type == one.type
            else one
            for one in tool.takes
        ),
    )


def _named_apart(found: list[tuple[ApiOperation, bool]]) -> tuple[ApiOperation, ...]:
    # Names that the document gives take precedence over names derived from method and path.
    used: set[str] = set()
    names_of: dict[int, str] = {}
    for index in sorted(range(len(found)), key=lambda i: not found[i][1]):
        name = found[index][0].tool.name
        numbered = (f"{name}_{number}" for number in count(2))
        names_of[index] = next(one for one in chain([name], numbered) if one not in used)
        used.add(names_of[index])
    return tuple(
        replace(one, tool=replace(one.tool, name=names_of[index]))
        for index, (one, _) in enumerate(found)
    )


def read_servers(servers: Any) -> tuple[str, ...]:
    """Return the URLs of a list of servers, with variables replaced by their defaults."""
    found = []
    for server in servers if isinstance(servers, list) else []:
        if not isinstance(server, dict) or not isinstance(server.get("url"), str):
            continue
        url, variables = server["url"], server.get("variables")
        for name, value in (variables if isinstance(variables, dict) else {}).items():
            default = value.get("default", "") if isinstance(value, dict) else ""
            url = url.replace("{" + str(name) + "}", str(default))
        found.append(url)
    return tuple(found)


def read_security(value: Any) -> tuple[tuple[str, ...], ...] | None:
    """Return the alternative sets of security schemes; None if the document specifies none."""
    if not isinstance(value, list):
        return None
    return tuple(tuple(map(str, one)) for one in value if isinstance(one, dict))


def _schema_of(value: Mapping[str, Any]) -> tuple[Any, bool]:
    content = value.get("content")
    if "schema" not in value and isinstance(content, dict) and content:
        media = next(iter(content.values()))
        return (media.get("schema") if isinstance(media, dict) else None), True
    return value.get("schema"), False


def _success(responses: Any) -> Any:
    if not isinstance(responses, dict):
        return None
    for code in sorted(str(code) for code in responses):
        if code.startswith("2"):
            return responses.get(code, responses.get(int(code) if code.isdigit() else code))
    return responses.get("default")


def _content(holder: Any) -> tuple[str, Any]:
    content = holder.get("content") if isinstance(holder, dict) else None
    if not isinstance(content, dict) or not content:
        return "", None
    media = min(content, key=lambda kind: ("json" not in str(kind), "form" not in str(kind)))
    value = content[media]
    return str(media), value.get("schema") if isinstance(value, dict) else None


def _followed(value: Any, root: Any) -> Any:
    for _ in range(8):
        if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
            break
        value = referred(value["$ref"], root)
    return value
