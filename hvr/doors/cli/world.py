"""`hvr world`, `tasks`, `scenes` and `problems`: world folders and their contents."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.arguments import add_json, add_path, add_run, real, seconds, whole_number
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.knowledge.world_file import WorldFile

# New world ----------------------------------------------------------------------------------------

_NEW_DESCRIPTION = """\
Create a world from a PDDL domain: a folder with world.toml, a copy of the domain, and words.ttl
with words for its types, facts and actions. The words are derived from names; edit them.
"""

_NEW_EPILOG = """\
examples:
  hvr world new ward --domain domain.pddl --problem round.pddl
  hvr world check ward
  hvr solve --world ward --execute
"""


def add_new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _NEW_DESCRIPTION, _NEW_EPILOG
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="new or empty folder")
    add_path(parser, "--domain", "the PDDL domain")
    add_path(parser, "--problem", "a PDDL problem; may be repeated", action="append", default=[])


def run_new(args: argparse.Namespace) -> int:
    from hvr.worlds.facts.folder import create_world

    if args.domain is None:
        raise UsageError("missing domain: give --domain FILE", field="domain")
    create_world(args.folder, args.domain, args.problem)
    print(
        f"created {args.folder}: edit world.toml and words.ttl, then hvr world check {args.folder}"
    )
    return 0


# Check --------------------------------------------------------------------------------------------

_CHECK_DESCRIPTION = """\
List every mismatch of a world, with file and line: missing files, a domain that is unusable or has
no actions, words for names that the domain lacks, unreadable problems and goals, and an environment
whose source lacks its function. For a tool world: unknown names in tasks and in files of
meanings.

The world's code does not run and no server starts, except with --run. Then the list also includes
tools that cannot be opened, and an environment that cannot be opened, raises an error at reset, or
differs from the problem's initial state.
"""

_CHECK_EPILOG = """\
examples:
  hvr world check ward
  hvr world check logistics --json
  hvr world check ward --run      (runs its environment)

exit codes:
  0  there are no mismatches
  1  there are mismatches
  2  the world does not exist
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _CHECK_DESCRIPTION, _CHECK_EPILOG
    parser.add_argument("world", metavar="WORLD", help="a folder, or a world that comes with hvr")
    add_run(parser)
    parser.add_argument(
        "--env-timeout",
        metavar="SECONDS",
        type=seconds,
        help="time limit of each call of the environment "
        "(default: env_timeout in world.toml, or 60)",
    )
    add_json(parser)


def run_check(args: argparse.Namespace) -> int:
    from hvr.base.printable import one_line
    from hvr.doors.cli.output import print_json
    from hvr.errors import DataFileError
    from hvr.knowledge.world_file import FILE, find_world
    from hvr.policies.world_checks import check_world
    from hvr.tools.calling.worlds import check_tools, code_of
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
            print(f"{folder}: no {'other ' if not_run else ''}mismatches")
        if not_run:
            print(one_line(f"not run, so not checked: {not_run} (use --run)"))
    return 1 if findings else 0


# Show ---------------------------------------------------------------------------------------------

_SHOW_DESCRIPTION = """\
Show the contents of a world: types, facts, numbers and actions with their words, problems and
tasks; with --problem also its objects. For a tool world: the tools with their inputs and
outputs, parameters with the same meaning, and the tasks. Functions are read from the source of the
world's module; other tools are listed only with --run.
"""

_SHOW_EPILOG = """\
examples:
  hvr world show logistics
  hvr world show logistics --problem harbour --svg logistics.svg
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _SHOW_DESCRIPTION, _SHOW_EPILOG
    parser.add_argument("world", metavar="WORLD", help="a folder, or a world that comes with hvr")
    parser.add_argument("--problem", metavar="NAME", help="also show the objects of this problem")
    add_path(parser, "--svg", "also write a drawing")
    add_run(parser)
    add_json(parser)


def run_show(args: argparse.Namespace) -> int:
    from hvr.base.printable import one_line
    from hvr.doors.cli.output import check_writable, print_json, write_whole
    from hvr.knowledge.world_file import find_world
    from hvr.runs.report.world_overview import draw_world, overview
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
    from hvr.tools.calling.worlds import code_of, overview

    for name in ("problem", "svg"):
        if getattr(args, name) is not None:
            raise UsageError("this option cannot be used with a tool world", field=name)
    view = overview(world, run=args.run)
    if args.json:
        print_json(view)
        return 0
    print(f"{one_line(view['name'])}:")
    if view["tools"] is None:
        print(f"  not run, so not listed: {one_line(code_of(world))} (use --run)")
    for tool in view["tools"] or ():
        takes = ", ".join(p["name"] + ("" if p["required"] else "?") for p in tool["takes"])
        gives = ", ".join(tool["gives"])
        print(
            one_line(
                f"  {tool['name']}({takes}){f' -> {gives}' if gives else ''}  [{tool['effect']}]"
            )
        )
    print("parameters with the same meaning:")
    for name, slots in view["shared"].items():
        print(one_line(f"  {name}: {', '.join(slots)}"))
    print("tasks:")
    for name, request in view["tasks"].items():
        print(one_line(f"  {name}: {request}"))
    return 0


# Tasks --------------------------------------------------------------------------------------------

_TASKS_EPILOG = """\
examples:
  hvr tasks
  hvr tasks --world home
  hvr tasks --json
