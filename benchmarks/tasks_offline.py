"""Plan, prove and execute every task in every scene that has its objects.

    python benchmarks/tasks_offline.py                       # all tasks, all scenes
    python benchmarks/tasks_offline.py T2 T5 --scenes 5      # five scenes each
    python benchmarks/tasks_offline.py --json table.json
    python benchmarks/tasks_offline.py T3 --world FOLDER        # in a custom world

A run succeeds when the goal holds in the final observation of the environment. The shortest length
and its lower bound come from tasks/*.toml (tools/prove_tasks.py).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured

from hvr.errors import HvrError
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.runs.tasks import PaperTask, expand_ids, load_task


def measure(task: PaperTask, scene: str, options: Options) -> dict[str, object]:
    optimum = task.optimum[scene]
    row: dict[str, object] = {
        "task": task.id, "scene": scene, "optimum": optimum.steps, "bound": optimum.bound,
        "truth": len(task.ground_truth.steps),
    }  # fmt: skip
    started, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = plan(task=task.id, options=replace(options, save=Path(folder) / "run"))
        except HvrError as error:
            row |= {"reached": False, "steps": None, "error": str(error), "calls": 0}
        else:
            wrong = [s.number for s in run.steps if not s.as_expected]
            row |= {
                "reached": bool(run.reached),
                "valid": all(p.report.valid for p in run.plans),
                "steps": len(run.plans[0].plan.actions),
                "executed": len(run.steps),
                "unexpected": len(wrong),
                "calls": run.planner_calls,
                "proven": run.plans[0].plan.optimal,
            }
    row["seconds"] = round(time.perf_counter() - started, 3)
    row["cpu"] = round(time.process_time() - cpu, 3)  # excludes the planner's process
    return row


def main() -> int:
    """Print the table; the exit code is 1 if a run misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help=TASKS_HELP)
    parser.add_argument("--scenes", type=int, default=0, help="maximum number per task")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for the planner")
    parser.add_argument("--world", help="world name or folder (default: the scene's world)")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    print(conditions(seed=0))
    print(f"{'task':6} {'scene':12} {'steps':>5} {'optimum':>8} {'over':>6} {'truth':>5} "
          f"{'time s':>7} {'calls':>5}  result")  # fmt: skip
    rows = []
    for task_id in expand_ids(options.tasks or ["all"]):
        task = load_task(task_id)
        scenes = task.scenes[: options.scenes] if options.scenes else task.scenes
        for scene in scenes:
            row = measure(
                task, scene, Options(scene=scene, budget=options.budget, world=options.world)
            )
            rows.append(row)
            print(_line(row), flush=True)
        _summary(task, [r for r in rows if r["task"] == task.id])
    reached = sum(bool(r["reached"]) for r in rows)
    print(f"all: {reached} of {len(rows)} reached")
    if options.json:
        options.json.write_text(json.dumps({"conditions": conditions(0), "rows": rows}, indent=1))
    return 0 if reached == len(rows) else 1


def _over(row: dict[str, object]) -> float | None:
    if row["steps"] is None:
        return None
    return float(row["steps"]) / float(row["bound"]) - 1  # type: ignore[arg-type]


def _line(row: dict[str, object]) -> str:
    proven = row["optimum"] == row["bound"]
    optimum = f"{row['optimum']}" if proven else f"{row['bound']}..{row['optimum']}"
    over = _over(row)
    result = "reached" if row["reached"] else f"NOT REACHED {row.get('error', '')}"
    if row.get("unexpected"):
        result += f" ({row['unexpected']} steps not as expected)"
    return (
        f"{row['task']:6} {row['scene']:12} {row['steps'] or '-':>5} {optimum:>8} "
        f"{'-' if over is None else f'{over:+.0%}':>6} {row['truth']:>5} "
        f"{row['seconds']:>7.2f} {row['calls']:>5}  {result}"
    )


def _summary(task: PaperTask, rows: list[dict[str, object]]) -> None:
    overs = [over for row in rows if (over := _over(row)) is not None]
    seconds = [float(row["seconds"]) for row in rows]  # type: ignore[arg-type]
    if overs:
        print(
            f"{task.id}: {sum(bool(r['reached']) for r in rows)} of {len(rows)} reached; "
            f"maximum over the lower bound {max(overs):+.0%}; time median "
            f"{statistics.median(seconds):.2f} s, max {max(seconds):.2f} s"
        )


if __name__ == "__main__":
    sys.exit(measured(main))
