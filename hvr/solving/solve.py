"""A plan for a domain and a problem: choose planners, let them search, judge, cut into blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hvr.errors import PlannerError, UsageError
from hvr.files import temporary_folder, write_whole
from hvr.interop.errors import InteropError
from hvr.numbers import check_positive
from hvr.pddl import (
    Domain,
    GroundAction,
    Problem,
    Step,
    Task,
    parse_domain,
    parse_problem,
    print_problem,
)
from hvr.pddl.plan import decimal_text
from hvr.plans import AABlock
from hvr.solving.features import TOTAL_COST, Feature, features_of
from hvr.solving.landmarks import blocks_of
from hvr.solving.programs import DOWNWARD, FORWARD, GROUNDED, PlannerJob, Program, unified
from hvr.solving.race import FoundPlan, RaceResult, race
from hvr.validation.report import ValidationReport
from hvr.validation.validator import Validator

PATIENCE = 1.5
PREFERRED = ("enhsp-opt", "enhsp", "enhsp-any", "aries", "tamer", "lpg", "lpg-anytime")
"""Engines of unified-planning for what Fast Downward lacks, the most reliable first."""


@dataclass(frozen=True)
class Solution:
    """What became of a problem.

    Args:
        steps: the plan; None when it is proven that there is none.
        report: hvr's judgement of the plan; None without one.
        blocks: the plan cut at its landmarks; empty for plans in time.
        planner: who found it, or proved that there is none.
        proven: no plan is better (or there is none), and this is proven.
        seconds: wall time of the search.
        notes: what a reader should know, one sentence each.
        objects: how many a planner planned with, which is all there are; None of a model's plan.
    """

    steps: tuple[Step, ...] | None
    report: ValidationReport | None
    blocks: tuple[AABlock, ...]
    planner: str
    proven: bool
    seconds: float
    notes: tuple[str, ...] = ()
    objects: int | None = None

    @property
    def cost(self) -> Fraction | None:
        """The value of the metric, or the number of steps; None where it is undefined."""
        return None if self.report is None else self.report.cost

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "solved": self.steps is not None,
            "proven": self.proven,
            "planner": self.planner,
            "seconds": round(self.seconds, 3),
            "objects": self.objects,
            "cost": None if self.cost is None else decimal_text(self.cost),
            "steps": None if self.steps is None else [str(step) for step in self.steps],
            "blocks": [block.to_json() for block in self.blocks],
            "notes": list(self.notes),
        }


def solve(
    domain: Path,
    problem: Path,
    *,
    planner: str | None = None,
    seconds: float = 60.0,
    optimal: bool = False,
    memory: int = 0,
    listen: Callable[[FoundPlan], None] | None = None,
) -> Solution:
    """Find a plan for a problem, and prove it.

    Args:
        domain, problem: PDDL files.
        planner: `fast-downward` (on hvr's grounding), `downward` (as it comes), `forward` (hvr's
            own) or `up:ENGINE`; None takes those that can, side by side.
        seconds: wall time at most.
        optimal: search until the plan is proven to be best, or the time is up.
        memory: Bytes that each planner may use, with everything that it starts; 0 sets no limit.
        listen: is told of each plan that is better than the ones before.

    Raises:
        DataFileError, PddlError: a file cannot be read.
        UsageError: no such planner, or one that lacks what the problem uses.
        PlannerError: in the time there was neither a plan nor a proof that there is none.
    """
    check_positive("budget", seconds)
    parsed_domain = parse_domain(domain)
    parsed = parse_problem(problem, parsed_domain)
    features = features_of(parsed_domain, parsed)
    programs = _programs(planner, features, parsed_domain, parsed)
    task = Task(parsed_domain, parsed)
    with _for_domain(problem, parsed, parsed_domain) as given:

        def outcome_of(programs: Sequence[Program], seconds: float) -> RaceResult:
            return race(
                programs,
                PlannerJob(domain, given, features, seconds, optimal, len(programs) > 1, memory),
                parsed,
                Validator(task),
                patience=0.0 if optimal else PATIENCE,
                proves=lambda program: _proves(program, features, optimal),
                listen=listen,
            )

        further = [] if planner else [p for p in (FORWARD,) if not p.lacks & features]
        outcome, notes, stuck = _outcome(programs, further, seconds, outcome_of)
    notes += sorted(
        {f"a plan of {c.planner} was not accepted: {c.report.explain(1)}" for c in outcome.rejected}
    )
    best = outcome.best
    if best is None and not outcome.proven:
        why = "; ".join(notes) or "a larger budget gives more time"
        # Planners that all failed will not do better with more time.
        code = 2 if stuck else None
        field = None if notes else "budget"
        raise PlannerError(
            f"no plan was found in {outcome.seconds:.1f} s: {why}", field=field, exit_code=code
        )
    if best is None:
        return Solution(
            None, None, (), outcome.proven, True, outcome.seconds, tuple(notes), len(task.objects)
        )
    blocks = _blocks(task, best.steps)
    return Solution(
        best.steps, best.report, blocks, best.planner, bool(outcome.proven), outcome.seconds,
        tuple(notes), len(task.objects),
    )  # fmt: skip


def _outcome(
    programs: Sequence[Program],
    others: Sequence[Program],
    seconds: float,
    race_of: Callable[[Sequence[Program], float], RaceResult],
) -> tuple[RaceResult, list[str], bool]:
    """Let programs race, and others when all of them fail.

    What makes all of them fail, as deep nesting does others' translators, need not be too much
    for hvr's own search.

    Returns:
        The outcome, what went wrong, and whether all programs failed for reasons that
        more time would not change.
    """
    outcome = race_of(programs, seconds)
    notes, stuck = list(outcome.troubles), outcome.failed == len(programs)
    left = seconds - outcome.seconds
    further = [p for p in others if p not in programs]
    if further and len(notes) == len(programs) and outcome.best is None and left > 0:
        outcome = race_of(further, left)
        notes += outcome.troubles
        stuck = stuck and outcome.failed == len(further)
    return outcome, notes, stuck


@contextmanager
def _for_domain(file: Path, problem: Problem, domain: Domain) -> Iterator[Path]:
    """Yield the file of a problem, or a copy that names the domain: other planners insist on it."""
    if problem.domain_name == domain.name:
        yield file
        return
    with temporary_folder("hvr-solve-") as folder:
        copy = Path(folder) / "problem.pddl"
        write_whole(copy, print_problem(problem.replace(domain_name=domain.name)))
        yield copy


def _blocks(task: Task, steps: Sequence[Step]) -> tuple[AABlock, ...]:
    actions = [step for step in steps if isinstance(step, GroundAction)]
    numeric = task.fluent_functions - {TOTAL_COST}
    if len(actions) != len(steps) or numeric or task.derived_predicates:
        return ()
    return blocks_of(task, actions)


def _programs(
    name: str | None, features: frozenset[Feature], domain: Domain, problem: Problem
) -> Sequence[Program]:
    """Return the planners to be used.

    Raises:
        UsageError: none can plan with what the problem uses.
    """
    if name is None:
        able = [p for p in (GROUNDED, DOWNWARD) if not p.lacks & features]
        return able or _engines(features, domain, problem)
    kind, _, engine = name.partition(":")
    known = {p.name: p for p in (GROUNDED, DOWNWARD, FORWARD)}
    if kind == "up" and engine:
        from hvr.search.unified import installed_engines

        if engine not in (installed := installed_engines()):
            names = ", ".join(installed) or "none"
            raise UsageError(f"unified-planning has no engine {engine!r} here; it has: {names}")
        program = unified(engine)
    elif name in known:
        program = known[name]
    else:
        raise UsageError(f"no planner {name!r}; there are {', '.join(known)} and up:ENGINE")
    if missing := program.lacks & features:
        raise UsageError(f"{name} cannot plan with {_listed(missing)}, which this problem has")
    return [program]


def _engines(features: frozenset[Feature], domain: Domain, problem: Problem) -> Sequence[Program]:
    from hvr.search.unified import installed_engines

    if Feature.CONTINUOUS in features:
        raise UsageError(f"none of hvr's planners can plan with {Feature.CONTINUOUS}")
    wanted = _listed(features & (GROUNDED.lacks | FORWARD.lacks))
    own = [FORWARD] if not FORWARD.lacks & features else []
    if Feature.DERIVED in features:
        if not own:
            raise UsageError(f"none of hvr's planners has all of {wanted}")
        return own
    from hvr.solving.unified import able_engines

    installed = set(installed_engines())
    candidates = [engine for engine in PREFERRED if engine in installed]
    why = ""
    try:
        engines = able_engines(domain, problem, candidates)
    except InteropError as error:
        engines, why = [], f"; unified-planning cannot express it: {error}"
    able = [*map(unified, engines), *own]
    if not able:
        also = f" nor by {_listed(candidates)}" if candidates else ""
        raise UsageError(
            f"the problem has {wanted}, which is not supported by hvr's planners{also}{why}: "
            "install another engine of unified-planning, such as up-enhsp (numeric), up-lpg or "
            "up-tamer (temporal)"
        )
    return able


def _listed(features: Collection[str]) -> str:
    return " and ".join(sorted(features))


def _proves(program: Program, features: frozenset[Feature], optimal: bool) -> bool:
    """Say whether a planner that has searched to the end has proven its plan to be best."""
    if program is GROUNDED:  # it counts steps
        return not features & {Feature.COSTS, Feature.METRIC, Feature.PREFERENCES}
    # The last search of `lama` is no proof, and the forward search takes the first plan.
    return program is not FORWARD and (program is not DOWNWARD or optimal)
