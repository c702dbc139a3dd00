"""Injected faults: tool environments in which some tools fail."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from hvr.base.texts import check_integer, check_real
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall, ToolEnvironment
from hvr.tools.catalogue.schema import Catalogue

FAULT_KINDS = (
    CallFailure.REFUSED,
    CallFailure.TIMED_OUT,
    CallFailure.WRONG_TYPE,
    CallFailure.EMPTY,
)
"""Kinds of injectable failures."""


@dataclass(frozen=True)
class ToolFault:
    """A fault in one tool, until `calls` calls of any tool were made; permanent if None."""

    kind: CallFailure
    calls: int | None = None


def draw_faults(
    catalogue: Catalogue, share: float, seed: int, calls: int | None = None
) -> dict[str, ToolFault]:
    """Return random faults for a share of the tools, reproducible by the seed.

    Args:
        share: Share of the tools that fail, from 0 to 1; at least one tool fails unless it is 0.
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
    """An environment with injected faults; a failing call never reaches its tool."""

    def __init__(self, inner: ToolEnvironment, faults: Mapping[str, ToolFault]) -> None:
        self._inner = inner
        self._faults = dict(faults)
        self._calls = 0

    @property
    def catalogue(self) -> Catalogue:
        return self._inner.catalogue

    def reset(self) -> None:
        """Reset the environment, but keep the faults."""
        self._inner.reset()
        self._calls = 0

    def call(self, call: ToolCall) -> CallOutcome:
        self._calls += 1
        fault = self._faults.get(call.tool)
        if fault is None or (fault.calls is not None and self._calls > fault.calls):
            return self._inner.call(call)
        result: Json = [] if fault.kind is CallFailure.EMPTY else None
        return CallOutcome(call, result, fault.kind, _ERRORS[fault.kind])

    def state(self) -> Json:
        return self._inner.state()

    def close(self) -> None:
        self._inner.close()


_ERRORS = {
    CallFailure.REFUSED: "the tool refuses",
    CallFailure.TIMED_OUT: "the tool does not answer",
    CallFailure.WRONG_TYPE: "the result is of another type",
    CallFailure.EMPTY: "the result is empty",
}
