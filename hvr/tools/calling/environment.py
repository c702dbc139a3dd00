"""Tool environments: the protocol, joined environments, and fault injection."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from hvr.base.numbers import check_integer, check_real
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue, quoted

# Environment --------------------------------------------------------------------------------------


class ToolEnvironment(Protocol):
    """A set of tools that can be called and that share a state."""

    @property
    def catalogue(self) -> Catalogue:
        """The tools with their parameters, results and effects."""
        ...

    def reset(self) -> None:
        """Restore the initial state, as far as a live server allows."""
        ...

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool; its failures are outcomes, never exceptions."""
        ...

    def state(self) -> Json:
        """Return the whole state, by which runs are judged; None if it is not observable."""
        ...

    def close(self) -> None:
        """Release processes and connections; closing twice is harmless."""
        ...


# Joined tools -------------------------------------------------------------------------------------


def joined(
    sources: Sequence[tuple[str, Catalogue]],
) -> tuple[Catalogue, dict[str, tuple[int, str]]]:
    """Return the tools of several sources, and per tool its source's index and its name there."""
    times = Counter(tool.name for _, one in sources for tool in one.tools)
    tools, homes = [], {}
    for index, (label, catalogue) in enumerate(sources):
        for tool in catalogue.tools:
            name = tool.name if times[tool.name] == 1 else f"{label}.{tool.name}"
            homes[name] = index, tool.name
            tools.append(replace(tool, name=name))
    left_out = tuple(text for _, one in sources for text in one.left_out)
    return Catalogue(tuple(tools), left_out), homes


class JoinedTools:
    """The tools of several sources, named `SOURCE.TOOL` where names clash.

    Args:
        sources: Environments with unique names, in the order of the tool list.
    """

    def __init__(self, sources: Sequence[tuple[str, ToolEnvironment]]) -> None:
        self._sources = tuple(sources)
        self._catalogue, self._homes = joined([(name, one.catalogue) for name, one in sources])

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        for _, source in self._sources:
            source.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        if call.tool not in self._homes:
            error = f"no tool named {quoted(call.tool)}"
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL, error=error)
        index, name = self._homes[call.tool]
        return replace(self._sources[index][1].call(replace(call, tool=name)), call=call)

    def state(self) -> Json:
        """Return the observable states by source; None if there are none."""
        states = {label: source.state() for label, source in self._sources}
        return {label: state for label, state in states.items() if state is not None} or None

    def close(self) -> None:
        """Close every source, even if closing one fails."""
        with ExitStack() as stack:
            for _, source in self._sources:
                stack.callback(source.close)


# Faults -------------------------------------------------------------------------------------------

FAULT_KINDS = (
    CallFailure.REFUSED,
    CallFailure.TIMED_OUT,
    CallFailure.WRONG_TYPE,
    CallFailure.EMPTY,
)
"""Failures that can be injected."""


@dataclass(frozen=True)
class ToolFault:
    """An injected fault of one tool.

    Args:
        calls: Number of calls of any tool after which it works again; None for never.
    """

    kind: CallFailure
    calls: int | None = None


def draw_faults(
    catalogue: Catalogue, share: float, seed: int, calls: int | None = None
) -> dict[str, ToolFault]:
    """Return random faults for a share of the tools, reproducible by the seed.

    Args:
        share: Share of the tools that fail, from 0 to 1; at least one tool unless it is 0.
        calls: Number of calls after which the tools work again; None for never.

    Raises:
        UsageError: A number is out of range.
    """
    check_real("share", share, 0, 1)
    if calls is not None:
        check_integer("calls", calls)
    drawn = random.Random(seed)
    names = sorted(tool.name for tool in catalogue.tools)
    count = min(len(names), max(1, round(share * len(names)))) if share else 0
    return {
        name: ToolFault(drawn.choice(FAULT_KINDS), calls) for name in drawn.sample(names, count)
    }


class FaultyTools:
    """An environment with injected faults; a failing call never reaches the tool."""

    def __init__(self, inner: ToolEnvironment, faults: Mapping[str, ToolFault]) -> None:
        self._inner = inner
        self._faults = dict(faults)
        self._calls = 0

    @property
    def catalogue(self) -> Catalogue:
        """The tools, as if all of them worked."""
        return self._inner.catalogue

    def reset(self) -> None:
        """Reset the environment, keeping the faults."""
        self._inner.reset()
        self._calls = 0

    def call(self, call: ToolCall) -> CallOutcome:
        self._calls += 1
        fault = self._faults.get(call.tool)
        if fault is None or (fault.calls is not None and self._calls > fault.calls):
            return self._inner.call(call)
        result: Json = [] if fault.kind is CallFailure.EMPTY else None
        return CallOutcome(call, result, fault.kind, _SAID[fault.kind])

    def state(self) -> Json:
        return self._inner.state()

    def close(self) -> None:
        self._inner.close()


_SAID = {
    CallFailure.REFUSED: "the tool refuses",
    CallFailure.TIMED_OUT: "the tool does not answer",
    CallFailure.WRONG_TYPE: "the result is of another type",
    CallFailure.EMPTY: "the result is empty",
}
