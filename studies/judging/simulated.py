"""A simulated model judge with known error rates that answers in the format of real models.

It takes the errors of a plan from the symbolic judge, overlooks some of them, and marks some
correct steps for removal.
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
    """The error rates of a simulated model.

    Args:
        recall: Share of the wrong steps that it names.
        precision: Share of the named steps that are wrong.
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
"""One pass of the paper's judges over its own data (table 1), whose labels are not public."""


class SimulatedJudge:
    def __init__(
        self, knows: Callable[[tuple[GroundAction, ...]], PlanVerdict], rates: Rates, rng: Random
    ) -> None:
        self._knows = knows
        self._rates = rates
        self._rng = rng

    def opinion(self, plan: Sequence[GroundAction]) -> Opinion:
        return read_opinion(self.answer(plan), plan)

    def answer(self, plan: Sequence[GroundAction]) -> str:
        rng, rates = self._rng, self._rates
        verdict = self._knows(tuple(plan))
        wrong = verdict.removed
        missing = [(c.index, a) for c in verdict.missing for a in c.actions]
        seen = [m for m in missing if rng.random() < rates.recall]
        named = {number for number in sorted(wrong) if rng.random() < rates.recall}
        good = [number for number in range(1, len(plan) + 1) if number not in wrong]
        # Add enough false findings to match the precision on average, one in seven a missing step.
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
