"""`hvr serve`, `mcp`, `lsp` and `studio`: servers for services, agents, editors and browsers."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from threading import Thread
from urllib.parse import quote

from hvr.base.registry import load
from hvr.base.texts import check_stdin
from hvr.doors.cli.arguments import add_path, whole_number
from hvr.errors import UsageError

SERVE_TOKEN = "HVR_SERVE_TOKEN"
_HOST = "127.0.0.1"

_DESCRIPTION = """\
Serve hvr by HTTP: POST /v1/validate, /v1/lint, /v1/plan, /v1/repair, /v1/judge and others take and
return JSON; POST /v1/jobs accepts requests to answer later. GET / lists all, GET /openapi.json
describes them. Files outside the folder cannot be read.
"""

_EPILOG = """\
examples:
  hvr serve --root plans/
  curl -H "Authorization: Bearer $HVR_SERVE_TOKEN" -H 'Content-Type: application/json' \\
    -d '{"domain_file": "domain.pddl", "problem_file": "problem.pddl", "plan_file": "plan.txt"}' \\
    http://127.0.0.1:8000/v1/validate
  hvr serve --no-token          # for editors that know planning-as-a-service

Each request needs a bearer token: the environment variable HVR_SERVE_TOKEN, or else a new one,
which is printed. The service listens on this machine only, unless --listen names another address.
"""


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_path(
        parser,
        "--root",
        "folder whose files may be read (default: the current one)",
        metavar="FOLDER",
    )
    parser.add_argument(
        "--port", type=whole_number, default=8000, help="port; 0 for a free one (default: 8000)"
    )
    parser.add_argument(
        "--listen", metavar="ADDRESS", default=_HOST, help=f"address (default: {_HOST})"
    )
    parser.add_argument(
        "--host",
        metavar="NAME",
        action="append",
        default=[],
        help="host name under which the service is reached, behind a proxy; may be repeated",
    )
    parser.add_argument(
        "--allow-origin",
        metavar="URL",
        action="append",
        default=[],
        help="origin of web pages that may use the service; may be repeated",
    )
    parser.add_argument(
        "--no-token", action="store_true", help="require no token; only for clients on this machine"
    )


def run_serve(args: argparse.Namespace) -> int:
    if args.port > 65535:
        raise UsageError(f"the port must be at most 65535, got {args.port}", field="port")
    if args.no_token and args.listen not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError("--no-token serves only this machine and cannot be combined with --listen")
    load("sse_starlette.sse", "sse-starlette", "serve")
    import asyncio

    from hvr.doors.http.application import make_application
    from hvr.doors.http.guards import LOOPBACK, chosen_token, in_address, listen
    from hvr.doors.service import Service

    token, new = ("", False) if args.no_token else chosen_token(SERVE_TOKEN)
    address = in_address(args.listen)
    hosts = [name.lower() for name in (*LOOPBACK, address, *args.host)]

    def announce(port: int) -> None:
        if new:
            # Standard error masks everything that looks like a key, but this one is meant to be
            # read.
            os.write(2, f"bearer token: {token}\n".encode())
        print(f"serving at http://{address}:{port}", file=sys.stderr, flush=True)

    async def serve() -> None:
        async with Service(args.root or Path()) as service:
            application = make_application(
                service, hosts=hosts, origins=args.allow_origin, token=token
            )
            await listen(application, args.listen, args.port, announce)

    asyncio.run(serve())
    return 0


# Mcp ----------------------------------------------------------------------------------------------
# `hvr mcp` serves hvr's operations to agents, as an MCP server.

MCP_TOKEN = "HVR_MCP_TOKEN"

_MCP_DESCRIPTION = """\
Serve hvr to agents by the Model Context Protocol: validate, explain, repair, lint, find and judge
plans, step through them, and plan requests in words. Files outside the folder cannot be read.
"""

_MCP_EPILOG = """\
examples:
  hvr mcp --root plans/
  hvr mcp --http 8123

in the configuration of an agent:
  {"mcpServers": {"hvr": {"command": "hvr", "args": ["mcp", "--root", "/path/to/plans"]}}}

