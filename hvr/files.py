"""hvr's own files: where its data is, and which code this is."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hvr.errors import DataFileError

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str) -> Path:
    """Return path of a data folder: `ontology`, `domains` or `tasks`.

    An installed hvr has it inside the package; in a checkout it is at the top.

    Raises:
        DataFileError: there is no such folder.
    """
    for candidate in (_PACKAGE / "data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataFileError(
        f"hvr's data folder {name!r} is missing from {_PACKAGE / 'data'}: install hvr again"
    )


def commit() -> str:
    """Return the commit of hvr's checkout, `+` behind it if files differ; `unknown` without git."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=_PACKAGE, check=True, timeout=20,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    try:
        # An installed hvr may lie in a checkout of something else.
        if not git("ls-files", "__init__.py"):
            return "unknown"
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
