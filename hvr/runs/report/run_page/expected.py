"""The effects that the domain predicts for each step of a run, worked out from its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hvr.errors import HvrError

if TYPE_CHECKING:
    from hvr.pddl.model import Atom

Changes = tuple[tuple[str, ...], tuple[str, ...]]
"""Facts that become true, and facts that cease to be."""


class _Done(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def plan(self) -> int: ...
    @property
    def action(self) -> str: ...
    @property
    def missing(self) -> tuple[str, ...]: ...
    @property
    def unexpected(self) -> tuple[str, ...]: ...


def expected_changes(folder: Path, steps: Iterable[_Done]) -> Mapping[int, Changes]:
    """Return the expected changes by number of the step.

    Each plan starts from its problem file; after a step the facts that were seen otherwise are
    taken over. Where the files do not carry the trace, as in runs of other versions, steps are
    left out.

    Args:
        folder: the run folder, with `domain.pddl`, `problem.pddl`, `problem-2.pddl`, …
        steps: of the run, in order.
    """
    expected: dict[int, Changes] = {}
    for plan, group in groupby(steps, key=lambda step: step.plan):
        try:
            expected.update(_of_plan(folder, plan, list(group)))
        except (HvrError, OSError, ValueError):
            continue
    return expected


def _of_plan(folder: Path, plan: int, steps: list[_Done]) -> dict[int, Changes]:
    from hvr.pddl import GroundAction, Task, parse_domain, parse_problem
    from hvr.validation import Validator

    suffix = "" if plan <= 0 else f"-{plan + 1}"
    domain = parse_domain(folder / "domain.pddl")
    task = Task(domain, parse_problem(folder / f"problem{suffix}.pddl", domain))
    validator = Validator(task)
    expected: dict[int, Changes] = {}
    for step in steps:
        name, *args = step.action.strip("()").split()
        report = validator.apply(GroundAction(name, tuple(args)))
        if not report.ok:
            break
        added, deleted = sorted(map(str, report.added)), sorted(map(str, report.deleted))
        expected[step.number] = (tuple(added), tuple(deleted))
        if step.missing or step.unexpected:
            state = validator.state.atoms() - _atoms(step.missing) | _atoms(step.unexpected)
            validator = Validator(task, state=task.state(state))
    return expected


def _atoms(texts: Iterable[str]) -> frozenset[Atom]:
    from hvr.pddl import Atom

    split = (text.strip("()").split() for text in texts)
    return frozenset(Atom(name, tuple(args)) for name, *args in split)
