"""What hvr needs of a place where tools are called."""

from __future__ import annotations

from typing import Protocol

from hvr.tools.calling.values import CallOutcome, Json, ToolCall
from hvr.tools.catalogue.schema import Catalogue


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
