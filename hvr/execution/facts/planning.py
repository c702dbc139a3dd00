"""Planning from any state of a world, with the first hvr planner that supports the domain."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Protocol

from hvr.base.files import temporary_folder, write_whole
from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.pddl import Domain, GroundAction, Problem, State, Step, Task
from hvr.pddl.model import print_domain, print_problem
from hvr.pddl.task import ground_all
from hvr.planning.plans import AABlock, MacroAction, Plan, Planned, landmark_blocks
from hvr.planning.search.cheapest import cheap_plan, relevant_problem
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.solving.forward import forward, temporal
from hvr.planning.solving.portfolio import (
    DOWNWARD,
    FORWARD,
    GROUNDED,
    TEMPORAL,
    Program,
    features_of,
)
from hvr.planning.solving.race import retimed
from hvr.planning.solving.solve import Solution, SolveOptions, solve
from hvr.validation.validator import Validator
from hvr.worlds.facts.environment import base_atoms

IMPROVEMENT_TIMEOUT = 0.3
"""Seconds without a better plan after which the best plan so far is executed. While the robot
waits, a shorter plan is worth less than an early start.
"""


MAX_ACTIONS = 5_000
"""Maximum number of ground actions for planning in this process; larger tasks are given to external
programs, which can be stopped in time.
"""


class FactPlanner(Protocol):
    """A planner that plans from any state of a world."""

    def plan(self, task: Task) -> Planned:
        """Return a plan from the initial state of a task; see `StatePlanner.plan`."""


@dataclass(frozen=True)
class TimedSteps:
    """A plan with start times, the planner that found it, and the planning time in seconds."""

    steps: tuple[Step, ...]
    planner: str
    seconds: float


class StatePlanner:
    """Plans from any state of a world.

    Args:
        name: A planner of `hvr solve`. None selects capable planners: in this process for small
            problems, otherwise external programs in parallel.
    """

    def __init__(self, name: str | None = None, seconds: float = 60.0) -> None:
        self.name = name
        self.seconds = seconds

    def plan(self, task: Task) -> Planned:
        """Return a plan from the initial state of a task.

        Raises:
            ImpossibleGoalError: It is proven that no plan exists.
            PlannerError: No plan was found within the time limit.
            UsageError: No planner supports the domain.
        """
        started = time.perf_counter()
        actions, planner, proven = self.search(task)
        if actions is None:
            raise ImpossibleGoalError(f"no plan exists: proven by {planner}")
        seconds = time.perf_counter() - started
        plan = Plan(plan_blocks(task, actions), proven, planner, seconds)
        reasons = dict.fromkeys(task.objects, "the problem names it")
        return Planned(task.problem, task, Relevant(reasons), plan, 1)

    def timed(self, domain: Domain, problem: Problem) -> TimedSteps:
        """Return a plan for a problem with durative actions; raises the same errors as `plan`."""
        started = time.perf_counter()
        seconds = self.seconds
        if self.name is None:
            seconds /= 2
            outcome = temporal(domain, problem, seconds)
            if outcome.plan is not None:
                return TimedSteps(outcome.plan, TEMPORAL.name, time.perf_counter() - started)
        solution = _solved(domain, problem, self.name, seconds)
        if solution.steps is None:
            raise ImpossibleGoalError(f"no plan exists: proven by {solution.planner}")
        steps = retimed(Validator(Task(domain, problem)), solution.steps) or solution.steps
        return TimedSteps(steps, solution.planner, time.perf_counter() - started)

    def search(self, task: Task) -> tuple[tuple[GroundAction, ...] | None, str, bool]:
        """Return the plan, the planner's name, and whether the plan is proven optimal.

        The plan is None if the planner has proven that none exists.

        Raises:
            PlannerError: No plan was found within the time limit.
            UsageError: No planner supports the domain.
        """
        features = features_of(task.domain, task.problem)
        name, seconds = self.name, self.seconds
        able = [program for program in (GROUNDED, FORWARD) if not program.lacks & features]
        own = next((p for p in able if name in (None, p.name)), None)
        if own is not None and (name is not None or own is FORWARD or _is_small(task)):
            # The other translator may be fast where this one is slow, so leave it half the time.
            other = name is None and not DOWNWARD.lacks & features
            seconds = seconds / 2 if other else seconds
            try:
                return _searched(own, task, seconds)
            except PlannerError as error:
                if not other or error.exit_code == 2:
                    raise
            name = DOWNWARD.name
        solution = _solved(task.domain, task.problem, name, seconds)
        if solution.steps is None:
            return None, solution.planner, True
        steps = tuple(step for step in solution.steps if isinstance(step, GroundAction))
        return steps, solution.planner, solution.proven


def _solved(domain: Domain, problem: Problem, name: str | None, seconds: float) -> Solution:
    with temporary_folder("hvr-world-") as folder:
        files = Path(folder) / "domain.pddl", Path(folder) / "problem.pddl"
        write_whole(files[0], print_domain(domain))
        write_whole(files[1], print_problem(problem))
        return solve(*files, SolveOptions(name, seconds))


def _searched(
    program: Program, task: Task, seconds: float
) -> tuple[tuple[GroundAction, ...] | None, str, bool]:
    if program is GROUNDED:
        from hvr.planning.search.fast_downward import solve as search

        result = search(task, seconds, patience=IMPROVEMENT_TIMEOUT)
        return result.plan, result.planner, result.optimal
    outcome = forward(task, seconds)
    if outcome.plan is None and not outcome.proven:
        raise PlannerError(f"no plan was found: {outcome.reason}", field="budget")
    return outcome.plan, program.name, False


class CheapPlanner:
    """Plans in this process for small tasks at low cost, and otherwise with `StatePlanner`."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds = seconds

    def plan(self, task: Task) -> Planned:
        small = Task(task.domain, relevant_problem(task.domain, task.problem))
        for one in (small, task):
            try:
                found = cheap_plan(one, self.seconds)
            except PlannerError:
                continue
            if found.plan is not None:
                plan = Plan(plan_blocks(one, found.plan), False, found.planner, found.seconds)
                reasons = dict.fromkeys(one.objects, "the goal may need it")
                return Planned(task.problem, task, Relevant(reasons), plan, 1)
        return StatePlanner(GROUNDED.name, self.seconds).plan(task)


