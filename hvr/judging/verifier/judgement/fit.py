"""Fitting of a judge on held-out plans.

For each training plan, a draft is simulated and judged by means of all other plans. The weights are
fitted on one half of the plans and applied to the other. Calibration, thresholds and the rule for
changes are chosen on these trials; then the weights are fitted on all plans.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from hvr.base.registry import load
from hvr.judging.verifier.config import Epoch, ProgressCallback, no_progress
from hvr.judging.verifier.features import Floats, ToolEmbeddings
from hvr.judging.verifier.judgement.draft_reader import (
    TextModel,
    fit_counts,
    fit_logistic,
    read_texts,
)
from hvr.judging.verifier.judgement.judge import (
    ChangeRule,
    Judge,
    PosteriorCalibration,
    kind_of_change,
)
from hvr.judging.verifier.judgement.past_plans import Expectation, PastPlans, Tools
from hvr.judging.verifier.judgement.posterior import (
    FEATURES,
    Case,
    PlanOpinion,
    agreement,
    candidates,
    difference,
    fit_weights,
    plan_features,
    probabilities,
)
from hvr.judging.verifier.verdict import Thresholds
from hvr.tools.tool_plans import ToolPlan

# Planner errors -----------------------------------------------------------------------------------
# Simulated planner errors in true plans.
#
# A planner's errors are mostly plausible. It uses the plan of a similar request, confuses similar
# tools, omits steps that the request does not mention, adds steps that often follow, calls a tool
# twice, or mixes up the order. Weights and thresholds are fitted on such drafts, since real drafts
# of training plans are rare.

UNMENTIONED, MENTIONED = 1.5, 0.7
"""Factors on the probability of omission for tools that the request hardly or clearly mentions."""
MAX_EDIT_DISTANCE = 1.0
"""Largest edit distance at which another plan is mistaken for the right one."""


@dataclass(frozen=True)
class PlannerErrors:
    """Error rates of a simulated planner.

    Args:
        other_request: Share of plans replaced by the plan of a random request.
        another_plan: Share of plans replaced by a similar request's plan that differs by one edit.
        wrong: Share of steps replaced by a similar tool.
        missing: Share of steps omitted.
        extra: Share of positions at which a redundant step is added.
        swapped: Share of steps swapped with the next step.
        repeated: Share of steps called twice.
        inverse_temperature: β of the softmax over cosines from which similar tools are drawn.
    """

    other_request: float = 0.08
    another_plan: float = 0.12
    wrong: float = 0.05
    missing: float = 0.07
    extra: float = 0.05
    swapped: float = 0.04
    repeated: float = 0.015
    inverse_temperature: float = 12.0


def with_errors(rng: Random, expected: Expectation, tools: Tools, errors: PlannerErrors) -> Tools:
    """Return a true plan with the errors, possibly none, of a simulated planner."""
    if rng.random() < errors.other_request:
        order = np.argsort(-expected.likeness, kind="stable").tolist()
        near = rng.random() < 0.5
        return expected.past.plans[rng.choice(order[: max(3, len(order) // 20)] if near else order)]
    if rng.random() < errors.another_plan:
        plan = _plan_of_another(rng, expected, tools)
        if plan is not None:
            return plan
    relevance = expected.relevance
    median = np.median(relevance[list(tools)])
    similarity = expected.past.embeddings.similarity
    drafted: list[int] = []
    for tool in tools:
        if rng.random() < errors.extra:
            drafted.append(_redundant(rng, expected, tools, drafted, errors))
        omission = errors.missing * (UNMENTIONED if relevance[tool] <= median else MENTIONED)
        if len(tools) > 1 and rng.random() < omission:
            continue
        wrong = rng.random() < errors.wrong
        drafted.append(
            _draw(rng, similarity[tool], errors.inverse_temperature, tools) if wrong else tool
        )
        if rng.random() < errors.repeated:
            drafted.append(drafted[-1])
    if rng.random() < errors.extra:
        drafted.append(_redundant(rng, expected, tools, drafted, errors))
    for i in range(len(drafted) - 1):
        if rng.random() < errors.swapped:
            drafted[i], drafted[i + 1] = drafted[i + 1], drafted[i]
    return tuple(drafted) or tools[-1:]


def _plan_of_another(rng: Random, expected: Expectation, tools: Tools) -> Tools | None:
    near = np.argsort(-expected.likeness, kind="stable")[:30].tolist()
    plans = [expected.past.plans[i] for i in near if expected.likeness[i] > 0]
    close = [p for p in plans if p != tools and difference(tools, p).cost <= MAX_EDIT_DISTANCE]
    return close[min(int(rng.expovariate(0.5)), len(close) - 1)] if close else None


def _redundant(
    rng: Random, expected: Expectation, tools: Tools, drafted: list[int], errors: PlannerErrors
) -> int:
    kind = rng.random()
    if kind < 0.4:
        values = expected.relevance
    elif kind < 0.7:
        values = expected.past.embeddings.similarity[rng.choice(tools)]
    else:
        last = drafted[-1] if drafted else expected.past.end
        values = expected.predicted.moves[last, :-1] / errors.inverse_temperature
    return _draw(rng, values, errors.inverse_temperature, tools)


def _draw(rng: Random, values: Floats, inverse_temperature: float, excluded: Tools) -> int:
    weights = np.exp(inverse_temperature * (values - values.max()))
    weights[list(excluded)] = 0.0
    if not weights.any():
        return excluded[-1]
    return rng.choices(range(len(weights)), weights.tolist())[0]


# Fitting ------------------------------------------------------------------------------------------

MIN_PLANS = 30
"""Minimum number of plans to fit a judge on."""
TRIALS = 2000
"""Maximum number of simulated drafts. Small sets get up to `MAX_DRAFTS_PER_PLAN` per plan."""
MAX_DRAFTS_PER_PLAN = 3
CONFIDENCE = 1.64
"""Standard errors by which a gain must exceed 0: one-sided, 95 %."""
TOLERANCE = 1.0
"""Standard errors of tolerated loss on requests for which no past plan is right."""
BLOCKS = 12
"""Blocks of the changes of a kind, ordered by expected gain; each must be a gain."""
MIN_CHANGES = 15
"""Minimum number of changes in a block."""
MIN_CHANGED_PLANS = 40
"""Minimum number of changed plans before a kind of change is trusted."""
FLAG_PRECISION = 0.6
"""Target share of truly wrong steps and links among the flagged ones."""
FAR_QUANTILE = 0.05
"""Share of training requests that count as unlike all others (the level of the test)."""


_KINDS = ("to_new", "to_known", "of_known")
"""Fields of `ChangeRule` in the order of decision."""


@dataclass(frozen=True)
class Trial:
    """A simulated draft, judged by plans and weights that were fitted without it.

    Args:
        plan: Index of the true plan.
        new: Whether no other training plan has the true plan's tools.
    """

    plan: int
    true: Tools
    opinion: PlanOpinion
    new: bool

    @property
    def right(self) -> bool:
        return self.opinion.draft == self.true


def fit_judge(
    embeddings: ToolEmbeddings,
    plans: Sequence[ToolPlan],
    progress: ProgressCallback = no_progress,
    errors: PlannerErrors | None = None,
    seed: int = 0,
) -> Judge:
    """Fit a judge to true plans, except those without tools or with unknown tools.

    If there are fewer than `MIN_PLANS` plans, the judge gives no verdicts.
    """
    usable = [p for p in plans if p.tools and all(map(embeddings.known, p.tools))]
    past = PastPlans(
        embeddings,
        [p.request for p in usable],
        [tuple(map(embeddings.tools.index, p.tools)) for p in usable],
    )
    if len(usable) < MIN_PLANS:
        return Judge(past, None)
    # The matrices are small: more threads double the CPU time and save no wall time.
    with load("threadpoolctl", "threadpoolctl", "gnn").threadpool_limits(1, user_api="blas"):
        drawn = simulated(past, errors or PlannerErrors(), seed, progress)
        return judge_of(past, usable, drawn, seed)


def judge_of(
    past: PastPlans, plans: Sequence[ToolPlan], drawn: Sequence[Trial], seed: int = 0
) -> Judge:
    used = np.ones(len(FEATURES))
    trials = cross_fitted(drawn, used)
    back = np.array([_backwards(past.embeddings, t, plans[t.plan]) for t in trials])
    calibration, order = _calibration(trials, back)
    nearness = [t.opinion.expected.nearness for t in trials]
    return Judge(
        past,
        weights_of(drawn, used),
        calibration,
        Thresholds(0.5, *_flags(trials)),
        change_rule(trials),
        float(np.quantile(nearness, FAR_QUANTILE)),
        TextModel(fit_counts(past, plans, seed), order, float(back.mean())),
    )


def simulated(
    past: PastPlans, errors: PlannerErrors, seed: int, progress: ProgressCallback
) -> list[Trial]:
    """Return simulated drafts with their candidates and features, but without posteriors."""
    order = list(range(len(past)))
    Random(f"drafts {seed}").shuffle(order)
    draws = min(MAX_DRAFTS_PER_PLAN, max(1, TRIALS // len(past)))
    pairs = [(i, k) for i in order[:TRIALS] for k in range(draws)]
    trials = []
    for number, (i, k) in enumerate(pairs, 1):
        expected = past.expect(past.requests[i], left_out=i)
        true = past.plans[i]
        draft = with_errors(Random(f"draft {seed} {i} {k}"), expected, true, errors)
        near = candidates(expected, draft)
        features = plan_features(expected, draft, near)
        opinion = PlanOpinion(expected, near, features, np.zeros(len(near), np.float32))
        trials.append(Trial(i, true, opinion, expected.times(true) <= 0))
        if number % 50 == 0 or number == len(pairs):
            progress(Epoch("judge", number, len(pairs), 0.0))
    return trials


def weights_of(trials: Sequence[Trial], used: np.ndarray) -> Floats:
    """Fit the weights of the features selected by `used`; the other weights are 0."""
    cases = [
        Case(t.opinion.features * used, t.opinion.plans.index(t.true))
        for t in trials
        if t.true in t.opinion.plans
    ]
    return fit_weights(cases) * used if cases else np.zeros(len(FEATURES), np.float32)


def cross_fitted(trials: Sequence[Trial], used: np.ndarray) -> list[Trial]:
    """Return trials whose posteriors use weights fitted on the other half of the plans."""
    found = []
    # Split by plan, so that drafts of a plan are never on both sides.
    for half in (0, 1):
        weights = weights_of([t for t in trials if t.plan % 2 != half], used)
        for t in trials:
            if t.plan % 2 == half:
                o = t.opinion
                shares = probabilities(o.features @ weights)
                found.append(replace(t, opinion=replace(o, shares=shares)))
    return found


def _calibration(trials: Sequence[Trial], back: Floats) -> tuple[PosteriorCalibration, float]:
    """Fit the calibration and the weight of the step order, to predict which drafts are correct."""
    share = np.clip([float(t.opinion.shares[0]) for t in trials], 1e-6, 1 - 1e-6)
    spread = float(back.std()) + 1e-6
    less = (back.mean() - back) / spread
    lacking = np.array([t.opinion.incomplete for t in trials])
    usual = float(lacking.mean())
    x = np.stack([np.log(share / (1 - share)), np.ones(len(trials)), less, lacking - usual], 1)
    y = np.array([t.right for t in trials], float)
    w = fit_logistic(x, y, np.array([1.0, 0.0, 0.0, 0.0]))
    # Where simulated drafts are separable, no slope would be steep enough.
    slope, intercept = np.clip(w[0], 0.3, 1.5), np.clip(w[1], -1.0, 1.0)
    # Without a bound, this would outweigh everything else where few drafts separate perfectly.
    incomplete = float(np.clip(w[3], -1.0, 0.0))
    calibration = PosteriorCalibration(float(slope), float(intercept), incomplete, usual)
    return calibration, max(float(w[2]), 0.0) / spread


def _backwards(embeddings: ToolEmbeddings, trial: Trial, plan: ToolPlan) -> float:
    # Steps have the texts of the true steps that they keep or replace; others have none.
    if len(plan.steps) != len(plan.tools):
        return 0.0
    draft = trial.opinion.draft
    texts = {i: plan.steps[j] for i, j in difference(draft, trial.true).pairs}
    names = [embeddings.tools.tools[t].id for t in draft]
    steps = ((name, texts.get(i, "")) for i, name in enumerate(names))
    return read_texts(embeddings, plan.request, steps).backwards


def _flags(trials: Sequence[Trial]) -> tuple[float, float]:
    steps: list[tuple[float, bool]] = []
    links: list[tuple[float, bool]] = []
    for t in trials:
        o = t.opinion
        change = difference(o.draft, t.true)
        kept = {i for i, j in change.pairs if o.draft[i] == t.true[j]}
        steps += [(risk, i not in kept) for i, risk in enumerate(o.step_risks)]
        true = {(None, t.true[0]), *zip(t.true, t.true[1:], strict=False)}
        for i, tool in enumerate(o.draft):
            before = o.draft[i - 1] if i else None
            links.append((o.link_risk(i - 1 if i else None, i), (before, tool) not in true))
    return _flag(steps), _flag(links)


def _flag(risks: Sequence[tuple[float, bool]]) -> float:
    """Return the lowest threshold at which `FLAG_PRECISION` of the flagged items are wrong."""
    order = sorted(risks, reverse=True)
    hits, least = 0, 0.95
    for number, (risk, wrong) in enumerate(order, 1):
        hits += wrong
        if hits / number >= FLAG_PRECISION and number >= 10:
            least = risk
    return min(max(round(least, 2), 0.2), 0.95)


def change_rule(trials: Sequence[Trial]) -> ChangeRule:
    """Fit the minimum expected gain at which replacing a draft significantly improves plans.

    On requests that no past plan solves, the loss from replacing drafts by past plans must not
    exceed the gain from replacing them by new plans.
    """
    kinds: dict[str, list[Trial]] = {kind: [] for kind in _KINDS}
    for t in trials:
        if t.opinion.best:
            kinds[kind_of_change(t.opinion)].append(t)
    credit = 0.0
    least: dict[str, float] = {}
    for kind, some in kinds.items():
        least[kind], credit = _least_gain(some, credit)
    return ChangeRule(**least)


def _least_gain(changed: Sequence[Trial], credit: float) -> tuple[float, float]:
    """Return the minimum expected gain at which changes pay off, and the credit that is left."""
    # Changes are ordered by expected gain and cut into blocks. A block is accepted, highest first,
    # while the total gain exceeds 0 by `CONFIDENCE` standard errors (with the drafts of a plan
    # counted as one) and the block's mean gain is positive. Also, the loss on requests for which no
    # past plan is right must stay within the credit and `TOLERANCE` standard errors. The accepted
    # blocks must cover `MIN_CHANGED_PLANS` plans.
    order = sorted(changed, key=lambda t: -t.opinion.gain)
    gains = np.array([_gain(t) for t in order])
    new = np.array([t.new for t in order], bool)
    plans = np.array([t.plan for t in order], int)
    least, left = math.inf, credit
    size = max(len(order) // BLOCKS, MIN_CHANGES)
    for start in range(0, len(order) - size + 1, size):
        end = start + size if len(order) - start >= 2 * size else len(order)
        # Sum the gains of each plan, since its drafts are not independent.
        kept, place = np.unique(plans[:end], return_inverse=True)
        so_far = np.bincount(place, gains[:end])
        confident = so_far.mean() > CONFIDENCE * so_far.std() / math.sqrt(len(kept))
        on_new = gains[:end][new[:end]]
        balance = credit + float(on_new.sum())
        tolerance = TOLERANCE * float(np.sqrt((on_new**2).sum()))
        if not (confident and gains[start:end].mean() > 0 and balance + tolerance >= 0):
            break
        if len(kept) >= MIN_CHANGED_PLANS:
            least, left = order[end - 1].opinion.gain, max(balance, 0.0)
    return least, left


def _gain(trial: Trial) -> float:
    o = trial.opinion
    return agreement(o.plans[o.best], trial.true) - agreement(o.draft, trial.true)
