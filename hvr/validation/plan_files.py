"""The plan files that names on a command line stand for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from hvr.errors import DataFileError, UsageError

STDIN = "-"
PLAN_NAMES = (
    "*.plan", "*.plan.[0-9]*", "*.soln", "*.sol", "*.txt", "*.pddlplan*",
    "sas_plan", "sas_plan.[0-9]*", "plan.pddl", "plan.json",
)  # fmt: skip
"""The names of the files that are taken for plans when a folder is named."""


def expand(names: Sequence[str]) -> list[str]:
    """Expand names to plan files, each once, in the order of the names.

    Args:
        names: files, patterns such as `plans/**/*.soln`, folders (everything below them that is
            called like a plan), `-` for standard input.

    Raises:
        UsageError: a pattern or a folder without a plan.
        DataFileError: a folder that cannot be listed.
    """
    files: dict[str, str] = {}
    for name in names:
        for file in _expand_one(name):
            files.setdefault(file if file == STDIN else os.path.normpath(file), file)
    return list(files.values())


def _expand_one(name: str) -> list[str]:
    if name == STDIN:
        return [STDIN]
    path = Path(name)
    try:
        if path.is_dir():
            return _plans_below(name)
        if path.exists() or not any(character in name for character in "*?["):
            # A missing file is a result of its own, so that the others are judged all the same.
            return [name]
    except (OSError, ValueError):
        return [name]
    from glob import glob

    # Path.glob knows no absolute patterns.
    matches = sorted(glob(name, recursive=True))  # noqa: PTH207
    files = [file for match in matches for file in _expand_one(match)]
    if not files:
        raise UsageError(f"no file matches {name!r}")
    return files


def _plans_below(folder: str) -> list[str]:
    def refuse(error: OSError) -> None:
        raise DataFileError(f"cannot list {error.filename}: {error.strerror}") from error

    plans: list[str] = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        plans += [
            str(Path(place, file))
            for file in sorted(files)
            if any(fnmatchcase(file, pattern) for pattern in PLAN_NAMES)
        ]
    if not plans:
        raise UsageError(
            f"there is no plan in the folder {folder}: plans there are called "
            + ", ".join(PLAN_NAMES)
        )
    return plans
