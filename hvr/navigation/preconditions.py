"""Conditions on the world's state, learnt from what calls were refused; candidates until confirmed.

What is known of the entity that a parameter names is compared between calls that went well and
calls that were refused: where a name (`status`) had only a few values whenever a call went well,
and another value when it was refused, that it has one of these values may be the condition. What
is known of two parameters' entities is never mixed: a card has paid orders of every status. Nor is
what an entity has several of (the colours of what was ordered) a state of it.

A candidate predicts: it is confirmed by later calls that go well with such a value and are refused
with another, and trusted only then. A call that goes well with another value refutes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hvr.calling.values import CallFailure, CallOutcome, Json
from hvr.navigation.findings import POSITION, Trait, key

MOST_VALUES = 3
"""Values with which calls go well, at most: what has more of them names things, not states."""

CONFIRMED_WELL = 2
CONFIRMED_REFUSED = 1
"""Calls that a candidate has to predict before it is trusted."""


Known: TypeAlias = "Mapping[str, frozenset[Trait]]"
"""What is known of the entity that each parameter of a call names."""


@dataclass(frozen=True)
class StateCondition:
    """That something named in a call has one of some values.

    Args:
        tool: that is called.
        parameter: of it, which names that something.
        name: the words of the name of what is compared.
        values: with which calls went well.
        well: calls that went well with one of the values since it is a candidate.
        refused: calls that were refused with another since then.
    """

    tool: str
    parameter: str
    name: frozenset[str]
    values: tuple[Json, ...]
    well: int = 0
    refused: int = 0

    @property
    def confirmed(self) -> bool:
        """Whether it has predicted enough to be trusted."""
        return self.well >= CONFIRMED_WELL and self.refused >= CONFIRMED_REFUSED

    def holds(self, known: Known) -> bool | None:
        """Say whether it holds of what is known; None if that does not say, or says two things."""
        has = _state(known, self.parameter, self.name)
        return None if has is None else key(has) in {key(value) for value in self.values}


class LearntConditions:
    """What is thought of the conditions of tools, as calls come."""

    def __init__(self) -> None:
        self._well: dict[str, list[Known]] = {}
        self._refused: dict[str, list[Known]] = {}
        self._candidates: dict[tuple[str, str, frozenset[str]], StateCondition] = {}

    def observe(self, outcome: CallOutcome, known: Known) -> None:
        """Take in a call that went well or was refused; other failures say nothing of the state.

        Args:
            outcome: of it.
            known: of what it names, before it.
        """
        tool = outcome.call.tool
        if outcome.ok:
            self._predicted(tool, known, ok=True)
            self._well.setdefault(tool, []).append(known)
        elif outcome.failure is CallFailure.REFUSED:
            self._predicted(tool, known, ok=False)
            self._refused.setdefault(tool, []).append(known)
        else:
            return
        self._propose(tool)

    def conditions(self, tool: str) -> tuple[StateCondition, ...]:
        """Return the candidates of a tool, those that are confirmed first."""
        mine = [one for one in self._candidates.values() if one.tool == tool]
        return tuple(sorted(mine, key=_order))

    def violated(self, tool: str, known: Known) -> StateCondition | None:
        """Return a confirmed condition that does not hold of what is known; None if all may."""
        for condition in self.conditions(tool):
            if condition.confirmed and condition.holds(known) is False:
                return condition
        return None

    def _predicted(self, tool: str, known: Known, *, ok: bool) -> None:
        """Confirm or refute candidates by a call that they were there to predict."""
        for place, condition in list(self._candidates.items()):
            holds = condition.holds(known) if condition.tool == tool else None
            if holds is None:
                continue
            if ok and not holds:
                del self._candidates[place]
            elif ok:
                self._candidates[place] = replace(condition, well=condition.well + 1)
            elif not holds:
                self._candidates[place] = replace(condition, refused=condition.refused + 1)

    def _propose(self, tool: str) -> None:
        """Make candidates of what tells calls that went well from those that were refused."""
        well, refused = self._well.get(tool, []), self._refused.get(tool, [])
        places = {(parameter, name) for known in refused for parameter, traits in known.items()
                  for name, _ in traits if name != POSITION}  # fmt: skip
        for parameter, name in places:
            values = list(_values(well, parameter, name))
            distinct = {key(value): value for value in values}
            if (
                (tool, parameter, name) in self._candidates
                or not values
                or len(distinct) > MOST_VALUES
            ):
                continue
            if len(values) > 1 and len(distinct) == len(values):
                continue  # each has another: a name of something
            condition = StateCondition(tool, parameter, name, tuple(distinct.values()))
            if any(condition.holds(known) is False for known in refused):
                self._candidates[tool, parameter, name] = condition


def _order(one: StateCondition) -> tuple[bool, str, list[str]]:
    return not one.confirmed, one.parameter, sorted(one.name)


def _values(several: Iterable[Known], parameter: str, name: frozenset[str]) -> Iterator[Json]:
    states = (_state(known, parameter, name) for known in several)
    return (state for state in states if state is not None)


def _state(known: Known, parameter: str, name: frozenset[str]) -> Json:
    """Return what an entity has under a name; None if nothing, or several things: its parts'."""
    has = {key(value): value for other, value in known.get(parameter, ()) if other == name}
    return next(iter(has.values())) if len(has) == 1 else None
