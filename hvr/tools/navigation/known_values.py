"""The known values, and how well they match the parameters of tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from hvr.tools.calling.calls import CallOutcome, Json
from hvr.tools.navigation.request import NamedValue, given_leaves

if TYPE_CHECKING:
    from hvr.tools.catalogue.schema_matching import ParameterMeaning


# Names of parameters and results ------------------------------------------------------------------
# Match results to parameters by their names.

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INPUTS = re.compile(r"(?:_|\b)(?:by|from|with|for|of|using)(?:_|\b).*")


@lru_cache(maxsize=20_000)
def singular_words(name: str) -> frozenset[str]:
    """Return the words of a name in snake_case or camelCase, each in the singular."""
    return frozenset(_singular(word.lower()) for word in _WORD.findall(name))


@lru_cache(maxsize=100_000)
def compatibility(parameter: str, path: tuple[str, ...], tool: str) -> float:
    """Return how well the value at a result path matches a parameter, from 0 to 1.

    Args:
        parameter: Name of the parameter, such as `payment_method_id`.
        path: Keys that lead to the value, with `[]` for a list index and `{}` for a key that is
            data. If the value is itself such a key, its path ends in `{}`.
        tool: Tool that returned the result; its name gives the subject of a bare value or of a
            value called `id`.
    """
    wanted = singular_words(parameter)
    names = [step for step in path if step not in ("[]", "{}")]
    leaf = singular_words(names[-1]) if names else frozenset()
    above = singular_words(names[-2]) if len(names) > 1 else frozenset()
    subject = singular_words(_INPUTS.sub("", tool))
    if not wanted:
        return 0.0
    if leaf == wanted:
        return 1.0
    bare = not path or path[-1] in ("[]", "{}")
    if bare and wanted - {"id"} <= (leaf or subject) and wanted != {"id"}:
        return 0.8
    if len(leaf) > 1 and leaf < wanted:
        return 0.9
    if leaf and leaf < wanted and wanted <= leaf | above | (subject if not above else frozenset()):
        return 0.8
    if wanted < leaf and wanted != {"id"} and last_word(parameter) == last_word(names[-1]):
        return 0.5
    if wanted == {"id"} and "id" in leaf:
        return 0.4
    return 0.0


def leaf_of(name: str) -> str:
    return name.rpartition(".")[2]


def last_word(name: str) -> str:
    """Return the head noun of a name: its last word other than a number, in the singular."""
    words = [word for word in _WORD.findall(name) if not word.isdigit()]
    return _singular(words[-1].lower()) if words else ""


def subject_of(tool: str) -> frozenset[str]:
    """Return the words of a tool's name for the tool's subject: `order` for `get_order_by_id`.

    The first word is the verb, and words such as `by` and `for` end the subject.
    """
    head = _INPUTS.sub("", tool) or tool
    words = _WORD.findall(head)
    return singular_words("_".join(words[1:] if len(words) > 1 else words))


def pattern(path: Sequence[str | int], data_keys: Sequence[int] = ()) -> tuple[str, ...]:
    """Return a path with `[]` for list indexes and `{}` for the keys at positions `data_keys`."""
    return tuple(
        "[]" if isinstance(step, int) else "{}" if index in data_keys else step
        for index, step in enumerate(path)
    )


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


# Parameter matching -------------------------------------------------------------------------------
# Match values to parameters by meaning, by name, and by the values passed on earlier.

Flow: TypeAlias = "Callable[[str, str, tuple[str, ...]], float]"
"""Returns the probability that a parameter accepts the value at a result path."""

REQUEST_SOURCE = "the request"
GOAL_CALL_SOURCE = "a wanted call"
NON_TOOL_SOURCES = frozenset((REQUEST_SOURCE, GOAL_CALL_SOURCE))
"""Sources of values that are not tools."""

MIN_COMPATIBILITY = 0.3
"""Minimum compatibility of a value that matches a parameter."""


class ParameterMatcher:
    """Scores how well values match parameters, from 0 to 1.

    Meanings that the user declared take precedence over names. Otherwise, names and learnt flows
    complement the meanings found by schema matching.

    Args:
        flow: Learnt probability that a value flows to a parameter; None if nothing has been learnt.
        meanings: Meanings of the catalogue's parameters; empty if they were not determined.
    """

    def __init__(self, flow: Flow | None = None, meanings: Iterable[ParameterMeaning] = ()) -> None:
        self._flow = flow
        self._named = {meaning.name: meaning for meaning in meanings}
        self._taken: dict[tuple[str, str], ParameterMeaning] = {}
        self._given: dict[tuple[str, tuple[str, ...]], ParameterMeaning] = {}
        for meaning in self._named.values():
            for slot in meaning.slots:
                if slot.gives:
                    path = path_of(slot.name)
                    self._given[slot.tool, path] = meaning
                    if path[:1] == ("result",):
                        self._given[slot.tool, path[1:]] = meaning
                else:
                    self._taken[slot.tool, slot.name] = meaning

    def __call__(self, taker: str, parameter: str, giver: str, path: tuple[str, ...]) -> float:
        """Return how well the value at a path matches a parameter, from 0 to 1.

        Args:
            taker: Tool that takes the value; empty if the user asks for the value itself.
            parameter: Parameter of `taker`; if `taker` is empty, the meaning of the value.
            giver: Tool whose result contains the value; `REQUEST_SOURCE` or `GOAL_CALL_SOURCE` if
                the user stated it.
            path: Pattern of the value's path (see `pattern`); the name of a stated value.
        """
        takes = self.meaning(taker, parameter)
        gives = (
            self._given.get((giver, path))
            if giver not in NON_TOOL_SOURCES
            else self._named.get(path[-1])
        )
        if takes is not None and gives is not None:
            if takes is gives:
                return 1.0
            if takes.by_user or gives.by_user:
                return 0.0
        learnt = self._flow(parameter, giver, path) if self._flow else 0.0
        return max(
            compatibility(parameter, path, "" if giver in NON_TOOL_SOURCES else giver), learnt
        )

    def meaning(self, taker: str, parameter: str) -> ParameterMeaning | None:
        """Return a parameter's meaning or, if `taker` is '', the meaning of that name, or None."""
        if not taker:
            return self._named.get(parameter)
        return self._taken.get((taker, parameter))

    def alike(self, taker: str, parameter: str, other: str, name: str) -> float:
        """Return how well one parameter accepts another parameter's values, from 0 to 1.

        `taker` has the parameter `parameter`; `other` has the parameter `name`.
        """
        one, two = self.meaning(taker, parameter), self.meaning(other, name)
        if one is not None and two is not None:
            if one is two:
                return 1.0
            if one.by_user or two.by_user:
                return 0.0
        return compatibility(parameter, (name,), "")


