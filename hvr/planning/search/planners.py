"""Classical planners by name, and recorded planners for exact replay."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hvr.base.files import append_json_line
from hvr.base.registry import Registry
from hvr.base.texts import check_positive, read_log
from hvr.errors import DataFileError, PlannerError, UsageError
from hvr.pddl import And, Exists, Expression, GroundAction, State, Task, TypedName
from hvr.pddl.model import print_problem
from hvr.planning.search.fast_downward import SearchResult, solve
from hvr.validation.trajectory import ConstraintMonitor
from hvr.validation.validator import Validator
from hvr.values import Value

# Planners -----------------------------------------------------------------------------------------
# `fast-downward` runs the search of up-fast-downward on hvr's own grounding. `up:NAME` runs any
# engine of unified-planning (`up:fast-downward`, `up:enhsp`, …).

DEFAULT = "fast-downward"

_MORE_TIME = 3.0
"""Time limit of all stages of a plan, as a multiple of the limit of one search."""


class Planner(Protocol):
    """A classical planner."""

    def solve(self, task: Task) -> SearchResult:
        """Return a plan, or a proof that no plan exists.

        Raises:
            PlannerError: Neither was found in time, or the planner does not support the task.
        """


class FastDownward(Value):
    """Fast Downward on hvr's grounding.

    Args:
        seconds: The wall time limit.
        patience: Seconds without a shorter plan after which the search stops.
        prove: Whether to search until the plan is proven shortest or the time is up.
    """

    seconds: float = 10.0
    patience: float = 1.5
    prove: bool = False

    @classmethod
    def open(cls, engine: str, seconds: float) -> FastDownward:
        if engine:
            raise UsageError(
                f"the planner {DEFAULT!r} takes no engine, got {engine!r}: write {DEFAULT!r}, or "
                "'up:ENGINE' for an engine of unified-planning"
            )
        return cls(seconds)

    def solve(self, task: Task) -> SearchResult:
        try:
            return self._search(task, self.seconds)
        except PlannerError as error:
            if error.field != "budget":
                raise
            # Imported here because it is rarely needed.

            try:
                return solve_in_stages(task, self._search, _MORE_TIME * self.seconds)
            except PlannerError:
                raise error from None

    def _search(self, task: Task, seconds: float) -> SearchResult:
        return solve(task, seconds, patience=0.0 if self.prove else self.patience)


class UnifiedPlanning(Value):
    """An engine of unified-planning, with a wall time limit."""

    engine: str
    seconds: float = 60.0

    @classmethod
    def open(cls, engine: str, seconds: float) -> UnifiedPlanning:
        if not engine:
            raise UsageError("name an engine of unified-planning, such as 'up:fast-downward'")
        return cls(engine, seconds)

    def solve(self, task: Task) -> SearchResult:
        from hvr.planning.search.unified import solve_with

        return solve_with(task, self.engine, self.seconds)


PLANNERS = Registry(
    "planner",
    "planners",
    {
        DEFAULT: "hvr.planning.search.planners:FastDownward.open",
        "up": "hvr.planning.search.planners:UnifiedPlanning.open",
    },
    "hvr.planners",
    ("solve",),
)
"""Factories of planners, called with the name's part after the colon, or "", and the seconds."""


def make_planner(name: str, seconds: float) -> Planner:
    """Return the planner with a name in `PLANNERS`, followed by `:ENGINE` if it needs an engine.

    Raises:
        UsageError: The name or the time is invalid.
    """
    check_positive("budget", seconds)
    known, _, engine = name.partition(":")
    if engine and known not in PLANNERS.entries and known not in PLANNERS.names():
        known, engine = name, ""  # module:attribute
    planner: Planner = PLANNERS.make(known, engine, seconds)
    return planner


# Recorded planners --------------------------------------------------------------------------------
# Planners with a time limit may find different plans in different runs. Prompts would then
# differ, and a recorded model would have no answer for them, so runs record the planner's
# results.

NAME = "planner.jsonl"
"""The file in the run folder: one line per call, with the digest of the problem and the plan."""


class RecordedPlanner:
    """A planner whose results are recorded in a file and replayed.

    Args:
        planner: The planner for problems without a recorded result.
        path: The file to which results are appended. If an attempt of the same run was interrupted,
            its results in the file are replayed.
        earlier: Another file with results to replay, if any.

    Raises:
        DataFileError: A file cannot be read.
    """

    def __init__(self, planner: Planner, path: Path, earlier: Path | None = None) -> None:
        self._planner = planner
        self._path = path
        self._there = _read(path) if path.exists() else {}
        known = _read(earlier) if earlier is not None and earlier.exists() else {}
        self._known: dict[str, SearchResult | PlannerError] = {**known, **self._there}

    def solve(self, task: Task) -> SearchResult:
        """Return the recorded result for the problem, or solve it and record the result.

        An error of the planner is also recorded, and raised again in a replay.
        """
        digest = hashlib.sha256(print_problem(task.problem).encode()).hexdigest()
        try:
            result = self._known.get(digest) or self._planner.solve(task)
            if isinstance(result, PlannerError):
                raise result
        except PlannerError as error:
            own = error.exit_code != PlannerError.exit_code
            code = {"exit_code": error.exit_code} if own else {}
            self._write({"problem": digest, "error": str(error), **code})
            raise
        self._known[digest] = result
        plan = None if result.plan is None else [[a.name, *a.args] for a in result.plan]
        self._write(
            {
                "problem": digest,
                "plan": plan,
                "optimal": result.optimal,
                "planner": result.planner,
                "operators": result.operators,
                "lower_bound": result.lower_bound,
            }
        )
        return result

    def _write(self, line: Mapping[str, Any]) -> None:
        if line["problem"] not in self._there:
            append_json_line(self._path, line)


