"""`hvr serve`: hvr's operations as an HTTP service."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hvr.base.extras import load
from hvr.doors.cli.arguments import add_path, whole_number
from hvr.errors import UsageError

TOKEN = "HVR_SERVE_TOKEN"
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
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_path(parser, "--root", "folder whose files may be read (default: the current one)")
    parser.add_argument(
        "--port", type=whole_number, default=8000, help="port; 0: a free one (default: 8000)"
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
    """Run the command and return the exit code."""
    if args.port > 65535:
        raise UsageError(f"a port is at most 65535, got {args.port}", field="port")
    if args.no_token and args.listen not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError("--no-token serves only this machine and cannot be combined with --listen")
    load("sse_starlette.sse", "sse-starlette", "serve")
    import asyncio

    from hvr.doors.http.application import make_application
    from hvr.doors.http.listening import LOOPBACK, chosen_token, in_address, listen
    from hvr.doors.service import Service

    token, new = ("", False) if args.no_token else chosen_token(TOKEN)
    address = in_address(args.listen)
    hosts = [name.lower() for name in (*LOOPBACK, address, *args.host)]

    def announce(port: int) -> None:
        if new:
            # Standard error masks whatever looks like a key; this one is meant to be read.
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