def path_of(name: str) -> tuple[str, ...]:
    return tuple(part for step in name.split(".") for part in _steps(step))


def _steps(step: str) -> Iterator[str]:
    name = step.replace("[]", "")
    if name:
        yield name
    yield from ["[]"] * step.count("[]")


# Known values -------------------------------------------------------------------------------------
# Values stated by the user, and values in call results.

Shape: TypeAlias = "frozenset[tuple[str, ...]]"
"""The path patterns in a tool's results (see `pattern`)."""

MAX_RESULT_VALUES = 20_000
"""Maximum number of values read from one result."""


@dataclass(frozen=True)
class KnownValue:
    """A value that the user stated or a call returned.

    Args:
        path: Pattern of the value's path in the result, or its name in the request.
        tool: Tool that returned the value; `REQUEST_SOURCE` if the request states it;
            `GOAL_CALL_SOURCE` if it is an argument of a goal call.
        call: Index of the result; -1 for the request.
    """

    value: Json
    path: tuple[str, ...]
    tool: str
    call: int = -1

    @property
    def said(self) -> bool:
        return self.call < 0


class KnownValues:
    """The known values, by source and path.

    Args:
        facts: Values that the request states outside its goal calls.
        wanted: Values that the request states as arguments of its goal calls.
    """

    def __init__(
        self,
        facts: Iterable[NamedValue] = (),
        wanted: Iterable[NamedValue] = (),
        matcher: ParameterMatcher | None = None,
    ) -> None:
        self.matcher = matcher or ParameterMatcher()
        self._places: dict[tuple[str, tuple[str, ...]], list[KnownValue]] = defaultdict(list)
        self._matching: dict[tuple[str, str], list[KnownValue]] = {}
        self._gives: dict[tuple[str, Shape, str, str], bool] = {}
        self._taken: set[str] = set()
        self._calls = 0
        for some, source in ((facts, REQUEST_SOURCE), (wanted, GOAL_CALL_SOURCE)):
            for one in some:
                self._add(KnownValue(one.value, (one.name,), source))

    def add(self, outcome: CallOutcome) -> None:
        self._matching.clear()
        self._gives.clear()
        self._taken |= {key(value) for _, _, value in given_leaves(outcome.call.arguments)}
        for path, value in values_in(outcome.result):
            self._add(KnownValue(value, path, outcome.call.tool, self._calls))
        self._calls += 1

    def _add(self, found: KnownValue) -> None:
        self._places[found.tool, found.path].append(found)

    @property
    def said(self) -> tuple[KnownValue, ...]:
        return tuple(one for some in self._places.values() for one in some if one.said)

    def fit(self, found: KnownValue, parameter: str, taker: str = "") -> float:
        return self.matcher(taker, parameter, found.tool, found.path)

    def matching(self, parameter: str, taker: str = "") -> list[KnownValue]:
        """Return the values that match a parameter, best first and, among equals, latest first.

        `taker` is the parameter's tool; empty if the user asks for the value itself.
        """
        place = parameter, taker
        if place not in self._matching:
            ranked = [
                (fit, one)
                for (tool, path), some in self._places.items()
                if (fit := self.matcher(taker, parameter, tool, path)) >= MIN_COMPATIBILITY
                for one in some
            ]
            ranked.sort(key=lambda pair: (pair[0], pair[1].call), reverse=True)
            self._matching[place] = [one for _, one in ranked]
        return self._matching[place]

    def gives(self, tool: str, shape: Shape, parameter: str, taker: str) -> bool:
        """Return whether a result of `tool` with this shape has a value for the parameter."""
        place = tool, shape, parameter, taker
        if place not in self._gives:
            self._gives[place] = any(
                self.matcher(taker, parameter, tool, path) >= MIN_COMPATIBILITY for path in shape
            )
        return self._gives[place]

    def taken(self, value: Json) -> bool:
        """Return whether some successful call had this value as an argument."""
        return key(value) in self._taken


