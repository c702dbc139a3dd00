"""The learnt graph of tools as experience: costs, shapes and flows by what its links have seen."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

from hvr.calling.values import CallOutcome
from hvr.navigation.evolution import evolved
from hvr.navigation.experience import CountedExperience, flows_in
from hvr.navigation.findings import Shape, entities
from hvr.navigation.graph import NavigationGraph, ObservedCall

LOOK = 5
"""Calls between two looks at the graph, at which failing tools are removed and some tried again."""


class GraphExperience:
    """Keeps a `NavigationGraph`; what stands at a path of a tool's results is a parameter of it.

    A tool is left alone if the graph has removed it, or if it has just failed and rests.

    Args:
        past: sessions of earlier calls, from a log; the outcomes of each in order.
        rest: for how many calls a tool that failed is left alone, the first time.
        look: calls between two looks at the graph (`evolved`); 0 for none.
        graph: to begin with, such as that of another experience.
    """

    def __init__(
        self,
        past: Iterable[Sequence[CallOutcome]] = (),
        rest: int = 3,
        look: int = LOOK,
        graph: NavigationGraph | None = None,
    ) -> None:
        self.graph = graph or NavigationGraph.of(())
        self._resting = CountedExperience(rest=rest)
        self._look, self._before = look, ""
        self._clock = sum(tool.evidence.count for tool in self.graph.tools.values())
        for session in past:
            flows: dict[str, list[tuple[str, str]]] = {}
            for parameter, tool, path in flows_in(session):
                flows.setdefault(tool, []).append((_place(tool, path), parameter))
            for outcome in session:
                self._take(outcome, flows.pop(outcome.call.tool, ()) if outcome.ok else ())
            self._before = ""

    def cost(self, tool: str) -> int:
        """Return -100 ln of the tool's weight, which ages, at least 1."""
        known = self.graph.tools.get(tool)
        weight = known.evidence.weight if known else 0.5
        return max(1, round(-100 * math.log(weight)))

    def shape(self, tool: str) -> Shape | None:
        """Return the patterns of paths in the results so far."""
        known = self.graph.tools.get(tool)
        if known is None or not known.evidence.successes:
            return None
        return frozenset(tuple(json.loads(place)[1:]) for place in known.gives)

    def flow(self, parameter: str, tool: str, path: tuple[str, ...]) -> float:
        """Return n / (n + 1) of n times that a value was passed on so."""
        evidence = self.graph.passes.get(_place(tool, path), parameter)
        return evidence.successes / (evidence.successes + 1) if evidence else 0.0

    def idle(self, tool: str) -> bool:
        """Say whether the graph has removed the tool, or it rests."""
        gone = tool in self.graph.tools and not self.graph.usable(tool)
        return gone or self._resting.idle(tool)

    def observe(self, outcome: CallOutcome) -> None:
        """Take a call into the graph, and look at it once in a while."""
        self._resting.observe(outcome)
        self._take(outcome, ())
        if self._look and self._clock % self._look == 0:
            self.graph = evolved(self.graph, float(self._clock))

    def _take(self, outcome: CallOutcome, passed: Sequence[tuple[str, str]]) -> None:
        self._clock += 1
        tool = outcome.call.tool
        paths = (path for path, _, _ in entities(outcome.result, traits=False))
        returned = dict.fromkeys(_place(tool, path) for path in paths) if outcome.ok else ()
        seen = ObservedCall(
            tool, outcome.ok, float(self._clock), self._before,
            given=tuple(outcome.call.arguments), returned=tuple(returned), passed=tuple(passed),
        )  # fmt: skip
        self.graph = self.graph.observe(seen)
        self._before = tool if outcome.ok else self._before


def _place(tool: str, path: Sequence[str]) -> str:
    return json.dumps([tool, *path])
