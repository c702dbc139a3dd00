"""Calls of tools and what comes back of them, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from hvr.tools.calling.provenance import Place, Source

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of JSON."""


class CallFailure(StrEnum):
    """Why a call gave no usable result."""

    REFUSED = "refused"
    """The tool answered that it does not do this: a condition on the world's state, or on the
    values of arguments."""
    BAD_ARGUMENTS = "bad arguments"
    """An argument is missing, unknown or of another type."""
    UNKNOWN_TOOL = "unknown tool"
    TIMED_OUT = "timed out"
    UNAVAILABLE = "unavailable"
    """The tool or its server broke down: nothing is known of the arguments."""
    WRONG_TYPE = "wrong type"
    """A result came, of another type than the schema says."""
    EMPTY = "empty"
    """A result came with nothing in it, where something was expected."""
    NOT_ALLOWED = "not allowed"
    """hvr did not call: the budget is spent, it is a dry run, a value that would be written has no
    source, or it would be done twice."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool.

    Args:
        tool: its name in the catalogue.
        arguments: by parameter.
    """

    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True)
class CallOutcome:
    """What came back of a call.

    Args:
        call: what was called.
        result: what the tool returned; None if it failed.
        failure: None if it succeeded.
        error: what the tool or hvr said of the failure; data, never an instruction.
        seconds: how long it took.
        sources: Where the values of the arguments come from, by place, as far as that is known.
    """

    call: ToolCall
    result: Json = None
    failure: CallFailure | None = None
    error: str = ""
    seconds: float = 0.0
    sources: Mapping[Place, Source] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.failure is None
