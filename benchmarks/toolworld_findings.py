"""Read values and properties of entities from call results, independently of hvr's own code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from hvr.tools.calling.calls import CallOutcome, Json
from hvr.tools.navigation.entities import EntityGraph
from hvr.tools.navigation.known_values import (
    GOAL_CALL_SOURCE,
    MAX_RESULT_VALUES,
    MIN_COMPATIBILITY,
    REQUEST_SOURCE,
    ParameterMatcher,
    Shape,
    key,
    keys_are_data,
    pattern,
    plain,
    singular_words,
)
from hvr.tools.navigation.request import NamedValue, given_leaves

Trait: TypeAlias = "tuple[frozenset[str], Json]"
"""A property with normalised name and value."""

POSITION = frozenset({"position"})
"""Name of the trait for a plain value's 1-based position in a list."""


@dataclass(frozen=True)
class FoundValue:
    """A known value.

    Args:
        path: Path pattern in the result, or the value's name in the request.
        tool: Tool that returned the value; `REQUEST_SOURCE` for a value of the request;
            `GOAL_CALL_SOURCE` for a value of a goal call.
        traits: Traits of the value's entity in this result.
        call: Index of the result; -1 for the request.
    """

    value: Json
    path: tuple[str, ...]
    tool: str
    traits: frozenset[Trait]
    call: int = -1


class Findings:
    """The known values, in order of arrival.

    Args:
        facts: Values stated in the request.
        wanted: Values stated for the goal calls.
        suits: Function that scores how well a value matches a parameter.
    """

    def __init__(
        self,
        facts: Iterable[NamedValue] = (),
        wanted: Iterable[NamedValue] = (),
        suits: ParameterMatcher | None = None,
    ) -> None:
        self.suits = suits or ParameterMatcher()
        self.graph = EntityGraph()
        self._all: list[FoundValue] = []
        self._suiting: dict[tuple[str, str, float], list[FoundValue]] = {}
        self._calls: list[tuple[frozenset[str], frozenset[str]]] = []
        self._about: dict[str, set[Trait]] = {}
        self._own: dict[str, set[Trait]] = {}
        self.shapes: dict[str, Shape] = {}
        facts = tuple(facts)
        traits = frozenset(trait(feature) for feature in facts)
        for feature in facts:
            self._all.append(FoundValue(feature.value, (feature.name,), REQUEST_SOURCE, traits))
            self._own.setdefault(key(feature.value), set()).update(traits)
        for feature in wanted:
            self._all.append(
                FoundValue(feature.value, (feature.name,), GOAL_CALL_SOURCE, frozenset())
            )

    def add(self, outcome: CallOutcome) -> None:
        taken = [
            NamedValue(name, value)
            for _, name, value in given_leaves(outcome.call.arguments)
            if value is not None
        ]
        said = frozenset(trait(feature) for feature in taken)
        self.graph.add(outcome)
        self._suiting.clear()
        number, shape = len(self._calls), set(self.shapes.get(outcome.call.tool, ()))
        whole: set[Trait] = set()
        for path, value, traits in entities(outcome.result):
            shape.add(path)
            if path and path[-1] != "{}":
                whole.add((singular_words(_name(path)), plain(value)))
            # The call's arguments do not describe the single values of a plain list.
            whose = traits if path[-1:] == ("[]",) else traits | said
            self._all.append(FoundValue(value, path, outcome.call.tool, whose, number))
            self._own.setdefault(key(value), set()).update(whose)
        self.shapes[outcome.call.tool] = frozenset(shape)
        inside = frozenset(key(v) for _, v, _ in entities(outcome.result, traits=False))
        self._calls.append((inside, frozenset(key(feature.value) for feature in taken)))
        # The result describes the argument of a call only if it is the only one.
        for feature in taken if len(taken) == 1 else ():
            self._about.setdefault(key(feature.value), set()).update(whole)

    @property
    def calls(self) -> int:
        return len(self._calls)

    @property
    def all(self) -> tuple[FoundValue, ...]:
        return tuple(self._all)

    def fit(self, found: FoundValue, parameter: str, taker: str = "") -> float:
        return self.suits(taker, parameter, found.tool, found.path)

    def suiting(
        self, parameter: str, taker: str = "", least: float = MIN_COMPATIBILITY
    ) -> list[FoundValue]:
        """Return the values that match a parameter, best first and, among equals, latest first."""
        place = parameter, taker, least
        if place not in self._suiting:
            ranked = [(self.fit(found, parameter, taker), found.call, found) for found in self._all]
            ranked = [one for one in ranked if one[0] >= least]
            ranked.sort(key=lambda one: one[:2], reverse=True)
            self._suiting[place] = [one[2] for one in ranked]
        return self._suiting[place]

    def has(self, found: FoundValue, wanted: Collection[Trait]) -> bool:
        """Return whether the entity that a value names has all given traits."""
        name = key(found.value)
        about, own = self._about.get(name, ()), self._own.get(name, ())
        return all(one in about or one in own for one in wanted)

    def traits(self, found: FoundValue) -> frozenset[Trait]:
        """Return the traits that any result gives to the entity that a value names."""
        return self.known_of(found.value)

    def known_of(self, value: Json) -> frozenset[Trait]:
        name = key(value)
        return frozenset(self._about.get(name, ())) | frozenset(self._own.get(name, ()))

    def echoed(self, found: FoundValue) -> bool:
        """Return whether a value was an argument of the call that returned it."""
        return found.call >= 0 and key(found.value) in self._calls[found.call][1]

    def within(self, found: FoundValue, others: Iterable[Json]) -> int:
        """Return how many of `others` occur in the value's result or in that result's call."""
        if found.call < 0:
            return 0
        inside, taken = self._calls[found.call]
        return len({key(other) for other in others} & (inside | taken))


