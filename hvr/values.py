"""A base for small immutable values.

A frozen dataclass does the same, and its class takes most of a millisecond to make, which a
command that should start in a blink cannot pay dozens of times.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - it is that of functools, as it is from 3.12 on
        """A property that is computed once for an instance, without a lock.

        In 3.11 that of functools has a lock for all instances of a class. A process that is
        forked while another thread holds it would wait for ever.
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


@dataclass_transform(frozen_default=True)
class Value:
    """An immutable value: its annotations are its fields, in order; defaults are plain values.

    Values are equal when they are of one class and all fields are, apart from a field named
    `location`: where something was read does not change what it is.
    """

    __slots__ = ()
    __match_args__: ClassVar[Any] = ()
    _key: ClassVar[Callable[[Any], Any]]
    _needed: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        type.__setattr__(cls, "__match_args__", tuple(cls.__annotations__))
        compared = [name for name in cls.__match_args__ if name != "location"]
        cls._key = attrgetter(*compared) if compared else _no_fields
        cls._needed = sum(1 for name in cls.__match_args__ if name not in cls.__dict__)

    def __init__(self, *args: Any, **named: Any) -> None:
        names = self.__match_args__
        fields = self.__dict__
        fields.update(zip(names, args, strict=False))
        if named:
            fields.update(named)
        if named or not self._needed <= len(args) <= len(names):
            self._check(args, named)

    def replace(self, **changes: Any) -> Self:
        """Return a value that differs in some fields."""
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
        """Raise for missing and surplus fields; those left out must have a default."""
        names, cls = self.__match_args__, type(self)
        surplus = [n for n in named if n not in names] + [
            n for n in names[: len(args)] if n in named
        ]
        if len(args) > len(names) or surplus:
            raise TypeError(f"{cls.__name__} takes {', '.join(names)}; surplus: {surplus or args}")
        missing = [n for n in names if n not in self.__dict__ and not hasattr(cls, n)]
        if missing:
            raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")


class Compact(Value):
    """A value of which there are hundreds of thousands: its fields are slots.

    A subclass lists its fields in `__slots__`, and its `__init__` sets them with `set_field`.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        names: tuple[str, ...] = self.__match_args__
        return type(self), tuple([getattr(self, name) for name in names])


set_field = object.__setattr__
"""Set a field of a `Compact` value that is being made."""
