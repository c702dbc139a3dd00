"""`hvr kg export`: a graph as a file."""

from __future__ import annotations

import argparse
import sys
from io import BytesIO
from pathlib import Path

from hvr.doors.cli.kg.graphs import add_graph_options, open_graph

_EPILOG = """\
examples:
  hvr kg export -o kitchen.ttl
  hvr kg export --scene FloorPlan16 | grep CoffeeMachine
  hvr kg export --run runs/20260101-120000 --all -o run.trig
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "Write the graph as Turtle.", _EPILOG
    parser.add_argument(
        "--out", "-o", metavar="FILE", type=Path, help="file to write (default: standard output)"
    )
    parser.add_argument(
        "--all", action="store_true",
        help="with the ontology and what each event changed, as TriG",
    )  # fmt: skip
    add_graph_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such graph.
    """
    from hvr.base.printable import printable

    shown = BytesIO()
    with open_graph(args.run, args.scene, args.store) as graph:
        to_file = args.out is not None and str(args.out) != "-"
        target = args.out if to_file else shown
        if args.all:
            graph.export_all(target)
        else:
            graph.export(target)
    sys.stdout.buffer.write(printable(shown.getvalue().decode("utf-8")).encode("utf-8"))
    return 0
