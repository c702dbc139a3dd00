"""`hvr bench show`: the results of a bench."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.doors.cli.bench.report import add_report_options, check_report, report
from hvr.errors import UsageError

_DESCRIPTION = """\
Show the results of a bench, finished or not, without running anything.
"""

_EPILOG = """\
examples:
  hvr bench show bench/x
  hvr bench show bench/x --html bench.html --csv bench.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder of a bench")
    add_report_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such folder.
        DataFileError: a file cannot be read or written.
    """
    from hvr.bench.compare import load_results

    check_report(args)
    if not args.folder.is_dir():
        raise UsageError(f"{args.folder}: there is no such folder; `hvr bench --save` makes one")
    report(args.folder, load_results(args.folder), args)
    return 0
