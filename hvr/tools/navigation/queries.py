"""The choice of the next query for an unresolved argument, and the retry policy."""

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
# Choose the query that starts the cheapest chain to a value, for the most likely entity.
#
# The arguments of a query are stated values, or values of one entity and its owners. Values of
# unrelated entities are never combined.

CALL_COST = 100
"""Base cost of a call, besides the cost of its failure probability."""

UNSHOWN_CONSTRAINT_COST = 60
"""Cost of each constraint that a tool's results do not show, since it may take another call."""

MAX_QUERY_CHAIN = 5
"""Maximum length of a planned chain of queries."""

OPEN_TYPES = frozenset(("", "object", "array"))
"""Result types whose contents are unknown."""


@dataclass(frozen=True)
class QueryTarget:
    """A value to find by queries.

    Args:
        name: Parameter that takes the value, or the name of the value to find.
        bound: Known values of the same goal call.
        ties: Values in `bound` that are most closely related to this value.
        tool: Tool that takes the value; empty if the user only wants to know it.
        near: Ids of candidate entities to learn more about, most likely first.
        lacking: Names of unknown properties of the entities in `near`.
        found: Whether to query only the entities in `near`.
    """

    name: str
    query: EntityQuery
    bound: tuple[Json, ...] = ()
    ties: tuple[Json, ...] = ()
    tool: str = ""
    near: tuple[Json, ...] = ()
    lacking: frozenset[str] = frozenset()
    found: bool = False


@dataclass(frozen=True)
class QueryCall:
    """A possible query; the one with the lowest rank is best."""

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
    """Return the next query; None if no query helps.

    Args:
        searches: Values to find, in the order of the tool's parameters: the first value determines
            the entity to which the others belong.
        experience: Costs of calls and shapes of results.
        tried: Keys (`call_key`) of calls not to repeat.
    """
    readers = tuple(readers)
    excluded = set(tried)
    for search in searches:
        values = _Values(search, at_hand, graph)
        queries = list(_checking(search, values, readers, at_hand, experience))
        if not search.found:
            costs = _costs(search, readers, at_hand, experience)
            queries += [
                record
                for tool in readers
                if tool.name in costs
                for record in values.calls(tool, costs[tool.name])
            ]
        queries = [record for record in queries if call_key(record.call) not in excluded]
        if queries:
            return min(queries, key=lambda record: record.rank)
    return None


def _checking(
    search: QueryTarget,
    values: _Values,
    readers: Iterable[ToolSchema],
    at_hand: KnownValues,
    experience: Experience,
) -> Iterator[QueryCall]:
    lacking = sorted(search.lacking)
    words = {singular_words(leaf_of(name)) for name in lacking}
    near = {key(value): place for place, value in enumerate(search.near)}
    for tool in readers:
        # A stated value of the missing property, such as an e-mail address, may identify the
        # entity.
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
    return f"{call.tool} {sorted((name, key(value)) for name, value in call.arguments.items())}"


def _costs(
    search: QueryTarget, readers: Sequence[ToolSchema], at_hand: KnownValues, experience: Experience
) -> Mapping[str, int]:
    features = [f.name for f in search.query.constraints]
    costs: dict[str, int] = {}
    for tool in readers:
        shape = shape_of(tool, experience)
        own = CALL_COST + experience.cost(tool.name)
        if shape is None:
            costs[tool.name] = own + UNKNOWN_COST
        elif at_hand.gives(tool.name, shape, search.name, search.tool):
            costs[tool.name] = own + UNSHOWN_CONSTRAINT_COST * _unshown(features, tool, shape)
    # Bellman-Ford, backwards from the value: each round allows chains that are one call longer.
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
    """Return the paths in a tool's results, as observed or declared; None if unknown.

    The paths of a result declared as an object without fields are unknown.
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
    def __init__(self, search: QueryTarget, at_hand: KnownValues, graph: EntityGraph) -> None:
        self._query, self._at_hand, self._graph = search.query, at_hand, graph
        self._tied = {n for value in search.ties for n in graph.having(value)}
        self._said = {n for one in at_hand.said for n in graph.having(one.value)}
        self._ranks: dict[int, tuple[float, float, float]] = {}

    def calls(
        self, tool: ToolSchema, cost: int, fixed: Mapping[str, Json] | None = None
    ) -> Iterator[QueryCall]:
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
            knowledge = [one.value for one in matching if one.said]
            if knowledge:
                said[name] = knowledge
            else:
                fits = ((self._at_hand.fit(one, name, tool.name), one.value) for one in matching)
                found[name] = list({key(value): (fit, value) for fit, value in fits}.values())
        for entity, some in self._of_one_entity(found):
            for values in product(*said.values(), *some.values()):
                arguments = dict(zip((*said, *some), values, strict=True))
                if not argument_faults(tool, arguments):
                    # Two equal values, such as a route from a place to itself, are rarely meant.
                    twice = len(set(map(key, arguments.values()))) < len(arguments)
                    unrelated, untied, unmet = self._rank(entity)
                    rank = (unrelated, untied, twice, cost, unmet, -len(said))
                    yield QueryCall(ToolCall(tool.name, arguments), rank)

    def _of_one_entity(
        self, found: Mapping[str, Sequence[tuple[float, Json]]]
    ) -> Iterator[tuple[int | None, Mapping[str, Sequence[Json]]]]:
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
        # Mixing values of unrelated entities would yield calls that no one means.
        for entity in dict.fromkeys(n for some in having.values() for n in some):
            levels = self._graph.levels(entity)
            own = {name: _nearest(levels, some) for name, some in having.items()}
            if all(own.values()):
                yield entity, own

    def _rank(self, entity: int | None) -> tuple[float, float, float]:
        # Entities unrelated to the stated values come last, preceded by those unrelated to the
        # bound values. The others are ordered by the number of constraints met.
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
    for level in levels:
        some = [one for n in level for one in having.get(n, ())]
        if some:
            best = max(fit for fit, _ in some)
            return list({key(value): value for fit, value in some if fit == best}.values())
    return []


# Confirming failed writes -------------------------------------------------------------------------
# Find the query whose result shows whether a failed writing call took effect.

MIN_SHARED_FIELDS = 0.8
"""Share of a writing tool's result fields that a query must return to confirm a write."""

