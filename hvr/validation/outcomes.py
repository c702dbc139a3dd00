"""The verdicts and the ways to continue after a failure; importing this module loads no PDDL."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The answer to "is this plan valid?"."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class OnFailure(StrEnum):
    """Reaction to a failing step: stop, skip the step, or execute it anyway."""

    STOP = "stop"
    SKIP = "skip"
    FORCE = "force"
