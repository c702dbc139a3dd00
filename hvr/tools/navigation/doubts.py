"""Whether a writing call that failed has written: which look-up can tell by what it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hvr.tools.calling.values import CallOutcome, ToolCall
from hvr.tools.catalogue.schema import Effect, ToolSchema
from hvr.tools.navigation.experience import Experience
from hvr.tools.navigation.found_values import key
from hvr.tools.navigation.request import scalars_in

SHOWN = 0.8
"""The share of what a writing tool's results hold that a look-up's have to hold as well, so that
it is taken for a look at what the tool writes."""

FEW = 3
"""A result with fewer parts than these says too little of what a tool writes."""


def witness(
    call: ToolCall,
    outcomes: Sequence[CallOutcome],
    schemas: Mapping[str, ToolSchema],
    experience: Experience,
) -> CallOutcome | None:
    """Return the last look-up before a writing call whose result would change if it has written.

    Args:
        call: the writing call that failed.
        outcomes: of all calls so far.
        schemas: of the tools, by name.
        experience: what results of tools have held.

    Returns:
        The look-up; None if none is known to show what the call writes.
    """
    written = experience.shape(call.tool)
    if written is None or len(written) < FEW:
        return None
    named = {key(value) for value in scalars_in(call.arguments)}
    for outcome in reversed(outcomes[: _place(call, outcomes)]):
        read = experience.shape(outcome.call.tool)
        if (
            outcome.ok
            and schemas[outcome.call.tool].effect is Effect.READS
            and read is not None
            and len(read & written) >= SHOWN * len(written)
            and named & {key(value) for value in scalars_in(outcome.call.arguments)}
        ):
            return outcome
    return None


def _place(call: ToolCall, outcomes: Sequence[CallOutcome]) -> int:
    """Return the number of the last time that a call was made."""
    return max(number for number, outcome in enumerate(outcomes) if outcome.call == call)
