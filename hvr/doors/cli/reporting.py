"""Reports, their destinations and their settings, shared by `hvr validate` and `hvr lint`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.texts import read_bytes, read_toml
from hvr.doors.cli import arguments
from hvr.doors.cli.process import use_utf8
from hvr.errors import HvrError, UsageError
from hvr.validation.outcomes import FORMATS, OnFailure
from hvr.values import Value

FOR_PEOPLE = ("text", "github")
"""Formats for people; other messages may appear between their lines."""

_Item = TypeVar("_Item")


class FileReport(Value):
    form: str
    path: Path


class Reports(Value):
    """The reports of one command.

    Attributes:
        shown: The format on standard output.
        brief: Whether to print only the summary, because a file contains the full text.
    """

    shown: str
    files: tuple[FileReport, ...] = ()
    brief: bool = False

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.shown, *(report.form for report in self.files))

    @property
    def aside(self) -> Any:
        """The stream for remarks: standard error if a program may read standard output."""
        return sys.stdout if self.shown in FOR_PEOPLE else sys.stderr

    @property
    def paths(self) -> list[Path]:
        return [report.path for report in self.files]

    def check_writable(self) -> None:
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
        """Print one report while items arrive, then write the files.

        Each file either gets its whole report or keeps its old content. If one file cannot be
        written, the others still are.

        Args:
            items: The results or findings to report.
            render: Returns the chunks of a report in a format.
            shown: Whether to print the report; False only consumes the items.
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
    option = group.add_argument(
        "--format",
        metavar="FORMAT[=FILE]",
        action="append",
        help=(
            f"report format: {', '.join(formats)} (default: text; github if GITHUB_ACTIONS is "
            "true); with a file, the report is written there; may be repeated"
        ),
    )
    # Only for completion, since argparse's `choices` would reject FORMAT=FILE.
    option.offered = tuple(formats)  # type: ignore[attr-defined]
    group.add_argument(
        "--output-file", metavar="FILE", help="file for the report whose format names no file"
    )


def read_reports(
    given: argparse.Namespace, settings: dict[str, Any], formats: Collection[str] = FORMATS
) -> Reports:
    """Return the reports requested on the command line and in the settings.

    Raises:
        UsageError: A format is unknown or lacks its file, or formats contradict each other.
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
            raise UsageError(f"--format {text} needs a file, as in {form}=report.{form}")
    if len(plain) > 1:
        raise UsageError(
            f"only one report can go to standard output, but {' and '.join(plain)} would: give "
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
    """Return the folder to which paths in a report are relative: usually the working folder.

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


# Settings ----------------------------------------------------------------------------------------
# Settings are read from the nearest pyproject.toml.


FILE = "pyproject.toml"
SECTION = "tool.hvr.validate"
LINT_SECTION = "tool.hvr.lint"


def read_settings(folder: Path, section_name: str = SECTION) -> dict[str, Any]:
    """Return the settings for commands that run in a folder, from the nearest pyproject.toml.

    It is in the folder or one of its parents. Paths in the file are relative to its folder.

    Returns:
        The values by name, with `_` instead of `-`; empty if there is no file or section.

    Raises:
        UsageError: A setting is unknown or has an unsuitable value.
        DataFileError: The file cannot be read.
    """
    file = _nearest(folder)
    if file is None:
        return {}
    # UTF-16 contains the name with zeros between its letters; reading the file then reports the
    # encoding.
    if b"hvr" not in read_bytes(file).replace(b"\0", b""):
        return {}
    section: Any = read_toml(file)
    for name in section_name.split("."):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise UsageError(f"{file}: {name!r} in [{section_name}] must be a table")
    readers = _LINT_READERS if section_name == LINT_SECTION else _READERS
    return {
        name.replace("-", "_"): _value(name, value, file, section_name, readers)
        for name, value in section.items()
    }


