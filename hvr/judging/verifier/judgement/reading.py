"""Drafts as the judge reads them: names recognised, steps in order."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np

from hvr.judging.verifier.graph import PlanGraph, plan_graph
from hvr.judging.verifier.judgement.past_plans import Tools
from hvr.judging.verifier.tool_embeddings import ToolEmbeddings
from hvr.tools.tool_plan import ToolPlan

_CLOSE = 0.8
"""Similarity of spellings (difflib's ratio) from which a name is taken for a misspelt one."""
_BESIDE = 4
"""Words after an "and" among which the second of two things stands."""
_WORD = re.compile(r"[^\W_]+(?:[:.'-][^\W_]+)*")


@dataclass(frozen=True)
class ReadDraft:
    """A draft whose tools are known.

    Args:
        graph: as it was given; nodes in its order.
        tools: numbers of the tools, in topological order.
        plan: the draft with its tools spelt as they are called, in that order.
        unknown: of each tool that does not exist, the id and that of the tool taken for it.
        misspelt: the same for tools in another spelling.
        required: how often tools must be called: those that the request asks for twice, or that
            are called with other arguments each time.
    """

    graph: PlanGraph
    tools: Tools
    plan: ToolPlan
    unknown: Mapping[str, str]
    misspelt: Mapping[str, str]
    required: Mapping[int, int]

    @property
    def renamed(self) -> Mapping[str, str]:
        """For each tool that is not called so, the one that takes its place."""
        return {**self.unknown, **self.misspelt}

    @property
    def is_chain(self) -> bool:
        """Whether each step follows the one before."""
        return set(self.graph.edges) == set(
            zip(self.graph.order, self.graph.order[1:], strict=False)
        )

    def allows(self, plan: Tools) -> bool:
        """Whether a plan keeps calls that are no repeats and, of a graph, the order."""
        if any(plan.count(tool) < times for tool, times in self.required.items()):
            return False
        return self.is_chain or plan == self.tools or sorted(plan) != sorted(self.tools)


class DraftReader:
    """Recognises the tools of drafts.

    Args:
        embeddings: of the tools.
    """

    def __init__(self, embeddings: ToolEmbeddings) -> None:
        self._embeddings = embeddings
        self._spelling = {_squeezed(t.id): t.id for t in embeddings.tools.tools}

    def read(self, plan: ToolPlan) -> ReadDraft:
        """Return a draft with known tools.

        A name in another spelling is recognised; for a tool that does not exist the one that its
        step most likely means is taken.

        Raises:
            UsageError: the plan is empty, or its links go round in a circle.
        """
        tools = self._embeddings.tools
        graph = plan_graph(plan, tools)
        steps = plan.steps if len(plan.steps) == len(plan.tools) else ()
        unknown: dict[str, str] = {}
        misspelt: dict[str, str] = {}
        for i, name in enumerate(plan.tools):
            if name in tools or name in unknown or name in misspelt:
                continue
            spelt = self._spelt(name)
            if spelt is not None:
                misspelt[name] = spelt
            else:
                unknown[name] = self._meant(name, steps[i] if steps else "")
        renamed = {**unknown, **misspelt}
        spelt_nodes = [replace(n, tool=renamed.get(n.tool, n.tool)) for n in graph.nodes]
        order = graph.order
        numbers = tuple(tools.index(spelt_nodes[i].tool) for i in order)
        said = [steps[i] for i in order] if steps else []
        links = tuple((spelt_nodes[a].tool, spelt_nodes[b].tool) for a, b in graph.edges)
        names = tuple(spelt_nodes[i].tool for i in order)
        made = replace(plan, steps=tuple(said), tools=names, links=links)
        return ReadDraft(
            graph, numbers, made, unknown, misspelt,
            _asked_again(plan.request, numbers, said) | _called_apart(plan, numbers, order),
        )  # fmt: skip

    def _spelt(self, name: str) -> str | None:
        squeezed = _squeezed(name)
        if squeezed in self._spelling:
            return self._spelling[squeezed]
        close = get_close_matches(squeezed, self._spelling, 2, _CLOSE)
        return self._spelling[close[0]] if len(close) == 1 else None

    def _meant(self, name: str, step: str) -> str:
        embeddings = self._embeddings
        text = f"{embeddings.step_text(step)} {name.replace('_', ' ')}".strip()
        row = embeddings.texts.rows([text])[0]
        number = int(np.argmax(embeddings.vectors @ embeddings.texts.matrix[row]))
        return embeddings.tools.tools[number].id


def _asked_again(request: str, tools: Tools, steps: Sequence[str]) -> dict[int, int]:
    """Return how often the request asks for tools that a draft calls more than once.

    Calls are asked for apart if each step has something of the request that no other step with that
    tool has, and these things are values (numbers, times, names: "at 7 and at 9") or stand beside
    each other around an "and" ("in the kitchen and in the bedroom").
    """
    if len(steps) != len(tools):
        return {}
    words = _WORD.findall(request)
    values = {w.lower() for i, w in enumerate(words) if i and not w.islower()}
    required: dict[int, int] = {}
    for tool, times in Counter(tools).items():
        if times < 2:
            continue
        said = [
            {w.lower() for w in _WORD.findall(s)}
            for t, s in zip(tools, steps, strict=True)
            if t == tool
        ]
        own = [
            some.difference(*(o for j, o in enumerate(said) if j != i))
            for i, some in enumerate(said)
        ]
        if all(o & values for o in own) or _joined([w.lower() for w in words], own):
            required[tool] = times
    return required


def _called_apart(plan: ToolPlan, tools: Tools, order: Sequence[int]) -> dict[int, int]:
    """Return how often a plan calls tools that it always calls with other arguments."""
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
    """Whether words of each of some sets stand around one "and", or more, in this order."""
    ands = [i for i, w in enumerate(words) if w == "and"]
    return any(
        own[0] & set(words[max(i - 1, 0) : i]) and own[1] & set(words[i + 1 : i + 1 + _BESIDE])
        for i in ands
        if len(own) == 2
    )


def _squeezed(name: str) -> str:
    """Return a name as it is compared: lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())