def _read(path: Path) -> dict[str, SearchResult | PlannerError]:
    results: dict[str, SearchResult | PlannerError] = {}
    try:
        for _, line in read_log(path):
            if "error" in line:
                code = 2 if line.get("exit_code") == 2 else None
                results[str(line["problem"])] = PlannerError(str(line["error"]), exit_code=code)
                continue
            plan = line["plan"]
            results[str(line["problem"])] = SearchResult(
                None if plan is None else tuple(GroundAction(a[0], tuple(a[1:])) for a in plan),
                bool(line["optimal"]),
                0.0,
                str(line["planner"]),
                int(line["operators"]),
                int(line["lower_bound"]),
            )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataFileError(f"{path} is not a planner record: {error}") from error
    return results


# Horizon ------------------------------------------------------------------------------------------
# Long plans in stages: each stage reaches more conditions of the goal, by its own search.
#
# If one search finds no plan in time, a stage is a prefix of the goal's conditions, in the order
# of the goal. Each stage keeps the conditions of the earlier ones, and starts in the state in which
# they end. The whole plan is validated.

Search = Callable[[Task, float], SearchResult]


def conditions_of(goal: Expression) -> tuple[Expression, ...]:
    """Split a goal into conjuncts; conjuncts of an existential formula keep its quantifier."""
    match goal:
        case And(operands):
            return tuple(part for operand in operands for part in conditions_of(operand))
        case Exists(variables, And(operands)) if len(operands) > 1:
            return tuple(Exists(variables, operand) for operand in operands)
        case _:
            return (goal,)


def joined(conditions: Sequence[Expression]) -> And:
    """Return the conjunction of conditions, in which equal existential quantifiers are merged."""
    shared: dict[tuple[TypedName, ...], list[Expression]] = {}
    parts: list[Expression] = []
    for condition in conditions:
        if isinstance(condition, Exists):
            shared.setdefault(condition.variables, []).append(condition.body)
        else:
            parts.append(condition)
    quantified = [Exists(variables, And(tuple(bodies))) for variables, bodies in shared.items()]
    return And((*quantified, *parts))


def solve_in_stages(task: Task, search: Search, seconds: float) -> SearchResult:
    """Find a plan in stages, within a limit on the wall time of all stages together.

    Each stage adds conditions of the goal; `search` finds a plan for it within a time limit.

    Raises:
        PlannerError: No plan was found for a stage that adds a single condition, the goal has a
            single condition, or the plans of the stages do not combine into a valid plan.
    """
    started = time.perf_counter()
    conditions = conditions_of(task.problem.goal)
    if len(conditions) < 2:
        raise PlannerError("the goal has a single condition, so it cannot be planned in stages")
    validator, monitor = Validator(task), ConstraintMonitor.of(task)
    plan: list[GroundAction] = []
    done, count, operators = 0, -(-len(conditions) // 8), 0
    while done < len(conditions):
        upto = min(len(conditions), done + count)
        left = started + seconds - time.perf_counter()
        # A stage that is too large must leave time for smaller ones.
        share = left / (1 + -(-(len(conditions) - done) // count))
        try:
            result = search(_stage(task, validator.state, monitor, conditions[:upto]), share)
        except PlannerError:
            if count == 1 or left <= 0:
                raise
            count = -(-count // 2)
            continue
        if result.plan is None:
            raise PlannerError(f"no plan was found in {seconds:g} s, in one search or in stages")
        operators = max(operators, result.operators)
        for action in result.plan:
            validator.apply(action)
            monitor.observe(validator.state)
        plan += result.plan
        done = upto
    if not Validator(task).check(plan).valid:
        raise PlannerError("the plans of the stages do not combine into a valid plan")
    elapsed = time.perf_counter() - started
    return SearchResult(tuple(plan), False, elapsed, f"{result.planner} in stages", operators)


def _stage(
    task: Task, state: State, monitor: ConstraintMonitor, conditions: Sequence[Expression]
) -> Task:
    last = len(conditions) == len(conditions_of(task.problem.goal))
    kept = monitor.left if last else monitor.prohibitions
    problem = task.problem.replace(
        init=state.atoms(static=True), goal=joined(conditions), constraints=And(kept)
    )
    return Task(task.domain, problem)


__all__ = ["conditions_of", "joined", "solve_in_stages"]
