"""Which entity a request means: the one that meets what it says, several, or none that is known.

A value of a call that is not said is the id of the one entity that meets the constraints of its
query and everything else that the request says. Amounts, addresses, dates and free texts are not
ids: results hold them, but that does not mean that the user meant them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema
from hvr.tools.navigation.entities import ID_WORDS, KEY_WORDS, ConstraintMatch, EntityGraph
from hvr.tools.navigation.known_values import (
    KnownValue,
    KnownValues,
    key,
    last_word,
    singular_words,
)
from hvr.tools.navigation.request import EntityQuery, NamedValue, Order

_NO_IDS = frozenset(
    """
    amount price cost total quantity count date time day month year address street city state
    country zip postal mail email phone text message note reason comment title description
    """.split()
)
"""Words for what is had by an entity and does not name one, whatever a tool looks up by it."""


SIMILAR_NAME_COMPATIBILITY = 0.5
"""The most that a place suits a parameter if their names are merely similar (`naming.fit`)."""

SAME_NAME_COMPATIBILITY = 0.8
"""The least that a place suits a parameter whose name it has."""


@dataclass(frozen=True)
class EntityCandidate:
    """A value that may be meant, and the entity that has it.

    Args:
        found: The value, where a result has it.
        entity: Its number in the graph.
        met: The constraints and said values that the entity meets.
        untold: The constraints that nothing known confirms or contradicts.
        broken: The constraints that the entity does not meet.
        fit: How well the value's place suits the parameter, from 0 to 1.
    """

    found: KnownValue
    entity: int
    met: frozenset[NamedValue]
    untold: frozenset[NamedValue]
    broken: frozenset[NamedValue]
    fit: float


@dataclass(frozen=True)
class Identification:
    """What is known of the value that a query asks for.

    Args:
        chosen: Candidates that meet the query equally well, one for each value; one alone is
            identified.
        open: Candidates that queries have to tell more about first, the likeliest first.
        lacking: The names of the properties that are not known of them.
        some: Whether any candidate is known to meet the query.
        told: How much is known of the candidates.
        met: The most constraints of the query that a candidate is known to meet.
    """

    chosen: tuple[EntityCandidate, ...] = ()
    open: tuple[EntityCandidate, ...] = ()
    lacking: frozenset[str] = frozenset()
    some: bool = False
    told: int = 0
    met: int = 0

    @property
    def value(self) -> Json:
        """The value that is identified; None if there is none, or several are left."""
        return self.chosen[0].found.value if len(self.chosen) == 1 else None


@dataclass(frozen=True)
class EntityLinker:
    """Identifies entities by what results say and the request says.

    Args:
        values: The values at hand.
        graph: The entities of the results.
        readers: Tools that are known to only read.
    """

    values: KnownValues
    graph: EntityGraph
    readers: Sequence[ToolSchema]

    def names_entity(self, name: str, parameter: ToolParameter | None = None) -> bool:
        """Return whether a value names an entity; see the function `names_entity`."""
        return names_entity(name, parameter, self.readers)

    def identify(
        self,
        name: str,
        tool: str,
        query: EntityQuery,
        said: Collection[NamedValue],
        bound: Iterable[Json],
        taken: Collection[Json],
        *,
        final: bool,
    ) -> Identification:
        """Return what is known of a value.

        Args:
            name: The name of the parameter that takes the value, or of the value to be known.
            tool: The tool that takes the value; empty if it is only to be known.
            query: The constraints on its entity.
            said: The other things that the request says, perhaps of other entities.
            bound: The known values of the same call.
            taken: Values that are not meant.
            final: Whether no query can tell more.
        """
        candidates = self._candidates(name, tool, query, said, taken, final=final)
        strong = [one for one in candidates if one.fit > SIMILAR_NAME_COMPATIBILITY]
        # While anything else can be looked up, a place whose name is only like is none.
        candidates = strong or (candidates if final else [])
        demanded = frozenset(query.constraints)
        told = sum(1 + len(one.met) + len(one.broken) for one in candidates)
        met = max((len(one.met & demanded) for one in candidates), default=0)
        candidates = [one for one in candidates if not one.broken & demanded]
        if not final:
            open_ = self._open(candidates, demanded, bound)
            unseen = [] if tool else self._unseen(candidates)
            open_ += unseen
            if open_:
                lacking = frozenset(c.name for one in open_ for c in one.untold if c.name)
                some = any(demanded <= one.met for one in open_)
                lacking |= {name} if unseen else frozenset()
                return Identification((), tuple(open_), lacking, some, told, met)
        return Identification(self._best(candidates, demanded, query, bound), told=told, met=met)

    def _open(
        self,
        candidates: Sequence[EntityCandidate],
        demanded: frozenset[NamedValue],
        bound: Iterable[Json],
    ) -> list[EntityCandidate]:
        """Return the candidates that more has to be known about before one is chosen.

        Once some meet the query, others are left out if a result of the same kind would show that
        they meet it, if they suit the parameter less well, or if they do not belong to the
        entities that the call names.
        """
        full = [one for one in candidates if demanded <= one.met]
        best = self._of_same_owner(full, bound)
        owners = self._owners(best, bound)
        rivals = [
            one
            for one in candidates
            if not demanded <= one.met
            and not any(
                self.graph.shown_alike(other.entity, one.entity, untold.name)
                for other in best
                for untold in demanded & one.untold
            )
            and one.fit >= min([SAME_NAME_COMPATIBILITY, *(other.fit for other in best)])
            and owners <= self.graph.above(one.entity)
        ]
        # What contradicts the request where another does not needs no closer look.
        clean = _least(best, lambda one: len(one.broken))
        return [one for one in (*clean, *rivals) if one.untold]

    def _unseen(self, candidates: Sequence[EntityCandidate]) -> list[EntityCandidate]:
        """Return the entities of which nothing is known and whose like have what is asked for."""
        unseen: dict[int, EntityCandidate] = {}
        for one in candidates:
            for number in self.graph.like(one.entity):
                if self.graph.bare(number):
                    unseen[number] = replace(one, entity=number)
        return list(unseen.values())

    def _owners(self, some: Sequence[EntityCandidate], bound: Iterable[Json]) -> frozenset[int]:
        if not some:
            return frozenset()
        named = {n for value in bound for n in self.graph.holders(value)}
        return frozenset(named).intersection(*(self.graph.above(one.entity) for one in some))

    def _of_same_owner(
        self, some: Sequence[EntityCandidate], bound: Iterable[Json]
    ) -> Sequence[EntityCandidate]:
        """Return the candidates that belong to what other values of the call name, if any do."""
        for value in bound:
            owners = set(self.graph.holders(value))
            some = _least(some, lambda one: not owners & self.graph.above(one.entity))  # noqa: B023
        return some

    def _candidates(
        self,
        name: str,
        tool: str,
        query: EntityQuery,
        said: Collection[NamedValue],
        taken: Collection[Json],
        *,
        final: bool,
    ) -> list[EntityCandidate]:
        gone = {key(value) for value in taken}
        found: dict[tuple[str, int], EntityCandidate] = {}
        matching = [
            one
            for one in self.values.matching(name, tool)
            if not one.said and one.value is not None and key(one.value) not in gone
        ]
        for one in matching:
            for entity in self.graph.holders(one.value):
                place = key(one.value), entity
                if place not in found:
                    found[place] = self._judged(one, entity, query, said, name, tool, final)
        return list(found.values())

    def _judged(
        self,
        found: KnownValue,
        entity: int,
        query: EntityQuery,
        said: Iterable[NamedValue],
        name: str,
        tool: str,
        final: bool,
    ) -> EntityCandidate:
        by: dict[ConstraintMatch, set[NamedValue]] = {fit: set() for fit in ConstraintMatch}
        for constraint in {*query.constraints, *said}:
            judged = self.graph.fit(entity, constraint)
            # What is had by the owner of all of them tells none of them.
            if constraint in query.constraints and not final and self.graph.bare(entity):
                judged = ConstraintMatch.UNTOLD
            by[judged].add(constraint)
        # Of several values that are said under one name an entity has one.
        names = {constraint.name for constraint in by[ConstraintMatch.MET]}
        by[ConstraintMatch.BROKEN] -= {
            one
            for one in by[ConstraintMatch.BROKEN]
            if one.name in names and one not in query.constraints
        }
        met, untold, broken = (
            frozenset(by[one])
            for one in (ConstraintMatch.MET, ConstraintMatch.UNTOLD, ConstraintMatch.BROKEN)
        )
        suits = self.values.fit(found, name, tool)
        return EntityCandidate(found, entity, met, untold, broken, suits)

    def _best(
        self,
        candidates: Sequence[EntityCandidate],
        demanded: frozenset[NamedValue],
        query: EntityQuery,
        bound: Iterable[Json],
    ) -> tuple[EntityCandidate, ...]:
        """Return the candidates that meet most constraints and belong to the call's entities."""
        some = _least(candidates, lambda one: len(demanded - one.met))
        some = _least(some, lambda one: len(one.broken))
        some = _least(some, lambda one: -len(one.met))
        some = _least(self._of_same_owner(some, bound), lambda one: -one.fit)
        some = list({key(one.found.value): one for one in reversed(some)}.values())[::-1]
        return tuple(self._selected(some, query) if query.selection is not None else some)

    def _selected(
        self, some: Sequence[EntityCandidate], query: EntityQuery
    ) -> Sequence[EntityCandidate]:
        selection = query.selection
        assert selection is not None
        if selection.order is not Order.LISTED:
            measures = {one: self._measure(one, selection.by) for one in some}
            if len({type(value) for value in measures.values()}) > 1 or None in measures.values():
                return some  # not all of them can be compared
            some = sorted(some, key=measures.__getitem__, reverse=selection.order is Order.MOST)
            ties = [one for one in some if measures[one] == measures[some[0]]]
            if selection.position == 1 and len(ties) > 1:
                return ties
        place = selection.position - 1 if selection.position > 0 else selection.position
        return [some[place]] if -len(some) <= place < len(some) else []

    def _measure(self, one: EntityCandidate, by: str) -> Any:
        values = self.graph.property(one.entity, by)
        if len(values) != 1 or isinstance(values[0], (bool, list, dict)):
            return None
        value = values[0]
        return float(value) if isinstance(value, int) else value


def _least(
    some: Sequence[EntityCandidate], measure: Callable[[EntityCandidate], float]
) -> list[EntityCandidate]:
    least = min(map(measure, some), default=0)
    return [one for one in some if measure(one) == least]


def names_entity(name: str, parameter: ToolParameter | None, readers: Iterable[ToolSchema]) -> bool:
    """Return whether a value names an entity, rather than being something that one has.

    Its name says so, or some tool looks a thing up by a text of this name alone.

    Args:
        name: The name of the parameter, or of a key in an object that a parameter takes.
        parameter: The parameter itself; None of a key.
        readers: The tools that are known to only read.
    """
    words = singular_words(name)
    if last_word(name) in ID_WORDS:
        return True
    types = set(parameter.type.split("|")) if parameter is not None else set()
    if words & _NO_IDS or types & {"number", "boolean"} or (parameter and parameter.choices):
        return False
    return last_word(name) in KEY_WORDS or any(
        [singular_words(p.name) for p in tool.takes if p.required] == [words] for tool in readers
    )
