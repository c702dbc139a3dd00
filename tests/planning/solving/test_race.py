"""Racing planners: pauses, crashes, and their reports."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.solving.portfolio import PlannerEnd, PlannerJob, Program, WorkSlice
from hvr.planning.solving.race import RaceField, RaceResult, RaceSettings, race
from hvr.validation import Validator
from tests.survivors import working_in

DOMAIN = """(define (domain lamp) (:predicates (lit))
  (:action light :effect (lit)))"""
PROBLEM = "(define (problem p) (:domain lamp) (:init) (:goal (lit)))"
PLAN = "open('plan.1', 'w').write('(light)\\n; cost = 1\\n')"
BUSY = "end = time.process_time() + {}\nwhile time.process_time() < end: pass"


@dataclass(frozen=True)
class Script(Program):
    """A planner of a few lines of Python."""

    code: str = ""

    def command(self, job: PlannerJob) -> list[str]:
        del job
        return [sys.executable, "-c", f"import sys, time\n{self.code}"]


def run(
    folder: Path, *programs: Script, slots: int = 1, seconds: float = 20.0, turn: float = 0.3
) -> RaceResult:
    domain = parse_domain(DOMAIN)
    problem = parse_problem(PROBLEM, domain)

    def turns(entered: Sequence[Program], spent: Mapping[str, float]) -> Iterator[WorkSlice]:
        while True:
            for program in entered:
                yield WorkSlice(program.name, spent.get(program.name, 0.0) + turn)

    job = PlannerJob(folder / "d", folder / "p", frozenset(), seconds)
    judged = problem, Validator(Task(domain, problem))
    result = race(
        RaceField(programs, turns, slots),
        job,
        folder,
        judged,
        RaceSettings(0.1),
        proves=lambda _: False,
    )
    if sys.platform == "linux":
        assert not working_in(folder)
    return result


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("signal"), "SIGSTOP"), reason="programs cannot pause")
def test_one_that_never_ends_does_not_keep_others_waiting(tmp_path: Path) -> None:
    endless = Script("endless", code="while True: pass")
    slow = Script("slow", code=f"{BUSY.format(0.8)}\n{PLAN}")
    result = run(tmp_path, endless, slow)
    assert result.best is not None and result.best.planner == "slow"
    # It was paused at least twice, and resumed where it had stopped.
    assert result.ends["endless"][0] == PlannerEnd.OUT_OF_TIME


@pytest.mark.slow
def test_no_more_work_at_a_time_than_there_are_slots(tmp_path: Path) -> None:
    code = f"{BUSY.format(0.2)}\nopen('done', 'w').write(repr(time.time()))\nsys.exit(12)"
    started = time.time()
    result = run(tmp_path, *(Script(name, code=code) for name in "abc"), turn=30.0)
    ended = sorted(float(path.read_text()) for path in tmp_path.glob("*/done"))
    gaps = [late - early for early, late in zip([started, *ended], ended, strict=False)]
    assert min(gaps) >= 0.2
    assert {end for end, _ in result.ends.values()} == {PlannerEnd.GAVE_UP}


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        ("print('Exception: no such type'); sys.exit(35)", PlannerEnd.CRASHED, "no such type"),
        ("sys.exit(35)", PlannerEnd.CRASHED, "exit status 35"),
        ("print('no derived predicates'); sys.exit(34)", PlannerEnd.UNABLE, "no derived"),
        ("sys.exit(22)", PlannerEnd.OUT_OF_MEMORY, "out of memory"),
        ("sys.exit(23)", PlannerEnd.OUT_OF_TIME, "out of time"),
        (PLAN.replace("light", "dark"), PlannerEnd.GAVE_UP, "invalid plan"),
    ],
)
def test_ends_are_told_apart(tmp_path: Path, code: str, outcome: PlannerEnd, words: str) -> None:
    end, why = run(tmp_path, Script("it", code=code)).ends["it"]
    assert end == outcome
    assert words in why
