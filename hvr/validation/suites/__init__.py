"""Suites: the assignment of plans to problems and domains, and the files left over.

`collection` builds a suite from folders and files, from patterns with `{domain}` and `{problem}`,
or from a manifest. `judging` judges it. Every file that was examined is accounted for.
"""

from __future__ import annotations

from hvr.values import Value

FIELDS = ("domain", "problem")
"""The fields of patterns, written in braces."""

MANIFEST_ENDING = ".jsonl"


class Job(Value):
    """A problem with its plans."""

    domain: str
    problem: str
    plans: tuple[str, ...]


class Left(Value):
    """A file that is not validated.

    Attributes:
        reason: The reason, without a capital letter and a full stop.
    """

    file: str
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")


class Suite(Value):
    """The plans to validate, and all other files that were examined.

    Attributes:
        left: Files that look like plans but belong to no job; they make the suite fail.
        missing: Problems without a plan and domains without a problem, where each needs one.
    """

    jobs: tuple[Job, ...]
    left: tuple[Left, ...] = ()
    skipped: tuple[str, ...] = ()
    others: tuple[Left, ...] = ()
    without_plan: tuple[str, ...] = ()
    without_problem: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    missing: tuple[Left, ...] = ()

    def requiring_plans(self) -> Suite:
        """Return the suite with every problem requiring a plan, and every domain a problem."""
        missing = (
            *(Left(file, "the problem has no plan", _ADD) for file in self.without_plan),
            *(Left(file, "the domain has no problem") for file in self.without_problem),
        )
        return self.replace(missing=missing, without_plan=(), without_problem=())

    @property
    def files(self) -> list[str]:
        """The names of all files that a result depends on."""
        names = [name for job in self.jobs for name in (job.domain, job.problem, *job.plans)]
        return list(dict.fromkeys(names))

    def remarks(self) -> list[str]:
        """Return remarks about the files that were not validated."""
        parts = (
            ("skipped on request", self.skipped),
            ("problems without a plan", self.without_plan),
            ("domains without a problem", self.without_problem),
            ("not plans", tuple([left.file for left in self.others])),
        )
        return [f"{what}: {', '.join(files)}" for what, files in parts if files]

    def explained(self) -> list[str]:
        """Return a line for each file that was not validated: why, and how to include it."""
        everything = (
            *self.left,
            *(Left(file, "it matches --skip", _KEEP) for file in self.skipped),
            *(Left(file, "it is a problem without a plan", _ADD) for file in self.without_plan),
            *(Left(file, "it is a domain without a problem") for file in self.without_problem),
            *self.others,
            *(Left(file, "it is hidden", "name it on the command line") for file in self.hidden),
        )
        lines = [f"not validated: {left}" for left in everything]
        return lines or ["not validated: no file; every file is part of a result"]


_KEEP = "to include it, drop the pattern that matches it"
_ADD = "to validate a plan, name it after the problem, as in p01.pddl and p01.plan"
