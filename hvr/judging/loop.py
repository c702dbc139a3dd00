"""The loop of judge and planner: judge, repair, judge again, until there is nothing to say.

Every round makes the measure of the plan less (`hvr.judging.combined.measure`): it has fewer
failing steps and unmet parts of the goal, or as many and is shorter. A round that does not is not
taken. There is no endless descent in pairs of whole numbers, so the loop ends, with or without the
most rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hvr.judging.combined import Measure, check, measure
from hvr.judging.model import Opinion
from hvr.judging.symbolic import judge
from hvr.judging.verdict import PlanVerdict
from hvr.pddl import GroundAction
from hvr.validation import Validator

MOST_ROUNDS = 5
"""As in the paper."""


@dataclass(frozen=True)
class Round:
    """One round of the loop.

    Args:
        by: who judged: `symbolic` or the model's name.
        before: measure of the plan that was judged.
        after: measure of the plan that was made of it.
        removed: numbers of the steps that went.
        inserted: (number of the step that it comes before, step).
        rejected: what a model said and could not be proven.
        plan: the plan after the round.
    """

    by: str
    before: Measure
    after: Measure
    removed: tuple[int, ...]
    inserted: tuple[tuple[int, GroundAction], ...]
    rejected: tuple[str, ...]
    plan: tuple[GroundAction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "by": self.by,
            "before": list(self.before),
            "after": list(self.after),
            "removed": list(self.removed),
            "inserted": [[number, str(action)] for number, action in self.inserted],
            "rejected": list(self.rejected),
            "plan": [str(action) for action in self.plan],
        }


@dataclass(frozen=True)
class Loop:
    """What the loop came to.

    Args:
        plan: the last plan.
        rounds: those that changed something.
        verdict: the symbolic judge's, of the plan that was given.
        converged: nothing more was to be said in the end.
    """

    plan: tuple[GroundAction, ...]
    rounds: tuple[Round, ...]
    verdict: PlanVerdict | None
    converged: bool


def run_loop(
    validator: Validator,
    plan: Sequence[GroundAction],
    *,
    opinion: Callable[[Sequence[GroundAction]], Opinion] | None = None,
    name: str = "model",
    symbolic: bool = True,
    most: int = MOST_ROUNDS,
) -> Loop:
    """Judge and repair a plan until there is nothing more to say.

    Args:
        validator: where the plan begins.
        plan: the plan.
        opinion: asks a model for its opinion of a plan; None asks none.
        name: of the model.
        symbolic: whether the symbolic judge takes part; its findings are final.
        most: the most rounds.
    """
    start = validator.state
    now = tuple(plan)
    rounds: list[Round] = []
    first: PlanVerdict | None = None
    for _ in range(most):
        size = measure(start, now)
        done: Round | None = None
        if symbolic:
            verdict = judge(validator, now)
            first = first or verdict
            done = _symbolic_round(validator, verdict, size)
        if done is None and opinion is not None:
            checked = check(start, now, opinion(now))
            after = measure(start, checked.plan)
            if after < size:
                done = Round(
                    name, size, after, checked.removed, checked.inserted, checked.rejected,
                    checked.plan,
                )  # fmt: skip
        if done is None:
            return Loop(now, tuple(rounds), first, True)
        rounds.append(done)
        now = done.plan
    return Loop(now, tuple(rounds), first, False)


def _symbolic_round(validator: Validator, verdict: PlanVerdict, size: Measure) -> Round | None:
    if verdict.repaired is None or not verdict.critiques:
        return None
    after = measure(validator.state, verdict.repaired)
    if after >= size:
        return None
    inserted = tuple((c.index, action) for c in verdict.missing for action in c.actions)
    removed = tuple(sorted(verdict.removed))
    return Round("symbolic", size, after, removed, inserted, (), verdict.repaired)