MIN_FIELDS = 3
"""Minimum number of fields in a result that can confirm a write."""


def confirming_query(
    call: ToolCall,
    outcomes: Sequence[CallOutcome],
    schemas: Mapping[str, ToolSchema],
    experience: Experience,
) -> CallOutcome | None:
    """Return the last query before a writing call that, if repeated, would show its effect."""
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

MAX_CALL_ATTEMPTS = MAX_EQUAL_FAILURES
"""Maximum number of attempts at one call."""

MAX_TOOL_FAILURES = 2 * MAX_CALL_ATTEMPTS
"""Maximum number of consecutive failures of a query tool, whatever its arguments."""

MAX_REPEATED_FAILURES = 8
"""Maximum number of failures of repeated calls while nothing changes.

A repeated call that finally succeeds resets the count, since its tool has recovered.
"""

MAX_FRUITLESS_QUERIES = 15
"""Maximum number of successful queries without progress for one goal."""

UNCERTAIN_FAILURES = frozenset(
    {CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE, CallFailure.EMPTY}
)
"""Failures of the tool itself that are transient, but after which a write may have taken effect."""


class RetryLevel(Enum):
    """The calls that may be tried; each level also permits the calls of all earlier levels."""

    FRESH = "new calls of tools that are not resting"
    RESTING_TOOLS = "new calls of resting tools"
    FAILED_CALLS = "failed calls of tools whose rest is over"
    ALL_CALLS = "all failed calls, and goals refused in the current state"
    ANY_ORDER = "goal calls whose predecessors cannot be made"


class CallAttempts:
    """The attempts at the calls of a task.

    While nothing has changed, that is, while the number of completed goals (`done`) is the same, a
    refused call is tried `refusals` times.
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
        return frozenset(name for name, times in self._row.items() if times >= MAX_TOOL_FAILURES)

    @property
    def failing(self) -> bool:
        """Whether at least one tool failed in its own most recent call."""
        return any(self._row.values())

    def count(self, outcome: CallOutcome, goal: int | None, done: int) -> None:
        name, tool = call_key(outcome.call), outcome.call.tool
        self._made += 1
        if outcome.ok:
            self._futile_tries = 0 if name in self._failed_in else self._futile_tries
            self._failed_in.pop(name, None)
            self._row[tool] = 0
            # The tool works again, so its failed calls may be attempted once more.
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
        most = self._refusals if failure is CallFailure.REFUSED else MAX_CALL_ATTEMPTS
        return self._failed.get(call_key(call), 0) >= most

    def is_futile(self, call: ToolCall, done: int) -> bool:
        """Return whether a failed call must not be repeated.

        That is so after `MAX_REPEATED_FAILURES` failed repetitions, unless a goal has been
        completed since the call failed.
        """
        return (
            self._futile_tries >= MAX_REPEATED_FAILURES
            and self._failed_in.get(call_key(call)) == done
        )

    def resting(self, tool: str) -> bool:
        """Return whether a tool rests after failures, for 1, 2, 4 … and at most 15 calls."""
        return self._rests.get(tool, 0) > self._made

    def tried(self, level: RetryLevel, done: int) -> set[str]:
        """Return the keys of the queries that must not be repeated at a retry level."""
        attempts = 1 if level in (RetryLevel.FRESH, RetryLevel.RESTING_TOOLS) else MAX_CALL_ATTEMPTS
        # A write may have changed values that were read before.
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
        """Permit refused calls once more; return which given-up goals (`left`) to retry."""
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
    def __init__(self) -> None:
        self._best: dict[int, tuple[int, int]] = {}
        self._fruitless: dict[int, tuple[int, int]] = {}

    def record(self, goal: int, knowledge: int, met: int, *, guess: bool) -> bool:
        """Record a successful query, and return whether too many queries made no progress.

        A `guess` combines values that the user did not state together. Guesses are many and always
        find new candidates, so a guess is progress only if `met` rises.
        """
        known_before, met_before = self._best.get(goal, (0, 0))
        times, guesses = self._fruitless.get(goal, (0, 0))
        # New knowledge resets the first count; more constraints met reset the count of guesses.
        times = 0 if knowledge > known_before else times + 1
        guesses = 0 if met > met_before else guesses + guess
        self._best[goal] = max(knowledge, known_before), max(met, met_before)
        self._fruitless[goal] = times, guesses
        return max(times, guesses) >= MAX_FRUITLESS_QUERIES
