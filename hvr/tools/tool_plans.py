"""Tools and their links, plans over tools, and metrics for predicted plans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from hvr.errors import UsageError
from hvr.values import cached_property

# Tool graph ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """A tool that a plan step can call, or a robot's atomic action; types are empty if unknown."""

    id: str
    description: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolGraph:
    """Tools, with links from each tool to the tools that may directly follow it.

    GNN4Plan calls this the task graph, GNNVerifier (section 3.1) the dependency graph.

    Args:
        tools: Tools; the position of a tool is its index.
        links: Distinct pairs of ids (source, target), where the source can feed the target.

    Raises:
        UsageError: A tool is duplicated, or a link names an unknown tool.
    """

    tools: tuple[Tool, ...]
    links: tuple[tuple[str, str], ...] = ()
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        index = {tool.id: i for i, tool in enumerate(self.tools)}
        if len(index) < len(self.tools):
            twice = Counter(tool.id for tool in self.tools).most_common(1)[0][0]
            raise UsageError(f"tool {twice!r} is duplicated: each tool needs a unique id")
        unknown = sorted({end for link in self.links for end in link} - index.keys())
        if unknown:
            raise UsageError(f"a link names the unknown tool {unknown[0]!r}")
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "links", tuple(dict.fromkeys(self.links)))

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._index

    def __len__(self) -> int:
        return len(self.tools)

    def index(self, tool_id: str) -> int:
        return self._index[tool_id]

    def tool(self, tool_id: str) -> Tool:
        return self.tools[self._index[tool_id]]

    @cached_property
    def typed(self) -> bool:
        return any(tool.inputs or tool.outputs for tool in self.tools)

    @cached_property
    def _after(self) -> Mapping[str, tuple[str, ...]]:
        successors: dict[str, list[str]] = {}
        for source, target in self.links:
            successors.setdefault(source, []).append(target)
        return {source: tuple(targets) for source, targets in successors.items()}

    @cached_property
    def _pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.links)

    def linked(self, source: str, target: str) -> bool:
        return (source, target) in self._pairs

    def successors(self, tool_id: str) -> tuple[str, ...]:
        """Return the ids of a tool's successors; none for an unknown tool."""
        return self._after.get(tool_id, ())

    def with_links(self, links: Iterable[tuple[str, str]]) -> ToolGraph:
        return ToolGraph(self.tools, tuple(links))


# Tool plan ----------------------------------------------------------------------------------------

Link = tuple[str, str]
"""Ids of two tools: source and target."""


@dataclass(frozen=True)
class LoggedCall:
    """A call recorded in a log.

    Args:
        arguments: JSON values by parameter; None if the log does not contain them.
        unnamed: Positional arguments.
        returned: Whether the log contains the result.
        failed: Whether the result reports an error.
        turn: Number of user messages before the call.
    """

    tool: str
    arguments: Mapping[str, Any] | None = None
    unnamed: tuple[Any, ...] = ()
    result: Any = None
    returned: bool = False
    failed: bool = False
    turn: int = 0


@dataclass(frozen=True)
class ToolPlan:
    """A request, and the steps that should fulfil it.

    Args:
        request: Text of the request; empty if unknown.
        steps: Text of each step. A well-formed plan has as many steps as tools; real data may not.
        tools: Ids of the tools in order; an id may be repeated.
        links: Links between tools, as stated by the data or the planner.
        calls: The logged call of each tool; empty for plans without calls.
        said: All messages of the user in order; empty if there is only the request.
    """

    id: str
    request: str
    steps: tuple[str, ...]
    tools: tuple[str, ...]
    links: tuple[Link, ...] = ()
    calls: tuple[LoggedCall, ...] = field(default=(), hash=False)
    said: tuple[str, ...] = ()

    @property
    def chain(self) -> tuple[Link, ...]:
        return tuple(zip(self.tools, self.tools[1:], strict=False))


# Step text ----------------------------------------------------------------------------------------
# Step texts often name their tool, and a retriever could simply copy the name. To measure its
# understanding of steps, the name is removed:
#
#     Step 2 Call train_ticket_booking to book a seat   ->   book a seat

_NUMBER = re.compile(
    r"^\s*(?:step\s*\d+\s*[:.)\-]*|step\s*[:.)\-]+|\d+(?:\.\d+)*\s*[:.)\-]+)\s*", re.IGNORECASE
)


def without_number(step: str) -> str:
    """Return a step without a number such as "2." or "Step 2:" at its start."""
    return _NUMBER.sub("", step, count=1).strip()


def without_tool(step: str, tools: Iterable[str]) -> str:
    """Return a step without the names of tools and without "Call … to" at its start.

    If nothing else is left, only the number is removed.
    """
    text = without_number(step)
    for tool in tools:
        if tool in text:
            text = _mention(tool).sub(" ", text)
    text = re.sub(
        r"^\s*(?:call|use|using|invoke|run)\b\s*(?:the\s+)?(?:(?:tool|api)\s+)?(?:(?:to|for|and)\s+)?",
        "",
        text,
        count=1,
        flags=re.IGNORECASE,
    )
    text = " ".join(text.split())
    return text or without_number(step)


@lru_cache(maxsize=4096)
def _mention(tool: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(tool)}(?![A-Za-z0-9_])")


