"""Wrong plans made from true ones, by kind, for training and testing verifiers.

other request, near     plan of a similar request with other tools
other request, far      plan of any request with other tools
tail missing            without the last step
dropped                 without another step
superfluous, related    with an additional tool similar to the plan's or relevant to the request
superfluous, unrelated  with any additional tool
order                   two adjacent steps swapped, or all reversed
replaced                with a similar tool in one step
hallucinated            with an unknown tool in one step
misspelt                with a misspelt tool in one step
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from hvr.judging.verifier.features import ToolEmbeddings
from hvr.judging.verifier.verdict import Verdict
from hvr.tools.tool_plans import ToolPlan

# ROC-AUC ------------------------------------------------------------------------------------------


def roc_auc(
    scores: Sequence[float] | NDArray[np.float32], labels: Sequence[int] | NDArray[np.int64]
) -> float:
    """Return the area under the ROC curve, from 0 to 1; NaN if one class is empty.

    It is the probability that a random positive scores higher than a random negative, where ties
    count half, and is computed from the rank sum of the positives (Mann-Whitney U).
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels) > 0
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return math.nan
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # equal scores share their mean rank
    u = rank[place][positive].sum() - positives * (positives + 1) / 2
    return float(u / (positives * negatives))


# Wrong plans --------------------------------------------------------------------------------------

WRONG_PLAN_KINDS = (
    "other request, near",
    "other request, far",
    "tail missing",
    "dropped",
    "superfluous, related",
    "superfluous, unrelated",
    "order",
    "replaced",
    "hallucinated",
    "misspelt",
)
_NEAR = 20
"""Similar requests, or tools, to draw from."""

Calls = list[tuple[str, str]]
"""Tools with the texts of their steps."""


