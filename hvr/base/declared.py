"""Export declared types as JSON Schema, and decode JSON into their values.

A declared type is a class with annotated fields: a `Value` or a dataclass. Its JSON form is
`JsonObject.json_shape`. `json_schema` describes the form for other programs. `decode` creates a
value from JSON, or reports the error, its place and the expectation.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.printable import nearest, short
from hvr.errors import HvrError, UsageError
from hvr.values import JsonObject, Value, has_json_form, json_members, json_value

T = TypeVar("T")


class Between(Value):
    """The permitted range of a number or of the length of a string, for use in `Annotated[…]`."""

    least: float
    most: float


# Types --------------------------------------------------------------------------------------------

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Fraction: {"type": "number"},
    Path: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


@lru_cache(maxsize=256)
def _names(module: str) -> dict[str, Any]:
    """Return a module's global names, including those imported only for type checkers."""
    found = vars(typing) | vars(sys.modules[module])
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            continue
        for line in node.body:
            if isinstance(line, ast.ImportFrom) and line.module:
                source = import_module(line.module)
                found |= {one.asname or one.name: getattr(source, one.name) for one in line.names}
    return found


def _resolved(annotation: Any, cls: type) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[cls.__module__]))
    except NameError:  # rare, and parsing a module takes milliseconds
        return eval(annotation, _names(cls.__module__))


def type_at(cls: Any, path: str) -> Any:
    """Return the declared type of a member, given by a dotted path such as `report.failure`."""
    for name in path.split("."):
        cls = _member_type(cls, name)
    return cls


@lru_cache(maxsize=1024)
def _member_type(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in inspect.get_annotations(base):
            return _resolved(base.__annotations__[name], base)
        found = base.__dict__.get(name)
        function = getattr(found, "fget", None) or getattr(found, "func", None)
        if inspect.isfunction(function):
            return _resolved(function.__annotations__["return"], base)
        if isinstance(found, str):
            return typing.Literal[found]
    raise TypeError(f"{cls.__name__}.{name} has no declared type")


def descriptions(cls: type) -> dict[str, str]:
    """Return the description of each field, from the docstrings of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        section = re.search(r"^(?:Attributes|Args):\n((?:    .*\n?|\n)+)", text, re.M)
        for part in re.split(r"^    (?=\w)", section[1] if section else "", flags=re.M)[1:]:
            names, _, said = part.partition(":")
            found |= {name.strip(): _as_json(said) for name in names.split(",")}
    return found


def _said_of_part(cls: type, path: str) -> str:
    owner, _, name = path.rpartition(".")
    if owner:
        return descriptions(type_at(cls, owner)).get(name, "")
    found = inspect.getattr_static(cls, name, None)
    text = (inspect.getdoc(found) or "") if isinstance(found, property) else ""
    return _as_json(text.split("\n\n")[0])


def _as_json(text: str) -> str:
    """Put a description on one line, with Python's constants in JSON notation (null for None)."""
    named = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(None|True|False)\b", lambda m: named[m[1]], " ".join(text.split()))


def summary_of(cls: type) -> str:
    """Return the first paragraph of a class's docstring."""
    return _as_json(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0])


# Schema -------------------------------------------------------------------------------------------


