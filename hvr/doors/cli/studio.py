"""`hvr studio`: hvr in a browser."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from threading import Thread
from urllib.parse import quote

from hvr.base.extras import load
from hvr.doors.cli.arguments import whole_number
from hvr.errors import UsageError

TOKEN = "HVR_STUDIO_TOKEN"
_HOST = "127.0.0.1"

_DESCRIPTION = """\
Open hvr in a browser: edit a domain, a problem and plans with the help of the language server, step
through states, see what each step needs and causes, repair plans, and replay runs in their room.
The page is served on this machine only, and nothing is loaded from elsewhere.
"""

_EPILOG = """\
examples:
  hvr studio                    # the current folder
  hvr studio plans/ --port 8080 --no-browser
"""


def add_studio_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
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
    """Run the command and return the exit code."""
    if args.port > 65535:
        raise UsageError(f"a port is at most 65535, got {args.port}", field="port")
    for module, package in (
        ("sse_starlette.sse", "sse-starlette"),
        ("websockets", "websockets"),
        ("pygls.lsp.server", "pygls"),
    ):
        load(module, package, "studio")
    import asyncio
    import webbrowser

    from hvr.doors.http.listening import LOOPBACK, chosen_token, listen
    from hvr.doors.service import Service
    from hvr.doors.studio.application import make_studio

    token, _ = chosen_token(TOKEN)

    def announce(port: int) -> None:
        address = f"http://{_HOST}:{port}/?token={quote(token, safe='')}"
        # Standard error masks whatever looks like a key; this one is meant to be read.
        os.write(2, f"studio at {address}\n".encode())
        if not args.no_browser:
            # Some browsers return only when they are closed.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async def serve() -> None:
        async with Service(args.folder) as service:
            application = make_studio(service, hosts=LOOPBACK, token=token)
            await listen(application, _HOST, args.port, announce)

    asyncio.run(serve())
    return 0
