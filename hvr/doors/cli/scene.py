"""`hvr scene`: draws a scene, or serves one to AI2-THOR's client."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console
from hvr.doors import stand_in
from hvr.doors.cli.arguments import add_json, add_path
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.doors.cli.arguments import ArgumentParser
    from hvr.runs.report.floor_plan.plan import FloorPlan, Route
    from hvr.runs.report.floor_plan.renderings import CharacterPlan


# Show ---------------------------------------------------------------------------------------------

_DESCRIPTION = """\
Draw the floor plan of a scene with its objects.

Without --output, the plan is drawn in characters. +z points up and +x points right.
"""

_EPILOG = """\
examples:
  hvr scene show FloorPlan16
  hvr scene show FloorPlan16 --output kitchen.svg --labels
  hvr scene show FloorPlan16 --json
  hvr scene show --run runs/boil --output way.png
"""

_SUFFIXES = (".svg", ".png")
_STYLES = {
    "surface": "yellow",
    "furniture": "green",
    "storage": "color(137)",
    "basin": "cyan",
    "appliance": "bright_black",
    "fixture": "blue",
    "dot": "dim",
    "agent": "bold bright_blue",
    "small": "bold bright_yellow",
    "label": "bold",
}


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("name", metavar="SCENE", nargs="?", help="the scene, such as FloorPlan16")
    parser.add_argument(
        "--output", "-o", metavar="FILE", type=Path, help="write a picture: FILE.svg or FILE.png"
    )
    add_path(
        parser,
        "--run",
        "draw the scene of this run, with the robot's route and steps",
        metavar="FOLDER",
    )
    parser.add_argument("--objects", action="store_true", help="also list all objects")
    parser.add_argument(
        "--labels", action="store_true", help="also label small objects in the picture"
    )
    add_json(parser, "print the objects as JSON")


def run_show(args: argparse.Namespace) -> int:
    from hvr.doors.cli.output import check_writable, print_json

    output: Path | None = args.output
    if output is not None:
        if output.suffix.lower() not in _SUFFIXES:
            raise UsageError(f"--output must end in {' or '.join(_SUFFIXES)}, got {output}")
        check_writable(output)
    plan, way = _plan(args.name, args.run)
    if output is not None:
        _write(plan, way, output, args.labels)
    if args.json:
        print_json(plan.to_json())
        return 0
    if output is not None:
        print(f"wrote {output}")
    else:
        _print(plan)
    if args.objects:
        _list(plan)
    return 0


def _plan(name: str | None, run: Path | None) -> tuple[FloorPlan, Route | None]:
    from hvr.runs.report.floor_plan.plan import scene_plan

    if (name is None) == (run is None):
        raise UsageError("name a scene, such as FloorPlan16, or a run folder with --run")
    if name is not None:
        return scene_plan(name), None
    from hvr.runs.report.run_page import read_story

    assert run is not None
    story = read_story(run)
    if story.before is None:
        raise UsageError(f"--run {run}: {story.note}")
    return story.before, story.route


def _write(plan: FloorPlan, way: Route | None, output: Path, labels: bool) -> None:
    from hvr.doors.cli.output import write_whole
    from hvr.runs.report.floor_plan.drawing import draw_floor_plan, svg, write_png

    drawing = draw_floor_plan(plan, way, labels="all" if labels else "main")
    if output.suffix.lower() == ".png":
        write_png(drawing, output)
    else:
        write_whole(output, svg(drawing))


def _print(plan: FloorPlan) -> None:
    from rich.text import Text

    from hvr.runs.report.floor_plan.renderings import character_plan

    width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    drawn = character_plan(plan, width, plain=not _can_print("░▚▒≈▓═·▲►▼◄"))
    screen = console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    screen.print(f"{plan.scene}: {len(plan.shapes)} objects")
    for row in drawn.rows:
        line = Text()
        for cell in row:
            line.append(cell.character, style=_STYLES.get(cell.look, ""))
        line.rstrip()
        screen.print(line)
    screen.print()
    screen.print("\n".join(_legend(plan, drawn, width)))


def _can_print(characters: str) -> bool:
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def _legend(plan: FloorPlan, drawn: CharacterPlan, width: int) -> list[str]:
    signs = [f"{cell.character} {text}" for cell, text in drawn.legend]
    things = [f"{letter} {shape.name}" for letter, shape in drawn.letters.items()]
    if drawn.unlettered:
        things.append(f"+ {', '.join(drawn.unlettered)}")
    if plan.held is not None:
        things.append(f"in hand: {plan.held}")
    lines = _wrapped(signs, width) + _wrapped(things, width)
    enclosed = sum(shape.enclosed for shape in plan.shapes)
    overhead = sum(shape.overhead for shape in plan.shapes)
    if enclosed or overhead:
        lines.append(
            f"not drawn: {overhead} overhead, {enclosed} in closed objects (--objects lists all)"
        )
    return lines


def _wrapped(items: list[str], width: int) -> list[str]:
    column = max(map(len, items), default=0) + 2
    count = max(1, (width + 2) // column)
    rows = [items[i : i + count] for i in range(0, len(items), count)]
    return ["".join(item.ljust(column) for item in row).rstrip() for row in rows]


def _list(plan: FloorPlan) -> None:
    header = ("object", "type", "kind", "on or in", "x", "y", "z", "state")
    rows = [
        (
            s.name,
            s.object_type,
            s.kind.value,
            s.place,
            *(f"{value:.2f}" for value in s.box.center),
            ", ".join(s.state),
        )
        for s in plan.shapes
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    print()
    for row in (header, *rows):
        cells = (cell.ljust(w) for cell, w in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


# Serve --------------------------------------------------------------------------------------------


def add_serve_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `hvr scene serve`.

    The process parses them itself, because it must report errors to the waiting client.
    """
    parser.hands_on = True
    parser.description = stand_in.DESCRIPTION
    stand_in.add_arguments(parser)


def run_serve(args: argparse.Namespace) -> int:
    from hvr.doors.stand_in.process import main

    return main(args.words)
