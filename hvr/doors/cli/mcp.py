"""`hvr mcp`: hvr's operations for agents, as an MCP server."""

from __future__ import annotations

import argparse
import gc
from pathlib import Path

from hvr.base.extras import load
from hvr.doors.cli.arguments import add_path, whole_number
from hvr.errors import UsageError

TOKEN = "HVR_MCP_TOKEN"

_DESCRIPTION = """\
Serve hvr to agents by the Model Context Protocol: validate, explain, repair, lint, find and judge
plans, step through them, and plan requests in words. Files outside the folder cannot be read.
"""

_EPILOG = """\
examples:
  hvr mcp --root plans/
  hvr mcp --http 8123

in the configuration of an agent:
  {"mcpServers": {"hvr": {"command": "hvr", "args": ["mcp", "--root", "/path/to/plans"]}}}

With --http, each request needs a bearer token: the environment variable HVR_MCP_TOKEN, or else a
new one, which is printed.
"""


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_path(parser, "--root", "folder whose files may be read (default: the current one)")
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=whole_number,
        help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio; 0: a free port",
    )
    parser.add_argument(
        "--skill", action="store_true", help="print a SKILL.md for coding agents, and exit"
    )


def run_mcp(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    if args.skill:
        print(Path(__file__).parents[1].joinpath("mcp/SKILL.md").read_text("utf-8"), end="")
        return 0
    if args.http is not None and args.http > 65535:
        raise UsageError(f"a port is at most 65535, got {args.http}", field="http")
    gc.disable()  # importing the SDK creates a million objects and hardly any garbage
    load("mcp.server.lowlevel.server", "mcp", "mcp")
    import asyncio

    from hvr.doors.http.listening import chosen_token
    from hvr.doors.mcp.server import mcp_server
    from hvr.doors.mcp.transport import serve_http, serve_stdio
    from hvr.doors.service import Service

    gc.freeze()
    gc.enable()

    async def serve() -> None:
        async with Service(args.root or Path()) as service:
            server = mcp_server(service)
            if args.http is None:
                await serve_stdio(server)
                return
            token, new = chosen_token(TOKEN)
            await serve_http(server, args.http, token, show_token=new)

    asyncio.run(serve())
    return 0
