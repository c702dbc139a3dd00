"""A plan over tools: the value that loaders, verifiers and corrections pass on."""

from __future__ import annotations

from dataclasses import dataclass

Link = tuple[str, str]
"""Ids of two tools, (source, target)."""


@dataclass(frozen=True)
class ToolPlan:
    """A request and the steps that should answer it.

    Args:
        id: of the request.
        request: what was asked, in words; empty where the data do not have it.
        steps: what each step does, in words. As many as tools in a well-formed plan, but data
            have plans where they differ.
        tools: ids of the tools in order; a tool may occur again.
        links: between tools, by id, as the data or the planner gave them.
    """

    id: str
    request: str
    steps: tuple[str, ...]
    tools: tuple[str, ...]
    links: tuple[Link, ...] = ()

    @property
    def chain(self) -> tuple[Link, ...]:
        """The links between tools that follow each other."""
        return tuple(zip(self.tools, self.tools[1:], strict=False))
