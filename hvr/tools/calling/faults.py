"""Tools that fail on purpose, over any environment: which, how and for how long is seeded."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from hvr.base.numbers import check_real, check_whole
from hvr.tools.calling.environment import ToolEnvironment
from hvr.tools.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue

KINDS = (
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
        check_whole("calls", calls)
    drawn = random.Random(seed)
    names = sorted(tool.name for tool in catalogue.tools)
    count = min(len(names), max(1, round(share * len(names)))) if share else 0
    return {name: ToolFault(drawn.choice(KINDS), calls) for name in drawn.sample(names, count)}


class FaultyTools:
    """An environment of which some tools fail; a call that fails never reaches it.

    Args:
        inner: the environment.
        faults: by name of the tool.
    """

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
