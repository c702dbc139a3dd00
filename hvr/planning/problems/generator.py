"""Generate graded problems from seeds, prove their properties and validate their plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from random import Random
from typing import TypeAlias

from hvr.errors import UsageError
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.pddl.numeric import Values
from hvr.planning.problems import families
from hvr.planning.problems.families import Cellar, Draft, GradedProblem, Proven
from hvr.validation.relaxation import Deadline, Relaxation
from hvr.validation.search import execute, read_functions

# Exhaustive search --------------------------------------------------------------------------------
# Breadth-first search for shortest plans and proofs of unsolvability.

_State: TypeAlias = tuple[int, Values]


def shortest(task: Task, most: int) -> Proven | None:
    """Return a shortest plan, or a proof that there is no plan.

    Args:
        task: A non-temporal task without constraints.
        most: The maximum number of states.

    Returns:
        None if there are more states.
    """
    start: _State = (task.initial.bits, task.initial.values)
    if task.goal.holds(*start):
        return Proven((), "the goal holds at the start")
    relaxation = Relaxation(
        task.initial, task.goal, read_functions(task), Deadline(60.0), beyond=None
    )
    if not relaxation.complete:
        return None
    if not relaxation.reachable:
        return Proven(None, "the goal is not reachable even if no fact ever ceases to hold")
    operators = relaxation.operators
    # Testing literals here avoids a call for most operators.
    literals = [(one.positive | one.negative, one.positive) for one in operators]
    before: dict[_State, tuple[_State, int]] = {start: (start, -1)}
    layer, depth = [start], 0
    while layer:
        after: list[_State] = []
        for state in layer:
            for number, (mask, positive) in enumerate(literals):
                if state[0] & mask != positive:
                    continue
                then = execute(task, operators[number], *state)
                if then is None or then in before:
                    continue
                before[then] = state, number
                if task.goal.holds(*then):
                    steps = _path(before, then)
                    plan = tuple([str(operators[step].action) for step in steps])
                    return Proven(
                        plan,
                        f"breadth-first search: no state within {depth} steps of the start "
                        f"reaches the goal",
                        len(before),
                    )
                after.append(then)
            if len(before) > most:
                return None
        layer, depth = after, depth + 1
    proof = f"breadth-first search: none of the {len(before)} reachable states meets the goal"
    return Proven(None, proof, len(before))


def _path(before: dict[_State, tuple[_State, int]], state: _State) -> list[int]:
    steps: list[int] = []
    while True:
        state, number = before[state]
        if number < 0:
            return steps[::-1]
        steps.append(number)


# Generator ----------------------------------------------------------------------------------------

LEVELS = (1, 2, 3, 4, 5)
_DRAWN = {
    "blocksworld": families.blocksworld,
    "logistics": families.logistics,
    "gripper": families.gripper,
    "ferry": families.ferry,
    "grid": families.grid,
    "kitchen": families.kitchen,
    "jugs": families.jugs,
}
_TIMED = "cellar"
FAMILIES = (*_DRAWN, _TIMED)
"""The families: seven classical and numeric ones, and one temporal one."""
_STATES = 200_000
"""Maximum number of states of a problem; larger draws are rejected."""


def graded(family: str, level: int, seed: int, *, solvable: bool = True) -> GradedProblem:
    """Return the problem with a family, level and seed.

    Args:
        family: One of `FAMILIES`.
        level: 1 to 5; higher levels have more objects and longer plans.
        seed: Any integer; equal seeds give equal problems.
        solvable: Whether the problem has a plan.

    Raises:
        UsageError: The family or level is unknown.
    """
    if family not in FAMILIES:
        raise UsageError(f"no family named {family!r}; expected one of {', '.join(FAMILIES)}")
    if level not in LEVELS:
        raise UsageError(f"the level must be from 1 to 5, got {level}")
    domain = (files("hvr.planning.problems") / "domains" / f"{family}.pddl").read_text(
        encoding="utf-8"
    )
    rng = Random(f"{family} {level} {seed} {solvable}")
    while True:
        draft, proven = _proven(family, domain, rng, level, solvable=solvable)
        # Reject draws that are trivial, too large to prove anything, or not of the requested
        # kind.
        if proven is None or proven.plan == () or (proven.plan is not None) != solvable:
            continue
        plan = proven.plan
        return GradedProblem(
            family,
            level,
            seed,
            domain,
            _text(draft, domain),
            len(plan) if plan else None,
            plan,
            proven.proof,
            family == _TIMED,
        )


def series(
    chosen: Sequence[str] = FAMILIES,
    levels: Sequence[int] = LEVELS,
    count: int = 40,
    seed: int = 0,
    unsolvable: float = 0.0,
) -> Iterator[GradedProblem]:
    """Yield problems, cycling through the families and levels.

    Args:
        seed: The seed of the first problem; the others use the following integers.
        unsolvable: The proportion of problems without a plan, from 0 to 1.

    Raises:
        UsageError: A family or level is unknown, or the proportion is out of range.
    """
    if not 0 <= unsolvable <= 1:
        raise UsageError(f"the share of unsolvable problems must be from 0 to 1, got {unsolvable}")
    kinds = [(family, level) for level in levels for family in chosen]
    if not kinds:
        raise UsageError("name at least one family and one level")
    for number in range(count):
        family, level = kinds[number % len(kinds)]
        # Spread unsolvable problems evenly: the n-th problem of a kind is unsolvable if n times
        # the proportion passes an integer.
        turn = number // len(kinds)
        none = int((turn + 1) * unsolvable) > int(turn * unsolvable)
        yield graded(family, level, seed + number, solvable=not none)


def _proven(
    family: str, domain: str, rng: Random, level: int, *, solvable: bool
) -> tuple[Draft, Proven | None]:
    if family == _TIMED:
        cellar = Cellar.drawn(rng, level, solvable=solvable)
        return cellar.draft(), cellar.proven()
    draft = _DRAWN[family](rng, level, solvable=solvable)
    parsed = parse_domain(domain)
    task = Task(parsed, parse_problem(_text(draft, domain), parsed))
    return draft, shortest(task, _STATES)


def _text(draft: Draft, domain: str) -> str:
    name = domain.partition("(domain ")[2].partition(")")[0]
    goal = "\n    ".join(draft.goal)
    return (
        f"(define (problem drawn)\n  (:domain {name})\n  (:objects {draft.objects})\n"
        f"  (:init\n    {chr(10).join(draft.init).replace(chr(10), chr(10) + '    ')})\n"
        f"  (:goal (and\n    {goal})))\n"
    )
