"""Correction without a language model: search near a draft, then rerank.

Beyond the paper, whose edits a language model chooses. `proposals.py` finds candidates,
`reranker.py` scores them with weights fitted on training plans only (`corrector_fit.py`), and
`planner_bias.py` adjusts the scores for the systematic errors that many drafts of one planner
reveal.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.tools.tool_plan import ToolPlan
from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.planner_bias import ScoredCandidates, adjust_for_planner
from hvr.verifier.correction.prior_models import one_thread
from hvr.verifier.correction.proposals import Draft, difference, proposals
from hvr.verifier.correction.reranker import minimum_risk, plan_features
from hvr.verifier.correction.sequence_prior import SequencePrior
from hvr.verifier.graph import plan_graph
from hvr.verifier.tool_embeddings import Floats, ToolEmbeddings
from hvr.verifier.verifier import Verifier

MIN_SCORE = 1e-4
"""Verifier scores are clipped to MIN_SCORE and 1 - MIN_SCORE, so that their logits are finite."""


@dataclass(frozen=True)
class Correction:
    """The correction of a draft.

    Args:
        plan: the corrected plan; the draft's tools if nothing was better.
        changes: in words, one for each step that changed.
        gain: log-odds of the plan over the draft, in nats.
    """

    plan: ToolPlan
    changes: tuple[str, ...]
    gain: float


class Corrector:
    """The most plausible plan near a draft, for a request.

    Args:
        verifier: gives the tools, and a feature of each candidate.
        prior: of plans for a request.
        weights: of the features (len(FEATURES),).
    """

    def __init__(self, verifier: Verifier, prior: SequencePrior, weights: Floats) -> None:
        self.verifier = verifier
        self.embeddings = verifier.embeddings
        self.prior = prior
        self.weights = weights
        self._spelling = {_squeezed(t.id): i for i, t in enumerate(self.embeddings.tools.tools)}

    def correct(self, plan: ToolPlan) -> Correction:
        """Return the best of the plans near a draft, as a chain.

        A tool in another spelling is recognised; for an unknown tool the one that its step most
        likely means is taken. An empty plan becomes the likeliest plan for the request.
        """
        return self.correct_all([plan])[0]

    def correct_all(
        self, plans: Iterable[ToolPlan], *, one_planner: bool = True
    ) -> list[Correction]:
        """Correct drafts, each as `correct` does.

        Args:
            plans: the drafts, consumed one by one.
            one_planner: they are all by one planner, so each is also judged by the errors found
                in the others (`hvr.verifier.correction.planner_bias`).
        """
        drafts = []
        candidates = []
        with one_thread():
            for plan in plans:
                drafts.append(plan)
                candidates.append(self._candidates(plan))
        scores = (
            adjust_for_planner(self.embeddings, candidates)
            if one_planner
            else [c.scores for c in candidates]
        )
        corrections = []
        for plan, near, own in zip(drafts, candidates, scores, strict=True):
            at = minimum_risk(near.plans, own)
            gain = float(own[at] - own[0])
            at, gain = (at, gain) if gain > 0 else (0, 0.0)
            corrections.append(self._correction(plan, near.draft, near.plans[at], gain))
        return corrections

    def _candidates(self, plan: ToolPlan) -> ScoredCandidates:
        embeddings = self.embeddings
        numbers = [self._spelling.get(_squeezed(t)) for t in plan.tools]
        texts = [embeddings.step_text(s) for s in paired_steps(plan)] or [
            embeddings.default_step(t) if t is not None else name
            for t, name in zip(numbers, plan.tools, strict=True)
        ]
        log_probs = self.prior.step_log_probs(plan.request, texts)
        tools = tuple(int(log_probs[i].argmax()) if t is None else t for i, t in enumerate(numbers))
        if not tools:
            likeliest = self.prior.beam_search(plan.request)[:1]
            return ScoredCandidates((), likeliest, np.zeros(len(likeliest), dtype=np.float32))
        draft = Draft(plan.request, tools, log_probs)
        near, features = candidate_features(self.verifier, self.prior, plan, draft)
        return ScoredCandidates(tools, near, features @ self.weights)

    def _correction(self, plan: ToolPlan, draft: Tools, tools: Tools, gain: float) -> Correction:
        change = difference(draft, tools)
        corrected = written(self.embeddings, plan, draft, tools)
        from_draft = {j: i for i, j in change.pairs}
        changes = []
        for j, name in enumerate(corrected.tools):
            i = from_draft.get(j)
            if i is None:
                changes.append(f"step {j + 1}: {name} was missing")
            elif draft[i] != tools[j]:
                changes.append(f"step {j + 1}: {name} in place of {plan.tools[i]}")
        kept = set(from_draft.values())
        changes += [f"{plan.tools[i]} is not needed" for i in range(len(draft)) if i not in kept]
        if change.reordered:
            changes.append("the steps are in another order")
        return Correction(corrected, tuple(changes), gain)


def candidate_features(
    verifier: Verifier, prior: SequencePrior, plan: ToolPlan, draft: Draft
) -> tuple[list[Tools], Floats]:
    """Return the candidate corrections of a draft and their features (plans, len(FEATURES)).

    Args:
        verifier: gives the tools and a score of each candidate.
        prior: of plans for a request.
        plan: the draft as a plan.
        draft: the same as numbers.
    """
    embeddings = verifier.embeddings
    plans = proposals(prior, draft, embeddings.neighbours.tolist())
    graphs = [
        plan_graph(written(embeddings, plan, draft.tools, p), embeddings.tools) for p in plans
    ]
    score = verifier.plausibility(graphs).clip(MIN_SCORE, 1 - MIN_SCORE)
    logits = np.log(score / (1 - score))
    return plans, plan_features(embeddings, prior, draft, plans, logits)


def written(embeddings: ToolEmbeddings, plan: ToolPlan, draft: Tools, tools: Tools) -> ToolPlan:
    """Return a candidate in full; steps that are kept keep their text.

    Args:
        embeddings: of the tools.
        plan: the draft.
        draft: numbers of its tools.
        tools: numbers of the candidate's.
    """
    draft_steps = paired_steps(plan)
    ids = tuple(embeddings.tools.tools[t].id for t in tools)
    from_draft = {j: i for i, j in difference(draft, tools).pairs}
    steps = []
    for j, tool in enumerate(tools):
        i = from_draft.get(j)
        if i is not None and draft[i] == tool and draft_steps:
            steps.append(draft_steps[i])
        else:
            steps.append(f"Call {ids[j]} to {embeddings.default_step(tool)}")
    return ToolPlan(plan.id, plan.request, tuple(steps), ids, tuple(itertools.pairwise(ids)))


def paired_steps(plan: ToolPlan) -> Sequence[str]:
    """Return the steps of a plan if there are as many as tools, else none."""
    return plan.steps if len(plan.steps) == len(plan.tools) else ()


def _squeezed(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())
