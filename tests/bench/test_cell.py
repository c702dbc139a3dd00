"""Bench cells: access to their models, and their results."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvr.bench.cells import CellOptions, CellResult, plan_cells
from hvr.bench.folder import BenchFolder
from hvr.bench.runner import check_models, prompt_digests, run_bench, run_cell
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from hvr.runs.tasks import load_task


def test_an_unknown_model_and_a_bad_address_are_refused() -> None:
    with pytest.raises(UsageError, match="oracle"):
        check_models(plan_cells(["T1"], ["HVR"], ["oracle:x"], [0]), CellOptions())
    with pytest.raises(UsageError, match="http"):
        check_models(
            plan_cells(["T1"], ["HVR"], ["openai:x"], [0]),
            CellOptions(model=ModelChoice(base_url="localhost:80")),
        )


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    cells = plan_cells(["T1"], ["HVR"], ["openai:x"], [0])
    with pytest.raises(DataFileError, match="transcript"):
        check_models(cells, CellOptions(cassettes=tmp_path))


def cell_of(setting: str, error: float, folder: Path) -> tuple[CellResult, Path]:
    (cell,) = plan_cells(["T2"], [setting], [f"scripted:error={error}"], [1])
    run_bench(folder, [cell], run_cell, CellOptions(), prompts=prompt_digests(CellOptions()))
    (result,) = BenchFolder(folder).results()
    return result, next((folder / "transcripts").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["HVR", "LLM", "HVR+"])
def test_a_simulated_model_without_errors_is_right(setting: str, tmp_path: Path) -> None:
    result, _ = cell_of(setting, 0, tmp_path / "bench")
    assert result.simulated and result.scores is not None, result.error
    scores = result.scores
    assert (scores.pc, scores.es, scores.epv, scores.ld) == (1, 1, 1, 0)
    assert scores.success and scores.spent.calls > 0
    assert scores.spent.cost is None


@pytest.mark.slow
def test_the_judge_mends_a_plan_in_a_kitchen_with_a_hundred_objects(tmp_path: Path) -> None:
    cells = plan_cells(["T2"], ["LLM+judge"], ["scripted:error=0.3"], [4])
    options = CellOptions(execute=False)
    (result,) = run_bench(tmp_path, cells, run_cell, options, prompts=prompt_digests(options))
    assert result.scores is not None and result.scores.epv == 1, result.error
    measures = [(done["before"], done["after"]) for done in result.record["judged"]]
    assert measures and all(after < before for before, after in measures)


@pytest.mark.slow
def test_a_bench_is_repeated_from_its_transcripts(tmp_path: Path) -> None:
    first, transcript = cell_of("HVR", 0.4, tmp_path / "one")
    cassettes = transcript.parent
    (cell,) = plan_cells(["T2"], ["HVR"], ["scripted:error=0.4"], [1])
    (again,) = run_bench(
        tmp_path / "two", [cell], run_cell, CellOptions(cassettes=cassettes),
        prompts=prompt_digests(CellOptions()),
    )  # fmt: skip
    assert again.record == first.record
    assert (tmp_path / "two" / "transcripts" / transcript.name).read_bytes() == (
        transcript.read_bytes()
    )


@pytest.mark.slow
def test_labels_do_not_change_what_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are replayed; goal, ground truth and optimum belong to another task."""
    first, transcript = cell_of("HVR", 0.4, tmp_path / "one")
    other = load_task("T5")
    wrong = load_task("T2").replace(
        goal=other.goal, ground_truth=other.ground_truth, optimum=other.optimum
    )
    monkeypatch.setattr("hvr.bench.runner.load_task", lambda _: wrong)
    (cell,) = plan_cells(["T2"], ["HVR"], ["scripted:error=0.4"], [1])
    (again,) = run_bench(
        tmp_path / "two", [cell], run_cell, CellOptions(cassettes=transcript.parent),
        prompts=prompt_digests(CellOptions()),
    )  # fmt: skip
    assert again.record == first.record
    assert first.scores is not None and again.scores is not None
    assert again.scores.pc != first.scores.pc


def test_every_prompt_has_its_digest() -> None:
    digests = prompt_digests(CellOptions())
    assert {"macro_plan", "block", "plan"} <= digests.keys()
    assert all(len(d) == 64 for d in digests.values())
