"""Planners as programs, and the PDDL features that a problem requires of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hvr.base.files import writing
from hvr.base.processes import ProcessTree
from hvr.errors import PlannerError
from hvr.pddl import (
    And,
    Comparison,
    Domain,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    NumericEffect,
    Or,
    Preference,
    Problem,
    When,
)
from hvr.pddl.formulas import TRUE, changes_of, functions_of, walk
from hvr.planning.interop.portable import formulas_of
from hvr.planning.search.fast_downward import OPTIMAL, binary

# Features -----------------------------------------------------------------------------------------

TOTAL_COST = "total-cost"
_COMPOUND = (And, Or, Not, Imply, Forall, Exists)


class Feature(StrEnum):
    """A feature of PDDL that some planners lack."""

    DURATIVE = "durative actions"
    NUMERIC = "numeric fluents"
    CONTINUOUS = "processes, events or continuous effects"
    TIMED = "timed initial literals"
    CONSTRAINTS = "trajectory constraints"
    PREFERENCES = "preferences"
    DERIVED = "derived predicates"
    CONDITIONAL = "conditional effects"
    UNIVERSAL = "universal conditions or a goal with alternatives"
    COSTS = "action costs"
    METRIC = "a metric other than total-cost"


def features_of(domain: Domain, problem: Problem) -> frozenset[Feature]:
    """Return the features that a task actually uses, whatever `:requirements` says."""
    return frozenset(_used(domain, problem))


def _used(domain: Domain, problem: Problem) -> Iterator[Feature]:
    if domain.durative_actions:
        yield Feature.DURATIVE
    if domain.is_hybrid:
        yield Feature.CONTINUOUS
    if problem.timed_init:
        yield Feature.TIMED
    if domain.derived:
        yield Feature.DERIVED
    if domain.constraints != TRUE or problem.constraints != TRUE:
        yield Feature.CONSTRAINTS
    parts = [part for formula in formulas_of(domain, problem) for part in walk(formula)]
    if any(isinstance(part, Preference) for part in parts):
        yield Feature.PREFERENCES
    if any(isinstance(part, When) for part in parts):
        yield Feature.CONDITIONAL
    conditions: list[Expression] = [a.precondition for a in domain.actions.values()]
    conditions += (part.condition for part in parts if isinstance(part, When))
    if not _conjunctive(problem.goal) or any(map(_universal, conditions)):
        yield Feature.UNIVERSAL
    effects = [action.effect for action in domain.actions.values()]
    effects += (action.effect for action in domain.durative_actions.values())
    changed = {
        change.fluent.function
        for effect in effects
        for change in changes_of(effect)
        if isinstance(change, NumericEffect)
    }
    if changed - {TOTAL_COST} or any(isinstance(part, Comparison) for part in parts):
        yield Feature.NUMERIC
    if TOTAL_COST in changed:
        yield Feature.COSTS
    if problem.metric is not None:
        read = {term.function for term in functions_of(problem.metric.expression)}
        if problem.metric.direction != "minimize" or read != {TOTAL_COST}:
            yield Feature.METRIC


def _conjunctive(goal: Expression) -> bool:
    open_ = [goal]
    while open_:
        part = open_.pop()
        if isinstance(part, And):
            open_ += part.operands
        elif isinstance(part.operand if isinstance(part, Not) else part, _COMPOUND):
            return False
    return True


def _universal(condition: Expression) -> bool:
    return any(
        isinstance(part, Forall) or (isinstance(part, Not) and isinstance(part.operand, _COMPOUND))
        for part in walk(condition)
    )


# Programs -----------------------------------------------------------------------------------------
# Each program gets a domain, a problem and a folder, and writes plans into the folder as
# `plan.1`, `plan.2`, …, each better than the previous one and ended by a line `; cost …`. Exit
# codes follow Fast Downward. A program is stopped when its result is no longer needed.

NO_PLAN = frozenset({10, 11})
"""Exit codes for a proof that there is no plan."""
_MISREAD = 31
"""Exit code of Fast Downward's translator for a model that it cannot read."""
_OUT_OF_TIME = frozenset({21, 23})
_OUT_OF_MEMORY = frozenset({1, 3, 20, 22, 24})
_GAVE_UP = frozenset({0, 2, 12})
UNABLE = 34
"""Exit code of a program that does not support the problem."""
_ENDED = "; cost"
_DRIVER = re.compile(
    "INFO |Driver aborting|(translate|search) exit code|Peak memory|Remove intermediate file"
    "|Usage error occurred"
)
"""Lines that Fast Downward's driver adds to the reason of a failure."""
_ALL_LACK = frozenset({Feature.CONTINUOUS})
_BOTH_LACK = _ALL_LACK | {Feature.DURATIVE, Feature.NUMERIC, Feature.TIMED}
_GROUNDED_LACKS = _BOTH_LACK | {Feature.DERIVED}
_FORWARD_LACKS = _ALL_LACK | {
    Feature.DURATIVE,
    Feature.TIMED,
    Feature.CONSTRAINTS,
    Feature.PREFERENCES,
}
_DOWNWARD_LACKS = _BOTH_LACK | {Feature.CONSTRAINTS, Feature.PREFERENCES, Feature.METRIC}
_LM_CUT = "astar(lmcut())"
_MAKES_RULES = frozenset({Feature.DERIVED, Feature.UNIVERSAL})
"""Features that Fast Downward's translator turns into axioms, which admissible heuristics lack."""


