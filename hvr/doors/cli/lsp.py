"""`hvr lsp`: the language server for editors."""

from __future__ import annotations

import argparse

_DESCRIPTION = """\
Serve PDDL, PDDL+, HDDL and plans to an editor, over standard input and output. An editor starts
this command; docs/how-to/editors.md has the lines for each.
"""

_EPILOG = """\
examples:
  hvr lsp                       # what an editor runs
  hvr lsp --stdio               # the same; some editors always add this option
"""


def add_lsp_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "--stdio", action="store_true", help="use standard input and output (the default)"
    )


def run_lsp(_: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from hvr.base.extras import load

    load("pygls.lsp.server", "pygls", "lsp")
    from hvr.doors.lsp.features import make_server

    make_server().start_io()
    return 0
