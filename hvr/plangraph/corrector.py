"""Corrections without a language model: the best of the plans near a draft.

Beyond the paper, whose edits a language model chooses. What a plan is weighed by is fitted on
training plans only: habits are learned on one part, drafts with a planner's errors are simulated
for the other, and the weights are those that find the true plans again (`planner_errors.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from hvr.plangraph.graph import plan_graph
from hvr.plangraph.habits import Example, Habits, HabitsConfig, examples_of, learn_habits
from hvr.plangraph.planner_errors import PlannerErrors, with_errors
from hvr.plangraph.progress import Tell, silent
from hvr.plangraph.proposals import Tools, difference, proposals
from hvr.plangraph.space import Floats, ToolSpace
from hvr.plangraph.tool_plan import ToolPlan
from hvr.plangraph.verifier import Verifier, split
from hvr.plangraph.weighing import Case, clues, expected_best, fit_weights


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

    def correct(self, plan: ToolPlan) -> Correction:
        """The best of the plans near a draft, as a chain.

        Tools that are unknown, or known by another spelling, are steps whose tool has to be
        found from what they say. An empty plan becomes the likeliest for the request.
        """
        space = self.space
        names = _spelling(space)
        told = plan.steps if len(plan.steps) == len(plan.tools) else ()
        tools = [names.get(_plain(t)) for t in plan.tools]
        texts = [space.step_text(s) for s in told] or [
            _says(space, t) if t is not None else name
            for t, name in zip(tools, plan.tools, strict=True)
        ]
        fit = self.habits.steps(plan.request, texts)
        draft = tuple(int(fit[i].argmax()) if t is None else t for i, t in enumerate(tools))
        if not draft:
            best = self.habits.decode(plan.request)[0]
            return self._made(plan, (), best, 0.0)
        plans, values = weighable(self.verifier, self.habits, plan, draft, fit, self._near)
        weighed = values @ self.weights
        at = expected_best(plans, weighed)
        gain = float(weighed[at] - weighed[0])
        if gain <= 0:
            at, gain = 0, 0.0
        return self._made(plan, draft, plans[at], gain)

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
    """A plan near a draft in full: steps that are kept say what they said.

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
            steps.append(f"Call {ids[j]} to {_says(space, tool)}")
    return ToolPlan(plan.id, plan.request, tuple(steps), ids, tuple(itertools.pairwise(ids)))


def weighable(
    verifier: Verifier,
    habits: Habits,
    plan: ToolPlan,
    draft: Tools,
    fit: Floats,
    near: Sequence[Sequence[int]],
) -> tuple[list[Tools], Floats]:
    """The plans that a draft may have meant, and what speaks for each (plans, len(CLUES))."""
    space = verifier.space
    plans = proposals(habits, plan.request, draft, fit, near)
    graphs = [plan_graph(written(space, plan, draft, p), space.tools) for p in plans]
    score = verifier.plausibility(graphs).clip(1e-4, 1 - 1e-4)
    logit = np.log(score / (1 - score))
    return plans, clues(space, habits, plan.request, draft, fit, plans, logit)


def fit_corrector(
    verifier: Verifier,
    plans: Sequence[ToolPlan],
    config: HabitsConfig | None = None,
    errors: PlannerErrors | None = None,
    tell: Tell = silent,
    *,
    drafts: int = 4,
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
    weights = fit_weights(cases(verifier, part, made))
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
    space.texts.rows([_says(space, t) for t in range(len(space.tools))])
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
    """What weights are fitted on: drafts whose true plan is among the proposals."""
    near = verifier.space.neighbours.tolist()
    found = []
    for draft in made:
        texts = [verifier.space.step_text(s) for s in draft.plan.steps]
        fit = habits.steps(draft.plan.request, texts)
        plans, values = weighable(verifier, habits, draft.plan, draft.tools, fit, near)
        if draft.true in plans:
            found.append(Case(values, plans.index(draft.true)))
    return found


def _says(space: ToolSpace, tool: int) -> str:
    known = space.tools.tools[tool]
    return space.step_text(known.description or known.id.replace("_", " "))


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _spelling(space: ToolSpace) -> dict[str, int]:
    return {_plain(t.id): i for i, t in enumerate(space.tools.tools)}


def examples_from(space: ToolSpace, plans: Sequence[ToolPlan]) -> list[Example]:
    """True plans as examples; those with unknown tools are left out."""
    return examples_of(space, [(p.request, p.tools, p.steps) for p in plans])