def json_schema(cls: type) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a declared type."""
    written = _Schemas(request=is_request(cls))
    schema = written.object(cls)
    return {**schema, "$defs": written.defs} if written.defs else schema


class _Schemas:
    def __init__(self, *, request: bool) -> None:
        self.request = request
        self.defs: dict[str, Any] = {}

    def object(self, cls: type) -> dict[str, Any]:
        if getattr(cls, "to_json", JsonObject.to_json) is not JsonObject.to_json:
            return {"type": "object", "description": summary_of(cls)}
        said, properties, required = descriptions(cls), dict[str, Any](), list[str]()
        for name, path, mark in json_members(cls):
            kind = type_at(cls, path)
            if mark == "*":
                inner = self.object(kind)
                properties |= inner["properties"]
                required += inner["required"]
                continue
            schema = self.pairs(kind) if mark == "{}" else self.of(kind)
            if mark == "?":
                schema = _or_null(schema)
            if text := said.get(path) or _said_of_part(cls, path) or said.get(name):
                if mark == "?":
                    text = text.replace('""', "null")
                schema = {**schema, "description": text}
            properties[name] = schema
            if mark != "-" and not (self.request and _has_default(cls, path)):
                required.append(name)
            elif mark != "-" and getattr(cls, path, None) not in (None, "", ()):
                schema["default"] = json_value(getattr(cls, path))
        return {
            "type": "object",
            "description": summary_of(cls),
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def of(self, kind: Any) -> dict[str, Any]:
        if isinstance(kind, typing.TypeVar) or kind in _SIMPLE:
            return dict(_SIMPLE.get(kind, {}))
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self.of(args[0]) | _limits(args[0], args[1:])
        if origin is typing.Literal:
            return {"type": "string", "enum": list(args)}
        if origin in (typing.Union, types.UnionType):
            return self.union(args)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"type": "string", "enum": [member.value for member in kind]}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(args[1])}
        if origin is tuple and args[-1] is not Ellipsis:
            parts = [self.of(part) for part in args]
            fixed = {"items": False, "minItems": len(parts), "maxItems": len(parts)}
            return {"type": "array", "prefixItems": parts, **fixed}
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(args[0])}
        if not (has_json_form(kind) or (self.request and _has_fields(kind))):
            return {"type": "string"}  # values without a JSON form become text
        if kind.__name__ not in self.defs:
            self.defs[kind.__name__] = {}
            self.defs[kind.__name__] = self.object(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def union(self, kinds: Sequence[Any]) -> dict[str, Any]:
        schemas: list[dict[str, Any]] = []
        for kind in kinds:
            if (schema := self.of(kind)) not in schemas:
                schemas.append(schema)
        if len(schemas) == 1:
            return schemas[0]
        if all(set(schema) == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}

    def pairs(self, kind: Any) -> dict[str, Any]:
        (pair, *_) = typing.get_args(kind)
        return {"type": "object", "additionalProperties": self.of(typing.get_args(pair)[1])}


def _has_fields(kind: Any) -> bool:
    return issubclass(kind, Value) or hasattr(kind, "__dataclass_fields__")


def is_request(cls: type) -> bool:
    """Return whether a declared type describes JSON input; types of output have a `json_shape`."""
    return not getattr(cls, "json_shape", "")


def _has_default(cls: Any, name: str) -> bool:
    field = getattr(cls, "__dataclass_fields__", {}).get(name)
    if field is None:
        return hasattr(cls, name)
    return not field.default is field.default_factory is MISSING


def _limits(kind: Any, marks: Sequence[Any]) -> dict[str, Any]:
    names = ("minLength", "maxLength") if kind is str else ("minimum", "maximum")
    bounds = [mark for mark in marks if isinstance(mark, Between)]
    pairs = (pair for b in bounds for pair in zip(names, (b.least, b.most), strict=True))
    return {name: value for name, value in pairs if (name, value) != ("minLength", 0)}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if schema == {"type": kinds} and isinstance(kinds, str) and kinds != "null":
        return {"type": [kinds, "null"]}
    return schema if not schema else {"anyOf": [schema, {"type": "null"}]}


# Decoding -----------------------------------------------------------------------------------------


def decode(kind: type[T], data: object, place: str = "", error: type[Exception] = UsageError) -> T:
    """Return a value of the declared type `kind`, decoded from JSON.

    Args:
        place: Name of the document, for messages.

    Raises:
        UsageError: The data does not match the type; `error` replaces this class. The message gives
            the place and the expectation.
    """
    try:
        value: T = _decoded(kind, data, place)
    except _UnfitError as wrong:
        raise error(str(wrong)) from None
    return value


class _UnfitError(Exception):
    pass


_NAMES = {str: "a string", bool: "true or false", int: "an integer", float: "a number"}
_NAMES |= {Fraction: "a number", Path: "a string", type(None): "null"}
_FOUND = {dict: "an object", list: "an array", str: "a string", bool: "true or false"}
_FOUND |= {int: "a number", float: "a number", type(None): "null"}


def _decoded(kind: Any, data: object, place: str) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in (Any, object):
        return data
    if origin is typing.Annotated:
        value = _decoded(args[0], data, place)
        _check_bounds(value, args[1:], place)
        return value
    if origin in (typing.Union, types.UnionType):
        return _one_of(args, data, place)
    if origin is typing.Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        choices = args or tuple(member.value for member in kind)
        if data not in choices or isinstance(data, bool):
            near = nearest(data, choices) if isinstance(data, str) else ""
            expected = f"one of {', '.join(map(str, choices))}"
            raise _unfit(place, expected, data, f"; did you mean {near!r}?" if near else "")
        return data if args else kind(data)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(data, dict):
            raise _unfit(place, "an object", data)
        return {key: _decoded(args[1], item, f"{place}.{key}") for key, item in data.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return tuple(_items(args, data, place))
    if kind in _NAMES:
        return _simple(kind, data, place)
    return _object(kind, data, place)


def _simple(kind: Any, data: object, place: str) -> Any:
    accepted = {float: (int, float), Fraction: (int, float), Path: (str,)}.get(kind, (kind,))
    good = isinstance(data, accepted) and (kind is bool or not isinstance(data, bool))
    if not good or (isinstance(data, float) and not abs(data) < float("inf")):
        raise _unfit(place, _NAMES[kind], data)
    if kind is Fraction:
        return Fraction(str(data))
    return Path(str(data)) if kind is Path else data


def _items(args: tuple[Any, ...], data: object, place: str) -> Iterator[Any]:
    if not isinstance(data, list | tuple):
        raise _unfit(place, "an array", data)
    kinds = args[:1] * len(data) if len(args) == 1 or args[1] is Ellipsis else args
    if len(kinds) != len(data):
        raise _UnfitError(
            f"{_at(place)}expected {len(kinds)} item{'s' * (len(kinds) != 1)}, found {len(data)}"
        )
    for number, (kind, item) in enumerate(zip(kinds, data, strict=True)):
        yield _decoded(kind, item, f"{place}[{number}]")


def _one_of(kinds: Sequence[Any], data: object, place: str) -> Any:
    for kind in kinds:
        try:
            return _decoded(kind, data, place)
        except _UnfitError as error:
            wrong = error
    if len(kinds) == 2 and type(None) in kinds:
        one = next(kind for kind in kinds if kind is not type(None))
        return _decoded(one, data, place)
    raise wrong


def _object(kind: type, data: object, place: str) -> Any:
    if not isinstance(data, dict):
        raise _unfit(place, "an object", data)
    members = _inputs(kind)
    for name in data:
        if name not in members:
            near = nearest(str(name), members)
            hint = f"; did you mean {near!r}?" if near else f"; expected {', '.join(members)}"
            raise _UnfitError(f"{_at(place)}unknown key {short(str(name), 60)!r}{hint}")
    missing = [n for n, path in members.items() if n not in data and not _has_default(kind, path)]
    if missing:
        raise _UnfitError(f"{_at(place)}{missing[0]} is missing")
    inside = f"{place}." if place else ""
    values = {
        members[name]: _decoded(type_at(kind, members[name]), item, f"{inside}{name}")
        for name, item in data.items()
    }
    try:
        return kind(**values)
    except HvrError as error:  # one field contradicts another
        raise _UnfitError(f"{_at(place)}{error}") from error


def _inputs(kind: Any) -> dict[str, str]:
    fields = getattr(kind, "__dataclass_fields__", None) or kind.__match_args__
    members = ((name, path if path in fields else name) for name, path, _ in json_members(kind))
    return {name: field for name, field in members if field in fields}


def _check_bounds(value: Any, marks: Sequence[Any], place: str) -> None:
    for mark in marks:
        if not isinstance(mark, Between) or value is None:
            continue
        size = len(value) if isinstance(value, str) else value
        if not mark.least <= size <= mark.most:
            what = "have a length of" if isinstance(value, str) else "be"
            least, most = (format(number, "g") for number in (mark.least, mark.most))
            raise _UnfitError(
                f"{place} must {what} at least {least} and at most {most}, got {size}"
            )


def _at(place: str) -> str:
    return f"{place}: " if place else ""


def _unfit(place: str, expected: str, data: object, hint: str = "") -> _UnfitError:
    found = _FOUND.get(type(data), type(data).__name__)
    if isinstance(data, str | int | float) and not isinstance(data, bool):
        found += f" ({short(json.dumps(data, ensure_ascii=False), 40)})"
    return _UnfitError(f"{place or 'the document'} must be {expected}, got {found}{hint}")
