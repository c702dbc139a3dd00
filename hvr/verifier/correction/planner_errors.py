"""Errors such as a good planner makes, for plans that are known to be true.

hvr's own, beyond the paper. A planner that has only the descriptions of tools takes the one that
reads most like the step, leaves out what the request does not mention, and adds look-ups that
the request seems to need. Corrections are fitted on such drafts of training plans, as no planner's
own drafts of them are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from hvr.verifier.tool_embeddings import Floats, ToolSpace


@dataclass(frozen=True)
class PlannerErrors:
    """How often which error happens.

    Args:
        wrong: of a step: another tool that reads like what it says.
        missing: of a step: it is left out.
        extra: of a place: a step too many.
        swapped: of a plan: two neighbours change places.
        own_words: of a wrong tool: the step says what that tool does; else what was meant.
        taste: how much alike texts attract (inverse temperature of a cosine).
    """

    wrong: float = 0.15
    missing: float = 0.12
    extra: float = 0.06
    swapped: float = 0.03
    own_words: float = 0.6
    taste: float = 12.0


Draft = tuple[tuple[int, ...], tuple[str, ...]]
"""Numbers of tools, and what each step says."""


def with_errors(
    draw: Random,
    space: ToolSpace,
    request: str,
    tools: tuple[int, ...],
    steps: tuple[str, ...],
    errors: PlannerErrors,
) -> Draft:
    """Return a true plan as a planner may have drafted it, with no error or with some.

    Args:
        draw: chance.
        space: of the tools.
        request: what was asked.
        tools: numbers of the true tools.
        steps: what each step says, cleaned.
        errors: how often which.
    """
    relevance = space.relevance(request)
    rows = space.texts.rows(steps)
    alike = space.texts.matrix[rows] @ space.vectors.T
    drafted: list[tuple[int, str]] = []
    for i, (tool, step) in enumerate(zip(tools, steps, strict=True)):
        if draw.random() < errors.extra:
            added = _drawn(draw, relevance, errors.taste, (*tools,))
            drafted.append((added, _says(space, added)))
        # What the request speaks of is seldom left out.
        chance = errors.missing * (
            1.5 if relevance[tool] < np.median(relevance[list(tools)]) else 1
        )
        if len(tools) > 1 and draw.random() < chance:
            continue
        if draw.random() < errors.wrong:
            both = 0.6 * alike[i] + 0.4 * space.similarity[tool]
            other = _drawn(draw, both, errors.taste, (*tools,))
            own = draw.random() < errors.own_words
            drafted.append((other, _says(space, other) if own else step))
        else:
            drafted.append((tool, step))
    if draw.random() < errors.extra:
        added = _drawn(draw, relevance, errors.taste, (*tools,))
        drafted.append((added, _says(space, added)))
    if len(drafted) > 1 and draw.random() < errors.swapped:
        at = draw.randrange(len(drafted) - 1)
        drafted[at], drafted[at + 1] = drafted[at + 1], drafted[at]
    if not drafted:
        drafted = [(tools[-1], steps[-1])]
    return tuple(t for t, _ in drafted), tuple(s for _, s in drafted)


def _drawn(draw: Random, values: Floats, taste: float, but: tuple[int, ...]) -> int:
    weights = np.exp(taste * (values - values.max()))
    weights[list(but)] = 0.0
    if not weights.any():
        return but[-1]
    return draw.choices(range(len(weights)), weights.tolist())[0]


def _says(space: ToolSpace, tool: int) -> str:
    known = space.tools.tools[tool]
    return space.step_text(known.description or known.id.replace("_", " "))
