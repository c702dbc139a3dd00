"""`hvr world show`: what there is in a world."""

from __future__ import annotations

import argparse
from pathlib import Path

from hvr.cli.arguments import add_json

_DESCRIPTION = """\
Show what there is in a world: types, facts, numbers and actions with their words, problems and
tasks; with --problem its objects, too.
"""

_EPILOG = """\
examples:
  hvr world show logistics
  hvr world show logistics --problem harbour --svg logistics.svg
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("world", metavar="WORLD", help="a folder, or a world that hvr brings")
    parser.add_argument("--problem", metavar="NAME", help="show the objects of this one, too")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write a drawing, too")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: the world cannot be read, or the drawing not be written.
    """
    from hvr.cli.output import check_writable, print_json, write_whole
    from hvr.printable import one_line
    from hvr.report.world_drawing import draw_world
    from hvr.world_file import find_world
    from hvr.worlds.folder import WorldFolder
    from hvr.worlds.overview import overview

    if args.svg is not None:
        check_writable(args.svg)
    world = WorldFolder(find_world(args.world))
    several = len(world.tasks) != 1 and len(world.problem_files) != 1
    problem = None if args.problem is None and several else world.problem(args.problem)[0]
    view = overview(world, problem)
    if args.svg is not None:
        write_whole(args.svg, draw_world(view))
    if args.json:
        print_json(view.to_json())
        return 0
    for title, lines in view.sections():
        print(f"{title}:")
        for line in lines:
            print(f"  {one_line(line)}")
    if args.svg is not None:
        print(f"wrote {args.svg}")
    return 0
