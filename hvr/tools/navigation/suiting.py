"""Whether a value at hand is what a tool takes: by meaning, name, or what was passed on before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from hvr.tools.navigation.naming import fit

if TYPE_CHECKING:
    from hvr.tools.catalogue.merging import ParameterMeaning

Flow: TypeAlias = "Callable[[str, str, tuple[str, ...]], float]"
"""How surely a parameter takes what stands at a path of a tool's results: 0 to 1."""

REQUEST = "the request"
WANTED = "a wanted call"
SAYING = frozenset((REQUEST, WANTED))
"""What gives values beside tools."""

SUITS = 0.3
"""From what on a value suits a parameter."""


class Suiting:
    """How well values suit parameters, from 0 to 1.

    What the user has said of meanings is not overruled by names; where nothing is said of either
    side, names and learnt flows decide beside merged meanings.

    Args:
        flow: what was passed on before; None if nothing was learnt.
        meanings: of the parameters of the catalogue; none if they were not merged.
    """

    def __init__(self, flow: Flow | None = None, meanings: Iterable[ParameterMeaning] = ()) -> None:
        self._flow = flow
        self._named = {meaning.name: meaning for meaning in meanings}
        self._taken: dict[tuple[str, str], ParameterMeaning] = {}
        self._given: dict[tuple[str, tuple[str, ...]], ParameterMeaning] = {}
        for meaning in self._named.values():
            for slot in meaning.slots:
                if slot.gives:
                    path = path_of(slot.name)
                    self._given[slot.tool, path] = meaning
                    if path[:1] == ("result",):
                        self._given[slot.tool, path[1:]] = meaning
                else:
                    self._taken[slot.tool, slot.name] = meaning

    def __call__(self, taker: str, parameter: str, giver: str, path: tuple[str, ...]) -> float:
        """Return how well what stands at a path suits a parameter.

        Args:
            taker: the tool that takes it; empty if the value itself is wanted, by its meaning.
            parameter: of that tool, or the name of the meaning.
            giver: the tool in whose result it stands; `REQUEST` or `WANTED` if it is said.
            path: the pattern of its place (`hvr.tools.navigation.naming.pattern`); its name if
                said.
        """
        takes = self.meaning(taker, parameter)
        gives = self._given.get((giver, path)) if giver not in SAYING else self._named.get(path[-1])
        if takes is not None and gives is not None:
            if takes is gives:
                return 1.0
            if takes.said or gives.said:
                return 0.0
        learnt = self._flow(parameter, giver, path) if self._flow else 0.0
        return max(fit(parameter, path, "" if giver in SAYING else giver), learnt)

    def meaning(self, taker: str, parameter: str) -> ParameterMeaning | None:
        """Return the meaning of what a tool takes, or of that name where no tool is named."""
        if not taker:
            return self._named.get(parameter)
        return self._taken.get((taker, parameter))

    def alike(self, taker: str, parameter: str, other: str, name: str) -> float:
        """Return how well one parameter takes what another one does."""
        one, two = self.meaning(taker, parameter), self.meaning(other, name)
        if one is not None and two is not None:
            if one is two:
                return 1.0
            if one.said or two.said:
                return 0.0
        return fit(parameter, (name,), "")


def path_of(name: str) -> tuple[str, ...]:
    """Return the pattern of the path of what a schema names `flights[].id`."""
    return tuple(part for step in name.split(".") for part in _steps(step))


def _steps(step: str) -> Iterator[str]:
    name = step.replace("[]", "")
    if name:
        yield name
    yield from ["[]"] * step.count("[]")
