"""Engines of unified-planning on hvr's own grounding.

The engine receives the search problem as a ground problem. Each variable is a unary predicate that
is true of its value; each operator is an action without parameters. Any engine for classical
planning with negative preconditions and conditional effects can solve it. One nullary predicate per
fluent would be simpler, but Fast Downward's translator then takes many times longer to find the
variables.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.files import temporary_folder, write_whole, writing
from hvr.base.processes import ProcessTree
from hvr.errors import PlannerError, UsageError
from hvr.pddl import Task
from hvr.planning.search.fast_downward import SearchResult
from hvr.planning.search.ground import SearchProblem, build, plan_actions
from hvr.planning.search.operators import GoalAlternatives, GroundOperator, Literals, bits

_FINISH = "finish"
_OPERATOR = "operator"
_PROBLEM, _ANSWER, _LOG = "problem.pickle", "answer.json", "log"
_GRACE_SECONDS = 30.0
"""Additional seconds for an engine to convert the problem and to notice its time limit."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class GroundProblem:
    """The parts of a `SearchProblem` that an engine needs."""

    initial: int
    operators: tuple[GroundOperator, ...]
    goals: GoalAlternatives
    variables: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(problem: SearchProblem) -> GroundProblem:
        return GroundProblem(problem.initial, problem.operators, problem.goals, problem.variables)


def solve_with(task: Task, engine: str, seconds: float) -> SearchResult:
    """Find a plan with a unified-planning engine, such as `fast-downward`, in another process.

    Raises:
        UsageError: The engine is not installed.
        PlannerError: The engine does not support the task, failed, or found no plan in time.
        DataFileError: The engine's files cannot be written.
    """
    started = time.perf_counter()
    available = installed_engines()
    if engine not in available:
        names = ", ".join(available) or "none"
        raise UsageError(f"unified-planning has no engine {engine!r} (installed engines: {names})")
    problem = build(task, reduce=False)
    name = f"unified-planning {engine}"
    size = len(problem.operators)
    if not problem.goals:
        return SearchResult(None, True, time.perf_counter() - started, name, size)
    answer = _answer(GroundProblem.of(problem), engine, seconds)
    elapsed = time.perf_counter() - started
    if "error" in answer:
        # unified-planning's own exceptions mean that the engine does not support the task.
        code = 2 if answer["unsuitable"] else None
        raise PlannerError(f"{name} failed: {answer['error']}", exit_code=code)
    status = answer["status"]
    if answer["operators"] is not None:
        actions = tuple(plan_actions(problem, answer["operators"]))
        # The engine counts auxiliary operators, which are not actions.
        optimal = status == "SOLVED_OPTIMALLY" and all(o.steps for o in problem.operators)
        bound = len(actions) if optimal else 0
        return SearchResult(actions, optimal, elapsed, name, size, bound)
    if status == "UNSOLVABLE_PROVEN":
        return SearchResult(None, True, elapsed, name, size)
    code = 2 if status == "UNSUPPORTED_PROBLEM" else None
    words = status.lower().replace("_", " ")
    raise PlannerError(f"{name} found no plan in {seconds:g} s ({words})", exit_code=code)


def _answer(problem: GroundProblem, engine: str, seconds: float) -> dict[str, Any]:
    with temporary_folder("hvr-up-") as path:
        folder = Path(path)
        write_whole(folder / _PROBLEM, pickle.dumps(problem))
        with writing(folder):
            log = (folder / _LOG).open("wb")
        command = [sys.executable, "-P", "-m", "hvr.planning.search.unified", engine, str(seconds)]
        try:
            with log, ProcessTree(command, folder, log) as process:
                end = time.monotonic() + seconds + _GRACE_SECONDS
                while process.code is None and time.monotonic() < end:
                    time.sleep(_POLL_SECONDS)
                code = process.code
        except OSError as error:
            raise PlannerError(f"{engine} cannot be started: {error}", exit_code=2) from error
        if code is None:
            return {"status": "TIMEOUT", "operators": None}
        if code == 0:
            answer: dict[str, Any] = json.loads((folder / _ANSWER).read_text(encoding="utf-8"))
            return answer
        lines = (folder / _LOG).read_text(encoding="utf-8", errors="replace").splitlines()
        reason = lines[-1] if lines else f"it ended with status {code}"
        return {"error": reason, "unsuitable": False}


