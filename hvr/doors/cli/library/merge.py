"""`hvr library merge`: several libraries in one."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.library.libraries import add_library_option, merge_in

_DESCRIPTION = """\
Merge other libraries into this one; nothing is lost, nothing is there twice.
"""

_EPILOG = """\
examples:
  hvr library merge robot1.ttl robot2.ttl
  hvr library merge monday.ttl tuesday.json --library all.ttl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="libraries to merge in")
    add_library_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        DataFileError: a library cannot be read or written.
    """
    from hvr.planning.library.library import Library
    from hvr.planning.library.store import read_library

    merge_in(Library().merge(*(read_library(file) for file in args.files)), args.library)
    return 0
