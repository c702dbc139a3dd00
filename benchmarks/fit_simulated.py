"""Fit the habits of the simulated model to the paper's measurements of Gemini.

    python benchmarks/fit_simulated.py                    # about 20 minutes on 2 cores, resumable
    python benchmarks/fit_simulated.py --errors 0.2 --lengths 0.2 --slips 0.1,1 --seeds 1

The error rate alone does not determine the SIMULATED model's habits. Errors grow along an answer
(`length`), corrections make new errors (`slip`), and required kinds of objects are not picked
(`choices`). This script tries a grid of habits and error rates. It compares plan correctness,
averaged over T1 to T12, with the rows LLM, R, HR and VR of the paper's table 2 for Gemini. It
ignores the rows HVR and HV, which the ablation study is about. `ablation_simulated.py` takes the
habits of the best model and varies the error rate.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured, tasks_of
from side_by_side import add_options
from side_by_side import chosen as engine_of

from hvr.bench.cells import CellOptions, plan_cells
from hvr.bench.export import paper_tables
from hvr.bench.runner import Progress, prompt_digests, run_bench, run_cell
from hvr.bench.tables import summarise
from hvr.doors.cli.bench import split_list
from hvr.models.choice import ModelChoice

UNCORRECTED = ("LLM", "R", "HR")
"""Settings without corrections, which `slip` does not affect."""

CORRECTED = ("VR",)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--errors", default="0.1,0.2,0.3")
    parser.add_argument("--lengths", default="0.05,0.2")
    parser.add_argument("--slips", default="0.1,0.5,1")
    parser.add_argument("--choices", default="0.2,1")
    parser.add_argument("--macros", default="0.1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tasks", default="paper", help=TASKS_HELP)
    add_options(parser, jobs=2)
    parser.add_argument("--save", type=Path, default=Path("bench/fit"))
    chosen = parser.parse_args()
    habits = [
        f"error={error},length={length},choices={choices},macros={chosen.macros}"
        for error, length, choices in product(
            split_list(chosen.errors), split_list(chosen.lengths), split_list(chosen.choices)
        )
    ]
    slips = split_list(chosen.slips)
    rows = _correctness(chosen, "uncorrected", UNCORRECTED, [f"scripted:{h}" for h in habits])
    rows |= _correctness(
        chosen, "corrected", CORRECTED, [f"scripted:{h},slip={s}" for h in habits for s in slips]
    )
    paper = paper_tables().summary("Gemini")
    wanted = {s: float(paper[s]["pc_all"]) for s in (*UNCORRECTED, *CORRECTED)}
    found = []
    for habit, slip in product(habits, slips):
        values = {s: rows[s, f"scripted:{habit}"] for s in UNCORRECTED}
        values |= {s: rows[s, f"scripted:{habit},slip={slip}"] for s in CORRECTED}
        error = math.sqrt(sum((values[s] - wanted[s]) ** 2 for s in wanted) / len(wanted))
        found.append((error, f"{habit},slip={slip}", values))
    print(file=sys.stderr)
    print(f"{conditions()} · seeds 1 to {chosen.seeds}")
    print("SIMULATED model: ground truth with seeded errors, no language model\n")
    print("| habits | " + " | ".join(wanted) + " | RMSE |")
    print("| --- |" + " --- |" * (len(wanted) + 1))
    print("| paper, Gemini | " + " | ".join(f"{v:.1f}" for v in wanted.values()) + " | |")
    for error, habit, values in sorted(found):
        print(
            f"| {habit} | " + " | ".join(f"{values[s]:.1f}" for s in wanted) + f" | {error:.1f} |"
        )
    return 0


def _correctness(
    chosen: argparse.Namespace, name: str, settings: Sequence[str], models: Sequence[str]
) -> dict[tuple[str, str], float]:
    """Return plan correctness in per cent by setting and model, averaged over T1 to T12."""
    tasks = [t for t in tasks_of(chosen.tasks) if not t.endswith("bis")]
    cells = plan_cells(tasks, settings, models, range(1, chosen.seeds + 1), scene=None)
    # Simulated requests cost nothing, and plans full of errors are the point of the study.
    options = CellOptions(execute=False, model=ModelChoice(calls_per_plan=10_000))
    results = run_bench(
        chosen.save / name, cells, run_cell, options, engine=engine_of(chosen),
        prompts=prompt_digests(options), listen=_show,
    )  # fmt: skip
    found = {}
    for model in models:
        for row in summarise([r for r in results if r.cell.model == model]).rows:
            mean = row.stats["pc"].mean
            if row.errors or mean is None:
                raise SystemExit(f"{row.setting} with {model} ended in errors: see {chosen.save}")
            found[row.setting, model] = 100 * mean
    return found


def _show(progress: Progress) -> None:
    print(f"\r{progress.done} of {progress.total} cells", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(measured(main))
