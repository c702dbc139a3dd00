"""`hvr tasks`: the tasks."""

from __future__ import annotations

import argparse
import sys

from hvr.doors.cli.arguments import add_json
from hvr.doors.cli.output import print_json

_EPILOG = """\
examples:
  hvr tasks
  hvr tasks --world home
  hvr tasks --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "List the tasks, the paper's and harder ones, with the scenes that fit."
    parser.epilog = _EPILOG
    parser.add_argument("--world", help="the world: kitchen (the default), home, or a folder")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    from hvr.knowledge.world_file import load_world
    from hvr.runs.tasks import load_task, task_ids

    world = load_world(args.world) if args.world else load_world()
    files = {path.stem: path for path in world.task_files}
    usual = world is load_world()
    tasks = [load_task(n if usual else str(files[n])) for n in task_ids(world=str(world.folder))]
    if args.json:
        print_json([
            {"id": t.id, "name": t.name, "goal_oriented": t.goal_oriented,
             "constructive": t.constructive, "paraphrases": list(t.paraphrases),
             "goal": t.goal, "constraints": list(t.constraints), "scenes": list(t.scenes),
             "step_budget": t.step_budget, "unseen": t.unseen}
            for t in tasks
        ])  # fmt: skip
    else:
        for t in tasks:
            print(f"{t.id:6} {t.name:44} {len(t.scenes):2} scenes  {t.goal_oriented}")
        if not tasks:
            print(
                f"the world {world.name} has no tasks in scenes (task_files in world.toml); "
                "hvr world show lists its problems",
                file=sys.stderr,
            )
    return 0
