"""The tool lists of an MCP server, without the tools that the official client refuses.

The client refuses a whole list because of one tool that does not follow the protocol. So such tools
are taken out of the server's answer before the client reads it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Self

from hvr.base.printable import one_line, short
from hvr.tools.catalogue.schema import quoted

_SHOWN = 200


class ToolListFilter:
    """Keeps what the client refuses out of the tool lists that a transport receives."""

    def __init__(self) -> None:
        self.version = ""
        """The negotiated version of the protocol, which says what a tool has to have."""
        self._sent: tuple[tuple[str, str], ...] = ()

    @asynccontextmanager
    async def around(self, transport: Any) -> AsyncIterator[Any]:
        """Connect a transport whose tool lists are filtered."""
        async with transport as (read, write):
            yield _Filtered(read, self), write

    def filtered(self, item: Any) -> Any:
        """Return a received message, a tool list without the tools that the client refuses."""
        result = getattr(getattr(item, "message", None), "result", None)
        if not isinstance(result, dict) or "content" in result:
            return item
        listed = result.get("tools")
        if not isinstance(listed, list):
            return item
        self._sent = tuple((_name(tool), _wrong(tool, result, self.version)) for tool in listed)
        result["tools"] = [
            tool for tool, (_, wrong) in zip(listed, self._sent, strict=True) if not wrong
        ]
        return item

    def told(self, tools: Iterable[Any]) -> Iterator[Any]:
        """Give the tools of the last list in the server's order.

        Args:
            tools: The tools as the client read them.

        Yields:
            Each tool as the client read it, or the reason why it is left out.
        """
        rest = deque(tools)
        for name, wrong in self._sent:
            if wrong:
                yield wrong
            elif rest and rest[0].name == name:
                yield rest.popleft()
            else:  # the client drops a tool that names HTTP headers which the protocol forbids
                yield f"{quoted(name)}: the MCP client refuses its x-mcp-header"


class _Filtered:
    """A stream of received messages, as transports of the package `mcp` have it."""

    def __init__(self, inner: Any, keeper: ToolListFilter) -> None:
        self._inner, self._keeper = inner, keeper

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        return self._keeper.filtered(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._keeper.filtered(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def _wrong(tool: Any, result: dict[str, Any], version: str) -> str:
    """Return why the client refuses a tool, or an empty text."""
    from mcp_types.methods import parse_server_result
    from pydantic import ValidationError

    try:
        parse_server_result("tools/list", version, {**result, "tools": [tool]})
    except ValidationError as error:
        inside = [one for one in error.errors() if tuple(one["loc"][:2]) == ("tools", 0)]
        if not inside:  # the list itself is wrong, which is not the fault of a tool
            return ""
        place = ".".join(map(str, inside[0]["loc"][2:]))
        text = f"{place}: {inside[0]['msg']}" if place else inside[0]["msg"]
        named = f"{quoted(_name(tool))}: " if _name(tool) else ""
        return short(one_line(f"{named}{text}"), _SHOWN)
    return ""
