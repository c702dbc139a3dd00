"""`hvr tools serve-stats`: what logs say of tools now, as page and JSON, to this machine alone."""

from __future__ import annotations

import argparse
import json

from hvr.doors.cli.arguments import whole
from hvr.doors.cli.tools.graph_files import add_graph_arguments, names_of

_DESCRIPTION = """\
Serve success rates, links and removed tools of logs of calls on 127.0.0.1: a page at /, JSON at
/stats.json. The logs are read anew for each request, so that what is written to them is seen.
"""

_EPILOG = """\
examples:
  hvr tools serve-stats tools.json --log calls.jsonl
  hvr tools serve-stats --log graph.jsonl --port 8765
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_graph_arguments(parser)
    parser.add_argument("--port", type=whole, default=0, help="default: any that is free")


def run(args: argparse.Namespace) -> int:
    """Run the command until it is interrupted.

    Raises:
        UsageError: there are neither tools nor logs, or the port is not free.
        DataFileError: a file cannot be read; of logs, when the command begins.
        MissingExtraError: a file or the encoder needs a package that is not installed.
    """
    from hvr.runs.report.loopback import ADDRESS, loopback_server
    from hvr.runs.report.tool_graph import tool_graph_page
    from hvr.tools.navigation.graph_log import graph_record
    from hvr.tools.navigation.opening import open_graph

    names = names_of(args)

    def pages(path: str) -> tuple[str, str] | None:
        if path not in ("/", "/stats.json"):
            return None
        graph = open_graph(names, args.log, args.look).graph
        if path == "/":
            return "text/html", tool_graph_page(graph)
        return "application/json", json.dumps(graph_record(graph)) + "\n"

    pages("/stats.json")
    with loopback_server(pages, args.port) as server:
        print(f"http://{ADDRESS}:{server.server_port}/", flush=True)
        server.serve_forever()
    return 0
