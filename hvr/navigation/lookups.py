"""Which reading call to make next to find a value: the cheapest chain, on the likeliest entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from hvr.calling.checks import argument_faults
from hvr.calling.values import Json, ToolCall
from hvr.navigation.experience import UNKNOWN_COST, Experience
from hvr.navigation.findings import (
    POSITION,
    REQUEST,
    WANTED,
    Findings,
    FoundValue,
    Shape,
    key,
    plain,
    trait,
)
from hvr.navigation.naming import fit, words_of
from hvr.navigation.wants import Sought
from hvr.tools.catalogue.schema import ToolSchema

CALL = 100
"""What a call costs beside the chance that it fails."""

DEEPEST = 5
"""Look-ups in a row that a chain has at most."""

VALUES = 12
"""Values that are tried for one parameter, the likeliest first."""

CALLS = 200
"""Combinations of values that are looked at for one tool."""


@dataclass(frozen=True)
class Search:
    """A value that is searched.

    Args:
        name: of the parameter that takes it.
        sought: what is known of it.
        bound: values of the same wanted call that are known already.
        ties: of these, those that belong to it most closely: what stands at its place in
            another list or in its object, or else what names an entity, or was found before.
        taken: values that other wants with the same words have taken.
    """

    name: str
    sought: Sought
    bound: tuple[Json, ...] = ()
    ties: tuple[Json, ...] = ()
    taken: tuple[Json, ...] = ()


@dataclass(frozen=True)
class LookUp:
    """A reading call, and what its chain costs in all.

    Args:
        call: to make now.
        cost: of it and of what has to follow.
        relevance: how much its arguments have in common with what is searched.
    """

    call: ToolCall
    cost: int
    relevance: float


def match(search: Search, findings: Findings) -> tuple[Json, bool]:
    """Return the value at hand that suits best, and whether it is surely the one; None if none.

    It has all features; of several that have, it is the one that stands in most calls and
    results with the other values of the wanted call. Where there are such that belong to it
    closely, it is sure only if it stands with one of them.
    """
    wanted = {trait(feature) for feature in search.sought.features}
    fitting = [
        found
        for found in findings.suiting(search.name)
        if found.call >= 0
        and found.value is not None
        and found.value not in search.taken
        and wanted <= findings.traits(found)
    ]
    if not fitting:
        return None, False
    best = max(fitting, key=lambda found: (
        findings.within(found, search.ties), findings.within(found, search.bound),
        findings.fit(found, search.name)))  # fmt: skip
    return best.value, not search.ties or findings.within(best, search.ties) > 0


def next_look_up(
    searches: Sequence[Search],
    findings: Findings,
    readers: Iterable[ToolSchema],
    experience: Experience,
    tried: Iterable[str],
    least: float = 0.0,
) -> LookUp | None:
    """Return the look-up to make next; None if none leads on.

    Args:
        searches: what is searched, in the order in which the tool takes it: what comes first
            names the entity of the rest.
        findings: what is at hand.
        readers: tools that may be called to look something up.
        experience: costs of calls, and what results have held.
        tried: keys (`call_key`) of calls that are not to be repeated.
        least: relevance that a look-up has to have.
    """
    readers = tuple(readers)
    gone = set(tried)
    for search in searches:
        checks = [
            look
            for look in _checking(search, readers, findings, experience)
            if call_key(look.call) not in gone and look.relevance >= least
        ]
        # Another way to the same values is worth less than a look at those that are at hand.
        more = CALL if checks else 0
        costs = _costs(search, readers, experience)
        looks = [
            look
            for tool in readers
            if tool.name in costs
            for look in _calls(tool, search, findings, costs[tool.name] + more)
            if call_key(look.call) not in gone and look.relevance >= least
        ]
        if checks or looks:
            return min([*checks, *looks], key=_rank)
    return None


def _checking(
    search: Search, readers: Iterable[ToolSchema], findings: Findings, experience: Experience
) -> Iterator[LookUp]:
    """Return the calls that show whether a value at hand has the features that are searched."""
    features = [feature.name for feature in search.sought.features]
    names = {words_of(feature) for feature in features}
    open_ = [
        found
        for found in findings.suiting(search.name)
        if found.call >= 0
        and found.value not in search.taken
        and not names <= {name for name, _ in findings.traits(found)}
    ]
    for tool in readers if open_ else ():
        needed = [parameter for parameter in tool.takes if parameter.required]
        shape = _shape(tool, experience)
        taking = next((p for p in needed if _takes(p.name, search.name)), None)
        missing = len(features) if shape is None else _missing(features, tool, shape)
        if taking is None or (missing == len(features) and shape is not None):
            continue
        cost = CALL + experience.cost(tool.name) + 60 * missing
        for found in open_:
            yield from _calls(tool, search, findings, cost, {taking.name: found})


def call_key(call: ToolCall) -> str:
    """Return what tells calls apart."""
    return f"{call.tool} {sorted((name, key(value)) for name, value in call.arguments.items())}"


def _rank(look: LookUp) -> tuple[float, ...]:
    return (look.cost - 150 * look.relevance, len(look.call.arguments))


def _costs(
    search: Search, readers: Sequence[ToolSchema], experience: Experience
) -> Mapping[str, int]:
    """Return for each tool what it costs to come from its call to the value, at least."""
    features = [f.name for f in search.sought.features if words_of(f.name) != POSITION]
    costs: dict[str, int] = {}
    for tool in readers:
        shape = _shape(tool, experience)
        own = CALL + experience.cost(tool.name)
        if shape is None:
            costs[tool.name] = own + UNKNOWN_COST
        elif _gives(search.name, tool.name, shape, experience):
            costs[tool.name] = own + 60 * _missing(features, tool, shape)
    for _ in range(DEEPEST):
        for tool in readers:
            shape = _shape(tool, experience) or frozenset()
            after = [
                costs[next_.name]
                for next_ in readers
                if next_.name in costs
                and next_ is not tool
                and any(
                    _gives(p.name, tool.name, shape, experience) for p in next_.takes if p.required
                )
            ]
            if after:
                through = min(after) + CALL + experience.cost(tool.name)
                costs[tool.name] = min(costs.get(tool.name, through), through)
    return costs


def _shape(tool: ToolSchema, experience: Experience) -> Shape | None:
    seen = experience.shape(tool.name)
    if seen is not None or not tool.gives:
        return seen
    return frozenset(
        tuple(part for step in given.name.split(".") for part in _steps(step))
        for given in tool.gives
    )


def _steps(step: str) -> Iterator[str]:
    name = step.replace("[]", "")
    if name:
        yield name
    yield from ["[]"] * step.count("[]")


def _gives(name: str, tool: str, shape: Shape, experience: Experience) -> bool:
    return any(max(fit(name, path, tool), experience.flow(name, tool, path)) >= 0.3
               for path in shape)  # fmt: skip


def _takes(parameter: str, name: str) -> bool:
    return fit(parameter, (name,), "") >= 0.3


def _missing(features: Sequence[str], tool: ToolSchema, shape: Shape) -> int:
    """Return how many features a tool's results cannot show."""
    shown = {words_of(step) for path in shape for step in path[-1:]}
    shown |= {words_of(parameter.name) for parameter in tool.takes}
    return sum(words_of(feature) not in shown for feature in features)


