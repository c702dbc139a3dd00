"""Choices for validating plans: verdicts, reactions to failures, and report formats.

Importing this module loads no PDDL, because it is imported to parse command lines. A reporter,
which turns results into chunks of text, is imported when its format is chosen. The line-based
formats (`text`, `json-lines`, `github`) yield the chunk of a plan as soon as its result exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.validation.findings import Judged
    from hvr.validation.reporters import ReportOptions


class Outcome(StrEnum):
    """The answer to "is this plan valid?"."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class OnFailure(StrEnum):
    """The reaction to a failing step: stop, skip the step, or execute it regardless."""

    STOP = "stop"
    SKIP = "skip"
    FORCE = "force"


_REPORTERS = {
    "text": ("reporters", "report_text"),
    "json": ("machine_reports", "report_json"),
    "json-lines": ("machine_reports", "report_json_lines"),
    "junit": ("machine_reports", "report_junit"),
    "sarif": ("machine_reports", "report_sarif"),
    "github": ("machine_reports", "report_github"),
    "markdown": ("machine_reports", "report_markdown"),
}

FORMATS = tuple(_REPORTERS)

Reporter: TypeAlias = "Callable[[Iterable[Judged], ReportOptions], Iterator[str]]"


def find_reporter(name: str) -> Reporter:
    """Return the reporter of a format; raise a UsageError if the format does not exist."""
    if name not in _REPORTERS:
        raise UsageError(f"no format named {name!r}; choose one of {', '.join(FORMATS)}")
    module, function = _REPORTERS[name]
    reporter: Reporter = getattr(import_module(f"hvr.validation.{module}"), function)
    return reporter
