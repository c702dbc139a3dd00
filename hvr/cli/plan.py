"""`hvr plan`: from a sentence to an executed plan."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def plan(
    text: Annotated[
        str | None, typer.Argument(help="What to do, in English.", show_default=False)
    ] = None,
    scene: Annotated[str, typer.Option(help="The kitchen, FloorPlan1 to FloorPlan30.")] = (
        "FloorPlan16"
    ),
    task: Annotated[
        str | None, typer.Option(help="Do one of the paper's tasks instead, such as T2.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Who plans: symbolic.")] = "symbolic",
    planner: Annotated[
        str, typer.Option(help="fast-downward, or up:NAME for an engine of unified-planning.")
    ] = "fast-downward",
    budget: Annotated[float, typer.Option(help="Seconds for one planner call at most.")] = 10.0,
    seed: Annotated[int, typer.Option(help="Seed of the environment.")] = 0,
    max_replans: Annotated[int, typer.Option(help="New plans at most when the world differs.")] = 3,
    save: Annotated[
        Path | None, typer.Option(help="Run folder, new or empty. Default: one under ./runs.")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Plan and validate, do not execute.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
) -> None:
    """Plan a request, prove the plan, execute it step by step, and save the run.

    Exit code 0: the goal is reached. 1: it is not, or the request is impossible here.
    2: the request or an option cannot be used.

    Examples:

    - `hvr plan "make coffee"`
    - `hvr plan "put two slices of tomato on a plate" --scene FloorPlan1`
    - `hvr plan --task T5 --json`
    - `hvr plan "boil water in a pot" --dry-run --save runs/boil`
    """
    from hvr.cli.display import display
    from hvr.run import Options
    from hvr.run import plan as run_plan

    options = Options(
        scene=scene, policy=policy, planner=planner, budget=budget, seed=seed,
        max_replans=max_replans, execute=not dry_run, save=save,
    )  # fmt: skip
    shown = "none" if as_json or quiet else "live" if sys.stdout.isatty() else "lines"
    with display(shown) as listen:
        run = run_plan(text, task=task, options=options, listen=listen)
    if as_json:
        print(json.dumps(run.to_json(), ensure_ascii=False))
    else:
        steps = sum(len(p.plan.actions) for p in run.plans)
        if run.finished is None:
            print(f"planned: {steps} steps, valid, not executed · saved in {run.folder}")
        elif run.reached:
            print(f"goal reached in {run.finished.steps} steps · saved in {run.folder}")
        else:
            print(f"goal not reached: {run.finished.reason} · saved in {run.folder}")
    raise typer.Exit(0 if run.reached is not False else 1)
