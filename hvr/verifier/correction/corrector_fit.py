"""Fitting of a corrector on training plans.

The sequence prior is trained on one part of the plans; for the other part drafts with a planner's
errors are simulated (`planner_errors.py`), and the reranker's weights are fitted to recover the
true plans from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from hvr.tools.tool_plan import ToolPlan
from hvr.verifier.correction.corrector import Corrector, candidate_features
from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.planner_errors import PlannerErrors, with_errors
from hvr.verifier.correction.prior_models import PriorConfig, one_thread
from hvr.verifier.correction.proposals import Draft
from hvr.verifier.correction.reranker import Case, fit_weights
from hvr.verifier.correction.sequence_prior import Example, SequencePrior, examples_of, train_prior
from hvr.verifier.network.fit import split
from hvr.verifier.network.progress import ProgressCallback, no_progress
from hvr.verifier.tool_embeddings import ToolEmbeddings
from hvr.verifier.verifier import Verifier


def fit_corrector(
    verifier: Verifier,
    plans: Sequence[ToolPlan],
    config: PriorConfig | None = None,
    errors: PlannerErrors | None = None,
    progress: ProgressCallback = no_progress,
    *,
    drafts: int = 2,
) -> Corrector:
    """Train the sequence prior and fit the reranker, on training plans only.

    Weights are fitted on the plans that the verifier held out, so that neither its scores nor
    the prior have been trained on them. The prior is then retrained on all plans.

    Args:
        verifier: trained on the same plans.
        plans: true plans.
        config: of the prior.
        errors: error rates of the simulated drafts.
        progress: called after each epoch.
        drafts: simulated for each plan that weights are fitted on.
    """
    config = config or PriorConfig()
    embeddings = verifier.embeddings
    known = [p for p in plans if p.tools]
    fit, held = split(known, verifier.config)
    partial = train_prior(embeddings, examples_from(embeddings, fit), config, progress)
    simulated = simulate_drafts(embeddings, held, errors or PlannerErrors(), config.seed, drafts)
    with one_thread():
        cases = reranking_cases(verifier, partial, simulated)
    weights = fit_weights(cases)
    examples = examples_from(embeddings, known)
    prior = train_prior(embeddings, examples, replace(config, seed=config.seed + 1), progress)
    return Corrector(verifier, prior, weights)


@dataclass(frozen=True)
class SimulatedDraft:
    """A true plan and a simulated draft of it.

    Args:
        true: numbers of its tools.
        plan: the draft.
        tools: numbers of the draft's.
    """

    true: Tools
    plan: ToolPlan
    tools: Tools


def simulate_drafts(
    embeddings: ToolEmbeddings,
    plans: Sequence[ToolPlan],
    errors: PlannerErrors,
    seed: int,
    drafts: int,
) -> list[SimulatedDraft]:
    """Draw drafts with a planner's errors, of all plans that have as many steps as tools."""
    whole = [
        p for p in plans if len(p.steps) == len(p.tools) and all(map(embeddings.known, p.tools))
    ]
    # All texts are encoded at once, which is faster than one by one.
    texts = [embeddings.step_text(s) for p in whole for s in p.steps]
    embeddings.texts.rows([*texts, *(p.request for p in whole)])
    embeddings.texts.rows([embeddings.default_step(t) for t in range(len(embeddings.tools))])
    simulated = []
    for plan in whole:
        true = tuple(map(embeddings.tools.index, plan.tools))
        steps = tuple(map(embeddings.step_text, plan.steps))
        for k in range(drafts):
            rng = Random(f"draft {seed} {plan.id} {k}")
            tools, drafted_steps = with_errors(rng, embeddings, plan.request, true, steps, errors)
            ids = tuple(embeddings.tools.tools[t].id for t in tools)
            draft = ToolPlan(
                plan.id, plan.request, drafted_steps, ids, tuple(itertools.pairwise(ids))
            )
            simulated.append(SimulatedDraft(true, draft, tools))
    return simulated


def reranking_cases(
    verifier: Verifier, prior: SequencePrior, drafts: Sequence[SimulatedDraft]
) -> list[Case]:
    """Return the drafts whose true plan is among the candidates, with features for fitting."""
    cases = []
    for draft in drafts:
        plan = draft.plan
        texts = [verifier.embeddings.step_text(s) for s in plan.steps]
        log_probs = prior.step_log_probs(plan.request, texts)
        plans, features = candidate_features(
            verifier, prior, plan, Draft(plan.request, draft.tools, log_probs)
        )
        if draft.true in plans:
            cases.append(Case(features, plans.index(draft.true)))
    return cases


def examples_from(embeddings: ToolEmbeddings, plans: Sequence[ToolPlan]) -> list[Example]:
    """Return true plans as examples; those with unknown tools are left out."""
    return examples_of(embeddings, [(p.request, p.tools, p.steps) for p in plans])
