"""Suites: which plans belong to which problems of which domains, and what is left over.

A suite is made of folders and files (`collected`), of patterns with `{domain}` and `{problem}`
(`patterns`), or of a manifest (`manifest`). No file that was seen is passed over in silence.
"""

from __future__ import annotations

from hvr.values import Value

FIELDS = ("domain", "problem")
"""What stands in braces in patterns."""

MANIFEST_ENDING = ".jsonl"


class Job(Value):
    """A problem with the plans for it."""

    domain: str
    problem: str
    plans: tuple[str, ...]


class Left(Value):
    """A file that looks like a plan and is not validated, and why."""

    file: str
    reason: str


class Suite(Value):
    """What is to be validated, and what was seen besides.

    Attributes:
        jobs: the problems that have plans.
        left: files that look like plans and belong to no job; a suite with some is no success.
        skipped: files that were left out on demand.
        others: files that are no plans.
        without_plan: problems that no plan is for.
    """

    jobs: tuple[Job, ...]
    left: tuple[Left, ...] = ()
    skipped: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    without_plan: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """The names of all files that a result depends on."""
        names = [name for job in self.jobs for name in (job.domain, job.problem, *job.plans)]
        return list(dict.fromkeys(names))

    def remarks(self) -> list[str]:
        """Return what a reader should know about the files that were not validated."""
        parts = (
            ("skipped on demand", self.skipped),
            ("problems without a plan", self.without_plan),
            ("not plans", self.others),
        )
        return [f"{what}: {', '.join(files)}" for what, files in parts if files]