def _calls(
    tool: ToolSchema,
    search: Search,
    findings: Findings,
    cost: int,
    fixed: Mapping[str, FoundValue] | None = None,
) -> Iterator[LookUp]:
    """Return the calls of a tool for which all values are at hand; `fixed` are chosen already."""
    needed = [parameter for parameter in tool.takes if parameter.required]
    lists: list[list[tuple[float, Json]]] = []
    for parameter in needed:
        chosen = (fixed or {}).get(parameter.name)
        values: dict[str, tuple[float, Json]] = {}
        for found in [chosen] if chosen else findings.suiting(parameter.name):
            ranked = (_relevance(found, search, findings), found.value)
            name = key(found.value)
            if name not in values or values[name][0] < ranked[0]:
                values[name] = ranked
        best = sorted(values.values(), key=lambda one: -one[0])[:VALUES]
        if not best:
            return
        lists.append(best)
    for some in islice(product(*lists), CALLS):
        arguments = {p.name: value for p, (_, value) in zip(needed, some, strict=True)}
        if not argument_faults(tool, arguments):
            relevance = min((one[0] for one in some), default=0.0)
            yield LookUp(ToolCall(tool.name, arguments), cost, relevance)


def _relevance(found: FoundValue, search: Search, findings: Findings) -> float:
    """Return what the entity of a value has in common with what is searched, from 0 to 1."""
    wanted = {trait(feature) for feature in search.sought.features}
    bound = {key(value) for value in search.bound}
    shared = len(wanted & findings.traits(found)) / len(wanted) if wanted else 0.0
    ties = {plain(tie) for tie in search.ties}
    if plain(found.value) in ties or any(value in ties for _, value in found.traits):
        return 1.0
    close = search.ties or search.bound
    near = findings.together(found.value, close) / len(close) if close else 0.0
    said = {REQUEST: 0.8, WANTED: 0.4}.get(found.tool, 0.0)
    taken = (0.2 if found.tool == REQUEST else 0.3) if key(found.value) in bound else 0.0
    return max(shared, 0.9 * near, said + taken)
