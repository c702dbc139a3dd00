"""The values of an errand's wants: which are given or found, and which are still searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hvr.calling.values import Json, ToolCall
from hvr.navigation.findings import Findings
from hvr.navigation.lookups import Search, ValueMatch, match
from hvr.navigation.naming import fit
from hvr.navigation.preconditions import LearntConditions
from hvr.navigation.request import (
    EntityQuery,
    GoalCall,
    NamedValue,
    Place,
    at,
    given_leaves,
    leaves,
    peers_of,
    row_of,
)
from hvr.tools.catalogue.schema import Effect, ToolSchema

NAMED = 0.8
"""How well the name of a value has to suit a look-up's only parameter, to name an entity."""


@dataclass(frozen=True)
class BoundValues:
    """What is known of the values of a want.

    Args:
        values: that are given or found, by their places.
        searches: what is still searched, in the order in which the tool takes it.
        weak: whether a value for the first of these is at hand that is not sure.
        other: whether it is of an entity that has something else than the call gives.
        name: the first parameter that writes and for which several values suit equally well;
            empty if there is none.
        choices: these values.
    """

    values: Mapping[Place, Json]
    searches: tuple[Search, ...] = ()
    weak: bool = False
    name: str = ""
    choices: tuple[Json, ...] = ()
    other: bool = False


@dataclass
class Binder:
    """Binds values at hand to wants.

    Args:
        wants: of the errand.
        findings: what is at hand.
        conditions: what was learnt of the states in which tools refuse.
        schemas: of the tools, by name.
        readers: tools that may be called to look something up.
        made: the calls of wants that are done, by their numbers.
        unfit: by the number of a want, what is not to be taken for it.
    """

    wants: Sequence[GoalCall]
    findings: Findings
    conditions: LearntConditions
    schemas: Mapping[str, ToolSchema]
    readers: Sequence[ToolSchema]
    made: dict[int, ToolCall] = field(default_factory=dict)
    unfit: dict[int, list[Json]] = field(default_factory=dict)

    def bind(self, number: int, *, sure: bool) -> BoundValues:
        """Return what is known of the values of a want.

        What comes first in a call names the entity of what follows, so nothing is bound before it.

        Args:
            number: of the want.
            sure: whether a value has to be surely the one.
        """
        want = self.wants[number]
        known: dict[Place, Json] = {p: value for p, _, value in given_leaves(want.arguments)}
        named = [(p, NamedValue(name, value)) for p, name, value in given_leaves(want.arguments)]
        found = [one.value for _, one in named if self._names_entity(one.name)]
        searches: list[Search] = []
        weak, other, several, choices = False, False, "", tuple[Json, ...]()
        before: dict[Place, Json] = {}
        for place, name, sought in leaves(want.arguments):
            if not isinstance(sought, EntityQuery):
                before[place] = known.get(place)
                continue
            bound = tuple(value for value in known.values() if value is not None)
            ties = tuple(peers_of(place, before)) or tuple(found)
            row = tuple(one for at_, one in named if row_of(at_) == row_of(place))
            search = Search(name, sought, bound, ties, self._taken(number, place), want.tool, row)
            suits = ValueMatch() if searches else match(search, self.findings)
            if suits.value is None or (sure and not suits.sure):
                weak, other = weak or suits.value is not None, other or suits.other
                searches.append(search)
                continue
            alike = self._allowed(want.tool, name, suits.choices)
            if len(alike) > 1 and not several:
                several, choices = name, alike
            known[place] = before[place] = alike[0]
            found.append(alike[0])
        return BoundValues(known, tuple(searches), weak, several, choices, other)

    def _allowed(self, tool: str, name: str, choices: tuple[Json, ...]) -> tuple[Json, ...]:
        """Return the values among which a writing tool's is to be chosen.

        Those of which a confirmed condition is known not to hold are none; of a tool that only
        reads, or of what is only to be known, the best is taken.
        """
        if not tool or self.schemas[tool].effect is Effect.READS:
            return choices[:1]
        known = self.findings.known_of
        broken = self.conditions.violated
        some = tuple(v for v in choices if broken(tool, {name: known(v)}) is None)
        return some or choices

    def _names_entity(self, name: str) -> bool:
        """Say whether a parameter's value names something that can be looked up by it alone."""
        for tool in self.readers:
            needed = [parameter.name for parameter in tool.takes if parameter.required]
            if len(needed) == 1 and fit(needed[0], (name,), "") >= NAMED:
                return True
        return False

    def _taken(self, number: int, place: Place) -> tuple[Json, ...]:
        """Return what is not to be taken at a place: what wants that are described in the same
        words have taken there, and entities of which a condition does not hold."""
        same = [n for n in self.made if self.wants[n] == self.wants[number]]
        taken = [at(self.made[n].arguments, place) for n in same]
        return (*taken, *self.unfit.get(number, ()))


def readers_of(tools: Iterable[ToolSchema]) -> tuple[ToolSchema, ...]:
    """Return the tools that may be called to look something up: those known to only read."""
    return tuple(tool for tool in tools if tool.effect is Effect.READS)
