"""Functions of the Python door that wait without blocking the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from hvr.base.engines.registry import EngineChoice
    from hvr.pddl import Domain, Problem
    from hvr.planning.solving.race import FoundPlan
    from hvr.planning.solving.solve import Solution
    from hvr.runs.folder import Listener
    from hvr.runs.request import Options
    from hvr.runs.result import Run
    from hvr.validation.batch import BatchOptions
    from hvr.validation.findings import Judged

_Result = TypeVar("_Result")


async def aplan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Listener | None = None,
) -> Run:
    """Plan a request in another thread; see `plan`.

    If the task is cancelled, the run stops before its next event, and `hvr plan --resume` can
    continue it.

    Args:
        listen: Called in the event loop with each event.

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

    If the task is cancelled, the planners are ended first.

    Args:
        listen: Called in the event loop with each plan that is better than those before.

    Raises:
        HvrError: See `solve`.
    """
    from hvr.doors.python import solve

    loop, stopped = asyncio.get_running_loop(), threading.Event()

    def hear(plan: FoundPlan) -> None:
        if listen is not None:
            loop.call_soon_threadsafe(listen, plan)

    def work() -> Solution:
        return solve(
            domain,
            problem,
            planner=planner,
            seconds=seconds,
            optimal=optimal,
            anytime=anytime,
            listen=hear,
            stopped=stopped.is_set,
        )

    return await _in_thread(work, stopped.set)


async def avalidate_many(
    rows: Iterable[tuple[str, str, str]],
    options: BatchOptions | None = None,
    engine: EngineChoice | None = None,
) -> AsyncIterator[Judged]:
    """Yield the verdicts of plans in order, computed in another thread; see `stream`.

    Args:
        rows: Texts of a domain, a problem and a plan for each verdict; read in the other thread.
        engine: The engine that judges plans; None for this process.

    Raises:
        UsageError: A row is not three texts.
    """
    from hvr.validation.streaming import stream

    results = stream(rows, options, engine)
    try:
        while (judged := await _in_thread(lambda: next(results, None))) is not None:
            yield judged
    finally:
        await asyncio.to_thread(results.close)


async def _in_thread(work: Callable[[], _Result], stop: Callable[[], object] = int) -> _Result:
    """Return the result of work in another thread; if cancelled, stop it and wait for its end."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop()
        with suppress(asyncio.CancelledError, Exception):
            await running
        raise
