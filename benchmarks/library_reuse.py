"""Measure the savings from the macro library: plan every task twice with a simulated model.

    python benchmarks/library_reuse.py
    python benchmarks/library_reuse.py --error 0.3 --seed 2

In the first round the library is empty before T1 and grows from task to task; the second round
starts with the learnt macros. hvr learns from a plan if it is valid and its execution in the
embedded kitchen matched the prediction. There is no answer cache. The model is SIMULATED.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured, tasks_of

from hvr.models.choice import ModelChoice
from hvr.planning.library import read_library
from hvr.runs.request import Options
from hvr.runs.result import Run
from hvr.runs.spine import plan
from hvr.runs.tasks import label, load_task


def run_task(task_id: str, error: float, seed: int, library: Path, folder: Path) -> Run:
    """Plan and execute one task with the library."""
    choice = ModelChoice(spec=f"scripted:error={error}", library=library)
    scene = load_task(task_id).ground_truth.scene
    options = Options(
        scene=scene, policy="llm", seed=seed, model=choice, max_replans=0, save=folder
    )
    return plan(task=task_id, options=options)


def main() -> int:
    """Print the table; the exit code is 1 if a plan is invalid or less than 60 % is saved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--error", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", default="paper", help=TASKS_HELP)
    chosen = parser.parse_args()
    tasks = tasks_of(chosen.tasks)
    print(f"{conditions(chosen.seed)} · SIMULATED model, error {chosen.error} · HVR+\n")
    print("| task | calls first | calls second | saved | valid | reached | entries |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    totals = [0, 0]
    good = True
    with tempfile.TemporaryDirectory() as root:
        library = Path(root) / "library.ttl"
        first = {}
        for task_id in tasks:
            first[task_id] = run_task(
                task_id, chosen.error, chosen.seed, library, Path(root) / f"{label(task_id)}-1"
            )
        entries = len(read_library(library).entries)
        for task_id in tasks:
            run = run_task(
                task_id, chosen.error, chosen.seed, library, Path(root) / f"{label(task_id)}-2"
            )
            before, after = first[task_id].spent, run.spent
            assert before is not None and after is not None
            totals[0] += before.calls
            totals[1] += after.calls
            valid = all(p.report.valid for p in run.plans)
            good = good and valid
            print(
                f"| {task_id} | {before.calls} | {after.calls} | "
                f"{1 - after.calls / before.calls:.0%} | {'yes' if valid else 'NO'} | "
                f"{'yes' if run.reached else 'no'} | {entries} |"
            )
    saved = 1 - totals[1] / totals[0]
    print(f"| all | {totals[0]} | {totals[1]} | {saved:.0%} | | | {entries} |")
    return 0 if good and saved >= 0.6 else 1


if __name__ == "__main__":
    sys.exit(measured(main))
