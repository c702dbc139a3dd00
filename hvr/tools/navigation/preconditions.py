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
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hvr.tools.calling.log import redacted
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import quoted
from hvr.tools.navigation.enabling import LearntEnablers, digest
from hvr.tools.navigation.entities import EntityProperty
from hvr.tools.navigation.found_values import key, plain
from hvr.tools.navigation.request import given_leaves, scalars_in

MOST_VALUES = 3
"""Values with which calls go well, at most: what has more of them names things, not states."""

CONFIRMED_WELL = 2
"""Calls that have to go well as a candidate predicts, for each of its values, to be trusted."""

CONFIRMED_REFUSED = 2
"""The same of refused calls, in all."""


Known: TypeAlias = "Mapping[str, frozenset[EntityProperty]]"
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


Place: TypeAlias = "tuple[str, str, frozenset[str]]"
"""A tool, a parameter of it, and the words of the name of something that an entity has."""


@dataclass(frozen=True)
class SeenStates:
    """The values that entities had when a tool was called with them.

    Args:
        well: Values with which calls went well, and how many; None if these are too many for a
            state.
        refused: Values with which calls were refused, a few.
    """

    well: tuple[tuple[Json, int], ...] | None = ()
    refused: tuple[Json, ...] = ()

    def after(self, value: Json, *, ok: bool) -> SeenStates:
        """Return the states after a call with an entity of this value."""
        if not ok:
            known = len(self.refused) > MOST_VALUES or value in self.refused
            return self if known else replace(self, refused=(*self.refused, value))
        if self.well is None:
            return self
        times = {key(other): number for other, number in self.well}
        if key(value) not in times:
            more = len(self.well) == MOST_VALUES
            return replace(self, well=None if more else (*self.well, (value, 1)))
        return replace(
            self, well=tuple((v, n + (key(v) == key(value))) for v, n in self.well)
        )  # fmt: skip

    def candidate(self) -> tuple[Json, ...]:
        """Return the values that may be the condition; none if nothing speaks for one."""
        well = self.well or ()
        if len(well) > 1 and all(times == 1 for _, times in well):
            return ()  # each has another: a name of something
        right = {key(value) for value, _ in well}
        wrong = any(key(value) not in right for value in self.refused)
        return tuple(value for value, _ in well) if wrong else ()


@dataclass
class LearntConditions:
    """The conditions that calls suggest, confirm and refute.

    Args:
        states: The values of each property with which calls went well or were refused.
        candidates: Conditions, confirmed or not.
        seen: Digests of the things that have confirmed or refuted one.
        enabling: The calls that make refused ones possible.
    """

    states: dict[Place, SeenStates] = field(default_factory=dict)
    candidates: dict[Place, StateCondition] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    enabling: LearntEnablers = field(default_factory=LearntEnablers)

    def observe(self, outcome: CallOutcome, known: Known) -> None:
        """Take in a call that went well or was refused; other failures say nothing of the state.

        Args:
            outcome: of it.
            known: of what it names, before it.
        """
        tool = outcome.call.tool
        if not outcome.ok and outcome.failure is not CallFailure.REFUSED:
            return
        self.enabling.observe(outcome)
        self._predicted(outcome.call, known, ok=outcome.ok)
        named = {key(plain(value)) for value in scalars_in(outcome.call.arguments)}
        for parameter, traits in known.items():
            for name, value in _single(traits):
                if key(value) in named:
                    continue  # the id itself
                place = tool, parameter, name
                states = self.states.get(place, SeenStates())
                self.states[place] = states.after(value, ok=outcome.ok)
        self._propose(tool)

    def conditions(self, tool: str) -> tuple[StateCondition, ...]:
        """Return the candidates of a tool, those that are confirmed first."""
        mine = [one for one in self.candidates.values() if one.tool == tool]
        return tuple(sorted(mine, key=_order))

    def violated(self, tool: str, known: Known) -> StateCondition | None:
        """Return a confirmed condition that does not hold of what is known; None if all may."""
        for condition in self.conditions(tool):
            if condition.confirmed and condition.holds(known) is False:
                return condition
        return None

    def confirmed(self, tool: str) -> tuple[str, ...]:
        """Return sentences about what is confirmed of when a tool refuses, and what helps then."""
        said = [
            f"{quoted(tool)} is refused unless {' '.join(sorted(one.name))} of {one.parameter} is "
            + " or ".join(map(str, one.values))
            for one in self.conditions(tool) if one.confirmed
        ]  # fmt: skip
        makers = self.enabling.confirmed([tool]).get(tool, ())
        return (*said, *(f"{quoted(by)} made {quoted(tool)} possible" for by in makers))

    def _predicted(self, call: ToolCall, known: Known, *, ok: bool) -> None:
        """Confirm or refute candidates by a call that they were there to predict.

        The same thing once more confirms nothing that it has not confirmed already.
        """
        things = _things(call, "well" if ok else "refused")
        for place, condition in list(self.candidates.items()):
            holds = condition.holds(known) if condition.tool == call.tool else None
            if holds is None:
                continue
            new = things.get(condition.parameter) not in self.seen
            if ok and not holds:
                del self.candidates[place]
            elif ok and new:
                self.candidates[place] = replace(condition, well=condition.well + 1)
            elif not ok and not holds and new:
                self.candidates[place] = replace(condition, refused=condition.refused + 1)
        self.seen |= set(things.values())

    def _propose(self, tool: str) -> None:
        """Make candidates of what tells calls that went well from those that were refused."""
        for place, states in self.states.items():
            if place[0] == tool and place not in self.candidates and (values := states.candidate()):
                self.candidates[place] = StateCondition(*place, values)


def _order(one: StateCondition) -> tuple[bool, str, list[str]]:
    return not one.confirmed, one.parameter, sorted(one.name)


def _state(known: Known, parameter: str, name: frozenset[str]) -> Json:
    """Return what an entity has under a name; None if nothing, or several things: its parts'."""
    mine = [trait for trait in known.get(parameter, ()) if trait[0] == name]
    return next((value for _, value in _single(mine)), None)


def _single(traits: Iterable[EntityProperty]) -> Iterator[tuple[frozenset[str], Json]]:
    """Yield what an entity has one of; what looks like a key is no state and is left out."""
    has: dict[frozenset[str], dict[str, Json]] = {}
    for name, value in traits:
        has.setdefault(name, {})[key(value)] = value
    for name, values in has.items():
        value = next(iter(values.values()))
        named = {"_".join(sorted(name)): value}
        if len(values) == 1 and value is not None and redacted(named) == named:
            yield name, value


def _things(call: ToolCall, what: str) -> dict[str, str]:
    """Return a digest of what each parameter of a call names, and of what came of it."""
    named: dict[str, list[str]] = {}
    for _, name, value in given_leaves(call.arguments):
        named.setdefault(name, []).append(key(value))
    return {name: digest(call.tool, name, what, *values) for name, values in named.items()}
