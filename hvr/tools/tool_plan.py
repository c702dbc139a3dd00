"""Plans over tools: the value that loaders, verifiers and judges exchange."""

from __future__ import annotations

from dataclasses import dataclass

Link = tuple[str, str]
"""Ids of two tools, (source, target)."""


@dataclass(frozen=True)
class ToolPlan:
    """A request and the steps that should answer it.

    Args:
        id: of the request.
        request: its text; empty if the data do not have it.
        steps: the text of each step. As many as tools in a well-formed plan; in real data the
            numbers may differ.
        tools: ids of the tools in order; a tool may occur again.
        links: between tools, by id, as given by the data or the planner.
    """

    id: str
    request: str
    steps: tuple[str, ...]
    tools: tuple[str, ...]
    links: tuple[Link, ...] = ()

    @property
    def chain(self) -> tuple[Link, ...]:
        """The links between consecutive tools."""
        return tuple(zip(self.tools, self.tools[1:], strict=False))
