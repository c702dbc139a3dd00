"""MCP servers as tool environments, reached through the official client, over stdio or HTTP."""

from __future__ import annotations

import json
import logging
import math
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from hvr.base.declared import decode
from hvr.base.printable import one_line, short
from hvr.base.processes import supervised
from hvr.base.proxies import DIRECT, proxy_of
from hvr.base.registry import load
from hvr.base.texts import check_real
from hvr.errors import DataFileError, SimulatorError, UsageError
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    ToolCall,
    check_result,
    checked_tool,
    with_nulls,
)
from hvr.tools.catalogue.formats import read_tool
from hvr.tools.catalogue.schema import Catalogue, ToolSchema, quoted

# Tool lists ---------------------------------------------------------------------------------------
# The official client rejects the whole list if one tool violates the protocol, so invalid tools are
# removed from the server's reply before the client reads it.

_SHOWN = 200


class ToolListFilter:
    """Removes invalid tools from the tool lists that a server sends."""

    def __init__(self) -> None:
        self.version = ""
        """Negotiated protocol version, which determines the schema of tools."""
        self._sent: tuple[tuple[str, str], ...] = ()

    @asynccontextmanager
    async def around(self, transport: Any) -> AsyncIterator[Any]:
        """Connect a transport whose incoming tool lists are filtered."""
        async with transport as (read, write):
            yield _Filtered(read, self), write

    def filtered(self, item: Any) -> Any:
        """Return a received message, with invalid tools removed if it is a tool list."""
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

    def restored(self, tools: Iterable[Any]) -> Iterator[Any]:
        """Yield the client's tools in the server's order, and an error for each one removed."""
        rest = deque(tools)
        for name, wrong in self._sent:
            if wrong:
                yield wrong
            elif rest and rest[0].name == name:
                yield rest.popleft()
            else:  # the client drops tools with x-mcp-header values that the protocol forbids
                yield f"{quoted(name)}: the MCP client rejects its x-mcp-header"


class _Filtered:
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
    """Return the reason why the MCP client rejects a tool; empty if it accepts the tool."""
    from mcp_types.methods import parse_server_result
    from pydantic import ValidationError

    try:
        parse_server_result("tools/list", version, {**result, "tools": [tool]})
    except ValidationError as error:
        inside = [one for one in error.errors() if tuple(one["loc"][:2]) == ("tools", 0)]
        if not inside:  # the list itself is invalid, not a tool
            return ""
        place = ".".join(map(str, inside[0]["loc"][2:]))
        text = f"{place}: {inside[0]['msg']}" if place else inside[0]["msg"]
        named = f"{quoted(_name(tool))}: " if _name(tool) else ""
        return short(one_line(f"{named}{text}"), _SHOWN)
    return ""


# Server -------------------------------------------------------------------------------------------

MAX_PAGES = 100
"""Maximum number of `tools/list` pages, in case a server's list never ends."""
MAX_RESULT_CHARACTERS = 20_000_000
"""Maximum number of characters in a result."""

