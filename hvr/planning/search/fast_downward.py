"""Fast Downward's search from up-fast-downward, run on hvr's own grounding (SAS+)."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from hvr.base.files import temporary_folder, unwritable, writing
from hvr.base.processes import ProcessTree
from hvr.errors import PlannerError
from hvr.pddl import GroundAction, Task
from hvr.planning.search.ground import SearchProblem, build, plan_actions
from hvr.planning.search.operators import GroundOperator, Literals, bits

# Sas ----------------------------------------------------------------------------------------------
# SAS+ is the input format of Fast Downward's search.
#
# Format: https://www.fast-downward.org/latest/documentation/translator-output-format/

GOAL_OPERATOR = "reach-goal"
"""Name of the zero-cost operators that lead from each goal alternative to the goal."""

Facts = Mapping[int, int]

Effect = tuple[Facts, int, int]
"""(conditions, variable, new value)"""


def to_sas(problem: SearchProblem) -> str:
    """Return a search problem as SAS+ text; operators are named by their indexes."""
    return "\n".join(_Writer(problem).lines()) + "\n"


class _Writer:
    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        # SAS+ goals are conjunctions. For alternatives, each one gets a zero-cost operator that
        # sets an additional goal variable.
        self.goal_variable = len(problem.variables) if len(problem.goals) != 1 else None
        self.value = {
            bit: (number, value)
            for number, group in enumerate(problem.variables)
            for value, bit in enumerate(group)
        }

    def lines(self) -> Iterator[str]:
        yield from ("begin_version", "3", "end_version", "begin_metric", "1", "end_metric")
        yield from self._variables()
        # No mutex groups besides the variables: the search does not need them.
        yield "0"
        yield from ("begin_state", *map(str, self._start()), "end_state")
        goal = self._goal()
        yield from ("begin_goal", str(len(goal)), *self._pairs(goal), "end_goal")
        operators = list(self._operators())
        yield str(len(operators))
        for operator in operators:
            yield from operator
        yield "0"

    def _variables(self) -> Iterator[str]:
        several = self.goal_variable is not None
        yield str(len(self.problem.variables) + several)
        for number, group in enumerate(self.problem.variables):
            yield from self._variable(number, [self._name(bit) for bit in group])
        if self.goal_variable is not None:
            yield from self._variable(self.goal_variable, ["goal()"])

    def _variable(self, number: int, atoms: list[str]) -> Iterator[str]:
        yield from ("begin_variable", f"var{number}", "-1", str(len(atoms) + 1))
        yield from (f"Atom {atom}" for atom in atoms)
        yield from ("<none of those>", "end_variable")

    def _name(self, bit: int) -> str:
        atom = self.problem.task.fluent(bit)
        return f"{atom.predicate}({', '.join(atom.args)})"

    def _start(self) -> Iterator[int]:
        for group in self.problem.variables:
            true = (value for value, bit in enumerate(group) if self.problem.initial >> bit & 1)
            yield next(true, len(group))
        if self.goal_variable is not None:
            yield 1

    def _goal(self) -> Facts:
        if self.goal_variable is not None:
            return {self.goal_variable: 0}
        goal = self._facts(self.problem.goals[0])
        assert goal is not None, "goals that contradict themselves are left out before"
        return goal

    def _facts(self, literals: Literals) -> dict[int, int] | None:
        facts: dict[int, int] = {}
        for bit in bits(literals.true):
            variable, value = self.value[bit]
            if facts.setdefault(variable, value) != value:
                return None
        for bit in bits(literals.false):
            # Fluents with negative conditions are alone in their variable.
            variable, value = self.value[bit]
            if facts.setdefault(variable, 1 - value) == value:
                return None
        return facts

    def _operators(self) -> Iterator[list[str]]:
        for number, operator in enumerate(self.problem.operators):
            needs = self._facts(operator.precondition)
            if needs is not None:
                effects = self._effects(operator, needs)
                yield self._operator(str(number), needs, effects, operator.cost)
        if self.goal_variable is not None:
            for goal in self.problem.goals:
                needs = self._facts(goal)
                if needs is not None:
                    effect: Effect = {}, self.goal_variable, 0
                    yield self._operator(GOAL_OPERATOR, needs, [effect], 0)

    def _effects(self, operator: GroundOperator, needs: Facts) -> list[Effect]:
        # Deletes before adds: Fast Downward applies effects in file order, and an add must win.
        adds: list[Effect] = []
        deletes: list[Effect] = []
        for literals, add, delete in (
            (Literals(), operator.add, operator.delete),
            *operator.conditional,
        ):
            facts = self._facts(literals)
            if facts is None or any(needs.get(v, value) != value for v, value in facts.items()):
                continue
            condition = {v: value for v, value in facts.items() if v not in needs}
            known = {**needs, **facts}
            adds += ((condition, *self.value[bit]) for bit in bits(add))
            deletes += self._deletes(condition, known, delete, add)
        return deletes + adds

    def _deletes(self, condition: Facts, known: Facts, delete: int, add: int) -> Iterator[Effect]:
        by_variable: dict[int, set[int]] = {}
        for bit in bits(delete):
            variable, value = self.value[bit]
            by_variable.setdefault(variable, set()).add(value)
        # An added value replaces the other values of its variable anyway.
        for bit in bits(add):
            by_variable.pop(self.value[bit][0], None)
        for variable, values in by_variable.items():
            # A delete sets the variable to "none", but only if it has the deleted value. If
            # its value is unknown, each deleted value becomes a condition of an effect.
            none = len(self.problem.variables[variable])
            if known.get(variable) in values or len(values) == none:
                yield condition, variable, none
            elif variable not in known:
                for value in sorted(values):
                    yield {**condition, variable: value}, variable, none

    def _operator(self, name: str, needs: Facts, effects: list[Effect], cost: int) -> list[str]:
        changed = {variable for _, variable, _ in effects}
        prevail = {v: value for v, value in needs.items() if v not in changed}
        lines = ["begin_operator", name, str(len(prevail)), *self._pairs(prevail)]
        lines.append(str(len(effects)))
        for condition, variable, value in effects:
            before = needs.get(variable, -1)
            pairs = self._pairs(condition)
            lines.append(" ".join((str(len(condition)), *pairs, f"{variable} {before} {value}")))
        return [*lines, str(cost), "end_operator"]

    def _pairs(self, facts: Facts) -> list[str]:
        return [f"{variable} {value}" for variable, value in facts.items()]


# Fast downward ------------------------------------------------------------------------------------
# Two searches run in parallel: A* with a landmark heuristic, which proves a shortest plan, and an
# anytime search, which finds a first plan quickly and then improves it. If A* finishes in time,
# its plan is the answer and is reproducible. Otherwise the best plan so far is the answer, which
# may differ from run to run because it depends on the speed of the machine.
#
# `hvr.planning.search.unified` runs unified-planning's engine for Fast Downward; importing that
# takes longer than planning does here.

OPTIMAL = "let(hlc,landmark_cost_partitioning(lm_rhw()),astar(hlc,lazy_evaluator=hlc))"
"""A* with an admissible landmark heuristic for conditional effects (Karpas & Domshlak 2009).

