"""The asynchronous functions: other tasks go on, and cancelled work ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hvr

DOMAIN = "(define (domain d) (:predicates (p) (q)) (:action a :precondition (p) :effect (q)))"
PROBLEM = "(define (problem i) (:domain d) (:init (p)) (:goal (q)))"


def test_verdicts_come_in_order_while_other_tasks_go_on() -> None:
    async def work() -> tuple[list[str], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        rows = [(DOMAIN, PROBLEM, plan) for plan in ("(a)", "", "(b)", "(a")]
        found = [str(one.report.outcome) async for one in hvr.avalidate_many(rows)]
        ticking.cancel()
        return found, ticks

    outcomes, ticks = asyncio.run(work())
    assert outcomes == ["valid", "invalid", "invalid", "unknown"] and ticks > 4


def test_an_abandoned_stream_reads_no_further_rows() -> None:
    taken: list[int] = []

    def rows() -> object:
        for number in range(100):
            taken.append(number)
            yield DOMAIN, PROBLEM, "(a)"

    async def work() -> None:
        results = hvr.avalidate_many(rows())  # type: ignore[arg-type]
        await anext(results)
        await results.aclose()  # type: ignore[attr-defined]

    asyncio.run(work())
    assert len(taken) == 1


@pytest.mark.slow
def test_a_run_is_planned_and_heard(tmp_path: Path) -> None:
    heard: list[object] = []

    async def work() -> hvr.Run:
        options = hvr.Options(execute=False, save=tmp_path / "run")
        return await hvr.aplan("open the fridge", options=options, listen=heard.append)

    run = asyncio.run(work())
    assert run.would_reach and len(heard) >= 2


@pytest.mark.slow
def test_a_cancelled_run_ends(tmp_path: Path) -> None:
    async def work() -> None:
        started = asyncio.Event()
        options = hvr.Options(save=tmp_path / "run")
        run = asyncio.create_task(
            hvr.aplan("make coffee", options=options, listen=lambda _: started.set())
        )
        await started.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(work())
    assert not (tmp_path / "run/result.json").exists()


def children() -> set[str]:
    """Return the processes that this process has started."""
    files = Path("/proc/self/task").glob("*/children")
    return {number for file in files for number in file.read_text().split()}


@pytest.mark.slow
def test_a_problem_is_solved() -> None:
    solution = asyncio.run(hvr.asolve(DOMAIN, PROBLEM))
    assert list(map(str, solution.steps or ())) == ["(a)"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_a_cancelled_search_ends_its_planners() -> None:
    bits = range(60)
    flips = [
        f"(:action a{n} :parameters () :precondition (and (not (b{n})) "
        f"{' '.join(f'(b{k})' for k in range(n))}) "
        f":effect (and (b{n}) {' '.join(f'(not (b{k}))' for k in range(n))}))"
        for n in bits
    ]
    facts = " ".join(f"(b{n})" for n in bits)
    domain = (
        f"(define (domain count) (:requirements :negative-preconditions) "
        f"(:predicates {facts}) {' '.join(flips)})"
    )
    problem = f"(define (problem p) (:domain count) (:init) (:goal (and {facts})))"

    before = children()

    async def work() -> None:
        search = asyncio.create_task(hvr.asolve(domain, problem))
        while children() <= before:
            await asyncio.sleep(0.02)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search

    asyncio.run(work())
    assert children() <= before
