"""Corrections without a language model: the best of the plans near a draft.

Beyond the paper, whose edits a language model chooses. What a plan is weighed by is fitted on
training plans only (`corrector_fit.py`). What many drafts of one planner have in common says more
(`planner_bias.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.tools.tool_plan import ToolPlan
from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.planner_bias import Weighed, allowed_for
from hvr.verifier.correction.prior_models import one_thread
from hvr.verifier.correction.proposals import difference, proposals
from hvr.verifier.correction.reranker import clues, expected_best
from hvr.verifier.correction.sequence_prior import Habits
from hvr.verifier.graph import plan_graph
from hvr.verifier.tool_embeddings import Floats, ToolSpace
from hvr.verifier.verifier import Verifier


@dataclass(frozen=True)
class Correction:
    """A plan and what became of it.

    Args:
        plan: the corrected plan; the draft's tools where nothing was better.
        changes: in words, one for each step that changed.
        gain: by how much the plan weighs more than the draft, in nats.
    """

    plan: ToolPlan
    changes: tuple[str, ...]
    gain: float


class Corrector:
    """Finds the plan that a draft should have been.

    Args:
        verifier: its tools, and its score of each plan that may be meant.
        habits: what is usual.
        weights: of the clues (len(CLUES),).
    """

    def __init__(self, verifier: Verifier, habits: Habits, weights: Floats) -> None:
        self.verifier = verifier
        self.space = verifier.space
        self.habits = habits
        self.weights = weights
        self._near = self.space.neighbours.tolist()
        self._names = _spelling(self.space)

    def correct(self, plan: ToolPlan) -> Correction:
        """Return the best of the plans near a draft, as a chain.

        Tools that are unknown, or known by another spelling, are steps whose tool has to be
        found from what they say. An empty plan becomes the likeliest for the request.
        """
        return self.correct_all([plan])[0]

    def correct_all(
        self, plans: Iterable[ToolPlan], *, one_planner: bool = True
    ) -> list[Correction]:
        """Correct drafts, each as `correct` does.

        Args:
            plans: the drafts, taken one by one.
            one_planner: they are by the same planner, whose ways show in the others of them
                (`hvr.verifier.correction.planner_bias`).
        """
        drafts = []
        weighed = []
        with one_thread():
            for plan in plans:
                drafts.append(plan)
                weighed.append(self._weighed(plan))
        sums = allowed_for(self.space, weighed) if one_planner else [w.sums for w in weighed]
        found = []
        for plan, near, mine in zip(drafts, weighed, sums, strict=True):
            at = expected_best(near.plans, mine)
            gain = float(mine[at] - mine[0])
            at, gain = (at, gain) if gain > 0 else (0, 0.0)
            found.append(self._made(plan, near.draft, near.plans[at], gain))
        return found

    def _weighed(self, plan: ToolPlan) -> Weighed:
        space = self.space
        names = self._names
        told = plan.steps if len(plan.steps) == len(plan.tools) else ()
        tools = [names.get(_plain(t)) for t in plan.tools]
        texts = [space.step_text(s) for s in told] or [
            says(space, t) if t is not None else name
            for t, name in zip(tools, plan.tools, strict=True)
        ]
        fit = self.habits.steps(plan.request, texts)
        draft = tuple(int(fit[i].argmax()) if t is None else t for i, t in enumerate(tools))
        if not draft:
            likeliest = self.habits.decode(plan.request)[:1]
            return Weighed((), likeliest, np.zeros(len(likeliest), dtype=np.float32))
        near, values = weighable(self.verifier, self.habits, plan, draft, fit, self._near)
        return Weighed(draft, near, values @ self.weights)

    def _made(self, plan: ToolPlan, draft: Tools, tools: Tools, gain: float) -> Correction:
        change = difference(draft, tools)
        made = written(self.space, plan, draft, tools)
        from_draft = {j: i for i, j in change.pairs}
        changes = []
        for j, name in enumerate(made.tools):
            i = from_draft.get(j)
            if i is None:
                changes.append(f"step {j + 1}: {name} was missing")
            elif draft[i] != tools[j]:
                changes.append(f"step {j + 1}: {name} in place of {plan.tools[i]}")
        kept = set(from_draft.values())
        changes += [f"{plan.tools[i]} is not needed" for i in range(len(draft)) if i not in kept]
        if change.reordered:
            changes.append("the steps are in another order")
        return Correction(made, tuple(changes), gain)


def written(space: ToolSpace, plan: ToolPlan, draft: Tools, tools: Tools) -> ToolPlan:
    """Return a plan near a draft in full: steps that are kept say what they said.

    Args:
        space: of the tools.
        plan: the draft.
        draft: numbers of its tools.
        tools: numbers of the plan's.
    """
    told = plan.steps if len(plan.steps) == len(plan.tools) else ()
    ids = tuple(space.tools.tools[t].id for t in tools)
    from_draft = {j: i for i, j in difference(draft, tools).pairs}
    steps = []
    for j, tool in enumerate(tools):
        i = from_draft.get(j)
        if i is not None and draft[i] == tool and told:
            steps.append(told[i])
        else:
            steps.append(f"Call {ids[j]} to {says(space, tool)}")
    return ToolPlan(plan.id, plan.request, tuple(steps), ids, tuple(itertools.pairwise(ids)))


def weighable(
    verifier: Verifier,
    habits: Habits,
    plan: ToolPlan,
    draft: Tools,
    fit: Floats,
    near: Sequence[Sequence[int]],
) -> tuple[list[Tools], Floats]:
    """Return the plans that a draft may have meant, and what speaks for each (plans,
    len(CLUES)).
    """
    space = verifier.space
    plans = proposals(habits, plan.request, draft, fit, near)
    graphs = [plan_graph(written(space, plan, draft, p), space.tools) for p in plans]
    score = verifier.plausibility(graphs).clip(1e-4, 1 - 1e-4)
    logit = np.log(score / (1 - score))
    return plans, clues(space, habits, plan.request, draft, fit, plans, logit)


def says(space: ToolSpace, tool: int) -> str:
    """Return what a step with a tool says, where nobody said it."""
    known = space.tools.tools[tool]
    return space.step_text(known.description or known.id.replace("_", " "))


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _spelling(space: ToolSpace) -> dict[str, int]:
    return {_plain(t.id): i for i, t in enumerate(space.tools.tools)}
