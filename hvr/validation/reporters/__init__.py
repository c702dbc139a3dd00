"""The output formats of results.

A reporter turns results into chunks of text. The line-based formats (`text`, `json-lines`,
`github`) yield the chunk of a plan as soon as its result exists. A reporter is imported when its
format is chosen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from hvr.errors import UsageError
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.findings import Finding, Judged

_REPORTERS = {
    "text": ("text", "report_text"),
    "json": ("formats", "report_json"),
    "json-lines": ("formats", "report_json_lines"),
    "junit": ("formats", "report_junit"),
    "sarif": ("formats", "report_sarif"),
    "github": ("formats", "report_github"),
    "markdown": ("formats", "report_markdown"),
}

FORMATS = tuple(_REPORTERS)
"""The names of the formats."""


class ReportOptions(Value):
    """Options of reports.

    Attributes:
        warnings: The findings about the domain and the problem themselves.
        limit: The maximum number of unmet literals to show; None for no limit.
        base: The folder that relative paths start from, in formats that need them.
        rules_url: The address of the folder that contains the rule pages, or "".
        failures_only: Whether human-readable formats omit valid plans, which are still counted.
        problems: Whether to show the problem of each plan, because there are several.
    """

    warnings: tuple[Finding, ...] = ()
    limit: int | None = 20
    base: str = "."
    rules_url: str = ""
    problems: bool = False
    failures_only: bool = False


Reporter: TypeAlias = "Callable[[Iterable[Judged], ReportOptions], Iterator[str]]"


def find_reporter(name: str) -> Reporter:
    """Return the reporter of a format.

    Raises:
        UsageError: The format does not exist.
    """
    if name not in _REPORTERS:
        raise UsageError(f"no format named {name!r}; choose one of {', '.join(FORMATS)}")
    module, function = _REPORTERS[name]
    reporter: Reporter = getattr(import_module(f"{__name__}.{module}"), function)
    return reporter


def relative_path(file: str, base: str) -> str:
    """Return the path of a file relative to a folder, with `/` between its parts.

    A file outside the folder keeps its absolute path.
    """
    if not file or file.startswith("<"):
        return file
    path = os.path.abspath(file)  # noqa: PTH100 - keep links as written
    try:
        inside = os.path.relpath(path, base)
    except ValueError:  # another drive
        inside = os.pardir
    if inside == os.pardir or inside.startswith(os.pardir + os.sep):
        inside = path
    return inside.replace(os.sep, "/")