def entities(
    result: Json, *, traits: bool = True
) -> Iterator[tuple[tuple[str, ...], Json, frozenset[Trait]]]:
    """Yield each value in a result with its path pattern and the traits of its entity.

    The entity is the innermost object around the value: its traits are its own contents and the
    scalar values of the enclosing objects. Object keys that are data also count as values.
    """
    todo: list[tuple[tuple[str, ...], Json, frozenset[Trait]]] = [((), result, frozenset())]
    seen = 0
    for path, value, around in todo:
        if isinstance(value, dict):
            direct = frozenset(
                (singular_words(name), plain(inner))
                for name, inner in value.items()
                if not isinstance(inner, (dict, list))
            ) if traits else frozenset()  # fmt: skip
            data = keys_are_data(value)
            own = around | _deep(value) if traits else around
            for name, inner in value.items():
                step = pattern((name,), (0,) if data else ())
                if data:
                    deep = _deep(inner) if traits else frozenset()
                    yield (*path, "{}"), name, around | deep
                    seen += 1
                if isinstance(inner, (dict, list)):
                    todo.append(((*path, *step), inner, around | direct))
                else:
                    yield (*path, *step), inner, own
                    seen += 1
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                if isinstance(inner, (dict, list)):
                    todo.append(((*path, "[]"), inner, around))
                else:
                    place = frozenset({(POSITION, index + 1.0)}) if traits else around
                    yield (*path, "[]"), inner, place
                    seen += 1
        else:
            yield path, value, around
            seen += 1
        if seen >= MAX_RESULT_VALUES:
            return


def trait(feature: NamedValue) -> Trait:
    """Return a property with normalised name and value."""
    return singular_words(feature.name), plain(feature.value)


def _name(path: tuple[str, ...]) -> str:
    return next((step for step in reversed(path) if step not in ("[]", "{}")), "")


def _deep(value: Json) -> frozenset[Trait]:
    """Return the scalar values of an object and its nested objects, but not those of lists."""
    found: set[Trait] = set()
    todo = [value]
    for one in todo:
        if isinstance(one, dict) and len(found) < MAX_RESULT_VALUES:
            for name, inner in one.items():
                if isinstance(inner, dict) and not keys_are_data(one):
                    todo.append(inner)
                elif not isinstance(inner, (list, dict)):
                    found.add((singular_words(name), plain(inner)))
    return frozenset(found)
