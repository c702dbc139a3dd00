"""The next query for an unresolved argument, and the retry policy of calls that failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall, argument_faults
from hvr.tools.calling.guard import MAX_EQUAL_FAILURES
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.navigation.entities import ConstraintMatch, EntityGraph
from hvr.tools.navigation.experience import UNKNOWN_COST, Experience
from hvr.tools.navigation.known_values import (
    REQUEST_SOURCE,
    KnownValues,
    Shape,
    key,
    leaf_of,
    path_of,
    singular_words,
)
from hvr.tools.navigation.request import EntityQuery, scalars_in

# Queries ------------------------------------------------------------------------------------------
# Which reading call to make next to find a value: the cheapest chain, on the likeliest entity.
#
# The arguments of a query are values that the user said, or values of one entity of the results
# and of the entities that it belongs to. Values of unrelated entities are never combined.

CALL_COST = 100
"""The cost of a call beside the chance that it fails."""

UNSHOWN_CONSTRAINT_COST = 60
"""The cost of each constraint that a tool's results do not show: another call may be due."""

MAX_QUERY_CHAIN = 5
"""The most queries in a row that are planned."""

OPEN_TYPES = frozenset(("", "object", "array"))
"""Types of values that may hold anything."""


@dataclass(frozen=True)
class QueryTarget:
    """A value that queries are to find.

    Args:
        name: The parameter that takes the value, or what is to be known.
        query: The constraints on its entity.
        bound: The known values of the same goal call.
        ties: Those of them that belong to the value most closely.
        tool: The tool that takes the value; empty if it is only to be known.
        near: The ids of entities that more has to be known about, the likeliest first.
        lacking: The names of the properties that are not known of them.
        found: Whether such entities are all that is looked up.
        seen: Whether values are at hand, whether or not they are meant.
    """

    name: str
    query: EntityQuery
    bound: tuple[Json, ...] = ()
    ties: tuple[Json, ...] = ()
    tool: str = ""
    near: tuple[Json, ...] = ()
    lacking: frozenset[str] = frozenset()
    found: bool = False
    seen: bool = False


@dataclass(frozen=True)
class QueryCall:
    """A reading call that may be made."""

    call: ToolCall
    rank: tuple[float, ...]


def next_query(
    searches: Sequence[QueryTarget],
    at_hand: KnownValues,
    graph: EntityGraph,
    readers: Iterable[ToolSchema],
    experience: Experience,
    tried: Iterable[str],
) -> QueryCall | None:
    """Return the query to make next; None if none leads on.

    Args:
        searches: The values to find, in the order in which the tool takes them: what comes first
            names the entity of the rest.
        at_hand: The values at hand.
        graph: The entities of the results.
        readers: The tools that may be called to look something up.
        experience: The costs of calls, and what results have held.
        tried: The keys (`call_key`) of calls that are not to be repeated.
    """
    readers = tuple(readers)
    gone = set(tried)
    for search in searches:
        values = _Values(search, at_hand, graph)
        looks = list(_checking(search, values, readers, at_hand, experience))
        if not search.found:
            costs = _costs(search, readers, at_hand, experience)
            looks += [
                look
                for tool in readers
                if tool.name in costs
                for look in values.calls(tool, costs[tool.name])
            ]
        looks = [look for look in looks if call_key(look.call) not in gone]
        if looks:
            return min(looks, key=lambda look: look.rank)
    return None


def _checking(
    search: QueryTarget,
    values: _Values,
    readers: Iterable[ToolSchema],
    at_hand: KnownValues,
    experience: Experience,
) -> Iterator[QueryCall]:
    """Return the calls that tell more of entities: by their ids, or by what was said of them."""
    lacking = sorted(search.lacking)
    words = {singular_words(leaf_of(name)) for name in lacking}
    near = {key(value): place for place, value in enumerate(search.near)}
    for tool in readers:
        if any(
            found.tool == REQUEST_SOURCE
            for p in tool.takes
            if p.required and singular_words(p.name) in words
            for found in at_hand.matching(p.name, tool.name)
        ):
            yield from values.calls(tool, CALL_COST + experience.cost(tool.name))
        shape = shape_of(tool, experience)
        unshown = len(lacking) if shape is None else _unshown(lacking, tool, shape)
        if unshown == len(lacking) and shape is not None:
            continue
        cost = CALL_COST + experience.cost(tool.name) + UNSHOWN_CONSTRAINT_COST * unshown
        for parameter in tool.takes:
            for found in at_hand.matching(parameter.name, tool.name) if parameter.required else ():
                if key(found.value) in near:
                    farther = near[key(found.value)]
                    yield from values.calls(tool, cost + farther, {parameter.name: found.value})


