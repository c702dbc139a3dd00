"""The values at hand: those that the user says, and those that stand in results of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hvr.tools.calling.values import CallOutcome, Json
from hvr.tools.navigation.naming import pattern
from hvr.tools.navigation.request import NamedValue, given_leaves
from hvr.tools.navigation.suiting import REQUEST, SUITS, WANTED, Suiting

Shape: TypeAlias = "frozenset[tuple[str, ...]]"
"""The patterns of the paths in a tool's results (`hvr.tools.navigation.naming.pattern`)."""

MOST = 20_000
"""Values of one result that are read."""


@dataclass(frozen=True)
class FoundValue:
    """A value at hand.

    Args:
        value: The value.
        path: The pattern of its path in the result, or its name in the request.
        tool: The tool whose result it is; `REQUEST` if the request says it, `WANTED` if it says
            it of a goal call.
        call: The number of the result; -1 for the request.
    """

    value: Json
    path: tuple[str, ...]
    tool: str
    call: int = -1

    @property
    def said(self) -> bool:
        """Whether the user says it."""
        return self.call < 0


class FoundValues:
    """The values at hand, by the places where they stand.

    Args:
        facts: The values that the request says beside its goal calls.
        wanted: The values that it says for its goal calls.
        suits: How well the values of a place suit a parameter.
    """

    def __init__(
        self,
        facts: Iterable[NamedValue] = (),
        wanted: Iterable[NamedValue] = (),
        suits: Suiting | None = None,
    ) -> None:
        self.suits = suits or Suiting()
        self._places: dict[tuple[str, tuple[str, ...]], list[FoundValue]] = defaultdict(list)
        self._suiting: dict[tuple[str, str], list[FoundValue]] = {}
        self._gives: dict[tuple[str, Shape, str, str], bool] = {}
        self._taken: set[str] = set()
        self._calls = 0
        for some, source in ((facts, REQUEST), (wanted, WANTED)):
            for one in some:
                self._add(FoundValue(one.value, (one.name,), source))

    def add(self, outcome: CallOutcome) -> None:
        """Read the result of a call that went well."""
        self._suiting.clear()
        self._gives.clear()
        self._taken |= {key(value) for _, _, value in given_leaves(outcome.call.arguments)}
        for path, value in values_in(outcome.result):
            self._add(FoundValue(value, path, outcome.call.tool, self._calls))
        self._calls += 1

    def _add(self, found: FoundValue) -> None:
        self._places[found.tool, found.path].append(found)

    @property
    def said(self) -> tuple[FoundValue, ...]:
        """The values that the user says."""
        return tuple(one for some in self._places.values() for one in some if one.said)

    def fit(self, found: FoundValue, parameter: str, taker: str = "") -> float:
        """Return how well a value suits a parameter of a tool, from 0 to 1 (`Suiting`)."""
        return self.suits(taker, parameter, found.tool, found.path)

    def suiting(self, parameter: str, taker: str = "") -> list[FoundValue]:
        """Return the values that suit a parameter: best first, and later results before earlier."""
        place = parameter, taker
        if place not in self._suiting:
            ranked = [
                (fit, one)
                for (tool, path), some in self._places.items()
                if (fit := self.suits(taker, parameter, tool, path)) >= SUITS
                for one in some
            ]
            ranked.sort(key=lambda pair: (pair[0], pair[1].call), reverse=True)
            self._suiting[place] = [one for _, one in ranked]
        return self._suiting[place]

    def gives(self, tool: str, shape: Shape, parameter: str, taker: str) -> bool:
        """Say whether a tool's results hold something that suits a parameter of another."""
        place = tool, shape, parameter, taker
        if place not in self._gives:
            self._gives[place] = any(
                self.suits(taker, parameter, tool, path) >= SUITS for path in shape
            )
        return self._gives[place]

    def taken(self, value: Json) -> bool:
        """Say whether a call that went well took a value."""
        return key(value) in self._taken


def values_in(result: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Return each value of a result that has no parts, with the pattern of its path.

    Keys count as values where they are data.
    """
    todo: list[tuple[tuple[str, ...], Json]] = [((), result)]
    seen = 0
    for path, value in todo:
        if seen >= MOST:
            return
        if isinstance(value, dict):
            data = keys_are_data(value)
            for name, inner in value.items():
                todo.append(((*path, *pattern((name,), (0,) if data else ())), inner))
                if data:
                    seen += 1
                    yield (*path, "{}"), name
        elif isinstance(value, list):
            todo.extend(((*path, "[]"), inner) for inner in value)
        else:
            seen += 1
            yield path, value


def plain(value: Json) -> Json:
    """Return a value as it is compared: texts without case and underscores, numbers as such."""
    if isinstance(value, str):
        return value.lower().replace("_", " ").strip()
    if isinstance(value, (list, dict)):
        return str(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def key(value: Json) -> str:
    """Return a value as the key of a table; 1 and 1.0 are one, 1 and `"1"` are not."""
    value = _with_floats(value)
    return f"{type(value).__name__} {value}"


def _with_floats(value: Json) -> Json:
    """Return a value with all its numbers as floats, also inside lists and objects."""
    if isinstance(value, list):
        return [_with_floats(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _with_floats(inner) for name, inner in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def keys_are_data(value: Mapping[str, Json]) -> bool:
    """Say whether an object is a table: its values are objects, which its keys name."""
    inner = list(value.values())
    if not inner or not all(isinstance(one, dict) for one in inner):
        return False
    named = all(isinstance(one, dict) and name in one.values() for name, one in value.items())
    return named or all(any(sign.isdigit() for sign in name) for name in value)