def _is_small(task: Task) -> bool:
    return sum(1 for _ in islice(ground_all(task), MAX_ACTIONS)) < MAX_ACTIONS


@dataclass(frozen=True)
class AutomaticPlanner:
    """A `hvr.planning.search.planners.Planner` that selects a capable planner."""

    seconds: float = 10.0

    def solve(self, task: Task) -> SearchResult:
        """See `Planner`; raises `PlannerError` if neither a plan nor a proof was found in time."""
        maker = StatePlanner(seconds=self.seconds)
        started = time.perf_counter()
        actions, planner, proven = maker.search(task)
        return SearchResult(actions, proven, time.perf_counter() - started, planner, 1)


def problem_at(problem: Problem, state: State) -> Problem:
    task = state.task
    static = [a for a in problem.init if task.is_static(a.predicate)]
    values = {
        term: value
        for term, value in problem.numeric_init.items()
        if term.function not in task.fluent_functions
    }
    for term, value in state.numbers().items():
        values[term] = Decimal(value.numerator) / Decimal(value.denominator)
    return problem.replace(init=frozenset([*static, *base_atoms(state)]), numeric_init=values)


def plan_blocks(task: Task, actions: Collection[GroundAction]) -> tuple[AABlock, ...]:
    numeric = {f for f in task.fluent_functions if f != "total-cost"}
    if actions and not numeric and not task.derived_predicates:
        return landmark_blocks(task, tuple(actions))
    # Landmark blocks are defined for propositional tasks only.
    return (AABlock(MacroAction("reach the goal"), tuple(actions)),) if actions else ()
