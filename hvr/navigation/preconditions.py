"""Conditions on the world's state, learnt from what calls were refused; candidates until confirmed.

What is known of the entity that a parameter names is compared between calls that went well and
calls that were refused: where a name (`status`) had only a few values whenever a call went well,
and another value when it was refused, that it has one of these values may be the condition. What
is known of two parameters' entities is never mixed: a card has paid orders of every status. Nor is
what an entity has several of (the colours of what was ordered) a state of it.

A candidate predicts: it is confirmed by later calls, of other things, that go well with such a
value and are refused with another, and trusted only then. A call that goes well with another value
refutes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.navigation.findings import POSITION, Trait, key
from hvr.navigation.request import given_leaves

MOST_VALUES = 3
"""Values with which calls go well, at most: what has more of them names things, not states."""

CONFIRMED_WELL = 2
"""Calls that have to go well as a candidate predicts, for each of its values, to be trusted."""

CONFIRMED_REFUSED = 2
"""The same of refused calls, in all."""


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
        well: things with one of the values of which a call went well since it is a candidate.
        refused: things with another of which one was refused since then.
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
        enough = CONFIRMED_WELL * len(self.values)
        return self.well >= enough and self.refused >= CONFIRMED_REFUSED

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
        self._seen: set[tuple[str, str, str, bool]] = set()

    def observe(self, outcome: CallOutcome, known: Known) -> None:
        """Take in a call that went well or was refused; other failures say nothing of the state.

        Args:
            outcome: of it.
            known: of what it names, before it.
        """
        tool = outcome.call.tool
        if not outcome.ok and outcome.failure is not CallFailure.REFUSED:
            return
        self._predicted(outcome.call, known, ok=outcome.ok)
        past = self._well if outcome.ok else self._refused
        past.setdefault(tool, []).append(known)
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

    def _predicted(self, call: ToolCall, known: Known, *, ok: bool) -> None:
        """Confirm or refute candidates by a call that they were there to predict.

        The same thing once more confirms nothing that it has not confirmed already.
        """
        named: dict[str, list[str]] = {}
        for _, name, value in given_leaves(call.arguments):
            named.setdefault(name, []).append(key(value))
        things = {name: (call.tool, name, str(values), ok) for name, values in named.items()}
        for place, condition in list(self._candidates.items()):
            holds = condition.holds(known) if condition.tool == call.tool else None
            if holds is None:
                continue
            new = things.get(condition.parameter) not in self._seen
            if ok and not holds:
                del self._candidates[place]
            elif ok and new:
                self._candidates[place] = replace(condition, well=condition.well + 1)
            elif not ok and not holds and new:
                self._candidates[place] = replace(condition, refused=condition.refused + 1)
        self._seen |= set(things.values())

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
