"""What results of calls say, read apart from the engine: values, and what their entities have."""

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
"""A feature whose name and value are freed of spelling."""

POSITION = frozenset({"position"})
"""The name of the trait that says which in a list of plain values one is, from 1."""


@dataclass(frozen=True)
class FoundValue:
    """A value at hand.

    Args:
        value: it.
        path: where it stands in the result, as a pattern; of the request its name.
        tool: whose result it is; `REQUEST_SOURCE` if the request says it, `GOAL_CALL_SOURCE` if it
            says it of a call that it wants.
        traits: of the entity to which it belongs, as far as this result says.
        call: the number of the result; -1 for the request.
    """

    value: Json
    path: tuple[str, ...]
    tool: str
    traits: frozenset[Trait]
    call: int = -1


class Findings:
    """The values at hand, as they come.

    Args:
        facts: what the request says.
        wanted: what it says of the calls that it wants.
        suits: how well values suit parameters.
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
        """Take in the result of a call that went well."""
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
            # What is said around a list of plain values is no feature of one of them.
            whose = traits if path[-1:] == ("[]",) else traits | said
            self._all.append(FoundValue(value, path, outcome.call.tool, whose, number))
            self._own.setdefault(key(value), set()).update(whose)
        self.shapes[outcome.call.tool] = frozenset(shape)
        inside = frozenset(key(v) for _, v, _ in entities(outcome.result, traits=False))
        self._calls.append((inside, frozenset(key(feature.value) for feature in taken)))
        # A call with one value describes what the value names; one with several does not say whom.
        for feature in taken if len(taken) == 1 else ():
            self._about.setdefault(key(feature.value), set()).update(whole)

    @property
    def calls(self) -> int:
        """How many calls were taken in."""
        return len(self._calls)

    @property
    def all(self) -> tuple[FoundValue, ...]:
        """Every value at hand, in the order in which they came."""
        return tuple(self._all)

    def fit(self, found: FoundValue, parameter: str, taker: str = "") -> float:
        """Return how well a value suits a parameter of a tool, from 0 to 1 (`ParameterMatcher`)."""
        return self.suits(taker, parameter, found.tool, found.path)

    def suiting(
        self, parameter: str, taker: str = "", least: float = MIN_COMPATIBILITY
    ) -> list[FoundValue]:
        """Return the values that suit a parameter, the best first and of these the latest."""
        place = parameter, taker, least
        if place not in self._suiting:
            ranked = [(self.fit(found, parameter, taker), found.call, found) for found in self._all]
            ranked = [one for one in ranked if one[0] >= least]
            ranked.sort(key=lambda one: one[:2], reverse=True)
            self._suiting[place] = [one[2] for one in ranked]
        return self._suiting[place]

    def has(self, found: FoundValue, wanted: Collection[Trait]) -> bool:
        """Say whether the entity that a value names has all of some traits."""
        name = key(found.value)
        about, own = self._about.get(name, ()), self._own.get(name, ())
        return all(one in about or one in own for one in wanted)

    def traits(self, found: FoundValue) -> frozenset[Trait]:
        """Return all that is known of the entity that a value names, from any result."""
        return self.known_of(found.value)

    def known_of(self, value: Json) -> frozenset[Trait]:
        """Return all that is known of the entity that a value names."""
        name = key(value)
        return frozenset(self._about.get(name, ())) | frozenset(self._own.get(name, ()))

    def echoed(self, found: FoundValue) -> bool:
        """Say whether a value was an argument of the very call in whose result it stands."""
        return found.call >= 0 and key(found.value) in self._calls[found.call][1]

    def within(self, found: FoundValue, others: Iterable[Json]) -> int:
        """Return how many of other values stand in the result of a finding, or in its call."""
        if found.call < 0:
            return 0
        inside, taken = self._calls[found.call]
        return len({key(other) for other in others} & (inside | taken))


def entities(
    result: Json, *, traits: bool = True
) -> Iterator[tuple[tuple[str, ...], Json, frozenset[Trait]]]:
    """Return each value of a result with the pattern of its path and the traits of its entity.

    The entity is the object in which the value stands: it has what stands in it, and the plain
    values of the objects around it. Keys of an object that are data are values of it, too.
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
    """Return a feature freed of spelling."""
    return singular_words(feature.name), plain(feature.value)


def _name(path: tuple[str, ...]) -> str:
    return next((step for step in reversed(path) if step not in ("[]", "{}")), "")


def _deep(value: Json) -> frozenset[Trait]:
    """Return the plain values in an object, those of objects in it among them; not of lists."""
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
