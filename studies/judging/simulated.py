"""A simulated model that judges plans with known error rates, in the answer format of models.

It knows what is wrong with a plan from the symbolic judge, overlooks some of it, and says of some
good steps that they should go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from hvr.judging.model_judge import Opinion, read_opinion
from hvr.judging.verdict import PlanVerdict
from hvr.pddl import GroundAction


@dataclass(frozen=True)
class Rates:
    """How often a model errs.

    Args:
        name: of the rates.
        recall: the share of wrong steps that it names.
        precision: the share of the steps that it names that are wrong.
    """

    name: str
    recall: float
    precision: float


PAPER = (
    Rates("as GPT o4-mini", recall=0.80, precision=0.93),
    Rates("as DeepSeek-R1", recall=0.68, precision=1.00),
    Rates("as Gemini 2.5", recall=0.74, precision=0.90),
    Rates("as Llama 4 Scout", recall=0.74, precision=0.85),
    Rates("as the paper's rules", recall=0.22, precision=0.71),
)
"""One pass of the paper's judges over its own data (table 1); their labels are not public."""


class SimulatedJudge:
    """A model with given rates.

    Args:
        knows: the verdict of the symbolic judge on a plan.
        rates: how often it errs.
        rng: draws the errors.
    """

    def __init__(
        self, knows: Callable[[tuple[GroundAction, ...]], PlanVerdict], rates: Rates, rng: Random
    ) -> None:
        self._knows = knows
        self._rates = rates
        self._rng = rng

    def opinion(self, plan: Sequence[GroundAction]) -> Opinion:
        """Return its opinion of a plan, by way of the text that a model would answer."""
        return read_opinion(self.answer(plan), plan)

    def answer(self, plan: Sequence[GroundAction]) -> str:
        """Return its answer."""
        rng, rates = self._rng, self._rates
        verdict = self._knows(tuple(plan))
        wrong = verdict.removed
        missing = [(c.index, a) for c in verdict.missing for a in c.actions]
        seen = [m for m in missing if rng.random() < rates.recall]
        named = {number for number in sorted(wrong) if rng.random() < rates.recall}
        good = [number for number in range(1, len(plan) + 1) if number not in wrong]
        # So many false ones that the precision comes out on average, one in seven missing steps.
        false = (len(named) + len(seen)) * (1 - rates.precision) / rates.precision
        if not wrong and not missing:
            false = (1 - rates.precision) / 2
        for _ in range(int(false) + (rng.random() < false % 1)):
            if rng.random() < 1 / 7 and plan:
                seen.append((rng.randint(1, len(plan) + 1), rng.choice(list(plan))))
            elif good:
                named.add(good.pop(rng.randrange(len(good))))
        lines = []
        for number, action in enumerate(plan, 1):
            lines.append(f"ACTION: {number}. {action}")
            mark = " #REMOVE: it is not needed" if number in named else ""
            lines.append(f"ANNOTATION: what the step does.{mark}")
        lines += [f"#MISSING: {action} before step {index}" for index, action in seen]
        return "\n".join(lines)
