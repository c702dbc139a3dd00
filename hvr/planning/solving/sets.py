"""Solve sets of problems, one result row per problem, with scores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hvr.base.texts import read_bytes, read_json_lines
from hvr.errors import DataFileError, HvrError, UsageError
from hvr.pddl import print_plan
from hvr.pddl.plan import decimal_text
from hvr.planning.solving.race import FoundPlan
from hvr.planning.solving.solve import Solution, SolveOptions, solve
from hvr.validation.suites import MANIFEST_ENDING, Left

PLAN, NO_PLAN, UNDECIDED, UNUSABLE, LOST = "plan", "no plan", "undecided", "unusable", "lost"
"""The possible outcomes of a problem; lost problems are retried."""


@dataclass(frozen=True)
class SetProblem:
    """A problem of a set, and the cost of the best known plan, if any."""

    domain: str
    problem: str
    best: Fraction | None = None

    @property
    def key(self) -> str:
        """The name of the problem in a set."""
        return f"{self.domain} {self.problem}"


def digest_of(asked: SetProblem) -> str:
    """Return a digest of a problem's two files, or "" if one cannot be read."""
    try:
        texts = [read_bytes(Path(name)) for name in (asked.domain, asked.problem)]
    except DataFileError:
        return ""
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


@dataclass(frozen=True)
class SetCell:
    """A problem, its options, and the number of planners that run at the same time."""

    asked: SetProblem
    options: SolveOptions
    cores: int


@dataclass(frozen=True)
class SetRow:
    """The result for one problem of a set.

    Args:
        outcome: `plan`, `no plan`, `undecided`, `unusable` or `lost`.
        proven: Whether the plan is proven optimal, or its absence is proven.
        cost: The value of the metric, or the number of steps.
        maximise: Whether the metric is to be maximised, so that no quality is defined.
        first: Seconds until the first valid plan.
        planner: The planner that found the plan or the proof.
        message: The reason why there is neither a plan nor a proof.
    """

    domain: str
    problem: str
    digest: str
    outcome: str
    proven: bool = False
    cost: Fraction | None = None
    maximise: bool = False
    steps: int | None = None
    seconds: float = 0.0
    first: float | None = None
    planner: str = ""
    message: str = ""
    plan: str = field(default="", repr=False)

    @property
    def key(self) -> str:
        """The name of the problem in a set."""
        return f"{self.domain} {self.problem}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            **self.__dict__,
            "cost": None if self.cost is None else decimal_text(self.cost),
            "seconds": round(self.seconds, 3),
            "first": None if self.first is None else round(self.first, 3),
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> SetRow:
        """Read the output of `to_json`.

        Raises:
            ValueError, KeyError, TypeError: The data is invalid.
        """
        cost = None if data["cost"] is None else Fraction(data["cost"])
        return cls(**{**data, "cost": cost})

    def quality(self, best: Fraction | None) -> float | None:
        """Return the score of the satisficing tracks of the planning competitions.

        The score is the reference cost divided by the plan's cost, 0 without a plan, and 1 for a
        proof that there is none (IPC 2008 and later).

        Args:
            best: The best cost known from elsewhere, if any.

        Returns:
            The score, or None without a reference cost or for a metric to be maximised.
        """
        if self.outcome == NO_PLAN:
            return 1.0
        if self.outcome != PLAN or self.cost is None:
            return 0.0
        if self.proven:
            return 1.0
        if best is None or self.maximise:
            return None
        if self.cost <= best:
            return 1.0
        return float(best / self.cost)

    def agility(self, limit: float) -> float:
        """Return the score of the agile tracks: 1 within a second, 0 at the time limit.

        In between it is 1 - log t / log limit, where t is the time to the first plan (IPC 2014 and
        later, with a limit of 300 seconds).
        """
        taken = self.first if self.outcome == PLAN else self.seconds
        if self.outcome not in (PLAN, NO_PLAN) or taken is None:
            return 0.0
        if taken <= 1:
            return 1.0
        return max(0.0, 1 - math.log(taken) / math.log(limit)) if limit > 1 else 0.0


