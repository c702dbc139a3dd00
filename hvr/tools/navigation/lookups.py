"""Which reading call to make next to find a value: the cheapest chain, on the likeliest entity.

The arguments of a look-up are values that the user said, or values of one entity of the results
and of the entities that it belongs to. Values of unrelated entities are never combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hvr.tools.argument_checks import argument_faults
from hvr.tools.calling.values import Json, ToolCall
from hvr.tools.catalogue.schema import ToolSchema
from hvr.tools.navigation.entities import EntityGraph, Fit
from hvr.tools.navigation.experience import UNKNOWN_COST, Experience
from hvr.tools.navigation.found_values import FoundValues, Shape, key
from hvr.tools.navigation.naming import leaf_of, words_of
from hvr.tools.navigation.request import EntityQuery
from hvr.tools.navigation.suiting import REQUEST, path_of

CALL = 100
"""The cost of a call beside the chance that it fails."""

UNSHOWN = 60
"""The cost of each constraint that a tool's results do not show: another call may be due."""

DEEPEST = 5
"""The most look-ups in a row that are planned."""

OPEN = frozenset(("", "object", "array"))
"""Types of values that may hold anything."""


@dataclass(frozen=True)
class Search:
    """A value that look-ups are to find.

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
class LookUp:
    """A reading call that may be made.

    Args:
        call: The call.
        rank: The lower, the better.
    """

    call: ToolCall
    rank: tuple[float, ...]


def next_look_up(
    searches: Sequence[Search],
    at_hand: FoundValues,
    graph: EntityGraph,
    readers: Iterable[ToolSchema],
    experience: Experience,
    tried: Iterable[str],
) -> LookUp | None:
    """Return the look-up to make next; None if none leads on.

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
    search: Search,
    values: _Values,
    readers: Iterable[ToolSchema],
    at_hand: FoundValues,
    experience: Experience,
) -> Iterator[LookUp]:
    """Return the calls that tell more of entities: by their ids, or by what was said of them."""
    lacking = sorted(search.lacking)
    words = {words_of(leaf_of(name)) for name in lacking}
    near = {key(value): place for place, value in enumerate(search.near)}
    for tool in readers:
        if any(
            found.tool == REQUEST
            for p in tool.takes
            if p.required and words_of(p.name) in words
            for found in at_hand.suiting(p.name, tool.name)
        ):
            yield from values.calls(tool, CALL + experience.cost(tool.name))
        shape = shape_of(tool, experience)
        unshown = len(lacking) if shape is None else _unshown(lacking, tool, shape)
        if unshown == len(lacking) and shape is not None:
            continue
        cost = CALL + experience.cost(tool.name) + UNSHOWN * unshown
        for parameter in tool.takes:
            for found in at_hand.suiting(parameter.name, tool.name) if parameter.required else ():
                if key(found.value) in near:
                    farther = near[key(found.value)]
                    yield from values.calls(tool, cost + farther, {parameter.name: found.value})


def call_key(call: ToolCall) -> str:
    """Return what tells calls apart."""
    return f"{call.tool} {sorted((name, key(value)) for name, value in call.arguments.items())}"


def _costs(
    search: Search, readers: Sequence[ToolSchema], at_hand: FoundValues, experience: Experience
) -> Mapping[str, int]:
    """Return for each tool the least cost to come from its call to the value."""
    features = [f.name for f in search.query.constraints]
    costs: dict[str, int] = {}
    for tool in readers:
        shape = shape_of(tool, experience)
        own = CALL + experience.cost(tool.name)
        if shape is None:
            costs[tool.name] = own + UNKNOWN_COST
        elif at_hand.gives(tool.name, shape, search.name, search.tool):
            costs[tool.name] = own + UNSHOWN * _unshown(features, tool, shape)
    for _ in range(DEEPEST):
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
                through = min(after) + CALL + experience.cost(tool.name)
                costs[tool.name] = min(costs.get(tool.name, through), through)
    return costs


def shape_of(tool: ToolSchema, experience: Experience) -> Shape | None:
    """Return what a tool's results have held, or its schema says that they hold; else None.

    A schema that speaks of an object and of nothing in it says nothing.
    """
    seen = experience.shape(tool.name)
    if seen is not None or all(set(given.type.split("|")) <= OPEN for given in tool.gives):
        return seen
    return frozenset(path_of(given.name) for given in tool.gives)


def _unshown(features: Sequence[str], tool: ToolSchema, shape: Shape) -> int:
    """Return how many features a tool's results cannot show."""
    shown = {words_of(step) for path in shape for step in path[-1:]}
    shown |= {words_of(parameter.name) for parameter in tool.takes}
    return sum(words_of(leaf_of(feature)) not in shown for feature in features)


class _Values:
    """The values at hand as arguments of look-ups for one search."""

    def __init__(self, search: Search, at_hand: FoundValues, graph: EntityGraph) -> None:
        self._query, self._at_hand, self._graph = search.query, at_hand, graph
        self._tied = {n for value in search.ties for n in graph.having(value)}
        self._said = {n for one in at_hand.said for n in graph.having(one.value)}
        self._ranks: dict[int, tuple[float, float, float]] = {}

    def calls(
        self, tool: ToolSchema, cost: int, fixed: Mapping[str, Json] | None = None
    ) -> Iterator[LookUp]:
        """Return the calls of a tool for which all values are at hand.

        Args:
            tool: The tool.
            cost: The cost of the chain that begins with it.
            fixed: Values of results that are chosen already, by parameter.
        """
        fixed = fixed or {}
        said: dict[str, list[Json]] = {}
        found: dict[str, list[tuple[float, Json]]] = {
            name: [(1.0, value)] for name, value in fixed.items()
        }
        for parameter in tool.takes:
            name = parameter.name
            if not parameter.required or name in fixed:
                continue
            suiting = self._at_hand.suiting(name, tool.name)
            if not suiting:
                return
            told = [one.value for one in suiting if one.said]
            if told:
                said[name] = told
            else:
                fits = ((self._at_hand.fit(one, name, tool.name), one.value) for one in suiting)
                found[name] = list({key(value): (fit, value) for fit, value in fits}.values())
        for entity, some in self._of_one_entity(found):
            for values in product(*said.values(), *some.values()):
                arguments = dict(zip((*said, *some), values, strict=True))
                if not argument_faults(tool, arguments):
                    # To call with one value twice, from a place to itself say, is seldom meant.
                    twice = len(set(map(key, arguments.values()))) < len(arguments)
                    unrelated, untied, unmet = self._rank(entity)
                    rank = (unrelated, untied, twice, cost, unmet, -len(said))
                    yield LookUp(ToolCall(tool.name, arguments), rank)

    def _of_one_entity(
        self, found: Mapping[str, Sequence[tuple[float, Json]]]
    ) -> Iterator[tuple[int | None, Mapping[str, Sequence[Json]]]]:
        """Give the values that one entity, or what it belongs to, has for each parameter.

        Args:
            found: Values of results by parameter, each with how well it suits.
        """
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
            met = sum(self._graph.fit(entity, c) is Fit.MET for c in self._query.constraints)
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
