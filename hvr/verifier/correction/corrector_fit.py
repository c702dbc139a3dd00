"""Learning what the corrector weighs plans by, from training plans.

Habits are learned on one part of the plans, drafts with a planner's errors are simulated for the
other, and the weights are those that find the true plans again (`planner_errors.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from hvr.tools.tool_plan import ToolPlan
from hvr.verifier.correction.corrector import Corrector, says, weighable
from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.planner_errors import PlannerErrors, with_errors
from hvr.verifier.correction.prior_models import HabitsConfig, one_thread
from hvr.verifier.correction.reranker import Case, fit_weights
from hvr.verifier.correction.sequence_prior import Example, Habits, examples_of, learn_habits
from hvr.verifier.network.fit import split
from hvr.verifier.network.progress import Tell, silent
from hvr.verifier.tool_embeddings import ToolSpace
from hvr.verifier.verifier import Verifier


def fit_corrector(
    verifier: Verifier,
    plans: Sequence[ToolPlan],
    config: HabitsConfig | None = None,
    errors: PlannerErrors | None = None,
    tell: Tell = silent,
    *,
    drafts: int = 2,
) -> Corrector:
    """Learn habits and fit the weights, on training plans only.

    Weights are fitted on the plans that the verifier held out, so that neither its scores nor
    the habits have seen them.

    Args:
        verifier: trained on the same plans.
        plans: true plans.
        config: of the habits.
        errors: that drafts are simulated with.
        tell: is told of each epoch.
        drafts: simulated for each plan that weights are fitted on.
    """
    config = config or HabitsConfig()
    space = verifier.space
    known = [p for p in plans if p.tools]
    fit, held = split(known, verifier.config)
    part = learn_habits(space, examples_from(space, fit), config, tell)
    made = simulated(space, held, errors or PlannerErrors(), config.seed, drafts)
    with one_thread():
        found = cases(verifier, part, made)
    weights = fit_weights(found)
    whole = examples_from(space, known)
    habits = learn_habits(space, whole, replace(config, seed=config.seed + 1), tell)
    return Corrector(verifier, habits, weights)


@dataclass(frozen=True)
class Drafted:
    """A true plan and a simulated draft of it.

    Args:
        true: numbers of its tools.
        plan: the draft.
        tools: numbers of the draft's.
    """

    true: Tools
    plan: ToolPlan
    tools: Tools


def simulated(
    space: ToolSpace, plans: Sequence[ToolPlan], errors: PlannerErrors, seed: int, drafts: int
) -> list[Drafted]:
    """Drafts with a planner's errors; of plans that have as many steps as tools."""
    whole = [p for p in plans if len(p.steps) == len(p.tools) and all(map(space.known, p.tools))]
    texts = [space.step_text(s) for p in whole for s in p.steps]
    space.texts.rows([*texts, *(p.request for p in whole)])
    space.texts.rows([says(space, t) for t in range(len(space.tools))])
    found = []
    for plan in whole:
        true = tuple(map(space.tools.index, plan.tools))
        steps = tuple(map(space.step_text, plan.steps))
        for k in range(drafts):
            draw = Random(f"draft {seed} {plan.id} {k}")
            tools, said = with_errors(draw, space, plan.request, true, steps, errors)
            ids = tuple(space.tools.tools[t].id for t in tools)
            made = ToolPlan(plan.id, plan.request, said, ids, tuple(itertools.pairwise(ids)))
            found.append(Drafted(true, made, tools))
    return found


def cases(verifier: Verifier, habits: Habits, made: Sequence[Drafted]) -> list[Case]:
    """Return what weights are fitted on: drafts whose true plan is among the proposals."""
    near = verifier.space.neighbours.tolist()
    found = []
    for draft in made:
        texts = [verifier.space.step_text(s) for s in draft.plan.steps]
        fit = habits.steps(draft.plan.request, texts)
        plans, values = weighable(verifier, habits, draft.plan, draft.tools, fit, near)
        if draft.true in plans:
            found.append(Case(values, plans.index(draft.true)))
    return found


def examples_from(space: ToolSpace, plans: Sequence[ToolPlan]) -> list[Example]:
    """True plans as examples; those with unknown tools are left out."""
    return examples_of(space, [(p.request, p.tools, p.steps) for p in plans])
