"""`hvr world new`: a world of a PDDL domain."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.errors import UsageError

_DESCRIPTION = """\
Make a world of a PDDL domain: a folder with world.toml, a copy of the domain, and words.ttl with
words for its types, facts and actions, derived from their names and meant to be edited.
"""

_EPILOG = """\
examples:
  hvr world new ward --domain domain.pddl --problem round.pddl
  hvr world check ward
  hvr solve --world ward --execute
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="new or empty")
    parser.add_argument("--domain", metavar="FILE", type=Path, help="the PDDL domain")
    parser.add_argument("--problem", metavar="FILE", type=Path, action="append", default=[],
                        help="a PDDL problem; may be repeated")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: see `hvr.worlds.facts.skeleton.make_world`.
    """
    from hvr.worlds.facts.skeleton import make_world

    if args.domain is None:
        raise UsageError("a world needs a domain: --domain FILE", field="domain")
    make_world(args.folder, args.domain, args.problem)
    print(f"made {args.folder}: edit world.toml and words.ttl, then hvr world check {args.folder}")
    return 0
