"""Python functions that take texts or files: `hvr.solve`, `hvr.lint`, `hvr.judge`.

Like `hvr.validate`, they interpret a string as the text itself and a `pathlib.Path` as a file.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hvr.base.files import temporary_folder, write_whole
from hvr.judging.symbolic import judge as judge_steps
from hvr.pddl import Domain, Problem, Step, parse_domain, parse_problem, read_plan
from hvr.pddl.model import print_domain, print_problem
from hvr.planning.solving.solve import SolveOptions
from hvr.planning.solving.solve import solve as solve_files
from hvr.validation.lint import lint as lint_model
from hvr.validation.validator import Validator, checked_steps, model_source

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice
    from hvr.judging.verdict import PlanVerdict
    from hvr.planning.solving.race import FoundPlan
    from hvr.planning.solving.solve import Solution
    from hvr.runs.folder import Listener
    from hvr.runs.request import Options
    from hvr.runs.result import Run
    from hvr.validation.batch import BatchOptions
    from hvr.validation.findings import Judged, LintFinding


def solve(
    domain: Domain | str | Path,
    problem: Problem | str | Path,
    *,
    planner: str | None = None,
    seconds: float = 60.0,
    optimal: bool = False,
    anytime: bool = False,
    listen: Callable[[FoundPlan], None] | None = None,
) -> Solution:
    """Find a plan for a problem; hvr's validator checks every plan that a planner finds.

    Args:
        domain: The domain, its text as a string, or its file as a path.
        problem: The problem, in one of the same forms.
        planner: Name of a planner, as for `hvr solve --planner`; None to choose one by the problem.
        seconds: Limit on wall time, in seconds.
        optimal: Whether to search until a plan is proven optimal, or the time is up.
        anytime: Whether to search for better plans until one is proven optimal, or the time is up.
        listen: Callback that receives each plan that is better than all previous ones.

    Returns:
        The solution; its `steps` are None if the problem is proven unsolvable.

    Raises:
        DataFileError: A file cannot be read.
        PddlError: The PDDL text cannot be parsed; the message gives the position and the reason.
        UsageError: The planner is unknown or does not support the problem.
        PlannerError: Within the time limit, neither a plan nor a proof that none exists was found.
    """
    options = SolveOptions(planner, seconds, optimal)
    return solve_sources(domain, problem, options, anytime=anytime, listen=listen)


def solve_sources(
    domain: Domain | str | Path,
    problem: Problem | str | Path,
    options: SolveOptions,
    *,
    anytime: bool = False,
    listen: Callable[[FoundPlan], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Solution:
    """Find a plan for a problem; see `solve`.

    Args:
        stopped: Returns whether to end the search now with the best plan so far; called several
            times per second.
    """
    with temporary_folder("hvr-solve-") as folder:
        files = (
            _file(domain, Path(folder) / "domain.pddl"),
            _file(problem, Path(folder) / "problem.pddl"),
        )
        return solve_files(*files, options, anytime=anytime, listen=listen, stopped=stopped)


def lint(
    domain: Domain | str | Path, problem: Problem | str | Path | None = None
) -> list[LintFinding]:
    """Return the lint findings for a domain and, optionally, a problem.

    Args:
        domain: The domain, its text as a string, or its file as a path.
        problem: The problem, in one of the same forms; None to lint only the domain.

    Raises:
        DataFileError: A file cannot be read.
        PddlError: The PDDL text cannot be used; the message gives the position and the reason.
    """
    parsed = _domain(domain)
    return lint_model(parsed, None if problem is None else _problem(problem, parsed))


def judge(
    domain: Domain | str | Path, problem: Problem | str | Path, plan: Sequence[Step] | str | Path
) -> PlanVerdict:
    """Find the redundant and the missing steps of a plan.

    Args:
        domain: The domain, its text as a string, or its file as a path.
        problem: The problem, in one of the same forms.
        plan: The steps, their text, or their file.

    Returns:
        The critiques, the repaired plan, and whether it is proven to be the smallest repair.

    Raises:
        DataFileError: A file cannot be read.
        PddlError: A text argument cannot be used; the message gives the position and the reason.
        UsageError: An argument has the wrong type.
    """
    parsed = _domain(domain)
    validator = Validator(parsed, _problem(problem, parsed))
    steps = read_plan(plan).steps if isinstance(plan, str | Path) else checked_steps(plan)
    return judge_steps(validator, steps)


def _domain(source: Domain | str | Path) -> Domain:
    if isinstance(source, Domain):
        return source
    return parse_domain(model_source(source, "domain"))


def _problem(source: Problem | str | Path, domain: Domain) -> Problem:
    if isinstance(source, Problem):
        return source
    return parse_problem(model_source(source, "problem"), domain)


def _file(source: Domain | Problem | str | Path, path: Path) -> Path:
    if isinstance(source, Path):
        return source
    if isinstance(source, Domain):
        text = print_domain(source)
    elif isinstance(source, Problem):
        text = print_problem(source)
    else:
        text = str(model_source(source, path.stem))
    write_whole(path, text)
    return path


# Asynchronous -------------------------------------------------------------------------------------
# Functions that wait without blocking the event loop.

_Result = TypeVar("_Result")


async def aplan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Listener | None = None,
) -> Run:
    """Plan a request in another thread; see `plan`.

    If the asyncio task is cancelled, the run stops before its next event; `hvr plan --resume` can
    continue it.

    Args:
        listen: Callback that receives events in the event loop.

    Raises:
        HvrError: See `plan`.
    """
    from hvr.runs.spine import plan

    loop, stopped = asyncio.get_running_loop(), threading.Event()

    def hear(event: Any) -> None:
        if stopped.is_set():
            raise asyncio.CancelledError
        if listen is not None:
            loop.call_soon_threadsafe(listen, event)

    def work() -> Run:
        return plan(text, task=task, options=options, listen=hear)

    return await _in_thread(work, stopped.set)


async def asolve(
    domain: Domain | str | Path,
    problem: Problem | str | Path,
    *,
    planner: str | None = None,
    seconds: float = 60.0,
    optimal: bool = False,
    anytime: bool = False,
    listen: Callable[[FoundPlan], None] | None = None,
) -> Solution:
    """Find a plan in another thread; see `solve`.

    If the asyncio task is cancelled, the planners are stopped first.

    Args:
        listen: Callback that receives, in the event loop, each plan that is better than all
            previous ones.

    Raises:
        HvrError: See `solve`.
    """

    loop, stopped = asyncio.get_running_loop(), threading.Event()

    def hear(plan: FoundPlan) -> None:
        if listen is not None:
            loop.call_soon_threadsafe(listen, plan)

    def work() -> Solution:
        options = SolveOptions(planner, seconds, optimal)
        return solve_sources(
            domain, problem, options, anytime=anytime, listen=hear, stopped=stopped.is_set
        )

    return await _in_thread(work, stopped.set)


async def avalidate_many(
    rows: Iterable[tuple[str, str, str]],
    options: BatchOptions | None = None,
    engine: EngineChoice | None = None,
) -> AsyncIterator[Judged]:
    """Yield the verdicts on plans in order, computed in another thread; see `stream`.

    Args:
        rows: Triples of a domain, a problem and a plan as text, one per verdict; read in the other
            thread.
        engine: The engine that validates plans; None for this process.

    Raises:
        UsageError: A row does not consist of three strings.
    """
    from hvr.validation.streaming import stream

    results = stream(rows, options, engine)
    try:
        while (judged := await _in_thread(lambda: next(results, None))) is not None:
            yield judged
    finally:
        await asyncio.to_thread(results.close)


async def _in_thread(work: Callable[[], _Result], stop: Callable[[], object] = int) -> _Result:
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop()
        with suppress(asyncio.CancelledError, Exception):
            await running
        raise
