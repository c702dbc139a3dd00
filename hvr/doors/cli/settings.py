"""Settings of `hvr validate` and `hvr lint` in the nearest pyproject.toml."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hvr.base.texts import read_bytes, read_toml
from hvr.doors.cli import arguments
from hvr.errors import UsageError
from hvr.validation.outcomes import OnFailure
from hvr.validation.reporters import FORMATS

FILE = "pyproject.toml"
SECTION = "tool.hvr.validate"
LINT_SECTION = "tool.hvr.lint"


def read_settings(folder: Path, section_name: str = SECTION) -> dict[str, Any]:
    """Return the settings for commands that run in a folder.

    Paths in the file are relative to its folder.

    Returns:
        The values by name, with `_` for `-`; empty without a file or section.

    Raises:
        DataFileError: The file cannot be read or is not TOML.
        UsageError: A setting is unknown, or a value has the wrong type.
    """
    file = _nearest(folder)
    if file is None:
        return {}
    # UTF-16 contains the name with zeros between its letters; reading it then names the encoding.
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
        from hvr.pddl.diagnostics import nearest

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
    """Return formats, each alone or with the file for its report."""
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
    """Return a file to write; a project may only name files inside its own folder."""
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
