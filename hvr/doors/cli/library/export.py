"""`hvr library export`: a library as another file."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.library.libraries import add_agent_option, add_library_option, count, read

_DESCRIPTION = """\
Write the library to another file, as Turtle or, if its name ends in .json, as JSON.
"""

_EPILOG = """\
examples:
  hvr library export shared.ttl
  hvr library export pusher.json --agent pusher
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write, .ttl or .json")
    add_library_option(parser)
    add_agent_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: a library cannot be read or written.
        UsageError: there is no such agent.
    """
    from hvr.planning.library.store import write_library

    library = read(args.library, args.agent)
    write_library(library, args.file)
    print(f"{args.file}: {count(len(library))}")
    return 0
