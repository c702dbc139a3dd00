"""What results of calls say, as a graph: entities, their properties, and links between them.

An object in a result is an entity. It is known by its id, so that what several results say of it
comes together; what a later result says replaces what an earlier one said under the same name. A
link leads up from an entity to what it belongs to or refers to: from a nested object to the one
around it, from an object with a `user_id` to that user, from what a call returns to the entity
that its argument names. An entity is described by what it has itself, then by what is above it and
what is below it; never by what its siblings have.
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
"""Values of one result that are read."""

MAX_LINK_DEPTH = 3
"""Links in a row from an entity to one that describes it."""

ID_WORDS = frozenset(("id", "uuid", "guid"))
"""Words by which a property's name says that it identifies something, whatever else it says."""

KEY_WORDS = ID_WORDS | {"key", "code", "number", "reference", "slug", "sku"}
"""Words by which a property's name says that it may identify the object in which it stands."""

Words = frozenset[str]

EntityProperty: TypeAlias = "tuple[Words, Json]"
"""A property of an entity: the words of its name, and a value."""

_Place = tuple[str, ...]
"""A tool, and the keys that lead to an object in its results."""

_Todo = deque[tuple[Json, Words, "int | None", Json, _Place]]

_PART: Any = object()
"""In place of a key: the object has no id, so that what it says is said of the one around it."""


class ConstraintMatch(Enum):
    """Whether an entity meets a constraint."""

    MET = "met"
    BROKEN = "broken"
    UNTOLD = "untold"
    """Nothing that is known of it says so or otherwise."""


@dataclass
class ResultEntity:
    """Something that results speak of. Only its graph changes it.

    Args:
        kind: The words for its kind, such as `order`.
        id: The id; None if there is none.
        properties: The values of each property, by the words of the property's name.
        above: The numbers of the entities that it belongs to or refers to.
        below: The numbers of the entities that belong to it or refer to it.
        told: The number of the last call whose result gives each property.
        places: The places in results that hold it: a tool and the path of the object.
        shown: The places that give each property.
    """

    kind: Words
    id: Json = None
    properties: dict[Words, list[Json]] = field(default_factory=dict)
    above: dict[int, None] = field(default_factory=dict)
    below: dict[int, None] = field(default_factory=dict)
    told: dict[Words, int] = field(default_factory=dict)
    places: set[_Place] = field(default_factory=set)
    shown: dict[Words, set[_Place]] = field(default_factory=dict)


