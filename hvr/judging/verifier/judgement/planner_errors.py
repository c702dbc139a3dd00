"""Simulated planner errors in true plans.

A planner mostly errs in ways that look right: it does for a request what is right for a similar
one, takes the other of two similar tools, leaves out what the request does not mention, adds what
often follows, calls a tool twice, or knows the steps and not their order. Weights and thresholds
are fitted on such drafts of training plans, as real drafts of them are seldom to be had.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from hvr.judging.verifier.judgement.edits import difference
from hvr.judging.verifier.judgement.past_plans import Expectation, Tools
from hvr.judging.verifier.tool_embeddings import Floats

UNMENTIONED, MENTIONED = 1.5, 0.7
"""Factors on the probability of an omission, by whether the request hardly mentions the tool."""
SAME_STEPS = 1.0
"""Edit distance within which another plan is taken for the right one."""


@dataclass(frozen=True)
class PlannerErrors:
    """Error rates of a simulated planner.

    Args:
        other_request: per plan: the plan of another request, whatever it is.
        another_plan: per plan: the plan of a similar request, one edit away.
        wrong: per step: another tool, similar to the true one.
        missing: per step: it is omitted.
        extra: per place: a superfluous step.
        swapped: per step: it changes places with the next.
        repeated: per step: it is called twice.
        inverse_temperature: β of the softmax over cosines by which tools are drawn.
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
    """Return a true plan as a planner may have drafted it, with no error or with some.

    Args:
        rng: random numbers.
        expected: for the request, the plan itself left out.
        tools: the true plan.
        errors: the error rates.
    """
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
            drafted.append(_superfluous(rng, expected, tools, drafted, errors))
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
        drafted.append(_superfluous(rng, expected, tools, drafted, errors))
    for i in range(len(drafted) - 1):
        if rng.random() < errors.swapped:
            drafted[i], drafted[i + 1] = drafted[i + 1], drafted[i]
    return tuple(drafted) or tools[-1:]


def _plan_of_another(rng: Random, expected: Expectation, tools: Tools) -> Tools | None:
    """Return the plan of a similar request that is nearly the true one, if there is any."""
    near = np.argsort(-expected.likeness, kind="stable")[:30].tolist()
    plans = [expected.past.plans[i] for i in near if expected.likeness[i] > 0]
    close = [p for p in plans if p != tools and difference(tools, p).cost <= SAME_STEPS]
    return close[min(int(rng.expovariate(0.5)), len(close) - 1)] if close else None


def _superfluous(
    rng: Random, expected: Expectation, tools: Tools, drafted: list[int], errors: PlannerErrors
) -> int:
    """Draw a tool that the request seems to need, one like another, or what often follows."""
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
    """Draw a tool from softmax(β values), without the tools of the plan."""
    weights = np.exp(inverse_temperature * (values - values.max()))
    weights[list(excluded)] = 0.0
    if not weights.any():
        return excluded[-1]
    return rng.choices(range(len(weights)), weights.tolist())[0]
