"""Correction of a block after feedback: the simulated model undoes one of its errors."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from hvr.pddl import GroundAction
from hvr.runs.simulated.prompt_objects import PromptObjects
from hvr.runs.simulated.step_errors import Steps, is_walk

_STEP = re.compile(r"(?<!after )\b(?:step|line|action) (\d+)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Part:
    """A stretch of equal or of differing steps in the alignment of block and ground truth.

    Args:
        start: number of the first written step, from 0.
        written: the written steps; may be empty.
        true: the true steps in their place; may be empty.
        differs: whether they differ.
    """

    start: int
    written: Steps
    true: Steps
    differs: bool

    @property
    def walks(self) -> bool:
        """Whether all its steps are navigation."""
        return all(map(is_walk, (*self.written, *self.true)))

    @property
    def is_added(self) -> bool:
        """Whether its steps are superfluous."""
        return not self.true and not self.walks

    def moved_to(self, other: _Part) -> bool:
        """Return whether the steps superfluous in one part are those missing in the other."""
        one_sided = not (self.written and self.true)
        return one_sided and (self.written, self.true) == (other.true, other.written)


def undo(
    written: Sequence[GroundAction],
    true: Sequence[GroundAction],
    problem: str,
    objects: PromptObjects,
    helpful: Container[GroundAction] = (),
) -> Steps:
    """Undo an error at or before the step that failed, all when no step did.

    That is the earliest one by which a step is missing that brings about what the problem asks
    for; else the earliest one. What was added to bring about something else stays while there is
    another error: it was an answer to earlier feedback.

    A step that was moved is one error. Navigation is put right in passing: a verifier inserts and
    removes it on its own, so it is not what a problem is about while something else is wrong.
    When nothing is wrong up to the step that failed, nothing is undone.

    Args:
        written: the block as it is.
        true: the block as it should be, in the names that the model knows.
        problem: the validator's message, its first line naming the step.
        objects: of the prompt.
        helpful: steps that bring about what the problem asks for.
    """
    failed = failed_step(problem)
    if failed is None:
        return tuple(true)
    parts = _parts(written, true, objects, failed)
    differences = [place for place, part in enumerate(parts) if part.differs]
    before = [place for place in differences if parts[place].start < failed]
    helps = [p for p in before if any(step in helpful for step in parts[p].true)]
    before.sort(key=lambda p: (p not in helps, parts[p].is_added))
    chosen: set[int] = set()
    for place in before:
        chosen.add(place)
        chosen |= {p for p in differences if parts[place].moved_to(parts[p])}
        if not all(parts[p].walks for p in chosen):
            break
    return _built(parts, chosen)


def failed_step(problem: str) -> int | None:
    """Return the number of the failed step, from 1; None if only the end state is wrong."""
    first = problem.strip().split("\n", 1)[0]
    match = None if first.lower().startswith("at the end") else _STEP.search(first)
    return int(match[1]) if match else None


def _parts(
    written: Sequence[GroundAction],
    true: Sequence[GroundAction],
    objects: PromptObjects,
    failed: int,
) -> list[_Part]:
    """Return the alignment of written and true steps; the failed step is taken literally."""
    mine = [
        step if number == failed else _meant(step, true, objects)
        for number, step in enumerate(written, start=1)
    ]
    codes = SequenceMatcher(None, mine, list(true), autojunk=False).get_opcodes()
    return [
        _Part(i, tuple(written[i:k]), tuple(true[j:m]), tag != "equal") for tag, i, k, j, m in codes
    ]


def _meant(
    step: GroundAction, true: Sequence[GroundAction], objects: PromptObjects
) -> GroundAction:
    """Return the true step that a step stands for, where the model had to guess an object's name.

    Whoever reads its answer may have put a real object in the place of the guess.
    """
    if step in true:
        return step
    for other in true:
        same = (other.name, len(other.args)) == (step.name, len(step.args))
        if same and all(
            a == b or not objects.knows(b) for a, b in zip(step.args, other.args, strict=True)
        ):
            return other
    return step


def _built(parts: Sequence[_Part], chosen: set[int]) -> Steps:
    chunks = (p.true if place in chosen else p.written for place, p in enumerate(parts))
    return tuple(step for chunk in chunks for step in chunk)
