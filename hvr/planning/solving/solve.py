"""Solve a PDDL problem or a set of problems: choose planners, run them, validate their plans."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from hvr.base.files import temporary_folder, write_whole
from hvr.base.texts import check_positive, read_bytes, read_json_lines
from hvr.errors import DataFileError, HvrError, PlannerError, UsageError
from hvr.pddl import (
    Domain,
    GroundAction,
    Problem,
    Step,
    Task,
    parse_domain,
    parse_problem,
    print_plan,
)
from hvr.pddl.model import print_domain, print_problem
from hvr.pddl.plan import decimal_text
from hvr.planning.interop.portable import without_vacuous_quantifiers
from hvr.planning.plans import AABlock, landmark_blocks
from hvr.planning.solving.portfolio import (
    DOWNWARD,
    FORWARD,
    GROUNDED,
    TOTAL_COST,
    Feature,
    PlannerEnd,
    PlannerJob,
    Portfolio,
    Program,
    Scout,
    WorkSlice,
    features_of,
    named,
    portfolio,
    recorded_races,
    turns,
)
from hvr.planning.solving.race import (
    FoundPlan,
    RaceField,
    RaceResult,
    RaceSettings,
    race,
    usable_cores,
)
from hvr.validation.report import ValidationReport
from hvr.validation.suites import MANIFEST_ENDING, Left
from hvr.validation.validator import Validator
from hvr.values import JsonObject

# Solve --------------------------------------------------------------------------------------------
# Solve a PDDL problem: choose planners, run them, validate their plans, split the best one.

PATIENCE = 1.5


@dataclass(frozen=True)
class Solution(JsonObject):
    """The solution of a problem.

    Args:
        steps: The plan, or None if the problem is proven unsolvable.
        blocks: The plan split at its landmarks (empty for temporal plans).
        planner: The planner that found the plan or proved that there is none.
        proven: Whether the plan is proven optimal, or the problem unsolvable.
        seconds: Wall time in seconds.
        notes: Remarks for the reader, one sentence each.
        objects: The number of objects in the problem, all of which the planner used; None if a
            language model wrote the plan.
        others: Planners that found no valid plan, each with its outcome or the reason why it was
            not started.
        maximise: Whether the cost is to be maximised.
    """

    steps: tuple[Step, ...] | None
    report: ValidationReport | None
    blocks: tuple[AABlock, ...]
    planner: str
    proven: bool
    seconds: float
    notes: tuple[str, ...] = ()
    objects: int | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    maximise: bool = False

    json_shape = (
        "solved proven planner seconds=rounded_seconds objects cost=cost_text steps blocks "
        "notes others"
    )

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self.steps is not None

    @property
    def rounded_seconds(self) -> float:
        return round(self.seconds, 3)

    @property
    def cost_text(self) -> str | None:
        """The cost in decimal notation, if defined."""
        return None if self.cost is None else decimal_text(self.cost)

    @property
    def cost(self) -> Fraction | None:
        """The value of the metric, by default the number of steps, or None if it is undefined."""
        return None if self.report is None else self.report.cost


@dataclass(frozen=True)
class SolveOptions(JsonObject):
    """Options of the search.

    Args:
        planner: `fast-downward` (on hvr's grounding), `downward` (unmodified), `forward` or
            `temporal` (hvr's own) or `up:ENGINE`, or None to run all suitable planners in parallel.
        seconds: The wall time limit.
        optimal: Whether to search until the plan is proven optimal or the time is up.
        memory: Bytes that each planner may use, including its subprocesses, or 0 for no limit.
        downward: Options of Fast Downward, `--alias NAME` or `--search TEXT`, which is then run
            alone.
    """

    planner: str | None = None
    seconds: float = 60.0
    optimal: bool = False
    memory: int = 0
    downward: tuple[str, ...] = ()

    json_shape = "*"


def solve(
    domain: Path,
    problem: Path,
    options: SolveOptions | None = None,
    *,
    anytime: bool = False,
    cores: int | None = None,
    listen: Callable[[FoundPlan], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Solution:
    """Find a valid plan for a problem.

    Args:
        anytime: Whether to search for better plans until one is proven optimal or the time is up.
        cores: The number of planners that run at the same time, by default one per processor.
        listen: A function to call with each plan that is better than all earlier plans.
        stopped: A function, called several times a second, that returns whether to end the search.

    Raises:
        DataFileError, PddlError: A file cannot be read.
        UsageError: The planner is unknown or does not support the problem.
        PlannerError: Neither a plan nor a proof that there is none was found in time.
    """
    options = options or SolveOptions()
    check_positive("budget", options.seconds)
    parsed_domain = parse_domain(domain)
    parsed = parse_problem(problem, parsed_domain)
    features = features_of(parsed_domain, parsed)
    planner = options.planner or (DOWNWARD.name if options.downward else None)
    chosen = named(planner, features) if planner else portfolio(features)
    task = Task(parsed_domain, parsed)
    with temporary_folder("hvr-solve-") as name:
        files = _for_planners(Path(name), (domain, problem), parsed_domain, parsed)
        shared = len(chosen.programs) > 1
        job = PlannerJob(
            *files,
            features,
            options.seconds,
            options.optimal,
            shared,
            options.memory,
            options.downward,
        )
        patience = 0.0 if options.optimal or anytime else PATIENCE
        settings = RaceSettings(patience, listen, stopped)
        cores = cores or usable_cores()
        outcome, ends = _outcome(chosen, job, Path(name), task, settings, cores)
    best = outcome.best
    if best is None and not outcome.proven:
        raise _undecided(outcome, ends)
    return _solution(task, outcome, ends)


_Ends: TypeAlias = Mapping[str, tuple[PlannerEnd, str]]


def _solution(task: Task, outcome: RaceResult, ends: _Ends) -> Solution:
    best, metric = outcome.best, task.problem.metric
    notes = (
        []
        if best is None
        else [f"{name} {reason}" for name, (end, reason) in ends.items() if end in _FAULTS]
    )
    notes += [_rejection(candidate) for candidate in outcome.rejected]
    return Solution(
        None if best is None else best.steps,
        None if best is None else best.report,
        () if best is None else _blocks(task, best.steps),
        outcome.proven if best is None else best.planner,
        bool(outcome.proven),
        outcome.seconds,
        tuple(dict.fromkeys(notes)),
        len(task.objects),
        {name: reason for name, (_, reason) in ends.items()},
        metric is not None and metric.direction == "maximize",
    )


def _outcome(
    chosen: Portfolio, job: PlannerJob, folder: Path, task: Task, settings: RaceSettings, cores: int
) -> tuple[RaceResult, _Ends]:
    # A problem that defeats all others, for example because deep nesting breaks their translators,
    # may still be easy for hvr's own search.
    judged = task.problem, Validator(task)

    def turns_of(programs: Sequence[Program], spent: Mapping[str, float]) -> Iterator[WorkSlice]:
        names = [program.name for program in programs]
        return turns(names, job.features, len(task.objects), recorded_races(), spent)

    def race_of(entry: RaceField, seconds: float, place: str) -> RaceResult:
        (folder / place).mkdir()
        return race(
            entry,
            replace(job, seconds=seconds),
            folder / place,
            judged,
            settings,
            proves=lambda program: _proves(program, job.features, job.optimal),
        )

    with ExitStack() as stack:
        excluded = dict(chosen.excluded)
        entry = RaceField(chosen.programs, turns_of, cores)
        if chosen.asks_engines:
            asked = stack.enter_context(Scout(job.domain, job.problem, folder / "scout"))
            entry = replace(entry, more=asked.programs)
        outcome = race_of(entry, job.seconds, "race")
        if chosen.asks_engines:
            excluded |= asked.excluded
    ends = {name: (PlannerEnd.UNABLE, reason) for name, reason in excluded.items()}
    ends |= outcome.ends
    left = job.seconds - outcome.seconds
    failed = all(end in _FINAL_ENDS for end, _ in ends.values())
    if chosen.reserve and outcome.best is None and failed and not outcome.proven and left > 0:
        second = race_of(RaceField(chosen.reserve, turns_of, cores), left, "reserve")
        ends |= second.ends
        outcome = replace(second, ends={**outcome.ends, **second.ends})
    return outcome, ends


_FINAL_ENDS = frozenset(
    {PlannerEnd.UNABLE, PlannerEnd.CRASHED, PlannerEnd.OUT_OF_MEMORY, PlannerEnd.GAVE_UP}
)
"""Outcomes that more time would not change."""


_FAULTS = frozenset({PlannerEnd.CRASHED, PlannerEnd.OUT_OF_MEMORY})


def _undecided(outcome: RaceResult, ends: _Ends) -> HvrError:
    rejected = [_rejection(candidate) for candidate in outcome.rejected]
    started = [(name, *ends[name]) for name in ends if name in outcome.ends]
    if not started:
        same: dict[str, list[str]] = {}
        for name, (_, reason) in ends.items():
            same.setdefault(reason, []).append(name)
        lacks = "; ".join(f"{', '.join(names)} {reason}" for reason, names in same.items())
        return UsageError(
            f"no planner supports this problem ({lacks}): install another engine of "
            "unified-planning, such as up-enhsp (numeric), up-lpg or up-tamer (temporal)"
        )
    reasons = dict.fromkeys([*rejected, *(f"{name} {reason}" for name, _, reason in started)])
    more_time = any(end == PlannerEnd.OUT_OF_TIME for _, end, _ in started)
    advice = "; a larger budget gives more time" if more_time else ""
    hopeless = all(end in _FINAL_ENDS - {PlannerEnd.OUT_OF_MEMORY} for _, end, _ in started)
    return PlannerError(
        f"no plan was found in {outcome.seconds:.1f} s: {'; '.join(reasons)}{advice}",
        field="budget" if more_time else None,
        exit_code=2 if hopeless else None,
    )


def _rejection(candidate: FoundPlan) -> str:
    return f"a plan by {candidate.planner} was rejected: {candidate.report.explain(1)}"


def _for_planners(
    folder: Path, files: tuple[Path, Path], domain: Domain, problem: Problem
) -> tuple[Path, Path]:
    """Return the files, or rewritten copies if planners would misread a construct in them."""
    new_domain, new_problem = without_vacuous_quantifiers(domain, problem)
    if new_problem is problem and problem.domain_name == domain.name:
        return files
    copies = files[0], folder / "problem.pddl"
    if new_domain is not domain:
        copies = folder / "domain.pddl", copies[1]
        write_whole(copies[0], print_domain(new_domain))
    write_whole(copies[1], print_problem(new_problem.replace(domain_name=domain.name)))
    return copies


def _blocks(task: Task, steps: Sequence[Step]) -> tuple[AABlock, ...]:
    actions = [step for step in steps if isinstance(step, GroundAction)]
    numeric = task.fluent_functions - {TOTAL_COST}
    if len(actions) != len(steps) or numeric or task.derived_predicates:
        return ()
    return landmark_blocks(task, actions)


def _proves(program: Program, features: frozenset[Feature], optimal: bool) -> bool:
    if program is GROUNDED:  # It minimises the number of steps.
        return not features & {Feature.COSTS, Feature.METRIC, Feature.PREFERENCES}
    # The last search of `lama` is not a proof, and the forward search stops at its first plan.
    return program is not FORWARD and (program is not DOWNWARD or optimal)


# Sets ---------------------------------------------------------------------------------------------
# Solve sets of problems, one result row per problem, with scores.

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
        return f"{self.domain} {self.problem}"


def digest_of(asked: SetProblem) -> str:
    """Return a digest of a problem's two files, or "" if a file cannot be read."""
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
        maximise: Whether the metric is to be maximised, so that no quality is defined.
        first: Seconds until the first valid plan.
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
        return f"{self.domain} {self.problem}"

    def to_json(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "cost": None if self.cost is None else decimal_text(self.cost),
            "seconds": round(self.seconds, 3),
            "first": None if self.first is None else round(self.first, 3),
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> SetRow:
        """Read the output of `to_json`; invalid data raises a ValueError, KeyError or TypeError."""
        cost = None if data["cost"] is None else Fraction(data["cost"])
        return cls(**{**data, "cost": cost})

    def quality(self, best: Fraction | None) -> float | None:
        """Return the score of the satisficing tracks of the planning competitions, if defined.

        The score is the reference cost `best` divided by the plan's cost, but at most 1. It is 0 if
        there is no plan or no cost, and 1 if the plan is proven optimal or no plan exists (IPC 2008
        and later). Otherwise, it is undefined (None) if there is no reference cost, or if the
        metric is to be maximised.
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

        For longer times t to the first plan or a proof that none exists, the score is
        1 - log t / log limit (IPC 2014 and later, with a limit of 300 seconds).
        """
        taken = self.first if self.outcome == PLAN else self.seconds
        if self.outcome not in (PLAN, NO_PLAN) or taken is None:
            return 0.0
        if taken <= 1:
            return 1.0
        return max(0.0, 1 - math.log(taken) / math.log(limit)) if limit > 1 else 0.0


def solve_cell(cell: SetCell) -> SetRow:
    """Solve a problem; if an expected error occurs, the row has its message."""
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
    """Return the problems of a folder or a manifest, and the problems without a domain.

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
    from hvr.validation.suite_collection import model_files

    domain, problem = model_files(line, place)
    best = line.get("best")
    if best is not None and (isinstance(best, bool) or not isinstance(best, int | float)):
        raise DataFileError(f'{place}: "best" must be a number, the cost of the best known plan')
    known = None if best is None else Fraction(str(best))
    return SetProblem(str(folder / domain), str(folder / problem), known)


def summary(rows: Iterable[SetRow], best: Mapping[str, Fraction], limit: float) -> dict[str, Any]:
    """Return the counts, summed scores and summed seconds of a set, as JSON values.

    `best` contains the best known costs by the keys of the problems; `limit` is the time limit.
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
