"""Entity linking: finds which of the entities in results the user means.

A missing argument is the id of the only entity that satisfies the constraints of its query and all
other facts in the request. Amounts, addresses, dates and free texts are not ids: results contain
them, but the user did not necessarily mean them.
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
"""Words for properties that never identify an entity, even if a tool searches by them."""


SIMILAR_NAME_COMPATIBILITY = 0.5
"""Maximum compatibility of a value whose name is merely similar to the parameter's."""

SAME_NAME_COMPATIBILITY = 0.8
"""Minimum compatibility of a value that has the parameter's name."""


@dataclass(frozen=True)
class EntityCandidate:
    """A candidate value and its entity.

    Args:
        entity: Index of the entity in the graph.
        met: Constraints and stated facts that the entity satisfies.
        unknown: Constraints that are neither confirmed nor contradicted.
        broken: Constraints that the entity contradicts.
        fit: Similarity of the value's path to the parameter, from 0 to 1.
    """

    found: KnownValue
    entity: int
    met: frozenset[NamedValue]
    unknown: frozenset[NamedValue]
    broken: frozenset[NamedValue]
    fit: float


@dataclass(frozen=True)
class Identification:
    """The result of identifying the value of a query.

    Args:
        chosen: Best candidates, one per value. If there is one, it is the identified value.
        open: Candidates to query further before one is chosen, most likely first.
        lacking: Names of the unknown properties of the candidates in `open`.
        matched: Whether a candidate in `open` is known to satisfy all constraints.
        knowledge: Number of candidates plus number of constraints known to be satisfied or
            violated.
        met: Maximum number of the query's constraints that a candidate satisfies.
    """

    chosen: tuple[EntityCandidate, ...] = ()
    open: tuple[EntityCandidate, ...] = ()
    lacking: frozenset[str] = frozenset()
    matched: bool = False
    knowledge: int = 0
    met: int = 0

    @property
    def value(self) -> Json:
        """The identified value; None unless exactly one candidate is chosen."""
        return self.chosen[0].found.value if len(self.chosen) == 1 else None


@dataclass(frozen=True)
class EntityLinker:
    values: KnownValues
    graph: EntityGraph

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
        """Identify the value of a query as far as possible.

        Args:
            name: Name of the parameter that takes the value, or of the value to find.
            tool: Tool that takes the value; empty if the user only wants to know it.
            said: Other facts in the request, possibly about other entities.
            bound: Known values of the same call.
            taken: Values that must not be chosen.
            final: Whether no further query can find anything.
        """
        candidates = self._candidates(name, tool, query, said, taken, final=final)
        strong = [one for one in candidates if one.fit > SIMILAR_NAME_COMPATIBILITY]
        # Ignore merely similar names while queries may still find a better match.
        candidates = strong or (candidates if final else [])
        demanded = frozenset(query.constraints)
        knowledge = sum(1 + len(one.met) + len(one.broken) for one in candidates)
        met = max((len(one.met & demanded) for one in candidates), default=0)
        candidates = [one for one in candidates if not one.broken & demanded]
        if not final:
            open_ = self._open(candidates, demanded, bound)
            unseen = [] if tool else self._unseen(candidates)
            open_ += unseen
            if open_:
                lacking = frozenset(c.name for one in open_ for c in one.unknown if c.name)
                some = any(demanded <= one.met for one in open_)
                lacking |= {name} if unseen else frozenset()
                return Identification((), tuple(open_), lacking, some, knowledge, met)
        return Identification(
            self._best(candidates, demanded, query, bound), knowledge=knowledge, met=met
        )

    def _open(
        self,
        candidates: Sequence[EntityCandidate],
        demanded: frozenset[NamedValue],
        bound: Iterable[Json],
    ) -> list[EntityCandidate]:
        # Once some candidates meet the query, drop the others in three cases: a result of the same
        # kind would show that they meet it, they match the parameter less well, or they do not
        # belong to the entities that the call names.
        full = [one for one in candidates if demanded <= one.met]
        best = self._of_same_owner(full, bound)
        owners = self._owners(best, bound)
        rivals = [
            one
            for one in candidates
            if not demanded <= one.met
            and not any(
                self.graph.shown_alike(other.entity, one.entity, unknown.name)
                for other in best
                for unknown in demanded & one.unknown
            )
            and one.fit >= min([SAME_NAME_COMPATIBILITY, *(other.fit for other in best)])
            and owners <= self.graph.above(one.entity)
        ]
        # A candidate with contradictions loses to one without, so it needs no query.
        clean = _least(best, lambda one: len(one.broken))
        return [one for one in (*clean, *rivals) if one.unknown]

    def _unseen(self, candidates: Sequence[EntityCandidate]) -> list[EntityCandidate]:
        unseen: dict[int, EntityCandidate] = {}
        for one in candidates:
            for number in self.graph.same_kind(one.entity):
                if self.graph.is_bare(number):
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
        excluded = {key(value) for value in taken}
        found: dict[tuple[str, int], EntityCandidate] = {}
        matching = [
            one
            for one in self.values.matching(name, tool)
            if not one.said and one.value is not None and key(one.value) not in excluded
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
            # A property of the common owner does not distinguish its entities.
            if constraint in query.constraints and not final and self.graph.is_bare(entity):
                judged = ConstraintMatch.UNKNOWN
            by[judged].add(constraint)
        # The request may state several values for one name; an entity needs only one of them.
        names = {constraint.name for constraint in by[ConstraintMatch.MET]}
        by[ConstraintMatch.BROKEN] -= {
            one
            for one in by[ConstraintMatch.BROKEN]
            if one.name in names and one not in query.constraints
        }
        met, unknown, broken = (
            frozenset(by[one])
            for one in (ConstraintMatch.MET, ConstraintMatch.UNKNOWN, ConstraintMatch.BROKEN)
        )
        fit = self.values.fit(found, name, tool)
        return EntityCandidate(found, entity, met, unknown, broken, fit)

    def _best(
        self,
        candidates: Sequence[EntityCandidate],
        demanded: frozenset[NamedValue],
        query: EntityQuery,
        bound: Iterable[Json],
    ) -> tuple[EntityCandidate, ...]:
        # Lexicographic: the query's own constraints take precedence over other facts of the
        # request.
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
                return some  # not comparable
            some = sorted(some, key=measures.__getitem__, reverse=selection.order is Order.MOST)
            ties = [one for one in some if measures[one] == measures[some[0]]]
            # "The cheapest" is ambiguous if two entities are equally cheap.
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
    """Return whether a value identifies an entity, rather than being one of its properties.

    It does if its name says so, or if some tool in `readers` looks up entities by this parameter
    alone. Numbers, booleans and parameters with choices need a name that ends in `ID_WORDS`.

    Args:
        name: Name of the parameter, or of a key of an object parameter.
        parameter: The parameter; None if `name` is a key.
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
