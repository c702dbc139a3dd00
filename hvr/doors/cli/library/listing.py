"""`hvr library list`: the macro actions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.library.libraries import (
    add_agent_option,
    add_library_option,
    library_path,
    print_table,
    read,
)
from hvr.doors.cli.output import print_json

if TYPE_CHECKING:
    from hvr.planning.library.entry import Entry

_EPILOG = """\
examples:
  hvr library list
  hvr library list --agent dual-arm
  hvr library list --library shared.ttl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "List the macro actions.", _EPILOG
    add_library_option(parser)
    add_agent_option(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: the library cannot be read.
        UsageError: there is no such agent.
    """
    library = read(args.library, args.agent)
    if args.json:
        print_json([_summary(entry) for entry in library], indent=2)
    elif not len(library):
        of = f" of {args.agent}" if args.agent else ""
        print(f"{library_path(args.library)}: no macro actions{of}")
    else:
        rows = [
            (e.id, e.name, e.agent, str(len(e.steps)), _sources(e), f"{e.validated}/{e.used}")
            for e in sorted(library, key=lambda e: (e.name, e.agent, e.id))
        ]
        print_table(("id", "macro action", "agent", "steps", "learnt from", "valid/used"), rows)
    return 0


def _summary(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "name": entry.name,
        "agent": entry.agent,
        "steps": len(entry.steps),
        "origins": [origin.to_json() for origin in entry.origins],
        "used": entry.used,
        "validated": entry.validated,
    }


def _sources(entry: Entry) -> str:
    texts = dict.fromkeys(
        " ".join(filter(None, (o.request, o.scene, "(simulated)" if o.simulated else "")))
        for o in entry.origins
    )
    first = next(iter(texts), "")
    return first if len(texts) <= 1 else f"{first} and {len(texts) - 1} more"
