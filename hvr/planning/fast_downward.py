"""Fast Downward's search, as shipped by up-fast-downward, run on hvr's own grounding.

Two searches run side by side: A* with a landmark heuristic, which proves a shortest plan, and
LAMA, which finds a first plan soon and then better ones. The first that proves its plan
wins; when the time is up, the best plan found so far is returned.

unified-planning's own engine for Fast Downward is reached by `hvr.planning.unified`; this
one exists because importing that takes longer than planning (docs/architecture.md).
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hvr.errors import PlannerError
from hvr.pddl import GroundAction, Task
from hvr.planning.ground import SearchProblem, build
from hvr.planning.sas import GOAL_OPERATOR, to_sas

OPTIMAL = "astar(landmark_cost_partitioning(lm_rhw()))"
"""Karpas & Domshlak 2009: admissible landmark heuristic; it supports conditional effects."""

_LAZY = "lazy_wastar([hff,hlm],preferred=[hff,hlm],w={})"
LAMA = (
    "let(hlm,landmark_sum(lm_reasonable_orders_hps(lm_rhw()),pref=true),let(hff,ff(),"
    "iterated(["
    "lazy_greedy([hff,hlm],preferred=[hff,hlm]),"
    + ",".join(_LAZY.format(weight) for weight in (5, 3, 2, 1))
    + "],repeat_last=true,continue_on_solve=true)))"
)
"""Richter & Westphal 2010: greedy search, then weighted A* with falling weights."""

_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class SearchResult:
    """What a planner found.

    Args:
        plan: the actions, or None when there is no plan.
        optimal: the plan is proven to be a shortest one (or its absence is proven).
        seconds: wall time of the search.
        planner: name of the planner and configuration that won.
        operators: size of the search problem in ground operators.
    """

    plan: tuple[GroundAction, ...] | None
    optimal: bool
    seconds: float
    planner: str
    operators: int


def solve(task: Task, seconds: float, *, prove: bool = False, patience: float = 0.0) -> SearchResult:
    """Find a short plan.

    Args:
        task: the task.
        seconds: wall time to spend; it is not used up when a shortest plan is proven before.
        prove: run only the search that proves a shortest plan.
        patience: stop when the anytime search has not improved its plan for this long
            (0: use all the time).

    Raises:
        PlannerError: no plan was found in the time, or Fast Downward is missing or failed.
    """
    started = time.perf_counter()
    problem = build(task)
    if not problem.goals:
        return SearchResult(None, True, time.perf_counter() - started, "relaxed reachability", 0)
    if any(goal.true & ~task.initial.bits == 0 and not goal.false & task.initial.bits
           for goal in problem.goals):  # fmt: skip
        return SearchResult((), True, time.perf_counter() - started, "initial state", 0)
    text = to_sas(problem)
    with tempfile.TemporaryDirectory(prefix="hvr-fd-") as folder:
        searches = [_Search("A* landmarks", OPTIMAL, text, Path(folder) / "optimal")]
        if not prove:
            searches.append(_Search("LAMA", LAMA, text, Path(folder) / "lama"))
        try:
            winner = _race(searches, started + seconds, patience)
        finally:
            for search in searches:
                search.stop()
        optimal = winner is searches[0] and winner.proven
        plan = winner.best() if winner is not None else None
        best = [len(found) for search in searches if (found := search.best()) is not None]
        if plan is None and best:
            winner = min(
                (search for search in searches if search.best() is not None),
                key=lambda search: len(search.best() or ()),
            )
            plan = winner.best()
    elapsed = time.perf_counter() - started
    if plan is None:
        if optimal:
            return SearchResult(None, True, elapsed, "A* landmarks", len(problem.operators))
        raise PlannerError(f"no plan was found in {seconds:g} s; give more time with --budget")
    actions = tuple(problem.operators[number].action for number in plan)
    name = winner.name if winner is not None else ""
    return SearchResult(actions, optimal, elapsed, f"Fast Downward {name}", len(problem.operators))


def _race(searches: Sequence[_Search], deadline: float, patience: float) -> _Search | None:
    """The search that proves its answer, or None when the time is up."""
    improved = time.perf_counter()
    length = None
    while time.perf_counter() < deadline:
        for search in searches:
            if search.finished():
                if search.proven:
                    return search
                if search is searches[0] and len(searches) == 1:
                    return None
        if all(search.finished() for search in searches):
            return None
        if patience:
            plan = searches[-1].best()
            if plan is not None and (length is None or len(plan) < length):
                length, improved = len(plan), time.perf_counter()
            if length is not None and time.perf_counter() - improved > patience:
                return None
        time.sleep(_POLL_SECONDS)
    return None


class _Search:
    """One running search."""

    def __init__(self, name: str, search: str, text: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        folder.mkdir()
        (folder / "output.sas").write_text(text, encoding="utf-8")
        self.log = (folder / "log").open("wb")
        with (folder / "output.sas").open("rb") as source:
            self.process = subprocess.Popen(
                [str(binary()), "--search", search, "--internal-plan-file", "plan"],
                stdin=source, stdout=self.log, stderr=subprocess.STDOUT, cwd=folder,
            )  # fmt: skip

    def finished(self) -> bool:
        return self.process.poll() is not None

    @property
    def proven(self) -> bool:
        """The answer is final: a shortest plan, or that there is none."""
        code = self.process.returncode
        if code not in (None, 0, 1, 2, 3, 10, 11, 12, 13, 22, 23, 24) and code > 0:
            tail = (self.folder / "log").read_text(errors="replace")[-400:]
            raise PlannerError(f"Fast Downward failed with status {code}: {tail}")
        return self.name.startswith("A*") and code in (0, 11, 12)

    def best(self) -> tuple[int, ...] | None:
        """The best plan found so far, as operator numbers."""
        files = sorted(self.folder.glob("plan*"), key=lambda path: len(path.suffix) and
                       int(path.suffix[1:]))  # fmt: skip
        for path in reversed(files):
            text = path.read_text(encoding="utf-8")
            if "; cost" in text:
                return tuple(int(n) for n in re.findall(r"^\((\d+)\s*\)", text, re.MULTILINE))
        return None

    def stop(self) -> None:
        if not self.finished():
            self.process.kill()
        self.process.wait()
        self.log.close()


def binary() -> Path:
    """Fast Downward's search binary in the installed package up-fast-downward.

    Raises:
        PlannerError: the package or its binary is missing.
    """
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None or spec.origin is None:
        raise PlannerError("up-fast-downward is not installed: pip install up-fast-downward")
    path = Path(spec.origin).parent / "downward" / "builds" / "release" / "bin" / "downward"
    if not path.exists():
        path = path.with_suffix(".exe")
    if not path.exists():
        raise PlannerError(f"up-fast-downward has no search binary at {path}: reinstall it")
    return path


__all__ = ["GOAL_OPERATOR", "SearchProblem", "SearchResult", "solve"]