class PlannerEnd(StrEnum):
    """The reason why a planner ended without a plan."""

    OUT_OF_TIME = "ran out of time"
    OUT_OF_MEMORY = "ran out of memory"
    GAVE_UP = "exhausted its search without a plan, which proves nothing"
    PROVES_NONE = "proved that there is no plan"
    UNABLE = "cannot plan with the problem"
    CRASHED = "crashed"


@dataclass(frozen=True)
class PlannerJob:
    """The problem and settings with which a program is started.

    Args:
        domain, problem: PDDL files.
        seconds: The wall time limit.
        optimal: Whether to search for a plan that is proven cheapest.
        shared: Whether several programs run at the same time, possibly more than processors.
        memory: Bytes that each planner may use, including its subprocesses, or 0 for no limit.
        downward: Options of Fast Downward that replace hvr's: `--alias NAME`, `--search TEXT`.
    """

    domain: Path
    problem: Path
    features: frozenset[Feature]
    seconds: float
    optimal: bool = False
    shared: bool = False
    memory: int = 0
    downward: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """A planner.

    Args:
        lacks: The features that it does not support.
        module: The hvr module to run, or "" for the unmodified Fast Downward.
        engine: The engine of unified-planning, if any.
    """

    name: str
    lacks: frozenset[Feature] = frozenset()
    module: str = ""
    engine: str = ""

    def command(self, job: PlannerJob) -> list[str]:
        """Return the command line, to be run in the folder for the plans."""
        files = [str(job.domain.resolve()), str(job.problem.resolve())]
        if self.module:
            words = [
                sys.executable,
                "-W",
                "ignore",
                "-P",
                "-m",
                self.module,
                *files,
                f"{job.seconds:g}",
            ]
            words += [self.engine] if self.engine else []
            return [*words, *["--yield"] * job.shared, *["--optimal"] * job.optimal]
        driver = binary().parents[3] / "fast-downward.py"
        limits = ["--overall-time-limit", f"{max(1, round(job.seconds))}s", "--plan-file", "plan"]
        if job.downward[:1] == ("--alias",):
            return [sys.executable, str(driver), *limits, *job.downward, *files]
        if job.downward:
            return [sys.executable, str(driver), *limits, *files, *job.downward]
        if not job.optimal:
            return [sys.executable, str(driver), *limits, "--alias", "lama", *files]
        search = OPTIMAL if Feature.CONDITIONAL in job.features else _LM_CUT
        if job.features & _MAKES_RULES:
            search = "astar(blind())"
        return [sys.executable, str(driver), *limits, *files, "--search", search]


