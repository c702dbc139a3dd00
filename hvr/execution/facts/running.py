"""Plan in a world, carry the plan out, watch it and recover: one run with its events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hvr.base.files import write_whole, writing
from hvr.errors import ImpossibleGoalError, PlannerError
from hvr.execution.events import Event, Finished
from hvr.execution.executor import Executor
from hvr.execution.facts.acting import FactPolicy, FactWorld
from hvr.execution.facts.planning import FactPlanner, StatePlanner
from hvr.execution.facts.timed import TimedWorld
from hvr.knowledge.wording import Wording
from hvr.pddl import (
    Atom,
    Comparison,
    Domain,
    Expression,
    Problem,
    Step,
    print_domain,
    print_plan,
    print_problem,
)
from hvr.pddl.model import functions_of, walk
from hvr.planning.plans import Planned
from hvr.worlds.facts.environment import FactEnvironment
from hvr.worlds.facts.faults import FaultyWorld, InjectedFault
from hvr.worlds.facts.timed_environment import Timing

MAX_REPLANS = 20
"""Most new plans, if nothing else is said."""
MAX_ATTEMPTS = 3
"""How often the same step is tried again in a run: it may stand in its plans many times."""


@dataclass(frozen=True)
class TimedRun:
    """What time adds to a run.

    Args:
        timing: The domain whose actions are the starts and ends, which the plans of the run have.
        plans: The plans with their times.
        now: The time in the end.
        simulated: hvr counted the time, since the world has no clock.
    """

    timing: Timing = field(repr=False)
    plans: tuple[tuple[Step, ...], ...] = field(repr=False)
    now: Fraction
    simulated: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        plans = [[str(step) for step in plan] for plan in self.plans]
        return {"time": float(self.now), "simulated": self.simulated, "plans": plans}


@dataclass(frozen=True)
class WorldRun:
    """A run that has ended.

    Args:
        finished: how it ended.
        unreachable: it is proven that no plan reaches the goal from where it ended.
        plans: the plans that were begun, the first first.
        events: what happened.
        faults: what was injected.
        unseen: hidden facts that the goal depends on, by predicate: that it is reached is only
            believed.
        timed: The plans and the clock of a run with durative actions.
    """

    finished: Finished
    unreachable: bool
    plans: tuple[Planned, ...]
    events: tuple[Event, ...] = field(repr=False)
    faults: tuple[InjectedFault, ...] = ()
    unseen: tuple[str, ...] = ()
    timed: TimedRun | None = None

    @property
    def exit_code(self) -> int:
        """0: the goal is reached; 1: it is proven to be out of reach; 2: undecided."""
        if self.finished.reached:
            return 2 if self.unseen else 0
        return 1 if self.unreachable else 2

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "reached": self.finished.reached,
            "unreachable": self.unreachable,
            "unseen": list(self.unseen),
            **({} if self.timed is None else {"clock": self.timed.to_json()}),
            "faults": [fault.to_json() for fault in self.faults],
            "events": [event.to_json() for event in self.events],
        }


def run_world(
    env: FactEnvironment,
    domain: Domain,
    problem: Problem,
    wording: Wording,
    *,
    planner: FactPlanner | FactPolicy | None = None,
    max_replans: int = MAX_REPLANS,
    listen: Callable[[Event], None] | None = None,
) -> WorldRun:
    """Reach the goal of a problem in an environment.

    Args:
        env: the environment; it is reset.
        domain: the actions.
        problem: objects, goal and constraints, and what hidden facts are believed to be.
        wording: says what holds.
        planner: makes the plans; a policy also says how it recovers.
        max_replans: most new plans.
        listen: called with each event as it happens.

    Raises:
        UsageError: the domain needs more of time than can be acted in, or no planner has what it
            uses.
        SimulatorError: the environment fails.
    """
    policy = planner
    if not isinstance(policy, FactPolicy):
        policy = FactPolicy(domain, policy or StatePlanner())
    if not domain.durative_actions or not isinstance(policy.planner, StatePlanner):
        world = FactWorld(env, domain, problem, wording)
        return run_in_world(world, policy, problem, max_replans=max_replans, listen=listen)
    timed = TimedWorld(env, domain, problem, wording)
    stage = timed.timing.problem(problem)
    run = run_in_world(timed, policy, stage, max_replans=max_replans, listen=listen)
    with_time = TimedRun(timed.timing, tuple(timed.plans), timed.now, not timed.has_clock)
    return replace(run, timed=with_time)


def run_in_world(
    world: FactWorld,
    policy: FactPolicy,
    problem: Problem,
    *,
    max_replans: int = MAX_REPLANS,
    listen: Callable[[Event], None] | None = None,
) -> WorldRun:
    """Reach the goal of a problem in a world of facts; see `run_world`."""
    events: list[Event] = []
    plans: list[Planned] = []

    def take(event: Event) -> None:
        events.append(event)
        if listen is not None:
            listen(event)

    executor = Executor(world, policy, take, plans.append, max_replans, MAX_ATTEMPTS)
    try:
        finished = executor.run((problem,))
    except (ImpossibleGoalError, PlannerError) as error:
        # The first plan: later ones that cannot be made are told by the executor itself.
        if isinstance(error, PlannerError) and error.exit_code == 2:
            raise
        finished = Finished(False, executor.steps, executor.replans, str(error))
        take(finished)
    faults = tuple(world.env.log) if isinstance(world.env, FaultyWorld) else ()
    unreachable = not finished.reached and world.impossible
    unseen = tuple(sorted(world.hidden & dependencies_of(world.domain, problem.goal)))
    return WorldRun(finished, unreachable, tuple(plans), tuple(events), faults, unseen)


def dependencies_of(domain: Domain, formula: Expression) -> frozenset[str]:
    """Return the predicates and functions that a formula depends on, also by way of rules."""
    rules: dict[str, list[Expression]] = {}
    for rule in domain.derived:
        rules.setdefault(rule.predicate, []).append(rule.body)
    known: set[str] = set()
    todo: list[Expression] = [formula]
    while todo:
        for part in walk(todo.pop()):
            names = {part.predicate} if isinstance(part, Atom) else set()
            if isinstance(part, Comparison):
                terms = (*functions_of(part.left), *functions_of(part.right))
                names = {term.function for term in terms}
            for name in names - known:
                todo += rules.get(name, [])
            known |= names
    return frozenset(known)


def save_run(
    folder: Path,
    domain: Domain,
    problem: Problem,
    run: WorldRun,
    *,
    request: str,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write domain, problems, plans, events and faults of a run into a folder.

    The layout is that of other runs: `task.json` says what was asked and what became of it;
    `problem.pddl` and `plan.pddl` are the first ones, `problem-2.pddl`, `plan-2.pddl` and so on
    are of new plans. Plans of durative actions have starts and ends as steps, and the times
    are in `timed-plan.pddl`, which belongs to `timed-domain.pddl`. Each line of `trace.jsonl` is
    an event, of `faults.jsonl` a fault.

    Args:
        folder: made if need be.
        domain, problem: of the run.
        run: as it ended.
        request: the goal in words.
        about: further entries of `task.json`.

    Raises:
        DataFileError: the folder cannot be written.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if run.timed is not None:
        write_whole(folder / "timed-domain.pddl", print_domain(domain))
        write_whole(folder / "timed-problem.pddl", print_problem(problem))
        for number, steps in enumerate(run.timed.plans, 1):
            text = "".join(f"{step}\n" for step in steps)
            write_whole(folder / f"timed-plan{f'-{number}' * (number > 1)}.pddl", text)
        timing = run.timed.timing
        domain, problem = timing.domain, timing.problem(problem)
    write_whole(folder / "domain.pddl", print_domain(domain))
    write_whole(folder / "problem.pddl", print_problem(problem))
    for number, planned in enumerate(run.plans, 1):
        suffix = "" if number == 1 else f"-{number}"
        if suffix:
            write_whole(folder / f"problem{suffix}.pddl", print_problem(planned.task.problem))
        write_whole(folder / f"plan{suffix}.pddl", print_plan(planned.plan.actions))
    write_whole(folder / "trace.jsonl", _lines(event.to_json() for event in run.events))
    if run.faults:
        write_whole(folder / "faults.jsonl", _lines(fault.to_json() for fault in run.faults))
    account = _account(problem, run, request, about or {})
    write_whole(folder / "task.json", f"{json.dumps(account, indent=2, ensure_ascii=False)}\n")


def _account(
    problem: Problem, run: WorldRun, request: str, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is told of the run as a whole; a goal that is only believed is not judged."""
    unseen = " and ".join(run.unseen) if run.finished.reached else ""
    verdict = {"verdict": f"the goal is believed to hold, and {unseen} cannot be seen"}
    return {
        "state": "finished",
        "request": request,
        **about,
        "goal": [str(problem.goal)],
        "reached": None if unseen else run.finished.reached,
        **(verdict if unseen else {}),
    }


def _lines(values: Iterable[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)
