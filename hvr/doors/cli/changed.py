"""`--changed-since REV`: leave out the plans that git says are as they were."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

from hvr.errors import UsageError
from hvr.validation.suites import Job, Suite

# A checked repository must not run programs by its own configuration.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


def changed_only(suite: Suite, revision: str) -> tuple[Suite, int]:
    """Return the suite without the plans that have not changed, and the number of these.

    All plans of a changed domain or problem stay. Problems without a plan stay, too, since a plan
    may have been deleted.

    Args:
        suite: The suite.
        revision: A revision of git, such as `origin/main`.

    Raises:
        UsageError: This is not a git repository, or it has no such revision.
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
    """Return the paths of files that differ from a revision, or that git does not know."""
    top = Path(_git("rev-parse", "--show-toplevel").removesuffix("\n"))
    differing = _git(
        "-C", str(top), "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff",
        "--end-of-options", revision, "--",
    )  # fmt: skip
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
        said = lines[0] if lines else "no reason"
        raise UsageError(f"git does not say what has changed: {said}", field="changed_since")
    return os.fsdecode(done.stdout)
