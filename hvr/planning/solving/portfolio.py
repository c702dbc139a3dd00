"""Planners as programs: the features that problems require, and the planners that have them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path

from hvr.base.files import writing
from hvr.base.processes import ProcessTree
from hvr.errors import PlannerError, UsageError
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

# Programs -----------------------------------------------------------------------------------------
# Planners as programs, and the PDDL features that a problem requires of them.

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
# Each program gets a domain, a problem and a folder. It writes plans into the folder as `plan.1`,
# `plan.2`, …, each better than the previous one and ended by a line `; cost …`. Exit codes follow
# Fast Downward. A program is stopped when its result is no longer needed.

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
_FORWARD_LACKS = _ALL_LACK | {Feature.DURATIVE, Feature.TIMED, Feature.PREFERENCES}
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
        optimal: Whether to search for a plan that is proven cheapest.
        shared: Whether several programs run at the same time, possibly more than the machine has
            processors.
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
    """A planner that runs as a program.

    Args:
        lacks: The features that the planner does not support.
        module: The hvr module to run, or "" for the unmodified Fast Downward.
        engine: The engine of unified-planning, if any.
    """

    name: str
    lacks: frozenset[Feature] = frozenset()
    module: str = ""
    engine: str = ""

    def command(self, job: PlannerJob) -> list[str]:
        """Return the command line, to be run in the folder for the plan files."""
        files = [str(job.domain.resolve()), str(job.problem.resolve())]
        if self.module:
            start = [sys.executable, "-W", "ignore", "-P", "-m", self.module]
            words = [*start, *files, f"{job.seconds:g}", self.engine or self.name]
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


_MODULE = "hvr.planning.solving.programs"
GROUNDED = Program("fast-downward", _GROUNDED_LACKS, _MODULE)
"""Fast Downward's search on hvr's grounding, which reduces the problem first."""
DOWNWARD = Program("downward", _DOWNWARD_LACKS)
"""The unmodified Fast Downward with its own translator; `lama`."""


FORWARD = Program("forward", _FORWARD_LACKS, _MODULE)
"""hvr's own forward search, which supports numbers and derived predicates."""


TEMPORAL = Program(
    "temporal", _ALL_LACK | {Feature.DERIVED, Feature.PREFERENCES, Feature.CONSTRAINTS}, _MODULE
)


def unified(engine: str) -> Program:
    """Return the program for an engine of unified-planning, which receives the whole problem."""
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
        return self._process.pause()

    def resume(self) -> None:
        self._process.resume()

    @property
    def code(self) -> int | None:
        return self._process.code

    @property
    def done(self) -> bool:
        """Whether the search was exhaustive, which proves the last plan optimal for the planner."""
        return self.code == 0

    @property
    def proves_none(self) -> bool:
        """Whether the planner has proven that there is no plan."""
        return self.code in NO_PLAN

    def new_plans(self) -> Iterator[str]:
        """Yield the text of each plan completed since the last call."""
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
        """The reason why the planner ended; a planner still running counts as out of time."""
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
        outcome = self.outcome
        if outcome not in (PlannerEnd.UNABLE, PlannerEnd.CRASHED, PlannerEnd.GAVE_UP):
            return outcome
        last = self._last_line()
        if outcome == PlannerEnd.CRASHED and not last:
            last = f"exit status {self.code}"
        return f"{outcome}: {last}" if last else outcome


# Portfolio ----------------------------------------------------------------------------------------
# Select the planners for a problem, and schedule their turns.

_OWN = (GROUNDED, DOWNWARD, FORWARD, TEMPORAL)
_SUPPORT = "support.json"


@dataclass(frozen=True)
class Portfolio:
    """The planners for a problem.

    Args:
        excluded: The planners that are not started, with the reasons.
        asks_engines: Whether the engines of unified-planning may support the problem.
        reserve: Planners to run if all others fail.
    """

    programs: tuple[Program, ...]
    excluded: dict[str, str]
    asks_engines: bool = False
    reserve: tuple[Program, ...] = ()