GROUNDED = Program("fast-downward", _GROUNDED_LACKS, "hvr.planning.solving.grounded")
"""Fast Downward's search on hvr's grounding, which reduces the problem first."""
DOWNWARD = Program("downward", _DOWNWARD_LACKS)
"""The unmodified Fast Downward with its own translator; `lama`."""


FORWARD = Program("forward", _FORWARD_LACKS, "hvr.planning.solving.forward")
"""hvr's own forward search, which supports numbers and derived predicates."""


TEMPORAL = Program(
    "temporal",
    _ALL_LACK | {Feature.DERIVED, Feature.PREFERENCES, Feature.CONSTRAINTS},
    "hvr.planning.solving.temporal",
)
"""hvr's own temporal search."""


def unified(engine: str) -> Program:
    """Return an engine of unified-planning, which receives the whole problem."""
    return Program(
        f"up:{engine}", _ALL_LACK | {Feature.DERIVED}, "hvr.planning.solving.unified", engine
    )


class Running:
    """A running planner, ended with its subprocesses when its context exits."""

    def __init__(self, program: Program, job: PlannerJob, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self._seen = 0
        with writing(folder):
            folder.mkdir()
        try:
            with (folder / "log").open("wb") as log:
                self._process = ProcessTree(program.command(job), folder, log, memory=job.memory)
        except OSError as error:
            raise PlannerError(f"{program.name} cannot be started: {error}", exit_code=2) from error

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._process.end()

    def pause(self) -> bool:
        """Suspend the planner; return whether that is possible."""
        return self._process.pause()

    def resume(self) -> None:
        self._process.resume()

    @property
    def code(self) -> int | None:
        """The exit code, or None while the planner runs."""
        return self._process.code

    @property
    def done(self) -> bool:
        """Whether the search was exhaustive: its last plan is optimal by its own measure."""
        return self.code == 0

    @property
    def proves_none(self) -> bool:
        """Whether the planner has proven that there is no plan."""
        return self.code in NO_PLAN

    def new_plans(self) -> Iterator[str]:
        """Yield the texts of plans completed since the last call."""
        while True:
            path = self.folder / f"plan.{self._seen + 1}"
            # A single search does not number its only plan.
            if self._seen == 0 and not path.exists():
                path = self.folder / "plan"
            try:
                text = path.read_text(encoding="utf-8")
            except OSError:
                return
            if _ENDED not in text:
                return  # It is still being written.
            self._seen += 1
            yield text

    @property
    def outcome(self) -> PlannerEnd:
        """The planner's exit status, or the time limit."""
        code = self.code
        if code is None or code in _OUT_OF_TIME:
            return PlannerEnd.OUT_OF_TIME
        if code in NO_PLAN:
            return PlannerEnd.PROVES_NONE
        if code == 1 and self.program.module and not self._last_line().startswith("MemoryError"):
            return PlannerEnd.CRASHED  # Here, 1 means a Python exception, not Fast Downward's code.
        if code in _OUT_OF_MEMORY:
            return PlannerEnd.OUT_OF_MEMORY
        if code in _GAVE_UP:
            return PlannerEnd.GAVE_UP
        return PlannerEnd.UNABLE if code in (UNABLE, _MISREAD) else PlannerEnd.CRASHED

    def _last_line(self) -> str:
        log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        # The driver prints the errors of its translator as the bytes that it read.
        lines = [line.strip() for line in log.replace(r"\n", "\n").splitlines()]
        said = (line for line in reversed(lines) if line.strip("'") and not _DRIVER.match(line))
        return next(said, "")

    def explanation(self) -> str:
        """Explain why the planner ended without a plan."""
        outcome = self.outcome
        if outcome not in (PlannerEnd.UNABLE, PlannerEnd.CRASHED, PlannerEnd.GAVE_UP):
            return outcome
        last = self._last_line()
        if outcome == PlannerEnd.CRASHED and not last:
            last = f"exit status {self.code}"
        return f"{outcome}: {last}" if last else outcome
