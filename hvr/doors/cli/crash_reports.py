"""Errors outside hvr's own hierarchy: their messages for users, and their exit codes.

An operating system error about a file on the command line is a usage error, and a full disk is a
temporary error. Everything else is a bug in hvr, of which a full report is saved.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvr.doors.cli.process import traceback_wanted

_UNUSABLE, _FAILED, _NOT_ANSWERED = 2, 3, 4
_KEPT = 20
_LONGEST = 300
_MOST = 1_000_000


def describe_crash(error: BaseException, given: Sequence[str]) -> tuple[str, int]:
    """Return the message and the exit code for an error; `given` is the command line."""
    if isinstance(error, OSError):
        from hvr.base.files import is_passing

        if is_passing(error):
            return f"not answered: {error}", _NOT_ANSWERED
        if isinstance(error, FileNotFoundError) and not _has_working_folder():
            return "the working folder no longer exists: change to another one", _UNUSABLE
        if _is_named(error.filename, given):
            return f"{error.filename}: {error.strerror}", _UNUSABLE
    return report(error, given, os.environ), _FAILED


def report(error: BaseException, given: Sequence[str], environ: Mapping[str, str]) -> str:
    """Save a report of an unexpected error, and return a message with the path of the report.

    If `HVR_TRACEBACK` is set or the report cannot be saved, it is printed on standard error.
    Secrets are redacted in the report and the message.

    Args:
        environ: Environment variables: `HVR_TRACEBACK`, and the secrets to redact.
    """
    try:
        from hvr.base.secrets import Scrubber

        scrub = Scrubber.of(environ).text
        what = f"hvr failed: {scrub(_in_a_line(error))}"
        text = scrub(_facts(error, [scrub(word) for word in given]))[:_MOST]
    except Exception:  # out of memory, or a damaged installation
        return f"hvr failed: {type(error).__name__}, and could not write a report"
    place = None if traceback_wanted(environ) else _written(text)
    if place is None:
        print(text, file=sys.stderr)
        return f"{what}; the report is above; please report it"
    return f"{what}; a full report is in {place}; please report it"


def _is_named(file: object, given: Sequence[str]) -> bool:
    if not isinstance(file, str):
        return False
    ways = (Path(file), *Path(file).parents)
    named = {Path(part) for word in given for part in (word, word.partition("=")[2]) if part}
    return not named.isdisjoint(ways)


def _has_working_folder() -> bool:
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _in_a_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # str() of the error failed
        text = ""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def _facts(error: BaseException, given: Sequence[str]) -> str:
    import platform
    import shlex
    import traceback

    import hvr
    from hvr.base.files import commit

    facts = {
        "hvr": f"{hvr.__version__}, commit {commit()}",
        "Python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "command line": shlex.join(["hvr", *given]),
    }
    head = "".join(f"{name}: {value}\n" for name, value in facts.items())
    return f"{head}\n{''.join(traceback.format_exception(error))}"


def _written(report: str) -> Path | None:
    return _kept(report) or _left_behind(report, None)


def _kept(report: str) -> Path | None:
    from hvr.base.files import user_folder

    try:
        folder = user_folder("cache").absolute() / "failures"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = _left_behind(report, folder)
        for old in sorted(folder.glob("*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return place


def _left_behind(report: str, folder: Path | None) -> Path | None:
    import tempfile
    import time

    part = ""
    try:
        file, part = tempfile.mkstemp(".txt", time.strftime("hvr-%Y%m%d-%H%M%S-"), folder)
        with open(file, "wb") as whole:  # noqa: PTH123 - it is a descriptor
            whole.write(report.encode("utf-8", "backslashreplace"))
    except (OSError, RuntimeError):
        if part:
            Path(part).unlink(missing_ok=True)
        return None
    return Path(part)