def portfolio(features: frozenset[Feature]) -> Portfolio:
    """Return the planners for a problem with these features, or raise a UsageError."""
    # Downward first: it usually finds the first plan (docs/how-to/solve.md).
    able = tuple(p for p in (DOWNWARD, GROUNDED) if not p.lacks & features)
    timed = features & {Feature.DURATIVE, Feature.TIMED}
    own = tuple(p for p in ((TEMPORAL,) if timed else (FORWARD,)) if not p.lacks & features)
    excluded = {
        program.name: f"cannot plan with {feature_text(program.lacks & features)}"
        for program in _OWN
        if program.lacks & features
    }
    if able:
        return Portfolio(able, excluded, reserve=own)
    if Feature.CONTINUOUS in features:
        raise UsageError(f"none of hvr's planners can plan with {Feature.CONTINUOUS}")
    asks_engines = Feature.DERIVED not in features
    if not own and not asks_engines:
        missing = feature_text(features & frozenset().union(*(p.lacks for p in _OWN)))
        raise UsageError(f"none of hvr's planners supports {missing}")
    return Portfolio(own, excluded, asks_engines=asks_engines)


def named(name: str, features: frozenset[Feature]) -> Portfolio:
    """Return a portfolio with one planner; raise a UsageError if it is unknown or unsuitable."""
    kind, _, engine = name.partition(":")
    known = {p.name: p for p in _OWN}
    if kind == "up" and engine:
        from hvr.planning.search.unified import installed_engines

        if engine not in (installed := installed_engines()):
            names = ", ".join(installed) or "none"
            raise UsageError(
                f"unified-planning has no engine {engine!r} (installed engines: {names})"
            )
        program = unified(engine)
    elif name in known:
        program = known[name]
    else:
        raise UsageError(f"no planner {name!r} (planners: {', '.join(known)}, up:ENGINE)")
    if missing := program.lacks & features:
        raise UsageError(f"{name} cannot plan with {feature_text(missing)}, which this problem has")
    return Portfolio((program,), {})


