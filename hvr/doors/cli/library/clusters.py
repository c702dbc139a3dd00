"""`hvr library clusters`: macro actions that do the same."""

from __future__ import annotations

import argparse

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.library.libraries import add_library_option, print_table, read
from hvr.doors.cli.output import print_json

_DESCRIPTION = """\
Show which macro actions do the same, across agents, and what they have in common.
"""

_EPILOG = """\
examples:
  hvr library clusters
  hvr library clusters --library shared.ttl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add_library_option(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: the library cannot be read.
    """
    from hvr.knowledge.ontology import load_ontology

    clusters = read(args.library).clusters(load_ontology())
    if args.json:
        print_json([cluster.to_json() for cluster in clusters], indent=2)
        return 0
    rows = [
        (
            c.id,
            c.general.name,
            ", ".join(f"{variable} {kind}" for variable, kind in c.general.parameters),
            str(len(c.members)),
            ", ".join(c.agents),
        )
        for c in clusters
    ]
    print_table(("id", "in general", "parameters", "members", "agents"), rows)
    return 0