def _nearest(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        file = place / FILE
        if file.is_file():
            return file
    return None


def _value(
    name: str, value: object, file: Path, section: str, readers: Mapping[str, tuple[_Reader, str]]
) -> Any:
    if name not in readers:
        from hvr.base.printable import nearest

        near = nearest(name, readers)
        hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(readers)}"
        raise UsageError(f"{file}: [{section}]: no setting named {name!r}; {hint}")
    read, expected = readers[name]
    try:
        return read(value, file.parent)
    except (TypeError, argparse.ArgumentTypeError) as error:
        reason = f": {error}" if str(error) else ""
        raise UsageError(f"{file}: {name!r} in [{section}] must be {expected}{reason}") from error


def _flag(value: object, folder: Path) -> bool:
    del folder
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: object, folder: Path) -> str:
    del folder
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


def _formats(value: object, folder: Path) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise TypeError
    formats: list[str] = []
    for text in texts:
        form, named, file = _text(text, folder).partition("=")
        if form not in FORMATS:
            raise TypeError
        formats.append(f"{form}={_output(file, folder)}" if named else form)
    return formats


def _on_failure(value: object, folder: Path) -> str:
    if _text(value, folder) not in tuple(OnFailure):
        raise TypeError
    return str(value)


def _path(value: object, folder: Path) -> str:
    text = _text(value, folder)
    if folder == Path.cwd():
        return text
    path = folder / text
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _output(value: object, folder: Path) -> str:
    # A project may name only files inside its own folder.
    text = _text(value, folder)
    if not (folder / text).resolve().is_relative_to(folder.resolve()):
        raise argparse.ArgumentTypeError(
            f"{text} is outside the project; only the command line may write a report there"
        )
    return _path(text, folder)


def _paths(value: object, folder: Path) -> list[str]:
    if not isinstance(value, list):
        raise TypeError
    return [_path(item, folder) for item in value]


def _patterns(value: object, folder: Path) -> list[str]:
    if not isinstance(value, list):
        raise TypeError
    return [_text(item, folder) for item in value]


def _number(value: object, folder: Path) -> Any:
    del folder
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return arguments.number(str(value))


def _jobs(value: object, folder: Path) -> int:
    del folder
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return arguments.jobs(str(value))


_Reader = Callable[[object, Path], Any]
_FLAG: tuple[_Reader, str] = (_flag, "true or false")
_FILE: tuple[_Reader, str] = (_path, "the name of a file")
_NUMBER: tuple[_Reader, str] = (_number, "a non-negative number")

_READERS: dict[str, tuple[_Reader, str]] = {
    "domain": _FILE,
    "problem": _FILE,
    "plans": (_paths, "a list of names"),
    "skip": (_patterns, "a list of patterns"),
    "format": (
        _formats,
        f"one of {', '.join(FORMATS)}, each alone or as FORMAT=FILE, or a list of these",
    ),
    "output-file": (_output, "the name of a file in the project"),
    "exit-zero": _FLAG,
    "jobs": (_jobs, "a non-negative integer"),
    "advise": _FLAG,
    "minimise": _FLAG,
    "happenings": _FLAG,
    "values": _FLAG,
    "on-failure": (_on_failure, f"one of {', '.join(OnFailure)}"),
    "epsilon": _NUMBER,
    "tolerance": _NUMBER,
    "numeric-tolerance": _NUMBER,
    "lenient": _FLAG,
    "any-order": _FLAG,
    "extract": _FLAG,
    "quiet": _FLAG,
    "failures-only": _FLAG,
    "baseline": _FILE,
    "require-plans": _FLAG,
    "suites": (_paths, "a list of folders"),
    "rules-url": (_text, "an address"),
}

_LINT_READERS: dict[str, tuple[_Reader, str]] = {
    "files": (_paths, "a list of names"),
    "skip": (_patterns, "a list of patterns"),
    "select": (_patterns, "a list of rules"),
    "ignore": (_patterns, "a list of rules"),
    "format": (
        _formats,
        f"one of {', '.join(FORMATS)}, each alone or as FORMAT=FILE, or a list of these",
    ),
    "strict": _FLAG,
    "lenient": _FLAG,
    "rules-url": (_text, "an address"),
}
