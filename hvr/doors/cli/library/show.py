"""`hvr library show`: one macro action."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.library.libraries import add_library_option, read
from hvr.doors.cli.output import print_json

if TYPE_CHECKING:
    from hvr.planning.library.clusters import Cluster
    from hvr.planning.library.entry import Entry

_DESCRIPTION = """\
Show one macro action: conditions, block, where it was learnt, and its cluster.
"""

_EPILOG = """\
examples:
  hvr library show 3f2a
  hvr library show 3f2a91c0de44 --library shared.ttl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("id", metavar="ID", help="the id of a macro action, or how it begins")
    add_library_option(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: the library cannot be read.
        UsageError: no macro action has this id, or several have.
    """
    from hvr.base.printable import one_line
    from hvr.knowledge.ontology import load_ontology

    library = read(args.library)
    entry = library.find(args.id)
    cluster = library.cluster_of(entry.id, load_ontology())
    if args.json:
        print_json({**entry.to_json(), "cluster": cluster.to_json()}, indent=2)
    else:
        print("\n".join(map(one_line, _lines(entry, cluster))))
    return 0


def _lines(entry: Entry, cluster: Cluster) -> list[str]:
    def block(title: str, texts: tuple[str, ...]) -> list[str]:
        return [f"{title if n == 0 else '':<12} {text}" for n, text in enumerate(texts)]

    origins = tuple(
        ", ".join(
            filter(None, (o.request, o.scene, o.model, "simulated" if o.simulated else "",
                          o.date, f"hvr {o.version}" if o.version else "", o.run))
        )
        for o in entry.origins
    )  # fmt: skip
    same = tuple(f"{e.id}  {e.name}  ({e.agent})" for e in cluster.members if e.id != entry.id)
    return [
        f"{entry.name}  ({entry.agent})",
        *block("id", (entry.id,)),
        *block("also", entry.names[1:]),
        *block("parameters", tuple(str(p) for p in entry.parameters)),
        *block("needs", entry.precondition),
        *block("brings about", entry.postcondition),
        *block("block", tuple(f"{n}. {step}" for n, step in enumerate(entry.steps, 1))),
        *block("learnt from", origins),
        *block("used", (f"{entry.used} times, {entry.validated} times valid",)),
        *block("cluster", (f"{cluster.id}  {cluster.general.name}",)),
        *block("with it", same),
    ]
