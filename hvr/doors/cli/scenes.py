"""`hvr scenes`: the scenes of all worlds."""

from __future__ import annotations

import argparse
import sys

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import print_json

_EPILOG = """\
examples:
  hvr scenes
  hvr scenes --world home --having FloorLamp
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = "List the scenes of all worlds.", _EPILOG
    parser.add_argument(
        "--having", metavar="TYPE", help="only those with this AI2-THOR type, such as Kettle"
    )
    parser.add_argument("--world", help="only those of a world: kitchen, home, or a folder")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from hvr.worlds.scenes import load_scene, scene_names

    entries = []
    for name in scene_names(args.world):
        objects = load_scene(name).objects
        types = sorted({o.object_type for o in objects})
        if args.having is None or args.having.lower() in {t.lower() for t in types}:
            entries.append({"scene": name, "objects": len(objects), "types": types})
    if args.json:
        print_json(entries)
    else:
        for entry in entries:
            print(f"{entry['scene']:12} {entry['objects']:3} objects")
        if not entries:
            what = f"with {args.having} " if args.having else ""
            where = f"the world {args.world} has" if args.world else "there is"
            print(f"{where} no scene {what}".rstrip(), file=sys.stderr)
    return 0