def values_in(result: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Yield each scalar value in a result, and each key that is data, with its path pattern.

    Outer values come first; values after the first `MAX_RESULT_VALUES` are left out.
    """
    todo: list[tuple[tuple[str, ...], Json]] = [((), result)]
    seen = 0
    for path, value in todo:
        if seen >= MAX_RESULT_VALUES:
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
    """Normalise a value for comparison.

    Text becomes lower case with spaces for underscores; integers become floats; lists and objects
    become text.
    """
    if isinstance(value, str):
        return value.lower().replace("_", " ").strip()
    if isinstance(value, (list, dict)):
        return str(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def key(value: Json) -> str:
    """Return a hashable key that is equal for 1 and 1.0, and different for 1 and `"1"`."""
    value = _with_floats(value)
    return f"{type(value).__name__} {value}"


def _with_floats(value: Json) -> Json:
    if isinstance(value, list):
        return [_with_floats(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _with_floats(inner) for name, inner in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def keys_are_data(value: Mapping[str, Json]) -> bool:
    """Return whether an object's keys are data, such as ids, rather than names of properties.

    That is so if all values are objects, and either each value contains its own key or all keys
    contain digits.
    """
    inner = list(value.values())
    if not inner or not all(isinstance(one, dict) for one in inner):
        return False
    named = all(isinstance(one, dict) and name in one.values() for name, one in value.items())
    return named or all(any(sign.isdigit() for sign in name) for name in value)
