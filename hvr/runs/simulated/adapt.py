"""Adaptation of a block to feedback that names a condition it never establishes.

An earlier block that went wrong leaves another state than the ground truth's: no knife in the
hand, a door that is still closed. On such feedback a planner fetches the knife; the simulated one
adds the steps that establish the condition in the ground truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from hvr.pddl import GroundAction, Task
from hvr.runs.simulated.step_errors import Steps, is_walk

Providers = Mapping[str, tuple[Steps, ...]]
"""For each literal the step sequences that establish it in the ground truth, in order."""

_WANTED = re.compile(r"(\([a-z_]+(?: [\w-]+)*\)) must be (true|false)")
_MADE_BY = re.compile(r" made (?:true|false) by step \d+ \((?:\S+) ([\w-]+)")


def providers_of(task: Task, steps: Sequence[GroundAction]) -> Providers:
    """Return the literals that each step of a plan establishes, with the way there.

    Args:
        task: the plan is valid in its initial state.
        steps: the plan.
    """
    providers: dict[str, list[Steps]] = {}
    bits = task.initial.bits
    walk: list[GroundAction] = []
    for step in steps:
        walk = [step] if is_walk(step) else [*walk[:1], step]
        following = task.ground(step).apply(bits)
        gained = [str(a) for a in task.atoms_in(following & ~bits)]
        lost = [f"(not {a})" for a in task.atoms_in(bits & ~following)]
        for literal in (*gained, *lost):
            providers.setdefault(literal, []).append(tuple(walk))
        bits = following
    return {literal: tuple(ways) for literal, ways in providers.items()}


def helpful_steps(problem: str, providers: Providers) -> tuple[GroundAction, ...]:
    """Return the steps of the ground truth that establish a condition named in a problem."""
    return tuple(
        way[-1]
        for literal, value in _WANTED.findall(problem)
        for way in providers.get(literal if value == "true" else f"(not {literal})", ())
    )


def adapted(
    written: Sequence[GroundAction], failed: int, problem: str, providers: Providers,
    held: Iterable[str],
) -> Steps | None:  # fmt: skip
    """Return the block with a way to the first missing condition before the step that failed.

    Args:
        written: the block.
        failed: number of the step, from 1.
        problem: the validator's message.
        providers: of the ground truth.
        held: what the prompt says is in the robot's hand.

    Returns:
        the new block, or None when the ground truth has no way to any of the conditions.
    """
    if not 1 <= failed <= len(written):
        return None
    maker = _MADE_BY.search(problem)
    hands = {*held, *([maker[1]] if maker else [])}
    for literal, value in _WANTED.findall(problem):
        ways = providers.get(literal if value == "true" else f"(not {literal})", ())
        ways = tuple(way for way in ways if written[failed - 1] not in way)
        if not ways:
            continue
        # Of the ways to an empty hand, the one for what is in it.
        way = next((w for w in ways if w[-1].args[0] in hands), ways[0])
        return (*written[: failed - 1], *way, *written[failed - 1 :])
    return None
