"""`hvr tasks` and `hvr scenes`: what there is to try."""

from __future__ import annotations

import json
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def tasks(as_json: Json = False) -> None:
    """List the paper's tasks, with the scenes that fit.

    Example: `hvr tasks --json`
    """
    from hvr.tasks import load_task, task_ids

    found = [load_task(name) for name in task_ids()]
    if as_json:
        print(json.dumps([
            {"id": t.id, "name": t.name, "goal_oriented": t.goal_oriented,
             "constructive": t.constructive, "paraphrases": list(t.paraphrases),
             "goal": t.goal, "scenes": list(t.scenes)} for t in found
        ]))  # fmt: skip
        return
    for t in found:
        print(f"{t.id:6} {t.name:34} {len(t.scenes):2} scenes  {t.goal_oriented}")


def scenes(
    having: Annotated[
        str | None, typer.Option(help="Only those with this AI2-THOR type, such as Kettle.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the kitchens.

    Examples:

    - `hvr scenes`
    - `hvr scenes --having Kettle`
    """
    from hvr.envs.scenes import load_scene, scene_names

    found = []
    for name in scene_names():
        objects = load_scene(name).objects
        types = sorted({o.object_type for o in objects})
        if having is None or having.lower() in {t.lower() for t in types}:
            found.append({"scene": name, "objects": len(objects), "types": types})
    if as_json:
        print(json.dumps(found))
        return
    for entry in found:
        print(f"{entry['scene']:12} {entry['objects']:3} objects")
