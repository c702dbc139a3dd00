"""Reader of draft plans for the judge: tool names, the order of steps, and their texts."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from random import Random

import numpy as np

from hvr.base.texts import squeezed
from hvr.judging.verifier.features import Floats, ToolEmbeddings
from hvr.judging.verifier.graph import PlanGraph, plan_graph
from hvr.judging.verifier.judgement.past_plans import PastPlans, Tools
from hvr.tools.tool_plans import ToolPlan

# Reading drafts -----------------------------------------------------------------------------------

_CLOSE = 0.8
"""Minimum similarity (difflib's ratio) of a misspelt name."""
_BESIDE = 4
"""Words after "and" that may contain the second of two things."""
_WORD = re.compile(r"[^\W_]+(?:[:.'-][^\W_]+)*")


@dataclass(frozen=True)
class ReadDraft:
    """A draft plan whose tools have been recognised.

    Args:
        plan: Draft in topological order, with corrected tool names.
        unknown: Substitute for each tool that does not exist, by its name.
        misspelt: Correct id of each misspelt tool, by its name.
        required: Minimum number of calls, by tool index, of each tool that the request mentions
            repeatedly, or that the draft calls with different arguments each time.
    """

    graph: PlanGraph
    tools: Tools
    plan: ToolPlan
    unknown: Mapping[str, str]
    misspelt: Mapping[str, str]
    required: Mapping[int, int]

    @property
    def renamed(self) -> Mapping[str, str]:
        """Recognised id of each tool that was unknown or misspelt, by its name."""
        return {**self.unknown, **self.misspelt}

    @property
    def is_chain(self) -> bool:
        return set(self.graph.edges) == set(
            zip(self.graph.order, self.graph.order[1:], strict=False)
        )

    def allows(self, plan: Tools) -> bool:
        """Return whether a plan keeps the required calls.

        If the draft is not a chain, a plan of the same tools must also keep their order.
        """
        if any(plan.count(tool) < times for tool, times in self.required.items()):
            return False
        return self.is_chain or plan == self.tools or sorted(plan) != sorted(self.tools)


class DraftReader:
    def __init__(self, embeddings: ToolEmbeddings) -> None:
        self._embeddings = embeddings
        self._spelling = {squeezed(t.id): t.id for t in embeddings.tools.tools}

    def read(self, plan: ToolPlan) -> ReadDraft:
        """Recognise the tools of a draft.

        A misspelt name is corrected; a tool that does not exist is replaced by the one that fits
        its step best.
        """
        tools = self._embeddings.tools
        graph = plan_graph(plan, tools)
        steps = plan.steps if len(plan.steps) == len(plan.tools) else ()
        unknown: dict[str, str] = {}
        misspelt: dict[str, str] = {}
        for i, name in enumerate(plan.tools):
            if name in tools or name in unknown or name in misspelt:
                continue
            spelt = self._match_spelling(name)
            if spelt is not None:
                misspelt[name] = spelt
            else:
                unknown[name] = self._most_likely(name, steps[i] if steps else "")
        renamed = {**unknown, **misspelt}
        spelt_nodes = [replace(n, tool=renamed.get(n.tool, n.tool)) for n in graph.nodes]
        order = graph.order
        numbers = tuple(tools.index(spelt_nodes[i].tool) for i in order)
        texts = [steps[i] for i in order] if steps else []
        links = tuple((spelt_nodes[a].tool, spelt_nodes[b].tool) for a, b in graph.edges)
        names = tuple(spelt_nodes[i].tool for i in order)
        made = replace(plan, steps=tuple(texts), tools=names, links=links)
        return ReadDraft(
            graph,
            numbers,
            made,
            unknown,
            misspelt,
            _asked_again(plan.request, numbers, texts) | _called_apart(plan, numbers, order),
        )

    def _match_spelling(self, name: str) -> str | None:
        letters = squeezed(name)
        if letters in self._spelling:
            return self._spelling[letters]
        close = get_close_matches(letters, self._spelling, 2, _CLOSE)
        # With two similar names, the spelling is ambiguous.
        return self._spelling[close[0]] if len(close) == 1 else None

    def _most_likely(self, name: str, step: str) -> str:
        embeddings = self._embeddings
        text = f"{embeddings.step_text(step)} {name.replace('_', ' ')}".strip()
        row = embeddings.texts.rows([text])[0]
        number = int(np.argmax(embeddings.vectors @ embeddings.texts.matrix[row]))
        return embeddings.tools.tools[number].id


def _asked_again(request: str, tools: Tools, steps: Sequence[str]) -> dict[int, int]:
    # Calls are distinct if each step shares a word with the request that no other step of the tool
    # shares. These words must be values (numbers, times, names: "at 7 and at 9") or stand on both
    # sides of an "and" ("in the kitchen and in the bedroom").
    if len(steps) != len(tools):
        return {}
    words = _WORD.findall(request)
    values = {w.lower() for i, w in enumerate(words) if i and not w.islower()}
    required: dict[int, int] = {}
    for tool, times in Counter(tools).items():
        if times < 2:
            continue
        texts = [
            {w.lower() for w in _WORD.findall(s)}
            for t, s in zip(tools, steps, strict=True)
            if t == tool
        ]
        own = [
            some.difference(*(o for j, o in enumerate(texts) if j != i))
            for i, some in enumerate(texts)
        ]
        if all(o & values for o in own) or _joined([w.lower() for w in words], own):
            required[tool] = times
    return required


def _called_apart(plan: ToolPlan, tools: Tools, order: Sequence[int]) -> dict[int, int]:
    if len(plan.calls) != len(tools):
        return {}
    given = [plan.calls[i].arguments for i in order]
    return {
        tool: times
        for tool, times in Counter(tools).items()
        if times > 1
        and None not in (own := [a for t, a in zip(tools, given, strict=True) if t == tool])
        and all(a != b for a, b in itertools.combinations(own, 2))
    }


def _joined(words: Sequence[str], own: Sequence[set[str]]) -> bool:
    ands = [i for i, w in enumerate(words) if w == "and"]
    return any(
        own[0] & set(words[max(i - 1, 0) : i]) and own[1] & set(words[i + 1 : i + 1 + _BESIDE])
        for i in ands
        if len(own) == 2
    )


# Logistic fit -------------------------------------------------------------------------------------

_DRAWN = 5.0
"""Strength of the regularisation towards the initial weights."""


def fit_logistic(x: np.ndarray, y: np.ndarray, start: np.ndarray, steps: int = 50) -> np.ndarray:
    """Fit the weights w of a logistic regression σ(w · x) of y, by Newton's method.

    The weights are regularised towards `start`.

    Args:
        x: Features, shape (cases, features).
        y: Labels 0 or 1, shape (cases,).
        start: Initial weights, shape (features,).
        steps: Maximum number of iterations.
    """
    w = start.astype(float)
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (p - y) + _DRAWN * (w - start)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + _DRAWN * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        w = w - step
        if np.abs(step).max() < 1e-6:
            break
    return w


# Step texts ---------------------------------------------------------------------------------------
# Evidence in the texts of steps: whether a plan belongs to the request and follows its order.
#
# A plan for another request mentions other numbers, names and words. Plans usually follow the order
# in which their request mentions things.

_STEM = 5
"""Letters by which words are compared: "booking" equals "book"."""
_SHORTEST = 4
"""Minimum length of a word that is not a number or a name, since "the" carries no information."""
_NUMBER, _NAME, _OTHER, _OF_TOOL = range(4)
"""Kinds of words; words of the tool's description only locate a step within the request."""
_NEAR = 60
"""Similar requests to draw another request's plan from."""
OTHER_REQUEST_PROBABILITY = 0.05
"""Prior probability that a plan is for another request."""


@dataclass(frozen=True)
class StepTexts:
    """The normalised words of a request and of the steps of its plan.

    Args:
        steps: Words of each step, each with its kind: number, name, other, or word of the tool.
    """

    request: Sequence[str]
    steps: Sequence[Sequence[tuple[str, int]]]

    @property
    def counts(self) -> Floats:
        """A constant 1, then six counts of the numbers, names and other words in the steps.

        Each of the three kinds has two counts: distinct words that the request lacks, then distinct
        words that it contains. Words of the tools are excluded.
        """
        has = set(self.request)
        found = np.zeros(7, np.float32)
        found[0] = 1
        for word, kind in {w for step in self.steps for w in step}:
            if kind != _OF_TOOL:
                found[1 + 2 * kind + (word in has)] += 1
        return found

    @property
    def backwards(self) -> float:
        """Distance that consecutive steps move back in the request, as a share of its length."""
        first = {word: i for i, word in reversed(list(enumerate(self.request)))}
        texts = ([first[w] for w, _ in step if w in first] for step in self.steps)
        places = [sum(some) / len(some) for some in texts if some]
        back = sum(max(0.0, a - b) for a, b in itertools.pairwise(places))
        return back / max(len(self.request), 1)

    def strange(self, step: int) -> list[str]:
        """Return the numbers and names in a step that the request does not contain."""
        has = set(self.request)
        return [w for w, kind in self.steps[step] if kind in (_NUMBER, _NAME) and w not in has]


def read_texts(
    embeddings: ToolEmbeddings, request: str, steps: Iterable[tuple[str, str]]
) -> StepTexts:
    texts = []
    for tool, text in steps:
        own = {w for w, _ in _words(f"{embeddings.tool_text(tool)} {tool.replace('_', ' ')}")}
        words = _words(embeddings.step_text(text))
        texts.append([(w, _OF_TOOL if w in own else kind) for w, kind in words])
    return StepTexts([w for w, _ in _words(request)], texts)


def _words(text: str) -> list[tuple[str, int]]:
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
    """Weights that make the texts of a draft's steps evidence for or against the draft.

    Args:
        weights: Weights of `StepTexts.counts` in the log-odds that a plan belongs to its request.
        backwards: Weight of `StepTexts.backwards` in the log-odds that a plan is correct.
        usual: Mean of `StepTexts.backwards`.
    """

    weights: tuple[float, ...] = (0.0,) * 7
    backwards: float = 0.0
    usual: float = 0.0

    def same_request(self, texts: StepTexts) -> float:
        logit = float(np.dot(self.weights, texts.counts)) + math.log(
            1 / OTHER_REQUEST_PROBABILITY - 1
        )
        return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))

    def order(self, texts: StepTexts) -> float:
        """Return the contribution of the step order to the log-odds that a plan is correct."""
        return -self.backwards * (texts.backwards - self.usual)


def fit_counts(past: PastPlans, plans: Sequence[ToolPlan], seed: int) -> tuple[float, ...]:
    """Fit the weights of `StepTexts.counts` that tell a request's own plan from other plans.

    Each request is paired with its own plan, with the plan of a similar request that uses other
    tools, and with the plan of a random request.
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
    # Remove the prior of the drawn sample: `same_request` adds its own.
    fitted[0] -= math.log(share / (1 - share)) if 0 < share < 1 else 0.0
    return tuple(fitted.tolist())
