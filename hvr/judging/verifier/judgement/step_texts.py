"""What the texts of steps say of the request: whether the plan is one for it, and in its order.

A plan for another request speaks of things that this one does not have: other numbers, names,
words. And what a request asks for first is mostly done first.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from hvr.judging.verifier.judgement.logistic_fit import fit_logistic
from hvr.judging.verifier.judgement.past_plans import PastPlans
from hvr.judging.verifier.tool_embeddings import Floats, ToolEmbeddings
from hvr.tools.tool_plan import ToolPlan

_WORD = re.compile(r"[^\W_]+(?:[:.'-][^\W_]+)*")
_STEM = 5
"""First letters by which words are compared: "booking" is "book"."""
_SHORTEST = 4
"""Letters of a word at least, unless it is a number or a name: "the" says nothing."""
_NUMBER, _NAME, _OTHER, _OF_TOOL = range(4)
"""Kinds of words; those of a tool's description say nothing of the request but where it is."""
_NEAR = 60
"""Similar requests of which a plan is drawn that is another's."""
OTHERS = 0.05
"""Probability that a plan is another request's, before its steps are read."""


@dataclass(frozen=True)
class StepTexts:
    """What is in the steps of a plan, and in its request.

    Args:
        request: words of the request, as they are compared, in order.
        steps: of each step the words, with their kinds.
    """

    request: Sequence[str]
    steps: Sequence[Sequence[tuple[str, int]]]

    @property
    def counts(self) -> Floats:
        """1, and the numbers, names and other words of the steps that the request lacks or has."""
        has = set(self.request)
        found = np.zeros(7, np.float32)
        found[0] = 1
        for word, kind in {w for step in self.steps for w in step}:
            if kind != _OF_TOOL:
                found[1 + 2 * kind + (word in has)] += 1
        return found

    @property
    def backwards(self) -> float:
        """How far steps go back in the request, in parts of its length, summed over steps."""
        first = {word: i for i, word in reversed(list(enumerate(self.request)))}
        said = ([first[w] for w, _ in step if w in first] for step in self.steps)
        places = [sum(some) / len(some) for some in said if some]
        back = sum(max(0.0, a - b) for a, b in itertools.pairwise(places))
        return back / max(len(self.request), 1)

    def strange(self, step: int) -> list[str]:
        """Return the numbers and names of a step that the request does not have."""
        has = set(self.request)
        return [w for w, kind in self.steps[step] if kind in (_NUMBER, _NAME) and w not in has]


def read_texts(
    embeddings: ToolEmbeddings, request: str, steps: Iterable[tuple[str, str]]
) -> StepTexts:
    """Return what the steps of a plan say.

    Args:
        embeddings: of the tools.
        request: its text.
        steps: the tool and the text of each.
    """
    said = []
    for tool, text in steps:
        own = {w for w, _ in _words(f"{embeddings.tool_text(tool)} {tool.replace('_', ' ')}")}
        words = _words(embeddings.step_text(text))
        said.append([(w, _OF_TOOL if w in own else kind) for w, kind in words])
    return StepTexts([w for w, _ in _words(request)], said)


def _words(text: str) -> list[tuple[str, int]]:
    """Return the words of a text, as they are compared, with their kinds."""
    found = []
    for i, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        if any(c.isdigit() for c in word):
            found.append((word.lower(), _NUMBER))
        elif i and word != word.lower():
            found.append((word.lower()[:_STEM], _NAME))
        elif len(word) >= _SHORTEST:
            found.append((word.lower()[:_STEM], _OTHER))
    return found


@dataclass(frozen=True)
class TextModel:
    """How texts of steps count.

    Args:
        weights: of `StepTexts.counts`, for the log-odds that a plan is one for its request.
        backwards: what the log-odds that a plan is right lose where steps go back by the length of
            the request.
        usual: how far they go back on average.
    """

    weights: tuple[float, ...] = (0.0,) * 7
    backwards: float = 0.0
    usual: float = 0.0

    def same_request(self, texts: StepTexts) -> float:
        """Return the probability that a plan is one for its request."""
        logit = float(np.dot(self.weights, texts.counts)) + math.log(1 / OTHERS - 1)
        return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))

    def order(self, texts: StepTexts) -> float:
        """Return what the order of the steps adds to the log-odds that a plan is right."""
        return -self.backwards * (texts.backwards - self.usual)


def fit_counts(past: PastPlans, plans: Sequence[ToolPlan], seed: int) -> tuple[float, ...]:
    """Return the weights that tell the steps of a request's plan from those of another's.

    Each request is taken with the steps of its own plan, of that of a similar request whose tools
    are others, and of that of any request.

    Args:
        past: the plans.
        plans: the same, with their steps.
        seed: of all that is drawn.
    """
    usable = [i for i, p in enumerate(plans) if len(p.steps) == len(p.tools)]
    rng = Random(f"texts {seed}")
    rows: list[Floats] = []
    own: list[bool] = []
    for i in usable:
        order = np.argsort(-(past.vectors @ past.vectors[i]), kind="stable")[1:_NEAR].tolist()
        near = [k for k in order if set(past.plans[k]) != set(past.plans[i])]
        drawn = [rng.choice(near)] if near else []
        for k in (i, *drawn, rng.choice(usable)):
            if len(plans[k].steps) == len(plans[k].tools):
                steps = zip(plans[k].tools, plans[k].steps, strict=True)
                rows.append(read_texts(past.embeddings, plans[i].request, steps).counts)
                own.append(k == i)
    if not rows:
        return TextModel().weights
    share = np.mean(own)
    fitted = fit_logistic(np.array(rows), np.array(own), np.zeros(len(rows[0])))
    fitted[0] -= math.log(share / (1 - share)) if 0 < share < 1 else 0.0
    return tuple(fitted.tolist())
