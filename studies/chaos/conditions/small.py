"""Small inputs that several conditions share, and commands that need no model."""

from __future__ import annotations

from pathlib import Path

from studies.chaos.invariants import GOOD, Run
from studies.chaos.lab import Lab

DOMAIN = """\
(define (domain lamps)
  (:requirements :strips)
  (:predicates (dark) (lit))
  (:action light :parameters () :precondition (dark) :effect (and (lit) (not (dark)))))
"""
PROBLEM = """\
(define (problem evening) (:domain lamps) (:init (dark)) (:goal (lit)))
"""


def write_task(folder: Path, plans: int = 1) -> tuple[Path, ...]:
    files = [folder / "domain.pddl", folder / "problem.pddl"]
    files[0].write_text(DOMAIN, encoding="utf-8")
    files[1].write_text(PROBLEM, encoding="utf-8")
    for number in range(plans):
        files.append(folder / f"plan-{number}.txt")
        files[-1].write_text("(light)\n", encoding="utf-8")
    return tuple(files)


def plan_words(lab: Lab, *more: object, name: str = "run") -> tuple[Run, tuple[object, ...]]:
    """Return a run folder, and a command line that plans into it without a model."""
    run = Run(lab.work / name)
    words = ("plan", "make coffee", "--scene", "FloorPlan1", "--save", run.folder, *more)
    return run, words


def unprivileged(lab: Lab) -> tuple[str, ...]:
    """Return a command prefix that drops root's permission to bypass file modes."""
    lab.need("setpriv")
    prefix = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner", "--inh-caps",
              "-dac_override,-dac_read_search,-fowner")  # fmt: skip
    probe = lab.python("pass", how=lab.surroundings(prefix=prefix))
    return prefix if probe.code == GOOD else ()