def call_key(call: ToolCall) -> str:
    """Return what tells calls apart."""
    return f"{call.tool} {sorted((name, key(value)) for name, value in call.arguments.items())}"


def _costs(
    search: QueryTarget, readers: Sequence[ToolSchema], at_hand: KnownValues, experience: Experience
) -> Mapping[str, int]:
    """Return for each tool the least cost to come from its call to the value."""
    features = [f.name for f in search.query.constraints]
    costs: dict[str, int] = {}
    for tool in readers:
        shape = shape_of(tool, experience)
        own = CALL_COST + experience.cost(tool.name)
        if shape is None:
            costs[tool.name] = own + UNKNOWN_COST
        elif at_hand.gives(tool.name, shape, search.name, search.tool):
            costs[tool.name] = own + UNSHOWN_CONSTRAINT_COST * _unshown(features, tool, shape)
    for _ in range(MAX_QUERY_CHAIN):
        for tool in readers:
            shape = shape_of(tool, experience) or frozenset()
            after = [
                costs[next_.name]
                for next_ in readers
                if next_.name in costs
                and next_ is not tool
                and any(
                    at_hand.gives(tool.name, shape, p.name, next_.name)
                    for p in next_.takes
                    if p.required
                )
            ]
            if after:
                through = min(after) + CALL_COST + experience.cost(tool.name)
                costs[tool.name] = min(costs.get(tool.name, through), through)
    return costs


def shape_of(tool: ToolSchema, experience: Experience) -> Shape | None:
    """Return what a tool's results have held, or its schema says that they hold; else None.

    A schema that speaks of an object and of nothing in it says nothing.
    """
    seen = experience.shape(tool.name)
    if seen is not None or all(set(given.type.split("|")) <= OPEN_TYPES for given in tool.gives):
        return seen
    return frozenset(path_of(given.name) for given in tool.gives)


def _unshown(features: Sequence[str], tool: ToolSchema, shape: Shape) -> int:
    shown = {singular_words(step) for path in shape for step in path[-1:]}
    shown |= {singular_words(parameter.name) for parameter in tool.takes}
    return sum(singular_words(leaf_of(feature)) not in shown for feature in features)


class _Values:
    """The values at hand as arguments of queries for one search."""

    def __init__(self, search: QueryTarget, at_hand: KnownValues, graph: EntityGraph) -> None:
        self._query, self._at_hand, self._graph = search.query, at_hand, graph
        self._tied = {n for value in search.ties for n in graph.having(value)}
        self._said = {n for one in at_hand.said for n in graph.having(one.value)}
        self._ranks: dict[int, tuple[float, float, float]] = {}

    def calls(
        self, tool: ToolSchema, cost: int, fixed: Mapping[str, Json] | None = None
    ) -> Iterator[QueryCall]:
        """Return the calls of a tool for which all values are at hand."""
        fixed = fixed or {}
        said: dict[str, list[Json]] = {}
        found: dict[str, list[tuple[float, Json]]] = {
            name: [(1.0, value)] for name, value in fixed.items()
        }
        for parameter in tool.takes:
            name = parameter.name
            if not parameter.required or name in fixed:
                continue
            matching = self._at_hand.matching(name, tool.name)
            if not matching:
                return
            told = [one.value for one in matching if one.said]
            if told:
                said[name] = told
            else:
                fits = ((self._at_hand.fit(one, name, tool.name), one.value) for one in matching)
                found[name] = list({key(value): (fit, value) for fit, value in fits}.values())
        for entity, some in self._of_one_entity(found):
            for values in product(*said.values(), *some.values()):
                arguments = dict(zip((*said, *some), values, strict=True))
                if not argument_faults(tool, arguments):
                    # To call with one value twice, from a place to itself say, is seldom meant.
                    twice = len(set(map(key, arguments.values()))) < len(arguments)
                    unrelated, untied, unmet = self._rank(entity)
                    rank = (unrelated, untied, twice, cost, unmet, -len(said))
                    yield QueryCall(ToolCall(tool.name, arguments), rank)

    def _of_one_entity(
        self, found: Mapping[str, Sequence[tuple[float, Json]]]
    ) -> Iterator[tuple[int | None, Mapping[str, Sequence[Json]]]]:
        """Give the values that one entity, or what it belongs to, has for each parameter."""
        if not found:
            yield None, {}
            return
        having: dict[str, dict[int, list[tuple[float, Json]]]] = {name: {} for name in found}
        for name, values in found.items():
            for one in values:
                for n in self._graph.having(one[1]):
                    having[name].setdefault(n, []).append(one)
        if len(found) == 1:
            ((name, by_entity),) = having.items()
            yield from ((n, {name: [v for _, v in some]}) for n, some in by_entity.items())
            return
        for entity in dict.fromkeys(n for some in having.values() for n in some):
            levels = self._graph.levels(entity)
            own = {name: _nearest(levels, some) for name, some in having.items()}
            if all(own.values()):
                yield entity, own

    def _rank(self, entity: int | None) -> tuple[float, float, float]:
        """Return how far an entity is from what is searched: the lower, the nearer.

        What belongs to nothing that was said comes last, then what does not belong to the values
        that are known; of the rest, the more of the constraints it meets, the better.
        """
        if entity is None:
            return (0.0, 0.0, 0.0)
        if entity not in self._ranks:
            above = self._graph.above(entity)
            met = sum(
                self._graph.fit(entity, c) is ConstraintMatch.MET for c in self._query.constraints
            )
            tied = bool(above & self._tied) or not self._tied
            self._ranks[entity] = (not above & self._said, not tied, -met)
        return self._ranks[entity]