def main(engine: str, seconds: str) -> int:
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import UPException

    environment = get_environment()
    environment.credits_stream = None
    problem = pickle.loads(Path(_PROBLEM).read_bytes())
    answer: dict[str, Any]
    try:
        with environment.factory.OneshotPlanner(name=engine) as planner:
            result = planner.solve(to_unified(problem), timeout=float(seconds))
        numbers = None if result.plan is None else operator_numbers(result.plan)
        answer = {"status": result.status.name, "operators": numbers}
    except Exception as error:  # Engines raise arbitrary exceptions.
        answer = {"error": str(error), "unsuitable": isinstance(error, UPException)}
    write_whole(Path(_ANSWER), json.dumps(answer))
    return 0


def installed_engines() -> tuple[str, ...]:
    """Return the names of the installed unified-planning engines that can plan."""
    from unified_planning.environment import get_environment

    factory = get_environment().factory
    return tuple(sorted(n for n in factory.engines if factory.engine(n).is_oneshot_planner()))


def to_unified(problem: GroundProblem) -> Any:
    """Convert a ground problem to a `unified_planning.model.Problem`.

    Each operator must consist of one action. Alternative goals become actions that achieve a
    common goal, so that engines need not support disjunctions.
    """
    from unified_planning.model import Fluent, InstantaneousAction, Object, Problem
    from unified_planning.shortcuts import BoolType, UserType

    converted = Problem("task")
    kind = UserType("value")
    size = max((len(group) for group in problem.variables), default=0)
    values = [Object(f"value-{number}", kind) for number in range(size)]
    converted.add_objects(values)
    atoms: dict[int, Any] = {}
    for number, group in enumerate(problem.variables):
        variable = Fluent(f"variable-{number}", BoolType(), value=kind)
        converted.add_fluent(variable, default_initial_value=False)
        for value, bit in zip(values, group, strict=False):
            atoms[bit] = variable(value)
            converted.set_initial_value(atoms[bit], bool(problem.initial >> bit & 1))

    def conditions(literals: Literals) -> Iterable[Any]:
        yield from (atoms[bit] for bit in bits(literals.true))
        yield from (atoms[bit].Not() for bit in bits(literals.false))

    def effects(action: Any, add: int, delete: int, condition: Any = True) -> None:
        for bit in bits(delete & ~add):
            action.add_effect(atoms[bit], False, condition)
        for bit in bits(add):
            action.add_effect(atoms[bit], True, condition)

    for number, operator in enumerate(problem.operators):
        action = InstantaneousAction(f"{_OPERATOR}-{number}")
        for needed in conditions(operator.precondition):
            action.add_precondition(needed)
        effects(action, operator.add, operator.delete)
        for condition, add, delete in operator.conditional:
            manager = converted.environment.expression_manager
            effects(action, add, delete, manager.And(*conditions(condition)))
        converted.add_action(action)
    if len(problem.goals) == 1:
        for needed in conditions(problem.goals[0]):
            converted.add_goal(needed)
        return converted
    finished = Fluent("finished")
    converted.add_fluent(finished, default_initial_value=False)
    converted.add_goal(finished)
    for number, goal in enumerate(problem.goals):
        action = InstantaneousAction(f"{_FINISH}-{number}")
        for needed in conditions(goal):
            action.add_precondition(needed)
        action.add_effect(finished, True)
        converted.add_action(action)
    return converted


def operator_numbers(plan: Any) -> list[int]:
    names = (step.action.name.rsplit("-", 1) for step in plan.actions)
    return [int(number) for kind, number in names if kind == _OPERATOR]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
