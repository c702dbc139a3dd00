"""A tiny task as files, with plans of every outcome."""

from pathlib import Path

DOMAIN = """\
(define (domain fridge) (:requirements :strips :negative-preconditions)
  (:predicates (open) (full))
  (:action open
    :precondition (not (open))
    :effect (open))
  (:action fill
    :precondition (and (open) (not (full)))
    :effect (full))
  (:action close
    :precondition (open)
    :effect (not (open))))
"""
PROBLEM = """\
(define (problem filled) (:domain fridge)
  (:init)
  (:goal (and (full) (not (open)))))
"""
PLANS = {
    "good.plan": "(open)\n(fill)\n(close)\n",
    "early.plan": "; forgot something\n(fill)\n(close)\n",
    "ajar.plan": "(open)\n(fill)\n",
    "broken.plan": "(open\n",
}


def write_task(folder: Path) -> None:
    """Write `domain.pddl`, `problem.pddl` and the folder `plans`."""
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(PROBLEM)
    (folder / "plans").mkdir()
    for name, text in PLANS.items():
        (folder / "plans" / name).write_text(text)
