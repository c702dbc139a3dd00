"""`hvr tasks`, `hvr scenes` and `hvr problems`: list and generate tasks."""

from __future__ import annotations

import argparse
import json
import sys

from hvr.doors.cli.arguments import add_json, add_path, real, whole_number
from hvr.doors.cli.output import print_json
from hvr.errors import UsageError

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
            print(f"{t.id:6} {t.name:44} {len(t.scenes):2} scenes  {t.goal_oriented}")
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
Generate planning problems for training, each with the length of a shortest plan or the fact that
none exists, and the proof. The output has one line of JSON per problem.
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
    add_path(parser, "--output", "write the problems there (default: standard output)")


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
    print(f"{len(lines)} problems in {args.output}", file=sys.stderr)
    return 0


def _levels(text: str) -> tuple[int, ...]:
    first, _, last = text.partition("-")
    try:
        return tuple(range(int(first), int(last or first) + 1))
    except ValueError:
        raise UsageError(f"expected a level or a range such as 1-3, got {text!r}") from None
