"""GraphSearch: stepwise search for paths on the tool graph, with tool scores from 1 to 5.

greedy     continues with the best tool of each step
adaptive   continues with all tools that reach a threshold
beam       continues with the few paths that have the highest total scores

In GNN4Plan (section 2.2 and appendix E.1), a language model gives the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

from hvr.errors import UsageError
from hvr.tools.tool_plans import ToolGraph, ToolPlan

SearchRule = Literal["greedy", "adaptive", "beam"]
Path = tuple[str, ...]


class StepJudge(Protocol):
    def scores(self, step: str, candidates: Sequence[str]) -> Mapping[str, float]:
        """Return scores from 1 to 5 for the candidates; a candidate without a score counts as 0."""

    def choose(self, request: str, steps: Sequence[str], paths: Sequence[Path]) -> int:
        """Return the index of the best path."""


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search, with GNN4Plan's defaults.

    Args:
        rule: Search rule; see the module's docstring.
        width: Number of paths that `beam` keeps.
        threshold: Minimum score for `adaptive`.
        calls: Maximum number of times that the judge scores tools for a request.
    """

    rule: SearchRule = "beam"
    width: int = 2
    threshold: float = 3.0
    calls: int = 30
    solutions: int = 20

    def __post_init__(self) -> None:
        if self.rule not in ("greedy", "adaptive", "beam"):
            raise UsageError(f"no search named {self.rule!r}; use greedy, adaptive or beam")
        if min(self.width, self.calls, self.solutions) < 1:
            raise UsageError("width, calls and solutions must be at least 1")


@dataclass(frozen=True)
class Searched:
    """The result of a search; `paths` are all final paths, best first."""

    plan: ToolPlan
    paths: tuple[Path, ...]
    calls: int


def graph_search(
    plan: ToolPlan, graph: ToolGraph, judge: StepJudge, config: SearchConfig | None = None
) -> Searched:
    """Find tools for the steps of a plan.

    The first step may use any tool, and each later step a successor of the previous tool. With
    `greedy`, no tool follows itself; with the other rules, no tool is used twice. A path that
    cannot continue, or for which the judge may not be asked again, is kept as it is.

    Args:
        plan: Request and steps; its own tools are ignored.
        judge: Judge that scores tools and chooses among several paths.
    """
    config = config or SearchConfig()
    open_paths: list[tuple[float, Path]] = [(0.0, ())]
    ended: list[tuple[float, Path]] = []
    calls = 0
    for step in plan.steps:
        grown: list[tuple[float, Path]] = []
        for total, path in open_paths:
            candidates = _candidates(path, graph, config.rule)
            if not candidates or calls >= config.calls:
                ended.append((total, path))
                continue
            calls += 1
            given = judge.scores(step, candidates)
            ranked = sorted(
                ((float(given.get(t, 0)), t) for t in candidates), key=lambda pair: -pair[0]
            )
            kept = _kept(ranked, config)
            if not kept:
                ended.append((total, path))
            grown += [(total + score, (*path, tool)) for score, tool in kept]
        grown.sort(key=lambda pair: -pair[0])
        limit = {"greedy": 1, "beam": config.width, "adaptive": config.solutions}[config.rule]
        open_paths = grown[:limit]
    # Prefer longer paths, which cover more steps, then higher scores.
    ranked_paths = sorted(
        (p for p in (*open_paths, *ended) if p[1]), key=lambda pair: (-len(pair[1]), -pair[0])
    )
    paths = tuple(dict.fromkeys(path for _, path in ranked_paths))[: config.solutions]
    place = judge.choose(plan.request, plan.steps, paths) if len(paths) > 1 else 0
    best = paths[place if 0 <= place < len(paths) else 0] if paths else ()
    made = ToolPlan(plan.id, plan.request, plan.steps, best, tuple(pairwise(best)))
    return Searched(made, paths, calls)


def _candidates(path: Path, graph: ToolGraph, rule: SearchRule) -> list[str]:
    if not path:
        return [t.id for t in graph.tools]
    used = path[-1:] if rule == "greedy" else path
    return [t for t in graph.successors(path[-1]) if t not in used]


def _kept(ranked: list[tuple[float, str]], config: SearchConfig) -> list[tuple[float, str]]:
    if config.rule == "greedy":
        return ranked[:1]
    if config.rule == "beam":
        return ranked[: config.width]
    return [pair for pair in ranked if pair[0] >= config.threshold]
