"""`hvr kg show`: what a graph knows of one object."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.kg.graphs import add_graph_options, open_graph, value_text
from hvr.doors.cli.output import print_json

if TYPE_CHECKING:
    from hvr.knowledge.describe import Description

_EPILOG = """\
examples:
  hvr kg show mug-1
  hvr kg show fridge-1 --scene FloorPlan16 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "Show everything known of one object.", _EPILOG
    parser.add_argument("name", metavar="NAME", help="name of an object, such as mug-1")
    add_graph_options(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such graph.
        UnknownObjectError: there is no such object in it.
    """
    with open_graph(args.run, args.scene, args.store) as graph:
        description = graph.describe(args.name)
    if args.json:
        print_json(description.to_json(), indent=2)
    else:
        print("\n".join(_lines(description)))
    return 0


def _lines(about: Description) -> Iterator[str]:
    yield f"{about.name} ({about.type})"
    yield f"  called       {', '.join(about.labels)}"
    if about.thor_id:
        yield f"  objectId     {about.thor_id}"
    yield f"  is a         {', '.join(about.kinds)}"
    yield f"  good for     {', '.join(about.affordances)}"
    for prop, v in about.state.items():
        yield f"  {prop:<12} {value_text(v)}"
    for prop, other in about.relations:
        yield f"  {prop:<12} {other}"
    for other, prop in about.inverse:
        yield f"  {other} {prop} this"
    for event, action, step, outcome in about.events:
        yield f"  {event}: step {step}, {action}, {outcome}"
