"""`hvr kg publish`: the graph of a run, put on a server."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.kg.graphs import add_store_option, graph_quads, open_server, world_of_run

_DESCRIPTION = """\
Put the graph of a run on a SPARQL server, instead of what is there under its name.

`hvr plan --store URL` does so while the run goes on. This is for runs that were made without, and
for those whose server failed: they keep the name that they had there.
"""

_EPILOG = """\
examples:
  hvr kg publish runs/coffee --store http://localhost:7878
  hvr kg publish runs/coffee --store http://localhost:7878 --name robot7-coffee
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("run", metavar="FOLDER", type=Path, help="folder of the run")
    add_store_option(parser, "address of the SPARQL server", needed=True)
    parser.add_argument("--name", help=(
        "of the run on the server (default: its name there, or that of the folder)"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such run, or the address cannot be used.
        StoreError: the graph is corrupt, or the server refuses or does not answer.
    """
    from hvr.knowledge.shared import SharedRun, publish
    from hvr.runs.report.run_page.state import read_account
    from hvr.runs.sharing import known_as

    quads = graph_quads(args.run, None)
    about, _ = read_account(args.run)
    world = world_of_run(args.run)
    scene = str(about.get("scene", ""))
    name, robot = known_as(args.run) or (args.run.resolve().name, "")
    named = SharedRun(
        name=args.name or name,
        request=str(about.get("request", "")),
        scene=scene if scene.isalnum() else "",
        world=world.name,
        robot=robot,
        began=str(about.get("began", "")),
    )
    with open_server(args.store) as server:
        publish(server, named, world.scene_ontology, quads)
    print(f"published as {named.name}")
    return 0
