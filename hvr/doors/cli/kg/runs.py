"""`hvr kg runs`: the runs whose graphs are on a server."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.kg.graphs import add_store_option, open_server
from hvr.doors.cli.output import print_json

_EPILOG = """\
examples:
  hvr kg runs --store http://localhost:7878
  hvr kg runs --store fuseki+http://localhost:3030/robots --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "List the runs whose graphs are on a server, newest first."
    parser.epilog = _EPILOG
    add_store_option(parser, "address of the SPARQL server", needed=True)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: the address cannot be used.
        StoreError: the server refuses or does not answer.
    """
    from hvr.knowledge.shared import list_runs

    with open_server(args.store) as server:
        runs = list_runs(server)
    if args.json:
        print_json([asdict(one) for one in runs], indent=2)
    else:
        for one in runs:
            print("  ".join((one.began, one.name, one.robot, one.scene, one.request)))
    return 0