def _nearest(
    levels: Sequence[Sequence[int]], having: Mapping[int, Sequence[tuple[float, Json]]]
) -> list[Json]:
    """Return the values of the nearest entities that have any: those that suit best."""
    for level in levels:
        some = [one for n in level for one in having.get(n, ())]
        if some:
            best = max(fit for fit, _ in some)
            return list({key(value): value for fit, value in some if fit == best}.values())
    return []


# Confirming failed writes -------------------------------------------------------------------------
# Whether a writing call that failed has written: which query can tell by what it said.

MIN_SHARED_FIELDS = 0.8
"""The share of what a writing tool's results hold that a query's have to hold as well, so that
it is taken for a look at what the tool writes."""

MIN_FIELDS = 3
"""A result with fewer parts than these says too little of what a tool writes."""


def confirming_query(
    call: ToolCall,
    outcomes: Sequence[CallOutcome],
    schemas: Mapping[str, ToolSchema],
    experience: Experience,
) -> CallOutcome | None:
    """Return the last query before a writing call whose result would change if it has written.

    Returns:
        The query; None if none is known to show what the call writes.
    """
    written = experience.shape(call.tool)
    if written is None or len(written) < MIN_FIELDS:
        return None
    named = {key(value) for value in scalars_in(call.arguments)}
    for outcome in reversed(outcomes[: _place(call, outcomes)]):
        read = experience.shape(outcome.call.tool)
        if (
            outcome.ok
            and schemas[outcome.call.tool].effect is Effect.READS
            and read is not None
            and len(read & written) >= MIN_SHARED_FIELDS * len(written)
            and named & {key(value) for value in scalars_in(outcome.call.arguments)}
        ):
            return outcome
    return None


def _place(call: ToolCall, outcomes: Sequence[CallOutcome]) -> int:
    return max(number for number, outcome in enumerate(outcomes) if outcome.call == call)


# Retry policy -------------------------------------------------------------------------------------
# What has been tried: which calls may be made again, and which queries lead nowhere.

MAX_CALL_ATTEMPTS = MAX_EQUAL_FAILURES
"""How often one and the same call is made before it is given up."""

MAX_TOOL_FAILURES = 2 * MAX_CALL_ATTEMPTS
"""How often in a row a query's tool may fail, whatever it is called with, until it is left."""

MAX_REPEATED_FAILURES = 8
"""Failures of calls that had failed before, while nothing changed, until none is made again.

One that goes well in the end, so that its tool has come back, gives all of them back.
"""

MAX_FRUITLESS_QUERIES = 15
"""Queries for one goal that answer and bring nothing nearer, until it is given up."""

UNCERTAIN_FAILURES = frozenset(
    {CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE, CallFailure.EMPTY}
)
"""Failures of the tool itself, which may pass; it may have changed the world all the same."""


class RetryLevel(Enum):
    """What is tried again."""

    NONE = "nothing that failed"
    OTHER = "tools that rest, with what they were not called with yet"
    SOME = "calls that failed, and tools that rest"
    MOST = "goal calls that were refused, too, though nothing has changed since"
    END = "and goal calls are made though one before them could not be"