class Scout:
    """A process that asks the engines of unified-planning whether they support a problem.

    Importing unified-planning takes longer than many searches, so hvr's own planners do not wait
    for the answer. Asking does not start the engines.
    """

    def __init__(self, domain: Path, problem: Path, folder: Path) -> None:
        self.folder = folder
        self.excluded: dict[str, str] = {}
        with writing(folder):
            folder.mkdir()
        module = ["-W", "ignore", "-P", "-m", "hvr.planning.solving.unified"]
        command = [sys.executable, *module, "--support", str(domain.resolve())]
        with (folder / "log").open("wb") as log:
            self._process = ProcessTree([*command, str(problem.resolve())], folder, log)

    def programs(self) -> Sequence[Program] | None:
        """Return the engines that support the problem, or None while the answer is pending."""
        if self._process.code is None:
            return None
        try:
            answers = json.loads((self.folder / _SUPPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            log = (self.folder / "log").read_text(encoding="utf-8", errors="replace").strip()
            last = log.splitlines()[-1] if log else "unified-planning gave no answer"
            answers = {"*": last}
        self.excluded = {f"up:{name}": reason for name, reason in answers.items() if reason}
        return [unified(name) for name, reason in answers.items() if not reason]

    def __enter__(self) -> Scout:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()


def feature_text(features: Collection[str]) -> str:
    return " and ".join(sorted(features))


# Schedule -----------------------------------------------------------------------------------------
# The order and length of turns, learnt from recorded races.
#
# `races.tsv` has one row per problem, with the seconds each planner took for it. A greedy
# schedule is computed from the rows that resemble a problem: the next turn is the one that solves
# the most unsolved rows per second (Streeter, Golovin & Smith 2007, "Combining multiple
# heuristics online"). On average over these rows, it takes at most four times as long as the best
# schedule.

_TIME = frozenset({Feature.DURATIVE, Feature.TIMED})
_FIRST_TURN = 2.0
"""Seconds of the first turn of a planner without recorded races."""
_MARGIN = 1.5
"""Factor by which turns exceed the recorded times, because machines differ."""
_SHORTEST = 1.0
_FEWEST_ROWS = 5
"""Minimum number of rows for a class to have its own schedule."""


@dataclass(frozen=True)
class RecordedRace:
    """A problem and the seconds that planners took for it, without the planners that failed."""

    problem: str
    features: frozenset[Feature]
    objects: int
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class WorkSlice:
    """A turn of a planner, which lasts until it has worked for `until` seconds in total."""

    planner: str
    until: float


def read_races(text: str) -> tuple[RecordedRace, ...]:
    """Read recorded races: tab-separated lines, column names first, comments after `#`."""
    lines = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
    planners = lines[0][3:] if lines else []
    return tuple(
        RecordedRace(
            problem,
            frozenset(Feature[name] for name in features.split(",") if name),
            int(objects),
            {
                name: float(value)
                for name, value in zip(planners, seconds, strict=True)
                if value != "-"
            },
        )
        for problem, features, objects, *seconds in lines[1:]
    )


def recorded_races() -> tuple[RecordedRace, ...]:
    """Return the recorded races that are part of hvr."""
    return read_races(files(__package__).joinpath("races.tsv").read_text(encoding="utf-8"))


def turns(
    planners: Sequence[str],
    features: frozenset[Feature],
    objects: int,
    races: Sequence[RecordedRace],
    spent: Mapping[str, float],
) -> Iterator[WorkSlice]:
    """Yield an endless sequence of turns, starting with the planners that have the best records.

    The values of `spent`, the seconds that each planner has worked, may change between turns.
    """
    rows = _similar_races(features, objects, races)
    without = list(planners)
    ranked: list[str] = []
    # A schedule may solve all rows without some planners: rank the rest by a separate schedule.
    while schedule := list(_schedule(without, rows)):
        for slice_ in schedule:
            if spent.get(slice_.planner, 0.0) < slice_.until:
                yield slice_
        ranked += dict.fromkeys(slice_.planner for slice_ in schedule)
        without = [name for name in planners if name not in ranked]
    # The best planners stay first; each round of turns is twice as long as the previous one.
    planners = [*ranked, *without]
    length = _FIRST_TURN
    while planners:
        for name in planners:
            yield WorkSlice(name, spent.get(name, 0.0) + length)
        length *= 2


def _similar_races(
    features: frozenset[Feature], objects: int, races: Sequence[RecordedRace]
) -> list[RecordedRace]:
    timed = bool(features & _TIME)
    same_time = [race for race in races if bool(race.features & _TIME) == timed]
    numeric = Feature.NUMERIC in features
    same_kind = [race for race in same_time if (Feature.NUMERIC in race.features) == numeric]
    half = sorted(race.objects for race in same_kind)[len(same_kind) // 2 :][:1]
    large = bool(half) and objects >= half[0]
    same_size = [race for race in same_kind if (race.objects >= half[0]) == large]
    for rows in (same_size, same_kind, same_time):
        if len(rows) >= _FEWEST_ROWS:
            return rows
    return []


def _schedule(planners: Collection[str], rows: Iterable[RecordedRace]) -> Iterator[WorkSlice]:
    unsolved = list(rows)
    spent = dict.fromkeys(planners, 0.0)
    while True:
        # Highest rate first; ties are broken by the shorter turn, then by the earlier planner.
        best: tuple[float, float, int, str] | None = None
        for place, name in enumerate(planners):
            times = sorted({race.seconds[name] for race in unsolved if name in race.seconds})
            for until in times:
                solved = sum(race.seconds.get(name, until + 1) <= until for race in unsolved)
                length = max(until - spent[name], _SHORTEST)
                candidate = (-solved / length, length, place, name)
                if best is None or candidate < best:
                    best, end = candidate, until
        if best is None:
            return
        name = best[3]
        spent[name] = end
        unsolved = [race for race in unsolved if race.seconds.get(name, end + 1) > end]
        yield WorkSlice(name, max(_MARGIN * end, _SHORTEST))
