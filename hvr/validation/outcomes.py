"""What a validation can answer and how it goes on after a failure; importing this loads no PDDL."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The answer to "is this plan valid?"."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class OnFailure(StrEnum):
    """What to do after a failure: stop, or go on as if the step were skipped, or executed."""

    STOP = "stop"
    SKIP = "skip"
    FORCE = "force"