def solve_cell(cell: SetCell) -> SetRow:
    """Solve a problem of a set; expected errors become part of the row."""
    asked, options = cell.asked, cell.options
    firsts: list[FoundPlan] = []
    row = SetRow(asked.domain, asked.problem, digest_of(asked), UNUSABLE)
    try:
        solution = solve(
            Path(asked.domain), Path(asked.problem), options, cores=cell.cores, listen=firsts.append
        )
    except HvrError as error:
        outcome = UNDECIDED if error.exit_code == 4 else UNUSABLE
        seconds = options.seconds if outcome == UNDECIDED else 0.0
        return replace(row, outcome=outcome, seconds=seconds, message=str(error))
    return _row_of(row, solution, firsts)


def _row_of(row: SetRow, solution: Solution, firsts: Sequence[FoundPlan]) -> SetRow:
    row = replace(row, proven=solution.proven, seconds=solution.seconds, planner=solution.planner)
    if solution.steps is None:
        return replace(row, outcome=NO_PLAN)
    return replace(
        row,
        outcome=PLAN,
        cost=solution.cost,
        maximise=solution.maximise,
        steps=len(solution.steps),
        first=firsts[0].seconds if firsts else solution.seconds,
        plan=print_plan(solution.steps, solution.cost),
    )


def find_set(name: str, domain: str | None = None) -> tuple[list[SetProblem], list[Left]]:
    """Return the problems of a folder or a manifest, and the files without a match.

    Args:
        name: A folder, or a JSON lines file with `domain`, `problem` and optionally `best`, the
            cost of the best known plan; paths are relative to the file.
        domain: The domain of all problems, or None to search the folder for each problem's domain.

    Raises:
        UsageError: No problem has a domain.
        DataFileError: The folder or manifest cannot be read.
    """
    left: list[Left] = []
    if name.endswith(MANIFEST_ENDING):
        found = [
            _entry(line, f"{name}:{n}", Path(name).parent)
            for n, line in read_json_lines(Path(name))
        ]
    else:
        from hvr.validation.suite_collection import files_below
        from hvr.validation.suites import FileKind, definition, give_domains

        seen = [one for one in map(definition, files_below(name, [])) if one is not None]
        problems = [one for one in seen if one.kind is FileKind.PROBLEM]
        domains = [one for one in seen if one.kind is FileKind.DOMAIN]
        if domain is not None:
            pairs = [(domain, one.file) for one in problems]
        else:
            given = give_domains(domains, problems)
            pairs = [(d.file, file) for file, d in given.items() if not isinstance(d, str)]
            left = [Left(file, f"it {why}") for file, why in given.items() if isinstance(why, str)]
        found = [SetProblem(*pair) for pair in pairs]
    if not found:
        why = f": {left[0]}" if left else ""
        raise UsageError(f"{name}: found no problem with a domain{why}")
    return list({one.key: one for one in found}.values()), left


def _entry(line: Any, place: str, folder: Path) -> SetProblem:
    if not isinstance(line, dict):
        raise DataFileError(f'{place}: expected an object with "domain" and "problem"')
    for name in ("domain", "problem"):
        if not isinstance(line.get(name), str) or not line[name]:
            raise DataFileError(f'{place}: "{name}" must be the name of a file')
    best = line.get("best")
    if best is not None and (isinstance(best, bool) or not isinstance(best, int | float)):
        raise DataFileError(f'{place}: "best" must be a number, the cost of the best known plan')
    known = None if best is None else Fraction(str(best))
    return SetProblem(str(folder / line["domain"]), str(folder / line["problem"]), known)


def summary(rows: Iterable[SetRow], best: Mapping[str, Fraction], limit: float) -> dict[str, Any]:
    """Return aggregate figures of a set.

    Args:
        best: The best known costs by the keys of the problems.
        limit: The time limit per problem in seconds.
    """
    rows = list(rows)
    qualities = [row.quality(best.get(row.key)) for row in rows]
    known = [one for one in qualities if one is not None]
    return {
        "problems": len(rows),
        "solved": sum(row.outcome == PLAN for row in rows),
        "proven_best": sum(row.outcome == PLAN and row.proven for row in rows),
        "proven_without_plan": sum(row.outcome == NO_PLAN for row in rows),
        "undecided": sum(row.outcome == UNDECIDED for row in rows),
        "unusable": sum(row.outcome == UNUSABLE for row in rows),
        "lost": sum(row.outcome == LOST for row in rows),
        "quality": round(sum(known), 3),
        "quality_of": len(known),
        "agility": round(sum(row.agility(limit) for row in rows), 3),
        "seconds": round(sum(row.seconds for row in rows), 1),
    }