class EntityGraph:
    """The entities of the results so far."""

    cut: bool
    """Whether a result was too long to be read whole, so that entities may be missing."""

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
        """Read the result of a call that went well."""
        self._calls += 1
        self._read_now = set()
        given = [
            (name, value)
            for _, name, value in given_leaves(outcome.call.arguments)
            if value is not None
        ]
        ids = [(name, value) for name, value in given if last_word(name) in KEY_WORDS]
        # Of several ids none says whose the result is.
        owner = self._named(ids[0][0], ids[0][1]) if len(ids) == 1 else None
        own = ids[0] if len(ids) == len(given) == 1 else None
        for number in self._read(outcome.result, outcome.call.tool, own):
            if owner is not None:
                self._link(number, owner)
            for name, value in given:
                if singular_words(name) not in self._entities[number].properties:
                    self._tell(number, name, value)

    def holders(self, value: Json) -> tuple[int, ...]:
        """Return the entities whose id a value is; if there are none, those that have it."""
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
        """Return the entities whose id or property a value is."""
        return tuple(self._holders.get(_same(value), ()))

    def fit(self, number: int, constraint: NamedValue) -> ConstraintMatch:
        """Say whether an entity meets a constraint, by the nearest that describes it.

        Args:
            number: Of the entity.
            constraint: A name and a value; without a name any property may have the value.
        """
        wanted, words = plain(constraint.value), singular_words(leaf_of(constraint.name))
        for values in self._described(number, words):
            if any(plain(value) == wanted for value in values):
                return ConstraintMatch.MET
            if words:
                return ConstraintMatch.BROKEN
        # A full name may be meant by a name: it says that the constraint is met, not that it is
        # not.
        like = (v for vs in self._described(number, words, like=True) for v in vs)
        return (
            ConstraintMatch.MET
            if any(plain(value) == wanted for value in like)
            else ConstraintMatch.UNTOLD
        )

    def shown_alike(self, one: int, other: int, name: str) -> bool:
        """Say whether what says a property of one entity says nothing of it of the other.

        Objects that stand at one place in results of one tool have the properties that they have.
        """
        words, entity = singular_words(leaf_of(name)), self._entities[one]
        places = (p for own, p in entity.shown.items() if _one_name(words, own, entity.kind))
        return any(some & self._entities[other].places for some in places)

    def property(self, number: int, name: str) -> tuple[Json, ...]:
        """Return the values that an entity, or the nearest that describes it, has under a name."""
        return tuple(next(self._described(number, singular_words(leaf_of(name))), ()))

    def known_of(self, value: Json) -> frozenset[EntityProperty]:
        """Return the properties of the entities that a value names.

        What the nearest that describes an entity has under a name counts.
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
        """Return the known properties of the entities that arguments name, by argument."""
        known: dict[str, frozenset[EntityProperty]] = {}
        for _, name, value in given_leaves(arguments):
            known[name] = known.get(name, frozenset()) | self.known_of(value)
        return known

    def like(self, number: int) -> Iterator[int]:
        """Give the entities of the same kind."""
        kind = self._entities[number].kind
        yield from (n for n, one in enumerate(self._entities) if kind and one.kind == kind)

    def bare(self, number: int) -> bool:
        """Say whether nothing but its id is known of an entity itself."""
        return not self._entities[number].properties

    def above(self, number: int) -> frozenset[int]:
        """Return an entity and all that it belongs to or refers to."""
        return frozenset(n for level in self.levels(number) for n in level)

    def levels(self, number: int, *, up: bool = True) -> list[list[int]]:
        """Return an entity, then what is one link above or below it, then two links, and so on."""
        seen, levels = {number}, [[number]]
        for _ in range(MAX_LINK_DEPTH):
            some = [self._entities[n].above if up else self._entities[n].below for n in levels[-1]]
            level = [n for links in some for n in links if n not in seen]
            levels.append(list(dict.fromkeys(level)))
            seen.update(level)
        return levels

    def telling(self, number: int) -> dict[str, Json]:
        """Return an entity's own properties that have one value, by which people tell it."""
        return {
            " ".join(sorted(words)): values[0]
            for words, values in self._entities[number].properties.items()
            if len(values) == 1 and values[0] is not None
        }

    def _described(self, number: int, words: Words, *, like: bool = False) -> Iterator[list[Json]]:
        """Give the values that an entity has under a name, level by level, where it has any."""
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
        """Read a result; return the entities that are in no other."""
        roots: list[int] = []
        left = MAX_ENTITY_VALUES
        todo: _Todo = deque([(result, subject_of(tool), None, None, (tool,))])
        while todo and left > 0:
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
        """Return the entity of an object; another one of its id where one result says two things.

        A flight number on two days is two flights.
        """
        entity = self._entities[number]
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
        """Take in the properties of an object; return how many there are."""
        for name, inner in value.items():
            if isinstance(inner, (dict, list)):
                part = isinstance(inner, dict) and not _own_id(inner, singular_words(name), None)
                deeper = (*place, name)
                todo.append((inner, singular_words(name), number, _PART if part else None, deeper))
                for one in inner if isinstance(inner, list) else ():
                    if not isinstance(one, (dict, list)):
                        self._tell(number, name, one, place)
            else:
                self._tell(number, name, inner, place)
                if last_word(name) in ID_WORDS and inner is not None:
                    other = self._named(name, inner, self._entities[number].kind)
                    if other != number:
                        self._link(number, other)
        return len(value)

    def _entity_of(
        self, value: Json, kind: Words, key: Json, whole: tuple[str, Json] | None
    ) -> int | None:
        """Return the entity that a value of a result is; a new one where it has no known id."""
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
        # A text of some length is one thing's id only; a number is one thing's of each kind.
        place = _same(id_) if isinstance(id_, str) and len(id_) > 2 else (kind, _same(id_))
        number = self._by_id.get(place) if id_ is not None else None
        if number is None:
            number = len(self._entities)
            self._entities.append(ResultEntity(kind, id_))
            if id_ is not None:
                self._by_id[place] = number
                self._holders.setdefault(_same(id_), {})[number] = None
        return number

    def _tell(self, number: int, name: str, value: Json, place: _Place = ()) -> None:
        entity, words = self._entities[number], singular_words(name)
        if entity.told.get(words) != self._calls:
            entity.told[words], entity.properties[words] = self._calls, []
        entity.properties[words].append(value)
        entity.shown.setdefault(words, set()).add(place)
        entity.places.add(place)
        self._holders.setdefault(_same(value), {})[number] = None

    def _link(self, lower: int, upper: int) -> None:
        if lower != upper:
            self._entities[lower].above[upper] = None
            self._entities[upper].below[lower] = None


def _own_id(value: dict[str, Json], kind: Words, whole: tuple[str, Json] | None) -> str:
    """Return the name of the property that identifies an object; empty if none does."""
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
        return ""  # the argument names it
    return next((name for name in ids if last_word(name) in ID_WORDS), "")


def _has_parts(value: Json) -> bool:
    return isinstance(value, (dict, list))


def _kind(name: str, kind: Words) -> Words:
    return (singular_words(name) - KEY_WORDS) or (kind - KEY_WORDS)


def _one_name(words: Words, name: Words, kind: Words) -> bool:
    return (words ^ name) <= kind | ID_WORDS


def _same(value: Json) -> object:
    return (isinstance(value, bool), str(plain(value)))
