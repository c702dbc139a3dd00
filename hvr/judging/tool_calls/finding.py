"""What a judge of plans over tools finds."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.judging.verdict import Cause, CritiqueKind


@dataclass(frozen=True)
class CallFinding:
    """One fault of a plan.

    Args:
        kind: Redundant call, missing call, or wrong argument.
        at: Index of the call, or of the call that the missing one belongs before.
        reason: The evidence, in one sentence.
        tool: Name of the missing tool; empty if it is not known.
        cause: Kind of redundant call.
    """

    kind: CritiqueKind
    at: int
    reason: str
    tool: str = ""
    cause: Cause | None = None