With --http, each request needs a bearer token: the environment variable HVR_MCP_TOKEN, or else a
new one, which is printed.
"""


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _MCP_DESCRIPTION, _MCP_EPILOG
    add_path(
        parser,
        "--root",
        "folder whose files may be read (default: the current one)",
        metavar="FOLDER",
    )
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=whole_number,
        help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio; 0: any port",
    )
    parser.add_argument(
        "--skill", action="store_true", help="print a SKILL.md for coding agents, and exit"
    )


def run_mcp(args: argparse.Namespace) -> int:
    if args.skill:
        print(Path(__file__).parents[1].joinpath("mcp/SKILL.md").read_text("utf-8"), end="")
        return 0
    if args.http is not None and args.http > 65535:
        raise UsageError(f"the port must be at most 65535, got {args.http}", field="http")
    if args.http is None:
        check_stdin()
    gc.disable()  # importing the SDK creates a million objects but hardly any garbage
    load("mcp.server.lowlevel.server", "mcp", "mcp")
    import asyncio

    from hvr.doors.http.guards import chosen_token
    from hvr.doors.mcp.server import mcp_server, serve_http, serve_stdio
    from hvr.doors.service import Service

    gc.freeze()
    gc.enable()

    async def serve() -> None:
        async with Service(args.root or Path()) as service:
            server = mcp_server(service)
            if args.http is None:
                await serve_stdio(server)
                return
            token, new = chosen_token(MCP_TOKEN)
            await serve_http(server, args.http, token, show_token=new)

    asyncio.run(serve())
    return 0


# Lsp ----------------------------------------------------------------------------------------------
# `hvr lsp` is the language server for editors.

_LSP_DESCRIPTION = """\
Serve PDDL, PDDL+, HDDL and plans to an editor, over standard input and output. An editor starts
this command; docs/how-to/editors.md has the lines for each.
"""

_LSP_EPILOG = """\
examples:
  hvr lsp                       # what an editor runs
  hvr lsp --stdio               # the same; some editors always add this option
"""


def add_lsp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _LSP_DESCRIPTION, _LSP_EPILOG
    parser.add_argument(
        "--stdio", action="store_true", help="use standard input and output (the default)"
    )


def run_lsp(_: argparse.Namespace) -> int:
    from hvr.base.registry import load

    check_stdin()
    load("pygls.lsp.server", "pygls", "lsp")
    from hvr.doors.lsp.server import make_server

    make_server().start_io()
    return 0


# Studio -------------------------------------------------------------------------------------------
# `hvr studio` opens hvr in a browser.

STUDIO_TOKEN = "HVR_STUDIO_TOKEN"

_STUDIO_DESCRIPTION = """\
Open hvr in a browser: edit a domain, a problem and plans with the help of the language server, step
through states, see what each step needs and causes, repair plans, and replay runs in their room.
The page is served on this machine only, and nothing is loaded from elsewhere.
"""

_STUDIO_EPILOG = """\
examples:
  hvr studio                    # the current folder
  hvr studio plans/ --port 8080 --no-browser
"""


def add_studio_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _STUDIO_DESCRIPTION, _STUDIO_EPILOG
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        type=Path,
        default=Path(),
        help="folder with models, plans and runs/ (default: the current one)",
    )
    parser.add_argument(
        "--port", type=whole_number, default=0, help="port (default: 0, a free one)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address and open no browser"
    )


def run_studio(args: argparse.Namespace) -> int:
    if args.port > 65535:
        raise UsageError(f"the port must be at most 65535, got {args.port}", field="port")
    for module, package in (
        ("sse_starlette.sse", "sse-starlette"),
        ("websockets", "websockets"),
        ("pygls.lsp.server", "pygls"),
    ):
        load(module, package, "studio")
    import asyncio
    import webbrowser

    from hvr.doors.http.guards import LOOPBACK, chosen_token, listen
    from hvr.doors.service import Service
    from hvr.doors.studio.application import make_studio

    token, _ = chosen_token(STUDIO_TOKEN)

    def announce(port: int) -> None:
        address = f"http://{_HOST}:{port}/?token={quote(token, safe='')}"
        # Standard error masks everything that looks like a key, but this one is meant to be read.
        os.write(2, f"studio at {address}\n".encode())
        if not args.no_browser:
            # some browsers return only when they are closed
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async def serve() -> None:
        async with Service(args.folder) as service:
            application = make_studio(service, hosts=LOOPBACK, token=token)
            await listen(application, _HOST, args.port, announce)

    asyncio.run(serve())
    return 0