@dataclass(frozen=True)
class WrongPlans:
    """Derives wrong plans from correct ones.

    Args:
        plans: Correct plans, whose requests are exchanged.
        seed: Random seed; the wrong plans of a plan depend only on the seed and the plan.
    """

    embeddings: ToolEmbeddings
    plans: Sequence[ToolPlan]
    seed: int = 0

    def of(self, plan: ToolPlan, kinds: Sequence[str] = WRONG_PLAN_KINDS) -> Mapping[str, ToolPlan]:
        made = {}
        for kind in kinds:
            rng = Random(f"{self.seed} {kind} {plan.id} {plan.request}")
            wrong = (
                self._request(rng, plan, kind)
                if "request" in kind
                else self._steps(rng, plan, kind)
            )
            if wrong is not None and (wrong.tools, wrong.request) != (plan.tools, plan.request):
                made[kind] = wrong
        return made

    def _request(self, rng: Random, plan: ToolPlan, kind: str) -> ToolPlan | None:
        others = [p for p in self.plans if set(p.tools) != set(plan.tools)]
        if kind.endswith("near"):
            rows = self.embeddings.texts.rows([plan.request, *(p.request for p in others)])
            vectors = self.embeddings.texts.matrix[rows]
            near = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:_NEAR]
            others = [others[i] for i in near.tolist()]
        return replace(plan, request=rng.choice(others).request) if others else None

    def _steps(self, rng: Random, plan: ToolPlan, kind: str) -> ToolPlan | None:
        whole = len(plan.steps) == len(plan.tools)
        texts = plan.steps if whole else ("",) * len(plan.tools)
        make: Mapping[str, Callable[[Random, ToolPlan, Calls], Calls | None]] = {
            "tail missing": lambda _, __, c: c[:-1] or None,
            "dropped": _dropped,
            "superfluous, related": self._related,
            "superfluous, unrelated": self._unrelated,
            "order": _reordered,
            "replaced": self._replaced,
            "hallucinated": self._hallucinated,
            "misspelt": self._misspelt,
        }
        calls = make[kind](rng, plan, list(zip(plan.tools, texts, strict=True)))
        if not calls:
            return None
        tools = tuple(t for t, _ in calls)
        steps = tuple(s for _, s in calls) if whole else plan.steps
        return replace(plan, tools=tools, steps=steps, links=tuple(itertools.pairwise(tools)))

    def _related(self, rng: Random, plan: ToolPlan, calls: Calls) -> Calls | None:
        relevance = self.embeddings.relevance(plan.request)
        near = np.argsort(-relevance, kind="stable")[: _NEAR // 2].tolist()
        tools = [self.embeddings.tools.tools[i].id for i in near]
        tools += [t for called in plan.tools for t in self.embeddings.near(called)[:3]]
        return self._with(rng, plan, calls, tools)

    def _unrelated(self, rng: Random, plan: ToolPlan, calls: Calls) -> Calls | None:
        return self._with(rng, plan, calls, [t.id for t in self.embeddings.tools.tools])

    def _with(
        self, rng: Random, plan: ToolPlan, calls: Calls, tools: Sequence[str]
    ) -> Calls | None:
        free = [t for t in tools if t not in plan.tools]
        if not free:
            return None
        tool = rng.choice(free)
        at = rng.randrange(len(calls) + 1)
        return [*calls[:at], (tool, self._step_text(tool)), *calls[at:]]

    def _replaced(self, rng: Random, plan: ToolPlan, calls: Calls) -> Calls | None:
        at = rng.randrange(len(calls))
        near = [t for t in self.embeddings.near(calls[at][0]) if t not in plan.tools]
        if not near:
            return None
        tool = rng.choice(near)
        return [*calls[:at], (tool, self._step_text(tool)), *calls[at + 1 :]]

    def _hallucinated(self, rng: Random, _: ToolPlan, calls: Calls) -> Calls | None:
        first, second = (rng.choice(self.embeddings.tools.tools).id for _ in range(2))
        name = f"{first[: len(first) // 2 + 1]}_{second[len(second) // 2 :]}".replace("__", "_")
        at = rng.randrange(len(calls))
        if name in self.embeddings.tools:
            return None
        return [*calls[:at], (name, name.replace("_", " ")), *calls[at + 1 :]]

    def _misspelt(self, rng: Random, _: ToolPlan, calls: Calls) -> Calls | None:
        at = rng.randrange(len(calls))
        tool, text = calls[at]
        if len(tool) < 3:
            return None
        cut = rng.randrange(1, len(tool) - 1)
        name = tool[:cut] + tool[cut + 1 :]
        return [*calls[:at], (name, text), *calls[at + 1 :]] if name != tool else None

    def _step_text(self, tool: str) -> str:
        return self.embeddings.default_step(self.embeddings.tools.index(tool))


def auc_by_kind(
    score: Callable[[Sequence[ToolPlan]], Sequence[Verdict]],
    plans: Sequence[ToolPlan],
    embeddings: ToolEmbeddings,
    seed: int,
) -> dict[str, float]:
    """Return, for each kind of wrong plan, the ROC-AUC of true plans against wrong ones."""
    maker = WrongPlans(embeddings, plans, seed)
    made = [maker.of(p) for p in plans]
    true = [v.score for v in score(plans)]
    found = {}
    for kind in WRONG_PLAN_KINDS:
        wrong = [v.score for v in score([m[kind] for m in made if kind in m])]
        if wrong:
            found[kind] = roc_auc([*true, *wrong], [1] * len(true) + [0] * len(wrong))
    return found


def _dropped(rng: Random, _: ToolPlan, calls: Calls) -> Calls | None:
    if len(calls) < 2:
        return None
    at = rng.randrange(len(calls) - 1)
    return calls[:at] + calls[at + 1 :]


def _reordered(rng: Random, _: ToolPlan, calls: Calls) -> Calls | None:
    if len(calls) < 2:
        return None
    if rng.random() < 0.5:
        return calls[::-1]
    at = rng.randrange(len(calls) - 1)
    return [*calls[:at], calls[at + 1], calls[at], *calls[at + 2 :]]
