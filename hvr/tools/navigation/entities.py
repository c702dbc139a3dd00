"""A graph of the entities in call results, with their properties and links.

Each object in a result is an entity. Entities with the same id are merged; a later value of a
property replaces earlier ones. A link leads from an entity up to its owner or to an entity that it
refers to: from a nested object to the enclosing one, from an object with a `user_id` to that user,
and from a call's result to the entity that an argument names. An entity is described by its own
properties, then by those of the entities above and below it, never by those of its siblings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from hvr.tools.calling.calls import CallOutcome, Json
from hvr.tools.navigation.known_values import (
    keys_are_data,
    last_word,
    leaf_of,
    plain,
    singular_words,
    subject_of,
)
from hvr.tools.navigation.request import NamedValue, given_leaves

MAX_ENTITY_VALUES = 20_000
"""Maximum number of values read from one result."""

MAX_LINK_DEPTH = 3
"""Maximum number of links between an entity and one that describes it."""

ID_WORDS = frozenset(("id", "uuid", "guid"))
"""Words that mark a property as an identifier."""

KEY_WORDS = ID_WORDS | {"key", "code", "number", "reference", "slug", "sku"}
"""Words that mark a property as a possible identifier of its object."""

Words = frozenset[str]

EntityProperty: TypeAlias = "tuple[Words, Json]"
"""A property of an entity: the words of its name, and a value."""

_Place = tuple[str, ...]
"""A tool, and the keys that lead to an object in its results."""

_Todo = deque[tuple[Json, Words, "int | None", Json, _Place]]

_PART: Any = object()
"""Replaces the key of an object without an id, whose properties belong to the enclosing entity."""


class ConstraintMatch(Enum):
    MET = "met"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    """The known properties neither confirm nor contradict the constraint."""


@dataclass
class ResultEntity:
    """An entity in call results, modified only by its graph.

    Args:
        kind: Words of its kind, such as `order`.
        properties: Values of each property, keyed by the words of the property's name.
        above: Indexes of the entities that it belongs to or refers to.
        below: Indexes of the entities that belong or refer to it.
        updated: Index of the last call whose result contained each property.
        places: Places in results that contain the entity: a tool and the path of the object.
        shown: Places that contained each property.
    """

    kind: Words
    id: Json = None
    properties: dict[Words, list[Json]] = field(default_factory=dict)
    above: dict[int, None] = field(default_factory=dict)
    below: dict[int, None] = field(default_factory=dict)
    updated: dict[Words, int] = field(default_factory=dict)
    places: set[_Place] = field(default_factory=set)
    shown: dict[Words, set[_Place]] = field(default_factory=dict)


class EntityGraph:
    cut: bool
    """Whether a result was too long to be read completely, so that entities may be missing."""

    def __init__(self) -> None:
        self.cut = False
        self._entities: list[ResultEntity] = []
        self._by_id: dict[object, int] = {}
        self._holders: dict[object, dict[int, None]] = {}
        self._calls = 0
        self._read_now: set[int] = set()

    def __getitem__(self, number: int) -> ResultEntity:
        return self._entities[number]

    def add(self, outcome: CallOutcome) -> None:
        self._calls += 1
        self._read_now = set()
        given = [
            (name, value)
            for _, name, value in given_leaves(outcome.call.arguments)
            if value is not None
        ]
        ids = [(name, value) for name, value in given if last_word(name) in KEY_WORDS]
        # With several ids in the arguments the owner of the result is unclear.
        owner = self._named(ids[0][0], ids[0][1]) if len(ids) == 1 else None
        own = ids[0] if len(ids) == len(given) == 1 else None
        for number in self._read(outcome.result, outcome.call.tool, own):
            if owner is not None:
                self._link(number, owner)
            for name, value in given:
                if singular_words(name) not in self._entities[number].properties:
                    self._set_property(number, name, value)

    def holders(self, value: Json) -> tuple[int, ...]:
        """Return the entities that have this id or, if there are none, this property value."""
        found = self._holders.get(_same(value), {})
        named = tuple(n for n in found if _same(self._entities[n].id) == _same(value))
        return named or tuple(
            n
            for n in found
            if any(
                _same(v) == _same(value) for vs in self._entities[n].properties.values() for v in vs
            )
        )

    def having(self, value: Json) -> tuple[int, ...]:
        """Return the entities that have a value as their id or as the value of a property."""
        return tuple(self._holders.get(_same(value), ()))

    def fit(self, number: int, constraint: NamedValue) -> ConstraintMatch:
        """Return how an entity matches a constraint, by its nearest property of that name.

        A constraint without a name is met by any property with its value, and is never broken.
        """
        wanted, words = plain(constraint.value), singular_words(leaf_of(constraint.name))
        for values in self._described(number, words):
            if any(plain(value) == wanted for value in values):
                return ConstraintMatch.MET
            if words:
                return ConstraintMatch.BROKEN
        # A partial name such as "name" for "full_name" can confirm a constraint, not contradict it.
        like = (v for vs in self._described(number, words, like=True) for v in vs)
        return (
            ConstraintMatch.MET
            if any(plain(value) == wanted for value in like)
            else ConstraintMatch.UNKNOWN
        )

    def shown_alike(self, one: int, other: int, name: str) -> bool:
        """Return whether `other` occurs in results at a place where `one` has the property `name`.

        Objects at the same place in a tool's results are assumed to have the same properties.
        """
        words, entity = singular_words(leaf_of(name)), self._entities[one]
        places = (p for own, p in entity.shown.items() if _one_name(words, own, entity.kind))
        return any(some & self._entities[other].places for some in places)

    def property(self, number: int, name: str) -> tuple[Json, ...]:
        """Return a property's values in the entity or the nearest linked one; empty if unknown."""
        return tuple(next(self._described(number, singular_words(leaf_of(name))), ()))

    def known_of(self, value: Json) -> frozenset[EntityProperty]:
        """Return the properties of the `holders` of a value and of the entities above them.

        A property of a nearer entity hides those of the same name further above.
        """
        known: dict[Words, list[Json]] = {}
        for number in self.holders(value):
            for level in self.levels(number):
                found: dict[Words, list[Json]] = {}
                for n in level:
                    for words, values in self._entities[n].properties.items():
                        if words not in known:
                            found.setdefault(words, []).extend(values)
                known |= found
        return frozenset((words, plain(value)) for words, vs in known.items() for value in vs)

    def known_by(self, arguments: Mapping[str, Json]) -> dict[str, frozenset[EntityProperty]]:
        """Return the properties that `known_of` returns for each argument, by argument name."""
        known: dict[str, frozenset[EntityProperty]] = {}
        for _, name, value in given_leaves(arguments):
            known[name] = known.get(name, frozenset()) | self.known_of(value)
        return known

    def same_kind(self, number: int) -> Iterator[int]:
        kind = self._entities[number].kind
        yield from (n for n, one in enumerate(self._entities) if kind and one.kind == kind)

    def is_bare(self, number: int) -> bool:
        return not self._entities[number].properties

    def above(self, number: int) -> frozenset[int]:
        """Return an entity and all entities up to `MAX_LINK_DEPTH` links above it."""
        return frozenset(n for level in self.levels(number) for n in level)

    def levels(self, number: int, *, up: bool = True) -> list[list[int]]:
        """Return an entity, then the entities above it, grouped by distance up to `MAX_LINK_DEPTH`.

        If `up` is false, return the entities below it instead.
        """
        seen, levels = {number}, [[number]]
        for _ in range(MAX_LINK_DEPTH):
            some = [self._entities[n].above if up else self._entities[n].below for n in levels[-1]]
            level = [n for links in some for n in links if n not in seen]
            levels.append(list(dict.fromkeys(level)))
            seen.update(level)
        return levels

    def described(self, number: int) -> dict[str, Json]:
        """Return the properties to show to the user: those with one value that is not null."""
        return {
            " ".join(sorted(words)): values[0]
            for words, values in self._entities[number].properties.items()
            if len(values) == 1 and values[0] is not None
        }

    def _described(self, number: int, words: Words, *, like: bool = False) -> Iterator[list[Json]]:
        """Yield the values of a property (any, if `words` is empty), grouped by link distance."""
        upward, downward = self.levels(number), self.levels(number, up=False)
        for up, down in zip(upward, downward, strict=True):
            found = [
                value
                for n in dict.fromkeys((*up, *down))
                for name, values in self._entities[n].properties.items()
                if not words
                or _one_name(words, name, self._entities[n].kind)
                or (like and name and (words <= name or name <= words))
                for value in values
            ]
            if found:
                yield found

    def _read(self, result: Json, tool: str, own: tuple[str, Json] | None) -> list[int]:
        roots: list[int] = []
        left = MAX_ENTITY_VALUES
        todo: _Todo = deque([(result, subject_of(tool), None, None, (tool,))])
        while todo and left > 0:
            # Breadth first, so that a result cut off at the limit still has its outer entities.
            value, kind, around, key, place = todo.popleft()
            left -= 1
            if isinstance(value, list):
                self.cut = self.cut or len(value) > left
                todo.extend((one, kind, around, None, place) for one in value[:left])
                continue
            if isinstance(value, dict) and keys_are_data(value):
                todo.extend((inner, kind, around, name, place) for name, inner in value.items())
                continue
            if key is _PART and isinstance(value, dict) and around is not None:
                left -= self._take(around, value, todo, place)
                continue
            whole = own if around is None and value is result else None
            number = self._entity_of(value, kind, key, whole)
            if number is None:
                continue
            if isinstance(value, dict):
                number = self._occurrence(number, value)
            self._entities[number].places.add(place)
            if around is None:
                roots.append(number)
            else:
                self._link(number, around)
            if isinstance(value, dict):
                left -= self._take(number, value, todo, place)
        self.cut = self.cut or bool(todo)
        return roots

    def _occurrence(self, number: int, value: dict[str, Json]) -> int:
        # A result that contradicts itself splits the entity: a flight number on two days denotes
        # two flights.
        entity = self._entities[number]
        # Only within one result, since a later result may report a changed value.
        if number in self._read_now and any(
            not _has_parts(inner) and has and _same(inner) not in map(_same, has)
            for name, inner in value.items()
            if (has := entity.properties.get(singular_words(name)))
        ):
            number = len(self._entities)
            self._entities.append(ResultEntity(entity.kind, entity.id))
            self._holders.setdefault(_same(entity.id), {})[number] = None
        self._read_now.add(number)
        return number

    def _take(self, number: int, value: dict[str, Json], todo: _Todo, place: _Place) -> int:
        for name, inner in value.items():
            if isinstance(inner, (dict, list)):
                part = isinstance(inner, dict) and not _own_id(inner, singular_words(name), None)
                deeper = (*place, name)
                todo.append((inner, singular_words(name), number, _PART if part else None, deeper))
                for one in inner if isinstance(inner, list) else ():
                    if not isinstance(one, (dict, list)):
                        self._set_property(number, name, one, place)
            else:
                self._set_property(number, name, inner, place)
                if last_word(name) in ID_WORDS and inner is not None:
                    other = self._named(name, inner, self._entities[number].kind)
                    if other != number:
                        self._link(number, other)
        return len(value)

    def _entity_of(
        self, value: Json, kind: Words, key: Json, whole: tuple[str, Json] | None
    ) -> int | None:
        if not isinstance(value, dict):
            if value is None or isinstance(value, bool):
                return None
            return self._entity(kind - KEY_WORDS, value)
        name = _own_id(value, kind, whole)
        found = value[name] if name else key if key is not None else whole[1] if whole else None
        if found is None:
            return self._entity(kind, None)
        return self._entity(kind if not name else _kind(name, kind), found)

    def _named(self, name: str, value: Json, kind: Words = frozenset()) -> int:
        return self._entity(_kind(name, kind), value)

    def _entity(self, kind: Words, id_: Json) -> int:
        # A long text identifies one entity of any kind; numbers repeat across kinds.
        place = _same(id_) if isinstance(id_, str) and len(id_) > 2 else (kind, _same(id_))
        number = self._by_id.get(place) if id_ is not None else None
        if number is None:
            number = len(self._entities)
            self._entities.append(ResultEntity(kind, id_))
            if id_ is not None:
                self._by_id[place] = number
                self._holders.setdefault(_same(id_), {})[number] = None
        return number

    def _set_property(self, number: int, name: str, value: Json, place: _Place = ()) -> None:
        entity, words = self._entities[number], singular_words(name)
        # The first value in a new result replaces the values of earlier results.
        if entity.updated.get(words) != self._calls:
            entity.updated[words], entity.properties[words] = self._calls, []
        entity.properties[words].append(value)
        entity.shown.setdefault(words, set()).add(place)
        entity.places.add(place)
        self._holders.setdefault(_same(value), {})[number] = None

    def _link(self, lower: int, upper: int) -> None:
        if lower != upper:
            self._entities[lower].above[upper] = None
            self._entities[upper].below[lower] = None


def _own_id(value: dict[str, Json], kind: Words, whole: tuple[str, Json] | None) -> str:
    """Return the name of the property that identifies an object; empty if it has none."""
    plain_values = {n: v for n, v in value.items() if v is not None and not _has_parts(v)}
    ids = [name for name in plain_values if last_word(name) in KEY_WORDS]
    if whole is not None:
        same = [name for name in ids if _same(value[name]) == _same(whole[1])]
        if same or whole[0] in ids:
            return (same or [whole[0]])[0]
    for name in ids:
        words = singular_words(name)
        if words <= KEY_WORDS or words - KEY_WORDS == kind - KEY_WORDS:
            return name
    if whole is not None:
        return ""  # the argument of the call identifies it
    return next((name for name in ids if last_word(name) in ID_WORDS), "")


def _has_parts(value: Json) -> bool:
    return isinstance(value, (dict, list))


def _kind(name: str, kind: Words) -> Words:
    return (singular_words(name) - KEY_WORDS) or (kind - KEY_WORDS)


def _one_name(words: Words, name: Words, kind: Words) -> bool:
    return (words ^ name) <= kind | ID_WORDS


def _same(value: Json) -> object:
    return (isinstance(value, bool), str(plain(value)))
