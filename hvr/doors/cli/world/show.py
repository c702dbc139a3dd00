"""`hvr world show`: what there is in a world."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.trust import add_run

if TYPE_CHECKING:
    from hvr.knowledge.world_file import WorldFile

_DESCRIPTION = """\
Show what there is in a world: types, facts, numbers and actions with their words, problems and
tasks; with --problem its objects, too. Of a world of tools: the tools, what they take and give,
which of their parameters mean the same, and the tasks. Functions are read from the source of the
world's module; other tools are listed with --run only.
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
    add_run(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: the world cannot be read, or the drawing not be written.
    """
    from hvr.base.printable import one_line
    from hvr.doors.cli.output import check_writable, print_json, write_whole
    from hvr.execution.facts.overview import overview
    from hvr.knowledge.world_file import find_world
    from hvr.runs.report.world_drawing import draw_world
    from hvr.worlds.facts.folder import WorldFolder

    if args.svg is not None:
        check_writable(args.svg)
    world = WorldFolder(find_world(args.world))
    if world.tools:
        return _show_tools(world, args)
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


def _show_tools(world: WorldFile, args: argparse.Namespace) -> int:
    from hvr.base.printable import one_line
    from hvr.doors.cli.output import print_json
    from hvr.errors import UsageError
    from hvr.tools.calling.world_checking import code_of, overview

    for name in ("problem", "svg"):
        if getattr(args, name) is not None:
            raise UsageError("this is not for a world of tools", field=name)
    view = overview(world, run=args.run)
    if args.json:
        print_json(view)
        return 0
    print(f"{one_line(view['name'])}:")
    if view["tools"] is None:
        print(f"  not listed: {one_line(code_of(world))} would have to be run (--run does)")
    for tool in view["tools"] or ():
        takes = ", ".join(p["name"] + ("" if p["required"] else "?") for p in tool["takes"])
        gives = ", ".join(tool["gives"])
        print(one_line(f"  {tool['name']}({takes}){f' -> {gives}' if gives else ''}  "
                       f"[{tool['effect']}]"))  # fmt: skip
    print("the same value:")
    for name, slots in view["shared"].items():
        print(one_line(f"  {name}: {', '.join(slots)}"))
    print("tasks:")
    for name, request in view["tasks"].items():
        print(one_line(f"  {name}: {request}"))
    return 0
