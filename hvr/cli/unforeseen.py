"""What nobody foresaw: one line for the user, and a full report for who mends it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvr.cli.process import traceback_wanted

EXIT_CODE = 3
_KEPT = 20
_LONGEST = 300
_MOST = 1_000_000


def account_for(
    error: BaseException, given: Sequence[str], environ: Mapping[str, str] = os.environ
) -> str:
    """Keep a report of an error, and return the line that tells the user.

    A report that cannot be written is printed on standard error: an error that leaves no trace
    cannot be mended. Keys are taken out of both.

    Args:
        error: what was raised.
        given: the command line.
        environ: has `HVR_TRACEBACK`, and the keys that are taken out.
    """
    try:
        from hvr.secrets.scrubber import Scrubber

        scrub = Scrubber.of(environ).text
        what = f"hvr failed: {scrub(_in_a_line(error))}"
        report = scrub(_report(error, [scrub(word) for word in given]))[:_MOST]
    except Exception:  # no memory, or a damaged installation: say what is certain
        return f"hvr failed: {type(error).__name__}, and could make no report of it"
    place = None if traceback_wanted(environ) else _written(report)
    if place is None:
        print(report, file=sys.stderr)
        return f"{what}; the report is above; please report it"
    return f"{what}; a full report is in {place}; please report it"


def _in_a_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # the message itself cannot be made
        text = ""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def _report(error: BaseException, given: Sequence[str]) -> str:
    import platform
    import shlex
    import traceback

    import hvr
    from hvr.files import commit

    facts = {
        "hvr": f"{hvr.__version__}, commit {commit()}",
        "Python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "command line": shlex.join(["hvr", *given]),
    }
    head = "".join(f"{name}: {value}\n" for name, value in facts.items())
    return f"{head}\n{''.join(traceback.format_exception(error))}"


def _written(report: str) -> Path | None:
    """Write the report where only the user can read it; None if that cannot be done."""
    return _kept(report) or _left_behind(report, None)


def _kept(report: str) -> Path | None:
    """Write the report into hvr's own folder, which keeps the newest ones."""
    from hvr.files import user_folder

    try:
        folder = user_folder("cache").absolute() / "failures"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = _left_behind(report, folder)
        for old in sorted(folder.glob("*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return None
    return place


def _left_behind(report: str, folder: Path | None) -> Path | None:
    """Write the report whole or not at all; without a folder, among temporary files."""
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
