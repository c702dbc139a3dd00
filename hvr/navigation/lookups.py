"""Which reading call to make next to find a value: the cheapest chain, on the likeliest entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from hvr.calling.values import Json, ToolCall
from hvr.navigation.experience import UNKNOWN_COST, Experience
from hvr.navigation.findings import POSITION, Findings, FoundValue, Shape, key, plain, trait
from hvr.navigation.naming import leaf_of, words_of
from hvr.navigation.request import EntityQuery
from hvr.navigation.suiting import REQUEST, WANTED, path_of
from hvr.tools.argument_checks import argument_faults
from hvr.tools.catalogue.schema import ToolSchema

CALL = 100
"""What a call costs beside the chance that it fails."""

MISSED = 60
"""What each call of a tool with several arguments that brought nothing nearer adds to others such:
there are many combinations, and what they have in common is less and less likely."""

ECHOED = 0.5
"""What of its relevance a call keeps that takes one value twice: from a place to itself, say."""

DEEPEST = 5
"""Look-ups in a row that a chain has at most."""

VALUES = 12
"""Values that are tried for one parameter, the likeliest first."""

CALLS = 200
"""Combinations of values that are looked at for one tool."""


OPEN = frozenset(("", "object", "array"))
"""Types of values in which anything may be."""


@dataclass(frozen=True)
class Search:
    """A value that is searched.

    Args:
        name: of the parameter that takes it, or of what is to be known.
        sought: what is known of it.
        bound: values of the same wanted call that are known already.
        ties: of these, those that belong to it most closely: what stands at its place in
            another list or in its object, or else what names an entity, or was found before.
        taken: values that are not meant.
        tool: that takes it; empty if it is only to be known.
        near: ids of what is to be looked at more closely.
        lacking: names of what is to be told of it.
        found: whether what is searched is at hand, so that nothing else is looked up.
    """

    name: str
    sought: EntityQuery
    bound: tuple[Json, ...] = ()
    ties: tuple[Json, ...] = ()
    taken: tuple[Json, ...] = ()
    tool: str = ""
    near: tuple[Json, ...] = ()
    lacking: frozenset[str] = frozenset()
    found: bool = False


@dataclass(frozen=True)
class LookUp:
    """A reading call, and what its chain costs in all.

    Args:
        call: to make now.
        cost: of it and of what has to follow.
        relevance: how much its arguments have in common with what is searched.
        said: how many of its arguments the request gives for such a parameter.
    """

    call: ToolCall
    cost: int
    relevance: float
    said: int = 0


def next_look_up(
    searches: Sequence[Search],
    findings: Findings,
    readers: Iterable[ToolSchema],
    experience: Experience,
    tried: Iterable[str],
    missed: int = 0,
) -> LookUp | None:
    """Return the look-up to make next; None if none leads on.

    Args:
        searches: what is searched, in the order in which the tool takes it: what comes first
            names the entity of the rest.
        findings: what is at hand.
        readers: tools that may be called to look something up.
        experience: costs of calls, and what results have held.
        tried: keys (`call_key`) of calls that are not to be repeated.
        missed: calls with several arguments that answered since something was found, in vain.
    """
    readers = tuple(readers)
    gone = set(tried)
    for search in searches:
        values = _Values(search, findings)
        looks = list(_checking(search, values, readers, findings, experience, missed))
        if not search.found:
            costs = _costs(search, readers, findings, experience)
            looks += [
                look
                for tool in readers
                if tool.name in costs
                for look in values.calls(tool, costs[tool.name] + _in_vain(tool, missed))
            ]
        looks = [look for look in looks if call_key(look.call) not in gone]
        if looks:
            return min(looks, key=_rank)
    return None


def _checking(
    search: Search, values: _Values, readers: Iterable[ToolSchema], findings: Findings,
    experience: Experience, missed: int,
) -> Iterator[LookUp]:  # fmt: skip
    """Return the calls that tell more of what is to be looked at more closely.

    They look it up, or they look up by what is not known of it and was said.
    """
    lacking = sorted(search.lacking)
    words = {words_of(leaf_of(name)) for name in lacking}
    near = {key(value): place for place, value in enumerate(search.near)}
    for tool in readers:
        said = {
            p.name: found
            for p in tool.takes if p.required and words_of(p.name) in words
            for found in findings.suiting(p.name, tool.name) if found.tool == REQUEST
        }  # fmt: skip
        if said:
            yield from values.calls(tool, CALL + experience.cost(tool.name), said)
        shape = shape_of(tool, experience)
        missing = len(lacking) if shape is None else _missing(lacking, tool, shape)
        if missing == len(lacking) and shape is not None:
            continue
        cost = CALL + experience.cost(tool.name) + 60 * missing + _in_vain(tool, missed)
        for parameter in tool.takes:
            for found in findings.suiting(parameter.name, tool.name) if parameter.required else ():
                if key(found.value) in near:
                    farther = near[key(found.value)]
                    yield from values.calls(tool, cost + farther, {parameter.name: found})


def call_key(call: ToolCall) -> str:
    """Return what tells calls apart."""
    return f"{call.tool} {sorted((name, key(value)) for name, value in call.arguments.items())}"


def _rank(look: LookUp) -> tuple[float, ...]:
    return (look.cost - 150 * look.relevance, -look.said, len(look.call.arguments))


def _costs(
    search: Search, readers: Sequence[ToolSchema], findings: Findings, experience: Experience
) -> Mapping[str, int]:
    """Return for each tool what it costs to come from its call to the value, at least."""
    features = [f.name for f in search.sought.constraints if words_of(f.name) != POSITION]
    costs: dict[str, int] = {}
    for tool in readers:
        shape = shape_of(tool, experience)
        own = CALL + experience.cost(tool.name)
        if shape is None:
            costs[tool.name] = own + UNKNOWN_COST
        elif findings.gives(tool.name, shape, search.name, search.tool):
            costs[tool.name] = own + 60 * _missing(features, tool, shape)
    for _ in range(DEEPEST):
        for tool in readers:
            shape = shape_of(tool, experience) or frozenset()
            after = [
                costs[next_.name]
                for next_ in readers
                if next_.name in costs
                and next_ is not tool
                and any(
                    findings.gives(tool.name, shape, p.name, next_.name)
                    for p in next_.takes
                    if p.required
                )
            ]
            if after:
                through = min(after) + CALL + experience.cost(tool.name)
                costs[tool.name] = min(costs.get(tool.name, through), through)
    return costs


def needs_several(tool: ToolSchema) -> bool:
    """Say whether a tool takes several values, so that there are many combinations."""
    return sum(parameter.required for parameter in tool.takes) > 1


def _in_vain(tool: ToolSchema, missed: int) -> int:
    return MISSED * missed if needs_several(tool) else 0


def shape_of(tool: ToolSchema, experience: Experience) -> Shape | None:
    """Return what a tool's results have held, or its schema says that they hold; else None.

    A schema that speaks of an object and of nothing in it says nothing.
    """
    seen = experience.shape(tool.name)
    if seen is not None or all(set(given.type.split("|")) <= OPEN for given in tool.gives):
        return seen
    return frozenset(path_of(given.name) for given in tool.gives)


def _missing(features: Sequence[str], tool: ToolSchema, shape: Shape) -> int:
    """Return how many features a tool's results cannot show."""
    shown = {words_of(step) for path in shape for step in path[-1:]}
    shown |= {words_of(parameter.name) for parameter in tool.takes}
    return sum(words_of(leaf_of(feature)) not in shown for feature in features)


