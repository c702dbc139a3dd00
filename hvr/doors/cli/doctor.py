"""`hvr doctor thor`: whether AI2-THOR can run here, and what to do where it cannot."""

from __future__ import annotations

import argparse

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import print_json

_DESCRIPTION = """\
Check whether AI2-THOR can run here. Nothing is downloaded or started.
"""

_EPILOG = """\
examples:
  hvr doctor thor
  hvr doctor thor --thor platform=CloudRendering
  hvr doctor thor --json

exit codes:
  0  it can
  1  something is missing
  2  an option cannot be used
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--thor-executable", metavar="COMMAND", help=(
        "command line of a process that speaks AI2-THOR's protocol "
        "(default: $HVR_THOR_EXECUTABLE)"))  # fmt: skip
    parser.add_argument("--thor", metavar="NAME=VALUE", action="append", help=(
        "an option of AI2-THOR, see docs/thor.md"))  # fmt: skip
    add_json(parser, "print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: an option of AI2-THOR cannot be used.
    """
    from hvr.worlds.thor.checks import judge, ready
    from hvr.worlds.thor.machine import look
    from hvr.worlds.thor.options import option_texts, read_options

    options = read_options(option_texts(args.thor_executable, args.thor))
    checks = judge(look(options), options)
    good = ready(checks)
    if args.json:
        print_json({"ready": good, "checks": [check.to_json() for check in checks]})
        return 0 if good else 1
    for check in checks:
        print(f"{check.status:8} {check.name:10} {check.found}")
        if check.advice:
            print(f"{'':19} do: {check.advice}")
    if not good:
        print("options are given as --thor NAME=VALUE; --thor-executable is short for executable")
    missing = ", ".join(check.name for check in checks if check.status == "missing")
    print("AI2-THOR can be started here" if good else f"AI2-THOR cannot be started: {missing}")
    return 0 if good else 1