"""


def add_tasks_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _TASKS_EPILOG
    parser.add_argument("--world", help="the world: kitchen (the default), home, or a folder")
    add_json(parser)


def run_tasks(args: argparse.Namespace) -> int:
    from hvr.knowledge.world_file import load_world
    from hvr.runs.tasks import load_task, task_ids
    from hvr.validation.report import count

    world = load_world(args.world) if args.world else load_world()
    files = {path.stem: path for path in world.task_files}
    usual = world is load_world()
    tasks = [load_task(n if usual else str(files[n])) for n in task_ids(world=str(world.folder))]
    if args.json:
        print_json(
            [
                {
                    "id": t.id,
                    "name": t.name,
                    "goal_oriented": t.goal_oriented,
                    "constructive": t.constructive,
                    "paraphrases": list(t.paraphrases),
                    "goal": t.goal,
                    "constraints": list(t.constraints),
                    "scenes": list(t.scenes),
                    "step_budget": t.step_budget,
                    "unseen": t.unseen,
                }
                for t in tasks
            ]
        )
    else:
        for t in tasks:
            scenes = count(len(t.scenes), "scene")
            print(f"{t.id:6} {t.name:44} {scenes:>9}  {t.goal_oriented}")
        if not tasks:
            print(
                f"the world {world.name} has no tasks in scenes (task_files in world.toml); use "
                "hvr world show to list its problems",
                file=sys.stderr,
            )
    return 0


# Scenes -------------------------------------------------------------------------------------------

_SCENES_EPILOG = """\
examples:
  hvr scenes
  hvr scenes --world home --having FloorLamp
"""


def add_scenes_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _SCENES_EPILOG
    parser.add_argument(
        "--having", metavar="TYPE", help="only scenes with this AI2-THOR type, such as Kettle"
    )
    parser.add_argument("--world", help="only scenes of one world: kitchen, home, or a folder")
    add_json(parser)


def run_scenes(args: argparse.Namespace) -> int:
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
            where = f"in the world {args.world}" if args.world else ""
            print(" ".join(f"no scene {what}{where}".split()), file=sys.stderr)
    return 0


# Problems -----------------------------------------------------------------------------------------

_DESCRIPTION = """\
Generate planning problems for training, each with the length of a shortest plan or a statement
that none exists, and a proof. The output has one line of JSON per problem.
"""

_PROBLEMS_EPILOG = """\
examples:
  hvr problems --count 40 > problems.jsonl
  hvr problems --family blocksworld,ferry --level 1-3 --count 1000 --seed 7 --output train.jsonl
  hvr problems --unsolvable 0.2 --count 200 --output mixed.jsonl

The same options give the same problems.
"""


def add_problems_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _PROBLEMS_EPILOG
    parser.add_argument(
        "--family",
        metavar="NAMES",
        default="all",
        help="families, such as blocksworld,ferry (default: %(default)s)",
    )
    parser.add_argument(
        "--level",
        metavar="LEVELS",
        default="1-5",
        help="levels from 1 to 5, such as 2 or 1-3 (default: %(default)s)",
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=whole_number,
        default=40,
        help="number of problems, spread over families and levels (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number,
        default=0,
        help="seed of the first problem; the others follow (default: %(default)s)",
    )
    parser.add_argument(
        "--unsolvable",
        metavar="SHARE",
        type=real,
        default=0.0,
        help="share of problems without a plan (default: %(default)s)",
    )
    add_path(parser, "--output", "file for the problems (default: standard output)")


def run_problems(args: argparse.Namespace) -> int:
    from hvr.doors.cli.output import check_writable, write_whole
    from hvr.planning.problems import FAMILIES, series

    if args.output is not None:
        check_writable(args.output)
    names = FAMILIES if args.family == "all" else tuple(args.family.split(","))
    made = (
        json.dumps(problem.to_json(), ensure_ascii=False) + "\n"
        for problem in series(names, _levels(args.level), args.count, args.seed, args.unsolvable)
    )
    if args.output is None:
        sys.stdout.writelines(made)
        return 0
    lines = list(made)
    write_whole(args.output, "".join(lines))
    print(f"{len(lines)} problem{'s' * (len(lines) != 1)} in {args.output}", file=sys.stderr)
    return 0


def _levels(text: str) -> tuple[int, ...]:
    first, _, last = text.partition("-")
    try:
        return tuple(range(int(first), int(last or first) + 1))
    except ValueError:
        raise UsageError(f"expected a level or a range such as 1-3, got {text!r}") from None