_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602  # JSON-RPC 2.0, section 5.1
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class McpServer:
    """An MCP server to start or to connect to.

    Args:
        command: Program and arguments that start a local server; empty to use `url`.
        url: URL of a running server (streamable HTTP); empty to use `command`.
        folder: Working folder of a local server; None for that of this process.
        env: Additional environment variables; the server inherits only a few from this process.
        seconds: Time limit in seconds for connecting, and for each call.
        trusted: Whether to trust the server's annotations about effects. Annotations of an
            untrusted server can only make its tools count as more dangerous.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    folder: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    seconds: float = 30.0
    trusted: bool = False

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise UsageError("an MCP server needs either a command or a URL")
        check_real("seconds", self.seconds, 0.001, 86_400)


def open_server(value: Any, folder: Path, place: str) -> McpTools:
    """Connect to the server of an `mcp` entry in a `world.toml`, or start it in the world's folder.

    Raises:
        DataFileError: The entry is invalid.
        SimulatorError: The server cannot be reached.
    """
    server = decode(McpServer, value, f"{place}: mcp", DataFileError)
    if server.folder is not None:
        raise DataFileError(
            f"{place}: mcp must not have 'folder': the server runs in the world's folder"
        )
    return McpTools(replace(server, folder=folder))


class McpTools:
    """The tools of an MCP server, which the constructor starts or connects to.

    Raises:
        SimulatorError: The server cannot be reached, or does not list its tools in time.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._client: Any = None
        self._lists = ToolListFilter()
        self._portal: Any = None
        self._stack = ExitStack()
        self._stderr: IO[str] | None = None
        self.listed: list[dict[str, Any]] = []
        """The tools as the server described them, in MCP format."""
        self.answer: Any = None
        """The server's reply to the last call, as decoded by the `mcp` client."""
        self._touched = self._broken = self._closed = False
        load("mcp.client.client", "mcp", "mcp")
        self._open()
        try:
            self._catalogue = self._read()
        except BaseException:
            self.close()
            raise

    @property
    def catalogue(self) -> Catalogue:
        """The valid tools in the server's first list; annotations and names give their effects."""
        return self._catalogue

    def reset(self) -> None:
        """Restart a local server if a tool has been called; a remote server keeps its state."""
        if self._server.command and self._touched:
            self._reopen()

    def call(self, call: ToolCall) -> CallOutcome:
        tool = checked_tool(self._catalogue, call)
        if isinstance(tool, CallOutcome):
            return tool
        start = time.perf_counter()
        if self._client is None or self._broken:
            try:
                self._reopen()
            except SimulatorError as lost:
                seconds = time.perf_counter() - start
                return CallOutcome(call, None, CallFailure.UNAVAILABLE, str(lost), seconds)
        self._touched = True
        result: Json = None
        failure, error = None, ""
        self.answer = None
        try:
            answer = self._ask(lambda c: c.call_tool(call.tool, with_nulls(tool, call.arguments)))
            self.answer = answer
            size = sum(len(block.text) for block in answer.content if block.type == "text")
            if size > MAX_RESULT_CHARACTERS:
                failure = CallFailure.WRONG_TYPE
                error = f"the result has {size} characters; the limit is {MAX_RESULT_CHARACTERS}"
            else:
                result = content_of(answer)
                if answer.is_error:
                    failure, error = CallFailure.REFUSED, _as_text(result)
        except TimeoutError:
            failure = CallFailure.TIMED_OUT
            error = f"no answer within {self._server.seconds:g} s"
        except Exception as broken:  # any exception of the client means that the server has failed
            failure, error = _classified(broken)
            self._broken = failure is CallFailure.UNAVAILABLE
        seconds = time.perf_counter() - start
        if failure is not None:
            return CallOutcome(call, None, failure, error, seconds)
        return check_result(tool, CallOutcome(call, result, seconds=seconds))

    def state(self) -> Json:
        """Return None, since MCP servers do not expose their state."""
        return None

    def close(self) -> None:
        self._closed = True
        self._end()

    def _reopen(self) -> None:
        self._end()
        if self._closed:
            raise SimulatorError(
                "hvr has closed the connection to this server; open the world again", exit_code=2
            )
        self._open()
        self._broken = self._touched = False

    def _end(self) -> None:
        self._client = None
        with suppress(Exception):  # a dead server cannot be closed cleanly
            self._stack.close()
        self._stack = ExitStack()

    def _open(self) -> None:
        import anyio.from_thread
        from mcp import StdioServerParameters, stdio_client
        from mcp.client.client import Client
        from mcp.client.streamable_http import streamable_http_client

        target: Any = self._server.url
        if self._server.command:
            program, *arguments = supervised(self._server.command)
            parameters = StdioServerParameters(
                command=program,
                args=arguments,
                env=self._server.env or None,
                cwd=self._server.folder,
            )
            # Keep the server's output off the terminal, but use its last line to explain failures.
            stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
            self._stderr = self._stack.enter_context(stderr)
            target = stdio_client(parameters, errlog=self._stderr)
        # Silence the client, which logs a traceback per malformed line and a warning per dropped
        # tool.
        for log in map(logging.getLogger, ("mcp", "client")):
            if not log.handlers:
                log.addHandler(logging.NullHandler())
        self._portal = self._stack.enter_context(anyio.from_thread.start_blocking_portal())
        try:
            if self._server.url:
                direct = self._direct() if proxy_of(self._server.url) is None else None
                target = streamable_http_client(target, http_client=direct)
            target = self._lists.around(target)
            client = Client(target, read_timeout_seconds=self._server.seconds)
            self._client = self._enter(_connected(client, self._server.seconds))
            self._lists.version = self._client.protocol_version
        except Exception as error:
            raise self._unreachable(error) from None

    def _direct(self) -> Any:
        http = load("mcp.client.streamable_http", "mcp", "mcp").httpx2
        timeout = http.Timeout(self._server.seconds)
        return self._enter(http.AsyncClient(timeout=timeout, mounts=dict.fromkeys(DIRECT)))

    def _enter(self, manager: Any) -> Any:
        return self._stack.enter_context(self._portal.wrap_async_context_manager(manager))

    def _read(self) -> Catalogue:
        tools: list[ToolSchema] = []
        left_out: list[str] = []
        cursor = None
        for _ in range(MAX_PAGES):
            try:
                page = self._ask(lambda c, at=cursor: c.list_tools(cursor=at))  # type: ignore[misc]
            except Exception as error:
                raise self._unreachable(error) from None
            for tool in self._lists.restored(page.tools):
                place = f"{self._where}: tool {len(tools) + len(left_out) + 1}"
                try:
                    if isinstance(tool, str):
                        raise DataFileError(f"{place}: {tool}")
                    body = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
                    read = read_tool(body, place, trusted=self._server.trusted)
                    if any(read.name == one.name for one in tools):
                        raise DataFileError(f"{place}: duplicate tool name {quoted(read.name)}")
                except DataFileError as wrong:
                    left_out.append(str(wrong))
                    continue
                self.listed.append(body)
                tools.append(read)
            cursor = page.next_cursor
            if not cursor:
                return Catalogue(tuple(tools), tuple(left_out))
        raise SimulatorError(
            f"{self._where}: the server's tool list has more than {MAX_PAGES} pages", exit_code=2
        )

    def _ask(self, what: Callable[[Any], Awaitable[_Result]]) -> _Result:
        client = self._client
        answer: _Result = self._portal.call(_within, self._server.seconds, lambda: what(client))
        return answer

    @property
    def _where(self) -> str:
        named = " ".join(self._server.command) or self._server.url
        return f"the MCP server {quoted(named)}"

    def _unreachable(self, error: BaseException) -> SimulatorError:
        last = _innermost(error)
        reason = str(last) or type(last).__name__
        if isinstance(last, TimeoutError):
            reason = f"no answer within {self._server.seconds:g} s"
        through = proxy_of(self._server.url) if self._server.url else None
        reason += f", through {through}" if through else ""
        printed = ""
        if self._stderr is not None:
            with suppress(OSError, ValueError):
                self._stderr.seek(0)
                printed = one_line(self._stderr.read().strip().rpartition("\n")[2])
        more = f" (it printed: {short(printed, 200)})" if printed else ""
        self._end()
        return SimulatorError(
            f"{self._where} cannot be used: {short(one_line(reason), 200)}{more}", exit_code=2
        )


