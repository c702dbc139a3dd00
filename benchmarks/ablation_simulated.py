"""Measure what each part of HVR contributes, with a simulated model at several error rates.

    python benchmarks/ablation_simulated.py                        # everything, resumable
    python benchmarks/ablation_simulated.py --tasks T1,T2 --seeds 1 --errors 0,0.3
    python benchmarks/ablation_simulated.py --save bench/ablation --jobs 2

The model is SIMULATED (`hvr.runs.simulated`): it writes the ground truth of each task with seeded
errors and corrects each reported error with a fixed probability. Its habits (`--length`, `--slip`,
`--choices`) are the ones closest to the paper's figures for Gemini without HVR and HV
(`fit_simulated.py`). The table shows how hvr handles such errors and says nothing about any real
language model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import TASKS_HELP, measured, tasks_of
from side_by_side import add_options
from side_by_side import chosen as engine_of

from hvr.bench.cells import CellOptions, CellResult, plan_cells
from hvr.bench.runner import Progress, prompt_digests, run_bench, run_cell
from hvr.bench.tables import Row, summarise
from hvr.doors.cli.bench import split_list
from hvr.models.choice import ModelChoice

PAPER = ("HVR", "HV", "HR", "VR", "R", "LLM")
ADDED = (
    "HVR+expansion", "HVR+planner_repair", "HVR+elimination", "HVR+", "HV+planner_repair",
    "VR+planner_repair",
)  # fmt: skip
COLUMNS = (
    ("PC", "pc"), ("moderate", "pc_moderate"), ("high", "pc_high"), ("goal", "success"),
    ("EPV", "epv"), ("MPV before", "mpv_before"), ("after", "mpv_after"),
    ("AABV before", "aabv_before"), ("after", "aabv_after"), ("LD", "ld"), ("calls", "calls"),
)  # fmt: skip


def main() -> int:
    """Run the missing cells and print the tables; return exit code 1 if a cell failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default="paper", help=TASKS_HELP)
    parser.add_argument("--settings", default=",".join((*PAPER, *ADDED)))
    parser.add_argument(
        "--errors", default="0,0.1,0.3,0.5", help="comma-separated error rates of the model"
    )
    parser.add_argument("--improve", default="0.7", help="probability that feedback helps")
    parser.add_argument("--length", default="0.2", help="growth of errors along an answer")
    parser.add_argument(
        "--macros", default="0.1", help="error rate of macro actions, as a share of the error rate"
    )
    parser.add_argument("--slip", default="1", help="share of new errors in corrections")
    parser.add_argument(
        "--choices",
        default="0.2",
        help="error rate of picked classes, as a share of the error rate",
    )
    parser.add_argument("--seeds", type=int, default=5)
    add_options(parser, jobs=2)
    parser.add_argument("--execute", action="store_true", help="execute plans, to measure ES")
    parser.add_argument("--save", type=Path, default=Path("bench/ablation"))
    chosen = parser.parse_args()
    rates = split_list(chosen.errors)
    habits = ",".join(
        f"{name}={getattr(chosen, name)}"
        for name in ("improve", "length", "slip", "macros", "choices")
    )
    models = [f"scripted:error={rate},{habits}" for rate in rates]
    settings = split_list(chosen.settings)
    cells = plan_cells(
        tasks_of(chosen.tasks), settings, models, range(1, chosen.seeds + 1), scene=None
    )
    # Simulated requests cost nothing, and plans full of errors are the point of the study.
    options = CellOptions(execute=chosen.execute, model=ModelChoice(calls_per_plan=10_000))
    results = run_bench(
        chosen.save, cells, run_cell, options, engine=engine_of(chosen),
        prompts=prompt_digests(options), listen=_show,
    )  # fmt: skip
    print(file=sys.stderr)
    print(f"{conditions()} · seeds 1 to {chosen.seeds} · {len(cells)} cells")
    print("SIMULATED model: ground truth with seeded errors, no language model\n")
    _tables(results, settings, models, rates)
    errors = [r for r in results if not r.finished]
    for result in errors:
        print(f"error in {result.cell.id}: {result.error_kind}: {result.error}")
    return 1 if errors else 0


def _tables(
    results: Sequence[CellResult], settings: Sequence[str], models: Sequence[str],
    rates: Sequence[str],
) -> None:  # fmt: skip
    names = {r.cell.model: r.model for r in results if r.model}
    summaries = {
        model: summarise([r for r in results if r.cell.model == model]) for model in models
    }
    rows = {
        (setting, model): next((r for r in s.rows if r.setting == setting), None)
        for model, s in summaries.items()
        for setting in settings
    }
    for model, rate in zip(models, rates, strict=True):
        print(f"### error rate {rate} ({names.get(model, model)}), per cent\n")
        print("| setting | " + " | ".join(name for name, _ in COLUMNS) + " |")
        print("| --- |" + " --- |" * len(COLUMNS))
        for setting in settings:
            row = rows[setting, model]
            print(f"| {setting} | " + " | ".join(_cell(row, key) for _, key in COLUMNS) + " |")
        print()
    print("### PC by error rate, and the points lost from the first to the last\n")
    print("| setting | " + " | ".join(rates) + " | lost |")
    print("| --- |" + " --- |" * (len(rates) + 1))
    for setting in settings:
        means = [_mean(rows[setting, model], "pc") for model in models]
        first, last = means[0], means[-1]
        lost = None if first is None or last is None else first - last
        shown = ["–" if m is None else f"{100 * m:.1f}" for m in (*means, lost)]
        print(f"| {setting} | " + " | ".join(shown) + " |")
    print()


def _mean(row: Row | None, key: str) -> float | None:
    stat = row.stats.get(key) if row else None
    return None if stat is None else stat.mean


def _cell(row: Row | None, key: str) -> str:
    mean = _mean(row, key)
    if mean is None:
        return "–"
    return f"{mean:.1f}" if key == "calls" else f"{100 * mean:.1f}"


def _show(progress: Progress) -> None:
    print(f"\r{progress.done} of {progress.total} cells", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(measured(main))
