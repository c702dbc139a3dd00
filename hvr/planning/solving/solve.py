"""Solve a PDDL problem: choose planners, run them, validate their plans, split the best one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from hvr.base.files import temporary_folder, write_whole
from hvr.base.numbers import check_positive
from hvr.errors import HvrError, PlannerError, UsageError
from hvr.pddl import Domain, GroundAction, Problem, Step, Task, parse_domain, parse_problem
from hvr.pddl.plan import decimal_text
from hvr.pddl.printer import print_domain, print_problem
from hvr.planning.interop.portable import without_vacuous_quantifiers
from hvr.planning.plans import AABlock, landmark_blocks
from hvr.planning.solving.portfolio import (
    Portfolio,
    Scout,
    WorkSlice,
    named,
    portfolio,
    recorded_races,
    turns,
)
from hvr.planning.solving.programs import (
    DOWNWARD,
    FORWARD,
    GROUNDED,
    TOTAL_COST,
    Feature,
    PlannerEnd,
    PlannerJob,
    Program,
    features_of,
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
from hvr.validation.validator import Validator
from hvr.values import JsonObject

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
        objects: The number of objects that the planner used (all of them), or None for a language
            model's plan.
        others: Planners without a valid plan, each with the reason why it was not started, or its
            outcome.
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
        """The cost in decimal notation."""
        return None if self.cost is None else decimal_text(self.cost)

    @property
    def cost(self) -> Fraction | None:
        """The value of the metric, or the number of steps, or None if it is undefined."""
        return None if self.report is None else self.report.cost


@dataclass(frozen=True)
class SolveOptions(JsonObject):
    """Options of the search.

    Args:
        planner: `fast-downward` (on hvr's grounding), `downward` (unmodified), `forward` (hvr's
            own) or `up:ENGINE`, or None to run all suitable planners in parallel.
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
        domain, problem: PDDL files.
        options: Options of the search.
        anytime: Whether to search for better plans until one is proven optimal or the time is up.
        cores: The number of planners that run at the same time, by default as many as possible.
        listen: A function to call with each plan that is better than the previous ones.
        stopped: A function that returns whether to end the search; called several times a second.

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
            f"no planner can plan with this problem ({lacks}): install another engine of "
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
    """Return the files, or copies that avoid constructs which planners misread."""
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
