"""Simulated planner errors in true plans.

hvr's own, beyond the paper. A planner that knows only the descriptions of tools takes the one
most similar to the step, leaves out what the request does not mention, and adds look-ups that
the request seems to need. The reranker is fitted on such drafts of training plans, as real drafts
of them are not available.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from hvr.verifier.tool_embeddings import Floats, ToolEmbeddings

UNMENTIONED_FACTOR = 1.5
"""Factor on the probability of an omission where the request hardly mentions the tool."""
STEP_WEIGHT, TOOL_WEIGHT = 0.6, 0.4
"""Weights of the similarities to the step's text and to the true tool in a confusion."""


@dataclass(frozen=True)
class PlannerErrors:
    """Error rates of a simulated planner.

    Args:
        wrong: per step: another tool, similar to the step's text.
        missing: per step: it is omitted.
        extra: per place: a superfluous step.
        swapped: per plan: two neighbours change places.
        own_words: probability that a step with a wrong tool describes that tool; else it keeps
            the text of the true step.
        inverse_temperature: β of the softmax over cosines by which wrong tools are drawn.
    """

    wrong: float = 0.15
    missing: float = 0.12
    extra: float = 0.06
    swapped: float = 0.03
    own_words: float = 0.6
    inverse_temperature: float = 12.0


DraftedSteps = tuple[tuple[int, ...], tuple[str, ...]]
"""Numbers of tools, and the texts of their steps."""


def with_errors(
    rng: Random,
    embeddings: ToolEmbeddings,
    request: str,
    tools: tuple[int, ...],
    steps: tuple[str, ...],
    errors: PlannerErrors,
) -> DraftedSteps:
    """Return a true plan as a planner may have drafted it, with no error or with some.

    Args:
        rng: random numbers.
        embeddings: of the tools.
        request: its text.
        tools: numbers of the true tools.
        steps: normalised texts of the true steps.
        errors: the error rates.
    """
    relevance = embeddings.relevance(request)
    rows = embeddings.texts.rows(steps)
    similarity = embeddings.texts.matrix[rows] @ embeddings.vectors.T
    drafted: list[tuple[int, str]] = []
    for i, (tool, step) in enumerate(zip(tools, steps, strict=True)):
        if rng.random() < errors.extra:
            drafted.append(_superfluous(rng, embeddings, relevance, tools, errors))
        hardly_mentioned = relevance[tool] < np.median(relevance[list(tools)])
        omission = errors.missing * (UNMENTIONED_FACTOR if hardly_mentioned else 1)
        if len(tools) > 1 and rng.random() < omission:
            continue
        if rng.random() < errors.wrong:
            likeness = STEP_WEIGHT * similarity[i] + TOOL_WEIGHT * embeddings.similarity[tool]
            other = _draw(rng, likeness, errors.inverse_temperature, tools)
            own = rng.random() < errors.own_words
            drafted.append((other, embeddings.default_step(other) if own else step))
        else:
            drafted.append((tool, step))
    if rng.random() < errors.extra:
        drafted.append(_superfluous(rng, embeddings, relevance, tools, errors))
    if len(drafted) > 1 and rng.random() < errors.swapped:
        at = rng.randrange(len(drafted) - 1)
        drafted[at], drafted[at + 1] = drafted[at + 1], drafted[at]
    if not drafted:
        drafted = [(tools[-1], steps[-1])]
    return tuple(t for t, _ in drafted), tuple(s for _, s in drafted)


def _superfluous(
    rng: Random,
    embeddings: ToolEmbeddings,
    relevance: Floats,
    tools: tuple[int, ...],
    errors: PlannerErrors,
) -> tuple[int, str]:
    added = _draw(rng, relevance, errors.inverse_temperature, tools)
    return added, embeddings.default_step(added)


def _draw(
    rng: Random, values: Floats, inverse_temperature: float, excluded: tuple[int, ...]
) -> int:
    """Draw a tool from softmax(β values), without the tools of the plan."""
    weights = np.exp(inverse_temperature * (values - values.max()))
    weights[list(excluded)] = 0.0
    if not weights.any():
        return excluded[-1]
    return rng.choices(range(len(weights)), weights.tolist())[0]