The heuristic is path-dependent. Reevaluating it when a state is expanded keeps the f-values in the
log valid as lower bounds.
"""

_LAZY = "lazy_wastar([hff,hlm],preferred=[hff,hlm],w={})"
ANYTIME = (
    "let(hlm,landmark_sum(lm_reasonable_orders_hps(lm_rhw()),pref=true),let(hff,ff(),"
    "let(hlc,landmark_cost_partitioning(lm_rhw()),iterated(["
    "lazy_greedy([hff,hlm],preferred=[hff,hlm]),"
    + ",".join(_LAZY.format(weight) for weight in (5, 3, 2))
    + ",eager_wastar([hff],w=1),eager_wastar([hlc],w=2)],continue_on_solve=true))))"
)
"""LAMA (Richter & Westphal 2010): greedy search, then weighted A* with decreasing weights.

It finds a plan within hundredths of a second. A* with the FF heuristic follows, whose plans are
usually shortest, then weighted A* with the admissible heuristic, whose plans are at most twice as
long as a shortest one.
"""

MEMORY = 8 << 30

_POLL_SECONDS = 0.005
_MOST_WAITING = 4
"""Multiple of the patience, in wall time, after which a search on a busy machine is stopped."""

_ROOM = 1 << 16
_EXHAUSTED = frozenset({11, 12})
_OUT_OF_MEMORY = frozenset({1, 3, 22, 24})
_KNOWN = frozenset({0, 2, 23}) | _EXHAUSTED | _OUT_OF_MEMORY
"""Exit codes: https://www.fast-downward.org/latest/documentation/exit-codes/. Any search that ends
without a plan returns 12 (incomplete), which for A* is also a proof.
"""


@dataclass(frozen=True)
class SearchResult:
    """The result of a planner.

    Args:
        plan: The plan, or None if there is none.
        optimal: Whether the plan is proven shortest, or its absence is proven.
        planner: The planner and the configuration that found the plan.
        operators: The number of operators of the search problem.
        lower_bound: A proven lower bound on the number of actions.
    """

    plan: tuple[GroundAction, ...] | None
    optimal: bool
    seconds: float
    planner: str
    operators: int
    lower_bound: int = 0


def solve(task: Task, seconds: float, *, patience: float = 0.0) -> SearchResult:
    """Find a short plan.

    Args:
        seconds: The wall time limit; proving a plan shortest ends the search earlier.
        patience: Seconds without a better plan after which the search stops, or 0 to search for a
            proof until the time is up. On a busy machine, waiting for a processor counts only in
            part.

    Raises:
        PlannerError: No plan was found in time, Fast Downward is missing or failed, or the task has
            derived predicates or unsupported constraints.
        DataFileError: The disk is full.
    """
    started = time.perf_counter()
    problem = build(task, seconds=seconds)
    size = len(problem.operators)

    def result(
        plan: Sequence[int] | None, optimal: bool, planner: str, bound: int = 0
    ) -> SearchResult:
        actions = None if plan is None else tuple(plan_actions(problem, plan))
        if optimal and actions is not None:
            bound = len(actions)
        elapsed = time.perf_counter() - started
        return SearchResult(actions, optimal, elapsed, planner, size, bound)

    if not problem.goals:
        return result(None, True, "reachability")
    if any(goal.holds(problem.initial) for goal in problem.goals):
        return result((), True, "initial state")
    command = str(binary())
    text = to_sas(problem)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(temporary_folder("hvr-fd-")))
        prover, anytime = (
            stack.enter_context(_Search(command, search, text, folder / name))
            for name, search in (("optimal", OPTIMAL), ("anytime", ANYTIME))
        )
        _race(prover, anytime, started + seconds, patience)
        # Prefer the prover's plan even if the other is equally short, because it is reproducible.
        if prover.solved:
            plan = prover.best()
            # On a full disk it exits normally without a plan.
            if plan is not None or prover.exhausted:
                return result(plan, True, "Fast Downward A*")
        plan, bound = anytime.best(), prover.lower_bound()
        if plan is None:
            _check_space(folder)
            raise _without_plan((prover, anytime), seconds)
        return result(plan, False, "Fast Downward LAMA", bound)


def search(sas: str, configuration: str, seconds: float) -> tuple[int, ...] | None:
    """Run one search on SAS+ text whose operators are named by their indexes.

    Args:
        configuration: Fast Downward's `--search` argument.
        seconds: Limit of wall time.

    Returns:
        The operators of the plan; None if the search ends without a plan.

    Raises:
        PlannerError: The time is up, or Fast Downward is missing or failed.
        DataFileError: The disk is full.
    """
    deadline = time.perf_counter() + seconds
    command = str(binary())
    with temporary_folder("hvr-fd-") as folder:
        with _Search(command, configuration, sas, Path(folder, "search")) as running:
            while not running.finished() and time.perf_counter() < deadline:
                time.sleep(_POLL_SECONDS)
            plan = running.best() if running.solved else None
            if plan is None and not running.exhausted:
                _check_space(Path(folder))
                raise _without_plan((running,), seconds)
        return plan


def _race(prover: _Search, anytime: _Search, deadline: float, patience: float) -> None:
    # Poll for plan files: a running Fast Downward has no other way to report plans.
    length: int | None = None
    improved, worked = time.perf_counter(), 0.0
    while not prover.finished() and (now := time.perf_counter()) < deadline:
        plan = anytime.best()
        if plan is not None and length != len(plan):
            length, improved, worked = len(plan), now, anytime.worked()
        waited = now - improved
        enough = waited > _MOST_WAITING * patience or anytime.worked() - worked > patience
        if patience and length is not None and enough:
            return
        time.sleep(_POLL_SECONDS)
    # The prover ended without a proof: use the remaining time to wait for any plan.
    while not prover.solved and not anytime.finished() and time.perf_counter() < deadline:
        if anytime.best() is not None:
            return
        time.sleep(_POLL_SECONDS)


def _check_space(folder: Path) -> None:
    if shutil.disk_usage(folder).free < _ROOM:
        raise unwritable(folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def _without_plan(searches: Sequence[_Search], seconds: float) -> PlannerError:
    if any(search.out_of_memory for search in searches):
        return PlannerError(f"no plan was found: the search ran out of memory ({MEMORY >> 30} GiB)")
    return PlannerError(
        f"no plan was found in {seconds:g} s; a larger budget gives more time", field="budget"
    )


class _Search:
    def __init__(self, command: str, search: str, text: str, folder: Path) -> None:
        self.folder = folder
        source = folder / "output.sas"
        with writing(folder):
            folder.mkdir()
            source.write_text(text, encoding="utf-8")
            (folder / "log").touch()
        try:
            with source.open("rb") as stdin, (folder / "log").open("wb") as log:
                self._process = ProcessTree(
                    [command, "--search", search, "--internal-plan-file", "plan"],
                    folder,
                    log,
                    stdin=stdin,
                    memory=MEMORY,
                )
        except OSError as error:
            raise PlannerError(f"Fast Downward cannot be started: {error}", exit_code=2) from error

    def __enter__(self) -> _Search:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def finished(self) -> bool:
        code = self._process.code
        if code is not None and code not in _KNOWN:
            _check_space(self.folder)
            raise PlannerError(f"Fast Downward failed with status {code}: {self._log()[-400:]}")
        return code is not None

    def worked(self) -> float:
        return self._process.cpu_seconds()

    @property
    def solved(self) -> bool:
        return self.finished() and self._process.code in _EXHAUSTED | {0}

    @property
    def exhausted(self) -> bool:
        return self.finished() and self._process.code in _EXHAUSTED

    @property
    def out_of_memory(self) -> bool:
        return self.finished() and self._process.code in _OUT_OF_MEMORY

    def best(self) -> tuple[int, ...] | None:
        files = sorted(self.folder.glob("plan*"), key=lambda path: (len(path.name), path.name))
        for path in reversed(files):
            text = path.read_text(encoding="utf-8")
            # This is the last line of a plan; without it the file is still being written.
            if "; cost" in text:
                return tuple(int(n) for n in re.findall(r"^\((\d+)\s*\)", text, re.MULTILINE))
        return None

    def lower_bound(self) -> int:
        return max((int(f) for f in re.findall(r" f = (\d+),", self._log())), default=0)

    def _log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


def binary() -> Path:
    """Return the path of up-fast-downward's search binary, or raise a PlannerError."""
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None or spec.origin is None:
        raise PlannerError(
            "up-fast-downward is not installed: pip install up-fast-downward", exit_code=2
        )
    path = Path(spec.origin).parent / "downward" / "builds" / "release" / "bin" / "downward"
    if not path.exists():
        path = path.with_suffix(".exe")
    if not path.exists():
        raise PlannerError(
            f"up-fast-downward has no search binary at {path}: reinstall it", exit_code=2
        )
    return path
