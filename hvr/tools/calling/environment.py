"""Tool environments: the protocol, several joined as one, and injected faults."""

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
# What hvr needs of a place where tools are called.


class ToolEnvironment(Protocol):
    """A place where tools are called."""

    @property
    def catalogue(self) -> Catalogue:
        """The tools that there are, with what they take, give and change."""
        ...

    def reset(self) -> None:
        """Begin anew, in the first state; of a live server only what can be begun anew."""
        ...

    def call(self, call: ToolCall) -> CallOutcome:
        """ToolCall a tool; a failure of the tool is an outcome, never an exception."""
        ...

    def state(self) -> Json:
        """Return the whole state, by which runs are judged; None where it cannot be seen."""
        ...

    def close(self) -> None:
        """Let go of processes and connections; more than once does no harm."""
        ...


# Joined tools -------------------------------------------------------------------------------------
# Several environments of tools as one.


def joined(
    sources: Sequence[tuple[str, Catalogue]],
) -> tuple[Catalogue, dict[str, tuple[int, str]]]:
    """Return the tools of several sources, and for each its source's index and its name there.

    Args:
        sources: Catalogues with names that tell them apart.
    """
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
    """The tools of several sources; `SOURCE.TOOL` where two sources have a tool of one name.

    Args:
        sources: Environments with names of their own, in the order in which tools are listed.
    """

    def __init__(self, sources: Sequence[tuple[str, ToolEnvironment]]) -> None:
        self._sources = tuple(sources)
        self._catalogue, self._homes = joined([(name, one.catalogue) for name, one in sources])

    @property
    def catalogue(self) -> Catalogue:
        """The tools of all sources."""
        return self._catalogue

    def reset(self) -> None:
        """Begin anew in each source."""
        for _, source in self._sources:
            source.reset()

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool of the source that has it."""
        if call.tool not in self._homes:
            error = f"there is no tool {quoted(call.tool)}"
            return CallOutcome(call, failure=CallFailure.UNKNOWN_TOOL, error=error)
        index, name = self._homes[call.tool]
        return replace(self._sources[index][1].call(replace(call, tool=name)), call=call)

    def state(self) -> Json:
        """Return the states of the sources that show one, by source; None if none does."""
        states = {label: source.state() for label, source in self._sources}
        return {label: state for label, state in states.items() if state is not None} or None

    def close(self) -> None:
        """Close each source, also where closing another fails."""
        with ExitStack() as stack:
            for _, source in self._sources:
                stack.callback(source.close)


# Faults -------------------------------------------------------------------------------------------
# Tools that fail on purpose, over any environment: which, how and for how long is seeded.

FAULT_KINDS = (
    CallFailure.REFUSED,
    CallFailure.TIMED_OUT,
    CallFailure.WRONG_TYPE,
    CallFailure.EMPTY,
)
"""How a tool can fail on purpose."""


@dataclass(frozen=True)
class ToolFault:
    """How one tool fails.

    Args:
        kind: what its calls come to.
        calls: after how many calls of any tool it works again; None if it never does.
    """

    kind: CallFailure
    calls: int | None = None


def draw_faults(
    catalogue: Catalogue, share: float, seed: int, calls: int | None = None
) -> dict[str, ToolFault]:
    """Return faults for a share of the tools, the same for the same seed.

    Args:
        catalogue: the tools.
        share: of the tools that fail, from 0 to 1; at least one where it is not 0.
        seed: of the drawing.
        calls: after how many calls they come back; None if never.

    Raises:
        UsageError: a number is out of its range.
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
    """An environment of which some tools fail; a call that fails never reaches it."""

    def __init__(self, inner: ToolEnvironment, faults: Mapping[str, ToolFault]) -> None:
        self._inner = inner
        self._faults = dict(faults)
        self._calls = 0

    @property
    def catalogue(self) -> Catalogue:
        """The tools, as if all worked."""
        return self._inner.catalogue

    def reset(self) -> None:
        """Begin anew, with the same faults."""
        self._inner.reset()
        self._calls = 0

    def call(self, call: ToolCall) -> CallOutcome:
        """Call a tool, or fail as its fault says."""
        self._calls += 1
        fault = self._faults.get(call.tool)
        if fault is None or (fault.calls is not None and self._calls > fault.calls):
            return self._inner.call(call)
        result: Json = [] if fault.kind is CallFailure.EMPTY else None
        return CallOutcome(call, result, fault.kind, _SAID[fault.kind])

    def state(self) -> Json:
        """Return the state of the environment."""
        return self._inner.state()

    def close(self) -> None:
        """Close the environment."""
        self._inner.close()


_SAID = {
    CallFailure.REFUSED: "the tool refuses",
    CallFailure.TIMED_OUT: "the tool does not answer",
    CallFailure.WRONG_TYPE: "the result is of another type",
    CallFailure.EMPTY: "the result is empty",
}
