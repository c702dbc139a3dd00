"""The argument values of a goal call: stated, identified, still to be found, or asked for.

hvr makes a call only with values that the user stated, or that identify the only entity matching
the user's statements. Every other value becomes a question to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hvr.base.printable import one_line, short
from hvr.tools.calling.calls import Json, Provenance, Source, ToolCall
from hvr.tools.catalogue.schema import Effect, ToolSchema, quoted
from hvr.tools.navigation.entities import ConstraintMatch, EntityGraph
from hvr.tools.navigation.entity_linking import (
    SIMILAR_NAME_COMPATIBILITY,
    EntityCandidate,
    EntityLinker,
    Identification,
    names_entity,
)
from hvr.tools.navigation.known_values import KnownValues, key
from hvr.tools.navigation.preconditions import LearntConditions
from hvr.tools.navigation.queries import QueryTarget
from hvr.tools.navigation.request import (
    EntityQuery,
    GoalCall,
    NamedValue,
    Place,
    ToolRequest,
    at,
    given_leaves,
    leaves,
    peers_of,
)


class QuestionKind(StrEnum):
    MISSING = "missing"
    """The user did not state it, and no query can find it."""
    SEVERAL = "several"
    """Several values match the request."""
    CONFIRM = "confirm"
    """One value is likely, but some stated facts are unconfirmed."""


@dataclass(frozen=True)
class UserQuestion:
    """A question that only the user can answer.

    Args:
        goal: Index of the goal call that needs the answer.
        name: Name of the parameter or value in question.
        why: Reason for the question, as a clause.
        choices: Candidate values, each with a description that distinguishes it.
    """

    kind: QuestionKind
    goal: int
    name: str
    why: str
    choices: tuple[tuple[Json, str], ...] = ()


@dataclass(frozen=True)
class BoundValues:
    """The known and missing values of a goal call.

    Args:
        values: Stated and identified values, by place.
        sources: Source of each value, by place.
        searches: Values that queries may find, in the order of the tool's parameters.
        questions: Questions about the other missing values.
        knowledge: Number of candidates and of facts known about them; it grows with each useful
            query.
        met: Number of constraints that the best candidate meets.
    """

    values: Mapping[Place, Json]
    sources: Mapping[Place, Source]
    searches: tuple[QueryTarget, ...] = ()
    questions: tuple[UserQuestion, ...] = ()
    knowledge: int = 0
    met: int = 0


@dataclass
class Binder:
    """Binds values to the arguments of a request's goal calls.

    Args:
        conditions: Learnt preconditions of tools.
        readers: Tools known to be read-only.
        made: Calls made for completed goals, by goal index.
        excluded: Entities that must not be chosen, by goal index.
    """

    request: ToolRequest
    found: KnownValues
    graph: EntityGraph
    conditions: LearntConditions
    schemas: Mapping[str, ToolSchema]
    readers: Sequence[ToolSchema]
    made: dict[int, ToolCall] = field(default_factory=dict)
    excluded: dict[int, list[Json]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._identifier = EntityLinker(self.found, self.graph)
        direct = {
            key(value)
            for goal in self.request.goals
            for _, _, value in given_leaves(goal.arguments)
            if value is not None
        }
        self._every: dict[int, list[Json]] = {}
        self._passed: dict[int, list[Json]] = {}
        self._facts = tuple(one for one in self.request.said if key(one.value) not in direct)

    def pending(self, number: int) -> tuple[Json, ...]:
        gone = {key(value) for value in self._passed.get(number, ())}
        return tuple(one for one in self._every.get(number, ()) if key(one) not in gone)

    def count(self, number: int) -> int:
        return len(self._every.get(number, ()))

    def finish_entity(self, number: int, call: ToolCall) -> None:
        """Mark a call's entity as finished, if goal `number` is an "every …" goal."""
        place = self._every_place(number)
        if place is not None:
            self._passed.setdefault(number, []).append(at(call.arguments, place))

    def _every_place(self, number: int) -> Place | None:
        return next(
            (
                place
                for place, _, query in leaves(self.request.goals[number].arguments)
                if isinstance(query, EntityQuery) and query.every
            ),
            None,
        )

    def _each(
        self,
        number: int,
        goal: GoalCall,
        place: Place,
        name: str,
        query: EntityQuery,
        found: Identification,
    ) -> tuple[UserQuestion | None, Json]:
        if number not in self._passed:
            # Determine the entities once, at the start: the calls may change what matches.
            self._every[number] = [one.found.value for one in found.chosen]
            for one in found.chosen:
                alone = replace(found, chosen=(one,))
                question, _ = self._decided(number, goal, place, name, query, alone)
                if question is not None:
                    return replace(question, choices=self._distinguished(found.chosen)), None
        left = self.pending(number)
        return None, left[0] if left else None

    def missing(self) -> tuple[UserQuestion, ...]:
        found = []
        for number, goal in enumerate(self.request.goals):
            for place, name, query in leaves(goal.arguments):
                if isinstance(query, EntityQuery) and not self._can_find(goal, place, query):
                    why = f"{quoted(goal.tool)} needs it, but the request does not state it"
                    found.append(UserQuestion(QuestionKind.MISSING, number, name, why))
        return tuple(found)

    def bind(self, number: int, *, final: bool) -> BoundValues:
        """Return the known and missing values of a goal call.

        Values are bound in the order of the parameters, because earlier arguments determine the
        entities of later ones.

        Args:
            number: Index of the goal call.
            final: Whether no further query could find a value.
        """
        goal = self.request.goals[number]
        known: dict[Place, Json] = {p: v for p, _, v in given_leaves(goal.arguments)}
        said = Source(Provenance.SAID, "the request states it")
        sources = dict.fromkeys([*known, *_wholly_said(goal)], said)
        searches: list[QueryTarget] = []
        questions: list[UserQuestion] = []
        before: dict[Place, Json] = {}
        knowledge = met = 0
        for place, name, query in leaves(goal.arguments):
            if not isinstance(query, EntityQuery):
                before[place] = known.get(place)
                continue
            bound = tuple(value for value in known.values() if value is not None)
            ties = tuple(peers_of(place, before)) or bound
            taken = self._excluded_values(number, place, before)
            search = QueryTarget(name, query, bound, ties, goal.tool)
            if questions:
                continue  # the answer names the entity of the later values
            if searches:
                searches.append(search)
                continue
            if number in self._passed and query.every:
                known[place] = before[place] = next(iter(self.pending(number)), None)
                sources[place] = Source(Provenance.IDENTIFIED, f"one {name} of all matches")
                continue
            open_facts = self._open_facts(known)
            found = self._identifier.identify(
                name, goal.tool, query, open_facts, ties, taken, final=final
            )
            knowledge, met = knowledge + found.knowledge, met + found.met
            # query first, since a better match may still be unknown
            if found.open or not found.chosen:
                near = self._near([one.entity for one in found.open])
                searches.append(
                    replace(search, near=near, lacking=found.lacking, found=found.matched)
                )
                continue
            decide = self._each if query.every and goal.tool else self._decided
            question, value = decide(number, goal, place, name, query, found)
            if question is not None:
                questions.append(question)
                continue
            known[place] = before[place] = value
            sources[place] = self._source(found.chosen[0], name)
        asks = any(isinstance(query, EntityQuery) for _, _, query in leaves(goal.arguments))
        if not searches and not questions and (self._writes(goal) or (goal.tool and asks)):
            more = self._unused(number, goal, known, final=final)
            searches += more[0]
            questions += more[1]
        return BoundValues(known, sources, tuple(searches), tuple(questions), knowledge, met)

    def _open_facts(self, known: Mapping[Place, Json]) -> list[NamedValue]:
        entities = self._entities(known)
        return [
            fact
            for fact in self._facts
            if all(self.graph.fit(entity, fact) is not ConstraintMatch.MET for entity in entities)
        ]

    def _can_find(self, goal: GoalCall, place: Place, query: EntityQuery) -> bool:
        if not goal.tool or query.constraints or query.selection:
            return True
        return self._names_entity(goal, place)

    def _names_entity(self, goal: GoalCall, place: Place) -> bool:
        keys = [step for step in place if isinstance(step, str)]
        takes = self.schemas[goal.tool].takes if goal.tool and len(keys) == 1 else ()
        parameter = next((p for p in takes if p.name == place[0]), None)
        return names_entity(keys[-1], parameter, self.readers)

    def _decided(
        self,
        number: int,
        goal: GoalCall,
        place: Place,
        name: str,
        query: EntityQuery,
        found: Identification,
    ) -> tuple[UserQuestion | None, Json]:
        chosen = self._allowed(goal, name, found.chosen)
        values = [one.found.value for one in chosen]
        if not goal.tool:
            # A value used by a query led to the result, even if the entity does not show it.
            unconfirmed = [
                one
                for one in chosen
                if one.broken or any(not self.found.taken(c.value) for c in one.unknown)
            ]
            if not unconfirmed:  # all answers are wanted
                return None, values[0] if len(values) == 1 else values
            why = self._why_uncertain(unconfirmed[0])
            return UserQuestion(
                QuestionKind.CONFIRM, number, name, why, self._distinguished(chosen)
            ), None
        if len(chosen) > 1:
            why = f"several values of {quoted(name)} match the request"
            return UserQuestion(
                QuestionKind.SEVERAL, number, name, why, self._distinguished(chosen)
            ), None
        one = chosen[0]
        writes = self._writes(goal)
        why = ""
        if writes and not self._names_entity(goal, place):
            why = "it was found in a result, but the request does not state it"
        elif writes and one.fit <= SIMILAR_NAME_COMPATIBILITY:
            why = "it was found under another name"
        elif one.broken or not set(query.constraints) <= one.met:
            why = self._why_uncertain(one)
        elif writes and self.graph.cut:
            why = "a result was too long to be read completely, so there may be others"
        elif writes and not self._related(one, goal):
            why = "nothing in the request is confirmed for it"
        if why:
            return UserQuestion(
                QuestionKind.CONFIRM, number, name, why, self._distinguished(chosen)
            ), None
        return None, one.found.value

    def _contradictions(
        self, entities: Iterable[int], broken: Iterable[NamedValue], unknown: Iterable[NamedValue]
    ) -> str:
        entities = list(entities)
        clauses = [self._contradiction(one, entities) for one in broken]
        clauses += [f"{_listed([one])} is not confirmed" for one in unknown]
        return "; ".join(clauses)

    def _why_uncertain(self, one: EntityCandidate) -> str:
        return self._contradictions(
            [one.entity], sorted(one.broken, key=str), sorted(one.unknown, key=str)
        )

    def _near(self, entities: Iterable[int]) -> tuple[Json, ...]:
        entities = list(entities)
        wider = [n for entity in entities for n in sorted(self.graph.above(entity))]
        ids = (self.graph[n].id for n in (*entities, *wider))
        return tuple({key(one): one for one in ids if one is not None}.values())

    def _related(self, one: EntityCandidate, goal: GoalCall) -> bool:
        if one.met:
            return True
        values: list[Json] = [v for _, _, v in given_leaves(goal.arguments) if v is not None]
        values += [said.value for said in self.request.said]
        reached = self.graph.above(one.entity)
        owners = {n for value in values for n in self.graph.holders(value)}
        return any(reached & self.graph.above(owner) for owner in owners)

    def _unused(
        self, number: int, goal: GoalCall, known: Mapping[Place, Json], *, final: bool
    ) -> tuple[list[QueryTarget], list[UserQuestion]]:
        # A writing call must respect everything that the user stated.
        goals = self.request.goals
        others = [n for n, one in enumerate(goals) if one.tool and n not in {number, *self.made}]
        queries = any(
            isinstance(v, EntityQuery)
            for n in others
            for _, _, v in leaves(self.request.goals[n].arguments)
        )
        entities = self._entities(known)
        for call in self.made.values():
            entities += self._entities({p: v for p, _, v in given_leaves(call.arguments)})
        fits = {said: {self.graph.fit(entity, said) for entity in entities} for said in self._facts}
        open_ = [said for said, fit in fits.items() if ConstraintMatch.MET not in fit]
        if queries:
            return [], []  # the facts may describe the entities of those queries
        broken = [said for said in open_ if ConstraintMatch.BROKEN in fits[said]]
        if not broken and not final:
            names = [
                (place, name)
                for place, name, _ in leaves(goal.arguments)
                if place in known and self._names_entity(goal, place)
            ]
            values = tuple(known[place] for place, _ in names)
            near = dict.fromkeys((*values, *self._near(self._entities(known))))
            lacking = frozenset(one.name for one in open_ if one.name)
            if names and lacking:
                query = EntityQuery(tuple(open_))
                return [
                    QueryTarget(
                        names[0][1],
                        query,
                        values,
                        values,
                        goal.tool,
                        tuple(near),
                        lacking,
                        found=True,
                    )
                ], []
        if not any(isinstance(query, EntityQuery) for _, _, query in leaves(goal.arguments)):
            open_ = broken  # the request names its entities itself
        if not open_:
            return [], []
        first = next(iter(known), ())
        name = str(first[0]) if first else goal.tool
        why = self._contradictions(entities, broken, [one for one in open_ if one not in broken])
        choices = tuple((known[p], "") for p in known if p == first)
        return [], [UserQuestion(QuestionKind.CONFIRM, number, name, why, choices)]

    def _contradiction(self, said: NamedValue, entities: Iterable[int]) -> str:
        has = next(
            (
                self.graph.property(n, said.name)
                for n in entities
                if self.graph.fit(n, said) is ConstraintMatch.BROKEN
            ),
            (),
        )
        listed = ", ".join(short(one_line(str(value)), 80) for value in has[:3])
        return f"{quoted(said.name)} is {listed}, not {short(one_line(str(said.value)), 80)}"

    def _entities(self, known: Mapping[Place, Json]) -> list[int]:
        return [
            n for value in known.values() if value is not None for n in self.graph.holders(value)
        ]

    def _writes(self, goal: GoalCall) -> bool:
        return bool(goal.tool) and self.schemas[goal.tool].effect is not Effect.READS

    def _source(self, one: EntityCandidate, name: str) -> Source:
        met = sorted(one.met, key=str)
        of = f"the one with {_listed(met)}" if met else "the only match for the request"
        return Source(Provenance.IDENTIFIED, f"the {name} of {of}")

    def _distinguished(self, chosen: Sequence[EntityCandidate]) -> tuple[tuple[Json, str], ...]:
        described = [self.graph.described(one.entity) for one in chosen]
        alike = {
            name
            for name in (described[0] if described else {})
            if len(described) > 1 and all(d.get(name) == described[0][name] for d in described)
        }
        return tuple(
            (
                one.found.value,
                ", ".join(
                    f"{name} {short(one_line(str(value)), 60)}"
                    for name, value in said.items()
                    if name not in alike and key(value) != key(one.found.value)
                ),
            )
            for one, said in zip(chosen, described, strict=True)
        )

    def _allowed(
        self, goal: GoalCall, name: str, chosen: tuple[EntityCandidate, ...]
    ) -> tuple[EntityCandidate, ...]:
        # If every candidate violates a precondition, keep them all.
        if not self._writes(goal):
            return chosen
        broken: Callable[..., object] = self.conditions.violated
        known = self.graph.known_of
        some = tuple(
            one for one in chosen if broken(goal.tool, {name: known(one.found.value)}) is None
        )
        return some or chosen

    def _excluded_values(
        self, number: int, place: Place, before: Mapping[Place, Json]
    ) -> tuple[Json, ...]:
        goals = self.request.goals
        same = [n for n in self.made if goals[n] == goals[number]]
        taken = [at(self.made[n].arguments, place) for n in same]
        earlier = [value for value in before.values() if value is not None]
        return (*taken, *earlier, *self.excluded.get(number, ()))


def readers_of(tools: Iterable[ToolSchema]) -> tuple[ToolSchema, ...]:
    """Return the tools that may serve as queries, that is, those known to be read-only."""
    return tuple(tool for tool in tools if tool.effect is Effect.READS)


def _wholly_said(goal: GoalCall) -> list[Place]:
    asked = {place[0] for place, _, v in leaves(goal.arguments) if isinstance(v, EntityQuery)}
    return [(name,) for name in goal.arguments if name not in asked]


def _listed(constraints: Iterable[NamedValue]) -> str:
    return " and ".join(
        short(one_line(f"{one.name.replace('_', ' ')} {one.value}".strip()), 80)
        for one in constraints
    )