def content_of(answer: Any) -> Json:
    """Return a result's structured content, or else its text parts, decoded if they are JSON.

    Images, audio, links and resources are replaced by their type and URI. A single part is returned
    by itself, several parts as a list.
    """
    structured: Json = answer.structured_content
    texts = [block.text for block in answer.content if block.type == "text"]
    if structured is not None:
        # The protocol allows only objects here, so servers wrap other values in `result`.
        if isinstance(structured, dict) and set(structured) == {"result"}:
            return structured["result"]
        return structured
    others = [
        {"type": block.type, "uri": str(getattr(block, "uri", "") or "")}
        for block in answer.content
        if block.type != "text"
    ]
    values: Sequence[Json] = [*map(_read_text, texts), *others]
    return values[0] if len(values) == 1 else list(values)


def _read_text(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (dict, list)) else text


def _as_text(result: Json) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _classified(error: BaseException) -> tuple[CallFailure, str]:
    from mcp.shared.exceptions import MCPError

    last = _innermost(error)
    text = str(last) or type(last).__name__
    if isinstance(last, MCPError):
        if last.code == _INVALID_PARAMS:
            return CallFailure.BAD_ARGUMENTS, text
        if last.code == _METHOD_NOT_FOUND:
            return CallFailure.UNKNOWN_TOOL, text
        if "imed out" in text:
            return CallFailure.TIMED_OUT, text
    if isinstance(last, TimeoutError):
        return CallFailure.TIMED_OUT, text
    return CallFailure.UNAVAILABLE, text


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def _connected(client: Any, seconds: float) -> AsyncIterator[Any]:
    # The client's timeout applies per attempt, and it makes several attempts.
    import anyio

    with anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope:
        async with client:
            scope.deadline = math.inf
            yield client
    if scope.cancelled_caught:
        raise TimeoutError


async def _within(seconds: float, what: Callable[[], Awaitable[_Result]]) -> _Result:
    import anyio

    with anyio.fail_after(seconds):
        return await what()
