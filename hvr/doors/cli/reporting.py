"""The reports of a run: their formats and destinations."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hvr.doors.cli.process import use_utf8
from hvr.errors import HvrError, UsageError
from hvr.validation.reporters import FORMATS
from hvr.values import Value

FOR_PEOPLE = ("text", "github")
"""Formats that people read, so remarks may appear among them."""

_Item = TypeVar("_Item")


class FileReport(Value):
    """A report in a file."""

    form: str
    path: Path


class Reports(Value):
    """The reports of one run.

    Attributes:
        shown: The format on standard output.
        files: The reports in files.
        brief: Whether to print only the summary, since a file has the same text.
    """

    shown: str
    files: tuple[FileReport, ...] = ()
    brief: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        """All formats."""
        return (self.shown, *(report.form for report in self.files))

    @property
    def aside(self) -> Any:
        """The stream for remarks: standard error if a program reads standard output."""
        return sys.stdout if self.shown in FOR_PEOPLE else sys.stderr

    @property
    def paths(self) -> list[Path]:
        """The files to write."""
        return [report.path for report in self.files]

    def check_writable(self) -> None:
        """Check early that the files can be written.

        Raises:
            HvrError: A file cannot be written.
        """
        if self.files:
            from hvr.doors.cli.output import check_writable

            for report in self.files:
                check_writable(report.path)

    def write(
        self,
        items: Iterable[_Item],
        render: Callable[[str, Iterable[_Item]], Iterable[str]],
        *,
        shown: bool,
    ) -> None:
        """Print one report as the items come, then write the files.

        A file gets its whole report or keeps its old content. If one file cannot be
        written, the others still are.

        Args:
            items: The results or findings to report.
            render: Returns the chunks of a report in a format.
            shown: Whether to print the report.

        Raises:
            DataFileError: A file cannot be written.
        """
        kept: list[_Item] = []
        source = _recorded(items, kept) if self.files else iter(items)
        if self.brief:
            for _ in source:
                pass
        else:
            self._print(render(self.shown, source), shown)
        failed: HvrError | None = None
        for report in self.files:
            from hvr.doors.cli.output import write_whole

            try:
                write_whole(report.path, "".join(render(report.form, kept)))
            except HvrError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _print(self, chunks: Iterable[str], shown: bool) -> None:
        if self.shown not in FOR_PEOPLE:
            use_utf8()
        for chunk in chunks:
            if shown:
                sys.stdout.write(chunk)
                sys.stdout.flush()


def add_report_arguments(
    group: argparse._ArgumentGroup | argparse.ArgumentParser, formats: Collection[str] = FORMATS
) -> None:
    """Add `--format` and `--output-file`."""
    option = group.add_argument(
        "--format",
        metavar="FORMAT[=FILE]",
        action="append",
        help=(
            f"report format: {', '.join(formats)} (default: text; github if GITHUB_ACTIONS is "
            "true); with a file, the report is written there; may be repeated"
        ),
    )
    # Only for completion: argparse's `choices` would reject FORMAT=FILE.
    option.offered = tuple(formats)  # type: ignore[attr-defined]
    group.add_argument(
        "--output-file", metavar="FILE", help="file for the report whose format names no file"
    )


def read_reports(
    given: argparse.Namespace, settings: dict[str, Any], formats: Collection[str] = FORMATS
) -> Reports:
    """Return the reports requested by the command line and the settings.

    Raises:
        UsageError: A format is unknown, two reports would go to standard output, or options
            exclude each other.
    """
    texts: Sequence[str] = given.format or settings.get("format", ())
    if getattr(given, "json", False):
        if given.format and any("=" not in text and text != "json" for text in given.format):
            raise UsageError(f"--json cannot be combined with --format {given.format[0]}")
        texts = [*(text for text in given.format or () if text != "json"), "json"]
    plain: list[str] = []
    files: list[FileReport] = []
    for text in texts:
        form, named, file = text.partition("=")
        if form not in formats:
            raise UsageError(f"no format named {form!r}; choose one of {', '.join(formats)}")
        if not named:
            plain.append(form)
        elif file:
            files.append(FileReport(form, Path(file)))
        else:
            raise UsageError(f"--format {text} lacks a file: give one, as in {form}=report.{form}")
    if len(plain) > 1:
        raise UsageError(
            f"only one report can go to standard output, and {' and '.join(plain)} would: give "
            f"the others a file, as in {plain[1]}=report.{plain[1]}"
        )
    output = given.output_file or settings.get("output_file")
    default = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    shown = default
    if output:
        files.insert(0, FileReport(plain[0] if plain else "text", Path(output)))
    elif plain:
        shown = plain[0]
    brief = bool(output) and (files[0].form, shown) == ("text", "text")
    return Reports(shown, tuple(files), brief)


def report_base() -> str:
    """Return the folder that paths in a report are relative to.

    GitHub annotations need paths relative to the repository, even if a workflow runs in a
    subfolder.
    """
    here = os.getcwd()  # noqa: PTH109 - a text is wanted
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    return workspace if workspace and Path(here).is_relative_to(workspace) else here


def _recorded(items: Iterable[_Item], kept: list[_Item]) -> Iterator[_Item]:
    for item in items:
        kept.append(item)
        yield item
