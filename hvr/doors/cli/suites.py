"""The suite that a command line names: files, settings, `--changed-since REV` and `--watch`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from hvr.base.printable import block
from hvr.doors.cli.process import is_reader_gone
from hvr.errors import HvrError, UsageError
from hvr.validation.findings import STDIN
from hvr.validation.suite_collection import collect, is_folder, is_pattern, plans_of
from hvr.validation.suites import FIELDS, MANIFEST_ENDING, FileKind, Job, Suite, definition

# Suites ------------------------------------------------------------------------------------------


def find_suite(
    given: Sequence[str], settings: dict[str, Any], skip: Sequence[str], *, extract: bool = False
) -> Suite:
    """Return the suite that files and settings describe.

    A domain file given first overrides the domain in the settings, so that a complete command line
    means the same in every folder. Likewise, a problem file overrides the problem in the settings.

    Args:
        extract: Whether files that contain steps and other text count as plans.
    """
    if not given and settings.get("suites"):
        return collect(settings["suites"], skip, mixed=extract)
    if not given and not any(name in settings for name in ("domain", "problem", "plans")):
        return collect(["."], skip, mixed=extract)
    names = given or _list(settings.get("plans"))
    if names and all(name.endswith(MANIFEST_ENDING) and not is_folder(name) for name in names):
        from hvr.validation.suite_collection import read_manifest

        return _merged([read_manifest(name, skip) for name in names])
    if given and "domain" not in settings and _is_many(given[:2]):
        return collect(given, skip, mixed=extract)
    domain, problem, plans = _files(given, settings)
    if _has_fields(domain, problem, *plans):
        from hvr.validation.suite_collection import expand_patterns

        return expand_patterns(domain, problem, plans, skip)
    if _is_many((domain, problem)) or _has_models(plans):
        return collect([domain, problem, *plans], skip, mixed=extract)
    return plans_of(domain, problem, plans, skip, mixed=extract)


def _defines(file: str, kind: FileKind) -> bool:
    model = definition(file)
    return model is not None and model.kind is kind


def _has_fields(*patterns: str) -> bool:
    return any(f"{{{field}}}" in pattern for pattern in patterns for field in FIELDS)


def _list(value: Any) -> list[str]:
    return list(value) if value else []


def _merged(suites: Sequence[Suite]) -> Suite:
    return Suite(
        tuple([job for suite in suites for job in suite.jobs]),
        skipped=tuple([file for suite in suites for file in suite.skipped]),
    )


def _is_many(names: Sequence[str]) -> bool:
    return any(is_folder(name) or (is_pattern(name) and not _has_fields(name)) for name in names)


def _has_models(names: Sequence[str]) -> bool:
    files = [n for n in names if n != STDIN and not is_folder(n) and not is_pattern(n)]
    if any(name.endswith(".pddl") and is_pattern(name) for name in names):
        return True
    return any(definition(file) is not None for file in files)


def _files(given: Sequence[str], settings: dict[str, Any]) -> tuple[str, str, list[str]]:
    rest = list(given)
    models = []
    for kind in (FileKind.DOMAIN, FileKind.PROBLEM):
        configured = settings.get(kind)
        if configured is not None and not (rest and _defines(rest[0], kind)):
            models.append(configured)
        elif rest:
            models.append(rest.pop(0))
        else:
            raise UsageError(
                f"missing {kind} file: use hvr validate DOMAIN PROBLEM PLAN..., or a folder with "
                f"all of them, or set {str(kind)!r} under [tool.hvr.validate] in pyproject.toml"
            )
    plans = rest or _list(settings.get("plans"))
    if not plans:
        raise UsageError(
            "missing plan: after the problem, give plan files, or - for standard input"
        )
    return models[0], models[1], plans


# Changes ------------------------------------------------------------------------------------------


# a repository's own configuration must not run programs
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def changed_only(suite: Suite, revision: str) -> tuple[Suite, int]:
    """Return the suite without plans unchanged since a git revision, and the number left out.

    Plans whose domain or problem has changed are kept, and so are problems without a plan, since a
    plan may have been deleted.
    """
    changed = _changed_files(revision)
    jobs: list[Job] = []
    for job in suite.jobs:
        every = _is_in(job.domain, changed) or _is_in(job.problem, changed)
        plans = tuple([plan for plan in job.plans if every or _is_in(plan, changed)])
        if plans:
            jobs.append(job.replace(plans=plans))
    left_out = sum(len(job.plans) for job in suite.jobs) - sum(len(job.plans) for job in jobs)
    return suite.replace(jobs=tuple(jobs)), left_out


def _is_in(file: str, changed: Collection[str]) -> bool:
    return os.path.realpath(file) in changed


def _changed_files(revision: str) -> frozenset[str]:
    top = Path(_git("rev-parse", "--show-toplevel").removesuffix("\n"))
    differing = _git(
        "-C",
        str(top),
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--end-of-options",
        revision,
        "--",
    )
    untracked = _git("-C", str(top), "ls-files", "-z", "--others", "--exclude-standard")
    names = (*differing.split("\0"), *untracked.split("\0"))
    return frozenset(os.path.realpath(top / name) for name in names if name)


def _git(*words: str) -> str:
    try:
        done = subprocess.run((*_GIT, *words), capture_output=True, check=False)
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror}", field="changed_since") from error
    if done.returncode:
        lines = os.fsdecode(done.stderr).strip().splitlines()
        reason = lines[0] if lines else "no reason given"
        raise UsageError(f"git cannot list the changes: {reason}", field="changed_since")
    return os.fsdecode(done.stdout)


# Watch --------------------------------------------------------------------------------------------

_INTERVAL = 0.25

_Stamps = dict[str, tuple[int, int, int] | None]


def watch(work: Callable[[], object], files: Callable[[], Iterable[str]]) -> int:
    """Do the work now and after each change of a file, until Ctrl-C.

    hvr's errors are printed but do not end the watch, since the next change may fix them.

    Args:
        files: Returns the files to watch; called every time, since new files may appear.

    Returns:
        The exit code 0, after an interrupt or when the output is closed.
    """
    try:
        while True:
            # Record the state before the work, so that no change during the work is missed.
            seen = _stamps(files)
            try:
                work()
            except HvrError as error:
                print(f"error: {block(str(error))}", file=sys.stderr, flush=True)
            print(
                f"-- watching {len(seen)} file{'s' * (len(seen) != 1)}; Ctrl-C stops --",
                file=sys.stderr,
                flush=True,
            )
            while (now := _stamps(files)) == seen:
                if is_reader_gone():
                    return 0
                time.sleep(_INTERVAL)
            changed = [name for name in {**seen, **now} if seen.get(name) != now.get(name)]
            clock = time.strftime("%H:%M:%S")
            print(f"\n-- {clock} changed: {', '.join(changed)} --", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("", file=sys.stderr)
        return 0


def _stamps(files: Callable[[], Iterable[str]]) -> _Stamps:
    try:
        return {name: _stamp(name) for name in files()}
    except HvrError:
        return {}


def _stamp(name: str) -> tuple[int, int, int] | None:
    try:
        status = Path(name).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