class _Values:
    """The values at hand as arguments of look-ups for one search, the likeliest first."""

    def __init__(self, search: Search, findings: Findings) -> None:
        self._search, self._findings = search, findings
        self._wanted = {trait(feature) for feature in search.sought.constraints}
        self._bound = {key(value) for value in search.bound}
        self._ties = {plain(tie) for tie in search.ties}
        self._near: dict[str, float] = {}
        self._best: dict[tuple[str, str], list[tuple[float, Json]]] = {}
        self._given: dict[tuple[str, str], frozenset[str]] = {}

    def calls(
        self, tool: ToolSchema, cost: int, fixed: Mapping[str, FoundValue] | None = None
    ) -> Iterator[LookUp]:
        """Return the calls of a tool for which all values are at hand; `fixed` are chosen."""
        needed = [parameter for parameter in tool.takes if parameter.required]
        lists: list[list[tuple[float, Json]]] = []
        for parameter in needed:
            chosen = (fixed or {}).get(parameter.name)
            best = self._ranked([chosen]) if chosen else self._likeliest(parameter.name, tool.name)
            if not best:
                return
            lists.append(best)
        for some in islice(product(*lists), CALLS):
            arguments = {p.name: value for p, (_, value) in zip(needed, some, strict=True)}
            if not argument_faults(tool, arguments):
                relevance = min((one[0] for one in some), default=0.0)
                if len({key(value) for value in arguments.values()}) < len(arguments):
                    relevance *= ECHOED
                said = sum(
                    key(value) in self._said(name, tool.name) for name, value in arguments.items()
                )
                yield LookUp(ToolCall(tool.name, arguments), cost, relevance, said)

    def _said(self, parameter: str, tool: str) -> frozenset[str]:
        """Return what the request itself gives for a parameter."""
        place = parameter, tool
        if place not in self._given:
            suiting = self._findings.suiting(parameter, tool)
            self._given[place] = frozenset(key(f.value) for f in suiting if f.tool == REQUEST)
        return self._given[place]

    def likeliest(self, some: Iterable[FoundValue]) -> list[FoundValue]:
        """Return some of the values, those with most in common with what is searched."""
        return sorted(some, key=lambda found: -self._relevance(found))[:CALLS]

    def _likeliest(self, parameter: str, tool: str) -> list[tuple[float, Json]]:
        place = parameter, tool
        if place not in self._best:
            self._best[place] = self._ranked(self._findings.suiting(parameter, tool))
        return self._best[place]

    def _ranked(self, some: Iterable[FoundValue]) -> list[tuple[float, Json]]:
        values: dict[str, tuple[float, Json]] = {}
        for found in some:
            ranked = (self._relevance(found), found.value)
            name = key(found.value)
            if name not in values or values[name][0] < ranked[0]:
                values[name] = ranked
        return sorted(values.values(), key=lambda one: -one[0])[:VALUES]

    def _relevance(self, found: FoundValue) -> float:
        """Return what the entity of a value has in common with what is searched, from 0 to 1."""
        ties, name = self._ties, key(found.value)
        if ties and (plain(found.value) in ties or any(v in ties for _, v in found.traits)):
            return 1.0
        if name not in self._near:
            self._near[name] = self._nearness(found.value)
        said = {REQUEST: 0.8, WANTED: 0.4}.get(found.tool, 0.0)
        taken = (0.2 if found.tool == REQUEST else 0.3) if name in self._bound else 0.0
        return max(self._near[name], said + taken)

    def _nearness(self, value: Json) -> float:
        """Return what results say that it has in common, whichever of them it stands in."""
        wanted, close = self._wanted, self._search.ties or self._search.bound
        known = self._findings.known_of(value)
        shared = len(wanted & known) / len(wanted) if wanted else 0.0
        near = self._findings.together(value, close) / len(close) if close else 0.0
        return max(shared, 0.9 * near)
