"""Suites that a manifest lists: JSON lines with `domain`, `problem`, and `plan` or `plans`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hvr.base.texts import read_json_lines
from hvr.errors import DataFileError, UsageError
from hvr.validation.suites import Job, Suite
from hvr.validation.suites.kinds import is_skipped


def read_manifest(file: str, skip: Sequence[str] = ()) -> Suite:
    """Read a manifest; paths in it are relative to its folder. Other names in it are not read.

    Args:
        file: the manifest.
        skip: patterns of plans that are left out.

    Raises:
        DataFileError: it cannot be read, or a line is not what it should be.
        UsageError: it has no plan.
    """
    folder = Path(file).parent
    plans: dict[tuple[str, str], list[str]] = {}
    skipped: list[str] = []
    for number, line in read_json_lines(Path(file)):
        domain, problem, its = _entry(line, f"{file}:{number}")
        key = (str(folder / domain), str(folder / problem))
        names = [str(folder / plan) for plan in its]
        skipped += [name for name in names if is_skipped(name, skip)]
        plans.setdefault(key, []).extend(n for n in names if not is_skipped(n, skip))
    if not plans:
        raise UsageError(f"{file} has no plan in it")
    jobs = [
        Job(domain, problem, tuple(dict.fromkeys(names)))
        for (domain, problem), names in plans.items()
        if names
    ]
    if not jobs:
        raise UsageError(f"{file} has no plan in it that is not skipped")
    return Suite(tuple(jobs), skipped=tuple(dict.fromkeys(skipped)))


def _entry(line: Any, place: str) -> tuple[str, str, list[str]]:
    if not isinstance(line, dict):
        raise DataFileError(f'{place}: not an object with "domain", "problem" and "plan"')
    for name in ("domain", "problem"):
        if not isinstance(line.get(name), str) or not line[name]:
            raise DataFileError(f'{place}: "{name}" is not the name of a file')
    if ("plan" in line) is ("plans" in line):
        raise DataFileError(f'{place}: there has to be either "plan" or "plans"')
    plans = line["plans"] if "plans" in line else [line["plan"]]
    if not isinstance(plans, list) or not all(isinstance(p, str) and p for p in plans):
        raise DataFileError(f'{place}: "plan" is not the name of a file')
    return line["domain"], line["problem"], plans
