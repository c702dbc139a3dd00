"""Tools and the links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hvr.errors import UsageError
from hvr.values import cached_property


@dataclass(frozen=True)
class Tool:
    """A tool that a step of a plan can call, or an atomic action of a robot.

    Args:
        id: its name in plans.
        description: what it does, in a sentence.
        inputs: input types; empty if the data have none.
        outputs: output types; empty if the data have none.
    """

    id: str
    description: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolGraph:
    """Tools, and links from each tool to those that can directly follow it.

    GNN4Plan calls it the task graph, GNNVerifier (section 3.1) the dependency graph.

    Args:
        tools: in order; the position of a tool is its number.
        links: ids (source, target), each once; the source can feed the target.

    Raises:
        UsageError: a tool is there twice, or a link names a tool that is not there.
    """

    tools: tuple[Tool, ...]
    links: tuple[tuple[str, str], ...] = ()
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        index = {tool.id: i for i, tool in enumerate(self.tools)}
        if len(index) < len(self.tools):
            twice = Counter(tool.id for tool in self.tools).most_common(1)[0][0]
            raise UsageError(f"tool {twice!r} is there twice: give each tool one id")
        unknown = sorted({end for link in self.links for end in link} - index.keys())
        if unknown:
            raise UsageError(f"a link names {unknown[0]!r}, which is not among the tools")
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "links", tuple(dict.fromkeys(self.links)))

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._index

    def __len__(self) -> int:
        return len(self.tools)

    def index(self, tool_id: str) -> int:
        """Return the number of a tool.

        Raises:
            KeyError: there is no such tool.
        """
        return self._index[tool_id]

    def tool(self, tool_id: str) -> Tool:
        """Return the tool with an id.

        Raises:
            KeyError: there is no such tool.
        """
        return self.tools[self._index[tool_id]]

    @cached_property
    def typed(self) -> bool:
        """Whether at least one tool has input or output types."""
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
        """Return whether the graph has this link."""
        return (source, target) in self._pairs

    def successors(self, tool_id: str) -> tuple[str, ...]:
        """Return the ids of the successors of a tool; none for an unknown tool."""
        return self._after.get(tool_id, ())

    def with_links(self, links: Iterable[tuple[str, str]]) -> ToolGraph:
        """Return the same tools with other links."""
        return ToolGraph(self.tools, tuple(links))
