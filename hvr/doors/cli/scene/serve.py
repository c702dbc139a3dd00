"""`hvr scene serve`: the process that AI2-THOR's Python client takes for Unity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hvr.doors.stand_in import options

if TYPE_CHECKING:
    import argparse

    from hvr.doors.cli.arguments import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command.

    The process reads them itself: it has to tell the client that waits for it what is wrong.
    """
    parser.hands_on = True
    parser.description = options.DESCRIPTION
    options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: an option cannot be used, or the client is not there.
    """
    from hvr.doors.stand_in.process import main

    return main(args.words)
