"""Which call makes another one possible: learnt from refusals, trusted when things confirm it.

A call that was refused, and went well when only one other call had gone well in between, was made
possible by that call. A call that is refused all the same refutes it, if that call was about the
same thing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hvr.tools.calling.values import CallFailure, CallOutcome, ToolCall
from hvr.tools.navigation.found_values import key
from hvr.tools.navigation.request import given_leaves

CONFIRMED_THINGS = 2
"""Things that have to confirm what makes a call possible, to be trusted."""


@dataclass(frozen=True)
class Enabler:
    """That one call makes another possible which was refused.

    Args:
        tool: The tool that was refused.
        by: The tool after whose call it was not.
        shared: Pairs of a parameter of `tool` and one of `by` that had the same value each time.
        well: How many things confirm it.
        refused: How many things were refused all the same.
    """

    tool: str
    by: str
    shared: frozenset[tuple[str, str]] = frozenset()
    well: int = 0
    refused: int = 0

    @property
    def confirmed(self) -> bool:
        """Whether enough things confirm it and none speaks against it."""
        return self.well >= CONFIRMED_THINGS and not self.refused


@dataclass
class LearntEnablers:
    """The enablers that calls suggest, confirm and refute.

    Args:
        known: The enablers, by the tool that was refused and the one that makes it possible.
        seen: Digests of the calls that have confirmed or refuted one.
    """

    known: dict[tuple[str, str], Enabler] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    # Refused calls of one run, each with the calls that went well since.
    _waiting: dict[str, tuple[ToolCall, list[ToolCall]]] = field(default_factory=dict)

    def observe(self, outcome: CallOutcome) -> None:
        """Take in a call that went well or was refused; other failures say nothing."""
        if not outcome.ok and outcome.failure is not CallFailure.REFUSED:
            return
        call, name = outcome.call, json.dumps([outcome.call.tool, outcome.call.arguments])
        _, since = self._waiting.pop(name, (call, []))
        if len(since) == 1:
            self._judge(call, since[0], digest(call.tool, since[0].tool, name), ok=outcome.ok)
        if not outcome.ok:
            self._waiting[name] = call, []
            return
        for waiting, later in self._waiting.values():
            if waiting.tool != call.tool:
                later.append(call)

    def of(self, tool: str) -> tuple[Enabler, ...]:
        """Return what may make a tool possible; what is confirmed comes first."""
        mine = [one for one in self.known.values() if one.tool == tool]
        return tuple(sorted(mine, key=lambda one: (not one.confirmed, one.by)))

    def confirmed(self, tools: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the tools that are confirmed to make one of some tools possible, by that tool."""
        found = {tool: tuple(one.by for one in self.of(tool) if one.confirmed) for tool in tools}
        return {tool: makers for tool, makers in found.items() if makers}

    def _judge(self, call: ToolCall, between: ToolCall, thing: str, *, ok: bool) -> None:
        both, pairs = (call.tool, between.tool), _shared(call, between)
        old = self.known.get(both, Enabler(*both))
        other_thing = old.shared and not old.shared & pairs
        if thing in self.seen or (not ok and other_thing):
            return
        self.seen.add(thing)
        shared = old.shared & pairs if old.well else pairs
        self.known[both] = replace(
            old, shared=shared if ok else old.shared,
            well=old.well + ok, refused=old.refused + (not ok),
        )  # fmt: skip


def digest(*parts: str) -> str:
    """Return a name for something that does not say what it is: no id is kept."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _shared(call: ToolCall, other: ToolCall) -> frozenset[tuple[str, str]]:
    """Return the pairs of parameters of two calls that have one value."""
    return frozenset(
        (name, of_other)
        for _, name, value in given_leaves(call.arguments)
        for _, of_other, same in given_leaves(other.arguments)
        if key(value) == key(same) and not isinstance(value, bool) and value is not None
    )
