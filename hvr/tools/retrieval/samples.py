"""Inputs of a scorer: the steps of plans as numbers of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hvr.tools.datasets import tool_text
from hvr.tools.retrieval.steps import ToolNameRemover
from hvr.tools.step_text import without_number
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan
from hvr.values import cached_property


@dataclass
class TextList:
    """Texts and their numbers, in order of appearance."""

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a text, assigned on first use; -1 for an empty one."""
        if not text.strip():
            return -1
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


@dataclass(frozen=True)
class Sample:
    """The input and the label of a scorer for one step.

    Args:
        read: numbers of the texts of the step, the request, the previous and the next step; -1
            for none.
        tool: number of the true tool; -1 if it is not known.
    """

    read: tuple[int, int, int, int]
    tool: int = -1


@dataclass(frozen=True)
class Encodable:
    """Texts of tools and steps with common numbers.

    Args:
        graph: the tools.
    """

    graph: ToolGraph
    list: TextList = field(default_factory=TextList)

    def tools(self) -> tuple[int, ...]:
        """Return the numbers of the texts of the tools."""
        return tuple(self.list.number(tool_text(t)) for t in self.graph.tools)

    def samples(
        self, plan: ToolPlan, tools: Sequence[str | None] | None = None, *, names: bool = True
    ) -> tuple[Sample, ...]:
        """Return a sample for each step of a plan.

        Args:
            plan: its `tools` are ignored.
            tools: labels of the steps, where they are known.
            names: leave the tools' names in the steps.
        """
        clean = without_number if names else self._unnamed
        steps = [self.list.number(clean(s)) for s in plan.steps]
        request = self.list.number(plan.request)
        around = [-1, *steps, -1]
        labels = tools if tools is not None else [None] * len(steps)
        return tuple(
            Sample(
                (step, request, around[i], around[i + 2]),
                self.graph.index(label) if label is not None and label in self.graph else -1,
            )
            for i, (step, label) in enumerate(zip(steps, labels, strict=True))
        )

    @cached_property
    def _unnamed(self) -> ToolNameRemover:
        return ToolNameRemover(t.id for t in self.graph.tools)
