"""Where the values of an agent's calls come from, as far as its session shows.

Nothing is known of the request but what the client declares that the user said. So a value is said
if the client declares it, identified if it is the only id that a look-up with said values gave, a
default if the schema has it; anything else merely stands in a result, or is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hvr.tools.calling.origins import places, same
from hvr.tools.calling.provenance import NO_SOURCE, Place, Provenance, Source, leaf_values
from hvr.tools.calling.values import CallOutcome, Json, ToolCall

_IDS = frozenset({"id", "ids", "uuid", "guid", "identifier"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")


class SessionValues:
    """The values that were declared as said in a session, and the values of results.

    Args:
        schemas: The JSON Schemas of the tools' arguments, by tool; they have the defaults.
    """

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        self._schemas = schemas
        self._said: list[Json] = []
        self._ids: list[tuple[frozenset[str], Json, str]] = []
        self._found: dict[tuple[str, str], str] = {}

    def say(self, values: Iterable[Json]) -> None:
        """Take in what the user said: texts, whose words count as well, and other values."""
        self._said += [value for value in values if value not in self._said]

    def observe(self, outcome: CallOutcome) -> None:
        """Take in a result; its values can be found, and its only id be identified."""
        if not outcome.ok:
            return
        tool = outcome.call.tool
        ids: dict[tuple[str, ...], list[Json]] = {}
        for place, value in places(outcome.result):
            if value is None or isinstance(value, (list, dict, bool)):
                continue
            self._found.setdefault(_key(value), f"it stands in the result of {tool}")
            keys = tuple(step for step in place if isinstance(step, str))
            if keys and set(_words(keys[-1])[-1:]) & _IDS:
                ids.setdefault(keys, []).append(value)
        if not self._grounded(outcome):
            return
        for keys, values in ids.items():
            if all(same(value, values[0]) for value in values):
                # The thing is named by the id itself, what it stands in, or the tool.
                names = frozenset(_nouns(*keys[-2:]) or _nouns(tool))
                self._ids.append((names, values[0], f"the only {keys[-1]} that {tool} gave"))

    def sources(self, call: ToolCall) -> dict[Place, Source]:
        """Return where the values of a call come from, by their places."""
        return {place: self._source(call, place, value) for place, value in leaf_values(call)}

    def _source(self, call: ToolCall, place: Place, value: Json) -> Source:
        if any(_says(said, value) for said in self._said):
            return Source(Provenance.SAID, "the client declares that the user said it")
        if self._is_default(call, place):
            return Source(Provenance.DEFAULT, "the default of the tool's schema")
        for names, known, why in self._ids:
            if same(known, value) and _takes_id(call, place, names):
                return Source(Provenance.IDENTIFIED, why)
        if value is not None and not isinstance(value, (list, dict)):
            found = self._found.get(_key(value))
            if found is not None:
                return Source(Provenance.FOUND, found)
        return NO_SOURCE

    def _is_default(self, call: ToolCall, place: Place) -> bool:
        properties = self._schemas.get(call.tool, {}).get("properties")
        name = place[0]
        one = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(one, dict) or "default" not in one:
            return False
        whole = call.arguments[str(name)]
        return same(whole, one["default"])

    def _grounded(self, outcome: CallOutcome) -> bool:
        """Say whether a call was made with what the user said, and nothing else."""
        kinds = {source.kind for source in outcome.sources.values()}
        said = kinds & {Provenance.SAID, Provenance.IDENTIFIED, Provenance.CONFIRMED}
        return bool(said) and all(kind.may_be_written for kind in kinds)


def _says(said: Json, value: Json) -> bool:
    """Say whether a value is one that was said, or stands as a whole in a text that was."""
    if same(said, value):
        return True
    if not isinstance(said, str) or value is None or isinstance(value, (bool, list, dict)):
        return False
    if isinstance(value, str):
        text = value.strip()
        whole = rf"(?<!\w){re.escape(text)}(?!\w)"
        return bool(text) and re.search(whole, said, re.IGNORECASE) is not None
    return any(float(number) == value for number in _NUMBER.findall(said))


def _takes_id(call: ToolCall, place: Place, names: frozenset[str]) -> bool:
    """Say whether a place takes the id of a thing that has one of these names."""
    keys = [step for step in place if isinstance(step, str)]
    if not keys or not set(_words(keys[-1])[-1:]) & _IDS:
        return False
    wanted = _nouns(keys[-1]) or _nouns(*keys[-2:-1], call.tool)
    return bool(names & set(wanted))


def _nouns(*names: str) -> list[str]:
    return [word for name in names for word in _words(name) if word not in _IDS]


def _words(name: str) -> list[str]:
    """Return the words of a name, each in the singular as far as its ending tells."""
    return list(_singular(name))


def _singular(name: str) -> Iterator[str]:
    for word in map(str.lower, _WORD.findall(name)):
        if word in _IDS:
            yield word
        elif word.endswith("ies"):
            yield f"{word[:-3]}y"
        else:
            yield word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _key(value: Json) -> tuple[str, str]:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value).__name__, str(value)