class CallAttempts:
    """How the calls of a task went; `done` is the number of its goals that are done by then.

    Args:
        refusals: how often a call that was refused is made while nothing has changed.
    """

    def __init__(self, refusals: int) -> None:
        self._refusals = refusals
        self._made = 0
        self._failed: dict[str, int] = {}
        self._failed_in: dict[str, int] = {}
        self._row: dict[str, int] = {}
        self._rests: dict[str, int] = {}
        self._broken: dict[str, set[str]] = {}
        self._back: set[str] = set()
        self._futile_tries = 0
        self._refused: dict[str, int | None] = {}
        self._answered: dict[str, int] = {}

    @property
    def given_up(self) -> frozenset[str]:
        """The tools that failed too often in a row to look something up with."""
        return frozenset(name for name, times in self._row.items() if times >= MAX_TOOL_FAILURES)

    @property
    def failing(self) -> bool:
        """Whether the last call of some tool failed."""
        return any(self._row.values())

    def count(self, outcome: CallOutcome, goal: int | None, done: int) -> None:
        """Count the outcome of a call.

        Args:
            outcome: Outcome of the call.
            goal: Index of the goal that the call was made for; None for a query.
            done: How many goals were done before the call.
        """
        name, tool = call_key(outcome.call), outcome.call.tool
        self._made += 1
        if outcome.ok:
            self._futile_tries = 0 if name in self._failed_in else self._futile_tries
            self._failed_in.pop(name, None)
            self._row[tool] = 0
            # The tool works again, so that what it failed with may as well: once more.
            self._back |= self._broken.pop(tool, set())
            if goal is None:
                self._answered[name] = done
            return
        self._futile_tries += self._failed_in.get(name) == done
        self._failed_in[name] = done
        self._failed[name] = self._failed.get(name, 0) + 1
        self._row[tool] = self._row.get(tool, 0) + 1
        self._rests[tool] = self._made + min(2 ** (self._row[tool] - 1), MAX_FRUITLESS_QUERIES)
        if outcome.failure in UNCERTAIN_FAILURES:
            self._broken.setdefault(tool, set()).add(name)
        if outcome.failure is CallFailure.BAD_ARGUMENTS:
            self._failed[name] = MAX_CALL_ATTEMPTS
        if outcome.failure is CallFailure.REFUSED:
            self._refused[name] = goal

    def exhausted(self, call: ToolCall, failure: CallFailure | None = None) -> bool:
        """Say whether a call has failed as often as it is made, if it failed so."""
        most = self._refusals if failure is CallFailure.REFUSED else MAX_CALL_ATTEMPTS
        return self._failed.get(call_key(call), 0) >= most

    def is_futile(self, call: ToolCall, done: int) -> bool:
        """Say whether a call that failed is not made again: too many were, and nothing changed."""
        return (
            self._futile_tries >= MAX_REPEATED_FAILURES
            and self._failed_in.get(call_key(call)) == done
        )

    def resting(self, tool: str) -> bool:
        """Say whether a tool that failed waits: 1, 2, 4 calls and so on."""
        return self._rests.get(tool, 0) > self._made

    def tried(self, level: RetryLevel, done: int) -> set[str]:
        """Return the keys of queries that are not to be made again."""
        attempts = 1 if level in (RetryLevel.NONE, RetryLevel.OTHER) else MAX_CALL_ATTEMPTS
        # What was read before something was written may have changed since.
        old = -1 if attempts == 1 else done
        tried = {name for name, when in self._answered.items() if old < 0 or when >= old}
        for name, times in self._failed.items():
            most = min(attempts, self._refusals) if name in self._refused else attempts
            most = min(most + (name in self._back), MAX_CALL_ATTEMPTS)
            tried |= {name} if times >= most else set()
        if self._futile_tries >= MAX_REPEATED_FAILURES:
            tried |= {name for name, when in self._failed_in.items() if when == done}
        return tried

    def allow_refused(self, left: Collection[int]) -> list[int]:
        """Allow once more what was refused, now that the state has changed.

        Args:
            left: The goals that were given up and are not done.

        Returns:
            Those of them that may be tried again.
        """
        again = []
        for name, goal in self._refused.items():
            if goal is None:
                self._failed.pop(name, None)
            elif goal in left:
                again.append(goal)
                self._failed[name] = self._refusals - 1
        self._refused.clear()
        return again


class QueryProgress:
    """What the queries for each goal of a request have brought, by the goal's number."""

    def __init__(self) -> None:
        self._best: dict[int, tuple[int, int]] = {}
        self._fruitless: dict[int, tuple[int, int]] = {}

    def look(self, goal: int, told: int, met: int, *, guess: bool) -> bool:
        """Take note of a query that answered; say whether there were too many for nothing.

        A combination of values that were not all said is a guess: there are many, and each brings
        new candidates, so only one that meets more constraints counts as progress.

        Args:
            goal: The number of the goal for which it was made.
            told: How much is known of the candidates now.
            met: How many constraints the best of them meet now.
            guess: Whether the query was made with such a combination.
        """
        told_before, met_before = self._best.get(goal, (0, 0))
        times, guesses = self._fruitless.get(goal, (0, 0))
        times = 0 if told > told_before else times + 1
        guesses = 0 if met > met_before else guesses + guess
        self._best[goal] = max(told, told_before), max(met, met_before)
        self._fruitless[goal] = times, guesses
        return max(times, guesses) >= MAX_FRUITLESS_QUERIES
