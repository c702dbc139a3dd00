"""`hvr world check`: what does not fit in a world."""

from __future__ import annotations

import argparse

from hvr.doors.cli.arguments import add_json, seconds
from hvr.doors.cli.trust import add_run

_DESCRIPTION = """\
Name every mismatch of a world, with file and line: missing files, a domain that cannot be used or
has no actions, words for what the domain does not have, problems and goals that cannot be read, an
environment whose source lacks its function. Of a world of tools: tasks and files of meanings that
speak of what is not there.

No code of the world is run and no server started, unless --run says so: then an environment that
cannot be opened, raises at reset, or does not begin as the problem says is named, too, and tools
that cannot be opened.
"""

_EPILOG = """\
examples:
  hvr world check ward
  hvr world check logistics --json
  hvr world check ward --run      (runs its environment)

exit codes:
  0  everything fits
  1  something does not
  2  there is no such world
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("world", metavar="WORLD", help="a folder, or a world that hvr brings")
    add_run(parser)
    parser.add_argument("--env-timeout", metavar="SECONDS", type=seconds, help=(
        "for each call of the environment (default: that of world.toml, or 60)"))  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        UsageError: there is no such world.
    """
    from hvr.base.printable import one_line
    from hvr.doors.cli.output import print_json
    from hvr.errors import DataFileError
    from hvr.knowledge.world_file import FILE, find_world
    from hvr.policies.facts.checking import check_world
    from hvr.tools.calling.world_checking import check_tools, code_of
    from hvr.worlds.facts.folder import WorldFolder

    folder = find_world(args.world)
    try:
        world = WorldFolder(folder)
        if world.tools:
            findings = check_tools(world, run=args.run)
        else:
            findings = check_world(world, run=args.run, timeout=args.env_timeout)
        not_run = "" if args.run else code_of(world)
    except DataFileError as error:
        if not (folder / FILE).is_file():
            raise
        findings, not_run = (str(error),), ""
    if args.json:
        print_json({"world": str(folder), "findings": list(findings), "not_run": not_run})
    else:
        for finding in findings:
            print(one_line(finding))
        if not findings:
            print(f"{folder}: everything{' else' if not_run else ''} fits")
        if not_run:
            print(one_line(f"not run, and so not checked: {not_run} (--run does)"))
    return 1 if findings else 0
