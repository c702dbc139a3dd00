"""A base class for small immutable values.

It replaces frozen dataclasses because creating one takes most of a millisecond, too long for
dozens of classes in commands that must start fast.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

if TYPE_CHECKING:
    from fractions import Fraction

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - named like functools.cached_property, which replaces it in Python 3.12
        """A property that is computed once per instance, without a lock.

        In Python 3.11, `functools.cached_property` has one lock for all instances of a class. A
        process forked while another thread holds this lock would wait forever.
        """

        def __init__(self, func: Callable[[Any], Any]) -> None:
            self.func = func
            self.__doc__ = func.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.attrname = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


def _no_fields(_: Any) -> tuple[()]:
    return ()


SCHEMA_VERSION = 1
"""Version of hvr's JSON answers; it increases when a member changes its meaning or disappears."""


class JsonObject:
    """A value with a declared JSON form, from which `hvr.base.declared` also derives its schema.

    `json_shape` lists the members of the JSON object in order, separated by spaces; "*" means all
    annotated fields. Each member is a field or a property of the value:

    - `step=number`, `rule=rule.id`: a field, or a part of a field, with a different name in JSON;
    - `reason?`: null if the value is empty;
    - `notes-`: left out if the value equals the class's default;
    - `numbers{}`: pairs, written as an object;
    - `*report`: all members of another value.
    """

    __slots__ = ()
    json_shape: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """Return the value as JSON."""
        return json_fields(self)


@dataclass_transform(frozen_default=True)
class Value(JsonObject):
    """An immutable value whose fields are its annotations, in order; defaults are plain values.

    Two values are equal when their classes and all their fields are equal. A field named
    `location` is ignored, because the place where a value was read does not change the value.
    """

    __slots__ = ()
    __match_args__: ClassVar[Any] = ()
    _key: ClassVar[Callable[[Any], Any]]
    _needed: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        own = (n for n, kind in cls.__annotations__.items() if not kind.startswith("ClassVar"))
        type.__setattr__(cls, "__match_args__", tuple(dict.fromkeys((*cls.__match_args__, *own))))
        compared = [name for name in cls.__match_args__ if name != "location"]
        cls._key = attrgetter(*compared) if compared else _no_fields
        cls._needed = sum(1 for name in cls.__match_args__ if not hasattr(cls, name))

    def __init__(self, *args: Any, **named: Any) -> None:
        names = self.__match_args__
        fields = self.__dict__
        fields.update(zip(names, args, strict=False))
        if named:
            fields.update(named)
        if named or not self._needed <= len(args) <= len(names):
            self._check(args, named)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{name: getattr(self, name) for name in self.__match_args__} | changes)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        key = type(self)._key
        return bool(key(self) == key(other))

    def __hash__(self) -> int:
        return hash(type(self)._key(self))

    def __repr__(self) -> str:
        names = (name for name in self.__match_args__ if name != "location")
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name} = {value!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: del {name}")

    def _check(self, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        names, cls = self.__match_args__, type(self)
        surplus = [n for n in named if n not in names] + [
            n for n in names[: len(args)] if n in named
        ]
        if len(args) > len(names) or surplus:
            raise TypeError(f"{cls.__name__} takes {', '.join(names)}; surplus: {surplus or args}")
        missing = [n for n in names if n not in self.__dict__ and not hasattr(cls, n)]
        if missing:
            raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")


def json_fields(value: Any) -> dict[str, Any]:
    """Return the members of a value's JSON form as JSON values."""
    cls: Any = type(value)
    data: dict[str, Any] = {}
    for name, path, mark in json_members(cls):
        part = attrgetter(path)(value)
        if mark == "*":
            data.update(part.to_json())
        elif mark == "{}":
            data[name] = {str(key): json_value(item) for key, item in part}
        elif mark != "-" or part != _default(cls, path):
            data[name] = None if mark == "?" and not part else json_value(part)
    return data


def _default(cls: type, name: str) -> Any:
    value = getattr(cls, name, None)
    return None if isinstance(value, property) else value


@lru_cache(maxsize=256)
def json_members(cls: Any) -> tuple[tuple[str, str, str], ...]:
    """Return the name, path and mark of each member of a class's JSON form.

    `step=number?` gives `("step", "number", "?")`.
    """
    shape: str = getattr(cls, "json_shape", "")
    if shape in ("", "*"):
        names = getattr(cls, "__dataclass_fields__", None) or cls.__match_args__
        return tuple((name, name, "") for name in names)
    members = []
    for word in shape.split():
        name, _, path = word.strip("*?-{}").partition("=")
        mark = "*" if word[0] == "*" else word[len(word.rstrip("?-{}")) :]
        members.append((name, path or name, mark))
    return tuple(members)


def has_json_form(cls: Any) -> bool:
    """Return whether the values of a class become JSON objects; other values become strings."""
    written = getattr(cls, "to_json", JsonObject.to_json) is not JsonObject.to_json
    return bool(written or getattr(cls, "json_shape", ""))


def json_value(value: Any) -> Any:
    """Return a value as JSON; values without a JSON form become strings."""
    if value is None or isinstance(value, str | int | float):
        return value
    if has_json_form(type(value)):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [json_value(item) for item in value]
    return number_to_json(value) if hasattr(value, "denominator") else str(value)


def number_to_json(value: Fraction) -> int | float:
    """Return an integer if the number is integral or too large for a float, else a float."""
    if value.denominator == 1:
        return int(value.numerator)
    try:
        return float(value)
    except OverflowError:
        return round(value)


def answer_json(answer: Any) -> dict[str, Any]:
    """Return an answer as a JSON document that states the version of its schema."""
    return {"schema_version": SCHEMA_VERSION, **answer.to_json()}


class Compact(Value):
    """A value that stores its fields in slots, for classes with very many instances.

    A subclass lists its fields in `__slots__`, and its `__init__` sets them with `set_field`.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        names: tuple[str, ...] = self.__match_args__
        return type(self), tuple([getattr(self, name) for name in names])


set_field = object.__setattr__
"""Set a field of a `Compact` value inside its `__init__`."""
