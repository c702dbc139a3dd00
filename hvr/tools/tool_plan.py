"""Plans over tools: the value that loaders, verifiers and judges exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Link = tuple[str, str]
"""Ids of two tools, (source, target)."""


@dataclass(frozen=True)
class LoggedCall:
    """One call as a log records it.

    Args:
        tool: Name of the tool.
        arguments: JSON values by parameter; None if the log does not give them.
        unnamed: Arguments given by position.
        result: JSON value that came back.
        returned: Whether the log has the result.
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
    """A request and the steps that should answer it.

    Args:
        id: of the request.
        request: its text; empty if the data do not have it.
        steps: the text of each step. As many as tools in a well-formed plan; in real data the
            numbers may differ.
        tools: ids of the tools in order; a tool may occur again.
        links: between tools, by id, as given by the data or the planner.
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
        """The links between consecutive tools."""
        return tuple(zip(self.tools, self.tools[1:], strict=False))
