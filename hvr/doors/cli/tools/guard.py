"""`hvr tools guard`: an MCP server between an agent and its tools."""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import user_folder, writing
from hvr.doors.cli.arguments import add_path, seconds, whole_number
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.tools.calling.environment import ToolEnvironment

_DESCRIPTION = """\
Guard the tools that an agent calls, as an MCP server in front of another. Reading calls pass. A
writing call needs values that the user stated, the user's approval, and an entry in a ledger; it is
never repeated silently. The agent is told the reason and what to ask.
"""

_EPILOG = """\
examples:
  hvr tools guard -- python server.py
  hvr tools guard --url http://127.0.0.1:8000/mcp --budget 50 --dry-run
  hvr tools guard --world ./library --http 8123

in the configuration of an agent:
  {"mcpServers": {"library": {"command": "hvr",
                              "args": ["tools", "guard", "--", "python", "server.py"]}}}
"""


def add_guard_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="*",
        help="program and arguments of the MCP server behind the guard, after --",
    )
    parser.add_argument("--url", help="address of a running MCP server (streamable HTTP)")
    parser.add_argument(
        "--world",
        metavar="FOLDER",
        help="a world of tools behind the guard; its [tools] declares which ones only read",
    )
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="trust the server's statement of which tools only read",
    )
    parser.add_argument(
        "--reads",
        metavar="TOOL",
        action="append",
        default=[],
        help="a tool that only reads; may be repeated",
    )
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=whole_number,
        help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio",
    )
    parser.add_argument(
        "--budget",
        metavar="CALLS",
        type=whole_number,
        default=100,
        help="maximum number of calls to tools (default: 100)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds,
        default=30.0,
        help="time limit of one answer of the server (default: 30)",
    )
    _add_policy_options(parser)


def _add_policy_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="let only reading calls pass")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="let writing calls pass without asking if the user stated each value",
    )
    parser.add_argument(
        "--yes-destructive",
        action="store_true",
        help="like --yes, also for calls that destroy or have an unknown effect",
    )
    add_path(
        parser,
        "--ledger",
        "file that records writing calls (default: one per server in hvr's data folder, or "
        "beside the world's file)",
    )
    parser.add_argument(
        "--session",
        metavar="NAME",
        default="guard",
        help="session of the calls; another session may repeat them (default: guard)",
    )
    add_path(parser, "--log", "log of all calls with the source of each argument")


def run_guard(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from hvr.doors.cli.tools.approval import warn_malformed_tools
    from hvr.tools.calling.guard import AgentGuard, CallPolicy
    from hvr.tools.calling.guard_server import GuardServer, mcp_tools
    from hvr.tools.calling.ledger import CallLedger
    from hvr.tools.calling.mcp_world import McpTools
    from hvr.tools.catalogue.schema import Effect

    if sum(map(bool, (args.command, args.url, args.world))) != 1:
        raise UsageError("give one server: a command after --, --url, or --world", field="command")
    name, tools = _opened(args)
    try:
        warn_malformed_tools(tools.catalogue.left_out)
        raw = tools.inner if isinstance(tools, _Readers) else tools
        mcp = raw if isinstance(raw, McpTools) else None
        shown = mcp.listed if mcp is not None else mcp_tools(tools.catalogue)
        schemas = {one["name"]: one.get("inputSchema", {}) for one in shown}
        path = args.ledger or _ledger(args, name)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        allowed = {Effect.WRITES} if args.yes or args.yes_destructive else set()
        allowed |= {Effect.DESTROYS, Effect.UNKNOWN} if args.yes_destructive else set()
        policy = CallPolicy(args.budget, args.dry_run, args.log)
        guard = AgentGuard(tools, name, schemas, policy, CallLedger(path, args.session), allowed)
        served = GuardServer(guard, shown, lambda: mcp.answer if mcp is not None else None)
        _serve(served, args.http)
    finally:
        tools.close()
    return 0


def _opened(args: argparse.Namespace) -> tuple[str, ToolEnvironment]:
    """Return the name and the tools of the server behind the guard."""
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.mcp_world import McpServer, McpTools
    from hvr.tools.calling.worlds import open_tools

    if args.world:
        world = load_world(args.world)
        return world.name, _Readers(open_tools(world), args.reads)
    # Agents pass the server's environment variables to the guard.
    server = McpServer(
        tuple(args.command),
        args.url or "",
        Path.cwd() if args.command else None,
        dict(os.environ) if args.command else {},
        args.seconds,
        args.trusted,
    )
    return " ".join(args.command) or args.url, _Readers(McpTools(server), args.reads)


class _Readers:
    """An environment in which the user declares some tools as read-only."""

    def __init__(self, inner: ToolEnvironment, reads: list[str]) -> None:
        from dataclasses import replace

        from hvr.tools.calling.calls import find_tool
        from hvr.tools.catalogue.schema import Catalogue, Effect, quoted

        self.inner = inner
        for name in reads:
            if find_tool(inner.catalogue, name) is None:
                inner.close()
                raise UsageError(f"no tool named {quoted(name)}", field="reads")
        self.catalogue = Catalogue(
            tuple(
                replace(tool, effect=Effect.READS) if tool.name in reads else tool
                for tool in inner.catalogue.tools
            ),
            inner.catalogue.left_out,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _ledger(args: argparse.Namespace, name: str) -> Path:
    from hvr.doors.cli.tools.approval import LEDGER
    from hvr.knowledge.world_file import load_world

    if args.world:
        return load_world(args.world).folder / LEDGER
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return user_folder("data") / "guard" / f"{digest}.jsonl"


def _serve(served: Any, port: int | None) -> None:
    """Serve until the client disconnects or the process is interrupted."""
    import asyncio

    from hvr.doors.mcp.transport import serve_http, serve_stdio

    server = served.server()
    asyncio.run(serve_stdio(server) if port is None else serve_http(server, port))
