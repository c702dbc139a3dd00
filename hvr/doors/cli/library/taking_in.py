"""`hvr library import`: somebody else's library."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.library.libraries import add_library_option, merge_in

_EPILOG = """\
examples:
  hvr library import shared.ttl
  hvr library import shared.json --library mine.ttl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "Take in a library that somebody has exported.", _EPILOG
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the library to take in, .ttl or .json"
    )
    add_library_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: a library cannot be read or written.
    """
    from hvr.planning.library.store import read_library

    merge_in(read_library(args.file), args.library)
    return 0