_CALL = r"(?:call|use|using|invoke|run)\s+(?:the\s+)?"
_JOINT = r"(?:\s+(?:tool|api|function))?\s*(?:,|:|\b(?:in\s+order\s+)?to\b|\bfor\b)?\s*"
_ANY_NAME = r"[\"'`]?[\w.\-]+[\"'`]?"


class ToolNameRemover:
    """Removes "Call NAME to" from the start of steps.

    NAME is any single word, or one of `tools`, with or without spaces.
    """

    def __init__(self, tools: Iterable[str] = ()) -> None:
        longest = sorted(tools, key=lambda t: (-len(t), t))
        known = "|".join(re.escape(t) for t in longest) or r"(?!)"
        quoted = rf"[\"'`]?(?:{known})[\"'`]?(?!\w)"
        self._call = re.compile(
            rf"^\s*{_CALL}(?:{quoted}{_JOINT}|{_ANY_NAME}\s+to\b\s*)", re.IGNORECASE
        )

    def __call__(self, step: str) -> str:
        """Return the step without its number or "Call NAME to" (kept if nothing follows it)."""
        text = without_number(step)
        return self._call.sub("", text, count=1).strip() or text


def cleaned(steps: Sequence[str], tools: Iterable[str], *, names: bool) -> tuple[str, ...]:
    """Return steps without numbers and, unless `names` is true, without the names of tools."""
    clean = without_number if names else ToolNameRemover(tools)
    return tuple(clean(s) for s in steps)


# Agreement ----------------------------------------------------------------------------------------
# These are the metrics of GNN4TaskPlan's public evaluation, so that results are comparable:
#
# F1 of two lists    p = k / len(predicted), r = k / len(true), F1 = 2pr / (p + r + 1e-9), where k
#                    counts the distinct elements in both; 0 if either list is empty. The lengths
#                    count repeated elements and k does not: a true plan that repeats a tool
#                    scores less than 1 even against itself.
# node F1, link F1   of the tools; of the links (source, target). The order does not matter.
# accuracy           two metrics of that name: `node_accuracy` (GNN4Plan) is the fraction of
#                    requests with a node F1 of at least 0.99; `plan_accuracy` (GNNVerifier) with
#                    node F1 and link F1 above 0.99. A plan of one tool has no links, so its plan
#                    accuracy is 0.

T = TypeVar("T")

_EXACT = 0.99  # not 1, because the denominator of F1 contains 1e-9


@dataclass(frozen=True)
class Agreement:
    """Agreement of predicted with true plans: means over requests, from 0 to 1.

    Args:
        requests: Number of true plans.
        missing: Number of true plans without a prediction, which score 0.
        node_accuracy: Fraction of requests with a node F1 of at least 0.99.
        plan_accuracy: Fraction of requests with both node F1 and link F1 above 0.99.
    """

    requests: int
    missing: int
    node_f1: float
    link_f1: float
    node_accuracy: float
    plan_accuracy: float


@dataclass(frozen=True)
class Hallucination:
    """Shares of predicted plans' tools and links that do not exist.

    Args:
        node_micro: Mean fraction of a plan's tools that are not in the tool graph.
        node_macro: Fraction of plans with at least one such tool.
        link_micro: Mean fraction of a plan's links that are not in the tool graph.
        link_macro: Fraction of plans with at least one such link.
    """

    requests: int
    node_micro: float
    node_macro: float
    link_micro: float
    link_macro: float


def f1(predicted: Sequence[T], true: Sequence[T]) -> float:
    """Return the F1 score of two lists; an item repeated in both counts as shared only once."""
    shared = len(set(predicted) & set(true))
    if not shared:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(true)
    return 2 * precision * recall / (precision + recall + 1e-9)


def node_f1(predicted: ToolPlan, true: ToolPlan) -> float:
    return f1(predicted.tools, true.tools)


def link_f1(predicted: ToolPlan, true: ToolPlan) -> float:
    return f1(predicted.links, true.links)


def agreement(predicted: Mapping[str, ToolPlan], truth: Iterable[ToolPlan]) -> Agreement:
    """Compare predicted with true plans by request id; a request without a prediction scores 0."""
    rows: list[tuple[float, float]] = []
    missing = 0
    for true in truth:
        plan = predicted.get(true.id)
        missing += plan is None
        rows.append((node_f1(plan, true), link_f1(plan, true)) if plan else (0.0, 0.0))
    return Agreement(
        requests=len(rows),
        missing=missing,
        node_f1=_mean([n for n, _ in rows]),
        link_f1=_mean([k for _, k in rows]),
        node_accuracy=_mean([n >= _EXACT for n, _ in rows]),
        plan_accuracy=_mean([n > _EXACT and k > _EXACT for n, k in rows]),
    )


def hallucination(plans: Iterable[ToolPlan], graph: ToolGraph) -> Hallucination:
    """Measure the shares of plans' tools and links that the graph lacks; an empty plan has 0."""
    nodes: list[float] = []
    links: list[float] = []
    for plan in plans:
        nodes.append(_mean([t not in graph for t in plan.tools]))
        links.append(_mean([not graph.linked(*link) for link in plan.links]))
    return Hallucination(
        requests=len(nodes),
        node_micro=_mean(nodes),
        node_macro=_mean([n > 0 for n in nodes]),
        link_micro=_mean(links),
        link_macro=_mean([k > 0 for k in links]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
