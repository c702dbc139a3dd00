"""People's sentences about ALFRED's demonstrations: their selection and judgement."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import human_language as benchmark
from studies.human_language import demonstrations, part_of

START: dict[str, Any] = {
    "floor_plan": "FloorPlan1",
    "task_type": "pick_heat_then_place_in_recep",
    "pddl_params": {
        "object_target": "Potato", "parent_target": "Fridge", "mrecep_target": "",
        "toggle_target": "", "object_sliced": False,
    },
    "object_poses": [
        {"name": "Potato_1", "x": -0.39, "y": 1.14, "z": -0.81},
        {"name": "Plate_1", "x": 0.96, "y": 1.65, "z": -2.61},
        {"name": "Pan_1", "x": -0.2, "y": 1.13, "z": 0.25},
    ],
    "init": {"x": -1.0, "z": 1.0, "rotation": 270, "horizon": 30},
}  # fmt: skip
"""A potato on the table of FloorPlan1, to be heated."""

READING = benchmark.Settings(execute=False)
KEPT = next(f"folder-{n}/trial" for n in range(99) if part_of(f"folder-{n}/trial") == "kept")
TUNING = next(f"folder-{n}/trial" for n in range(99) if part_of(f"folder-{n}/trial") == "tuning")


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in records).encode()))
    return path


def _files(folder: Path, said: Mapping[str, Iterable[str]]) -> tuple[Path, Path]:
    sentences = [{"id": name, "annotations": [{"task_desc": text} for text in texts]}
                 for name, texts in said.items()]  # fmt: skip
    starts = [{"id": name, **START} for name in said]
    return (
        _write(folder / "sentences.jsonl.gz", sentences),
        _write(folder / "starts.jsonl.gz", starts),
    )


def test_trials_of_one_folder_are_in_one_part() -> None:
    assert part_of("a-b-c-1/trial_1") == part_of("a-b-c-1/trial_2")


def test_what_is_said_in_both_parts_is_left_out_of_both(tmp_path: Path) -> None:
    files = _files(tmp_path, {KEPT: ["Heat it.", "Warm the potato"], TUNING: ["heat it", "Go"]})
    by_part = {part: [d.sentences for d in demonstrations(*files, part)]
               for part in ("kept", "tuning")}  # fmt: skip
    assert by_part == {"kept": [("Warm the potato",)], "tuning": [("Go",)]}


@pytest.mark.slow
def test_sentences_are_judged_by_the_goal_of_the_demonstration(tmp_path: Path) -> None:
    """The goal is a heated potato in the fridge; each sentence asks for something else."""
    files = _files(tmp_path, {KEPT: [
        "put the microwaved potato in the fridge", "microwave the potato and put it in the fridge",
        "put the potato in the fridge", "put the gizmo in the fridge",
    ]})  # fmt: skip
    (described,) = benchmark.run(list(demonstrations(*files)), benchmark.Settings())
    right, also, wrong, unknown = described.outcomes
    assert right.claimed and right.met and right.met_by_any and not right.wrong
    assert also.met
    assert wrong.claimed and wrong.wrong and "microwaved" in wrong.lacking
    assert not unknown.understood and unknown.refusal == "LanguageError" and not unknown.wrong
    assert described.equal is False


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("put the potato in the fridge", "move a potato into the refrigerator", True),
        ("put the potato in the fridge", "put the plate in the fridge", False),
    ],
)
def test_sentences_are_equal_by_what_they_want(
    tmp_path: Path, first: str, second: str, equal: bool
) -> None:
    files = _files(tmp_path, {TUNING: [first, second]})
    (described,) = benchmark.run(list(demonstrations(*files)), READING)
    assert described.equal is equal


def test_the_table_and_the_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, starts = _files(tmp_path, {TUNING: ["put the pan in the fridge", "eat the potato"]})
    misses = tmp_path / "misses.txt"
    options = ["--data", str(data), "--starts", str(starts), "--jobs", "1", "--list-wrong"]
    assert benchmark.main([*options, str(misses)]) == 0
    printed = capsys.readouterr().out
    assert "| all | 2 | 50.0 % | 50.0 % | 0.0 % | 0.0 % | 1 (100.0 % of claims) |" in printed
    assert "claimed: 'put the pan in the fridge'" in misses.read_text(encoding="utf-8")
    assert "unknown word: 'eat'" in misses.read_text(encoding="utf-8")


def test_data_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmark.main(["--data", str(tmp_path / "none.gz")]) == 2
    assert "--data" in capsys.readouterr().err


def test_sentences_off_the_point_are_not_acted_on(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_text("# a comment\n\nmake the bed\nput the mug on the table\n", encoding="utf-8")
    total, acted = benchmark.acted_on(path, "FloorPlan16")
    assert total == 2
    assert acted == ["'put the mug on the table': the mug is on the dining table"]
