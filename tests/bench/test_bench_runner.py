"""A bench never loses or repeats a finished cell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.engines.registry import EngineChoice
from hvr.bench.cells import Cell, CellOptions, CellResult, plan_cells
from hvr.bench.folder import BenchFolder, commit
from hvr.bench.runner import Progress, run_bench
from hvr.errors import DataFileError, UsageError
from hvr.models.choice import ModelChoice
from tests import warm
from tests.bench import bench_cells

OPTIONS = CellOptions()


def some(seeds: int = 2) -> tuple[Cell, ...]:
    return plan_cells(["T1", "T2"], ["HVR", "LLM"], ["scripted:error=0.1"], range(seeds))


def begun(folder: Path) -> Counter[str]:
    lines = (folder / "log").read_text(encoding="utf-8").splitlines()
    return Counter(line.split()[1] for line in lines)


# --- cells ---


def test_the_product_of_all() -> None:
    cells = plan_cells(["t1", "T2"], ["HVR", "R"], ["scripted", "openai:x"], [0, 1, 2])
    assert len(cells) == len(set(cells)) == 24
    assert {c.task for c in cells} == {"T1", "T2"}
    assert {c.scene for c in cells if c.task == "T1"} == {"FloorPlan3"}
    assert len({c.id for c in cells}) == 24


def test_what_cannot_be_planned_is_said_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="T99"):
        plan_cells(["T99"], ["HVR"], ["scripted"], [0])
    with pytest.raises(UsageError, match="XYZ"):
        plan_cells(["T1"], ["XYZ"], ["scripted"], [0])
    with pytest.raises(UsageError, match="FloorPlan2 lacks objects that T1 needs"):
        plan_cells(["T1"], ["HVR"], ["scripted"], [0], "FloorPlan2")
    with pytest.raises(UsageError, match="at least one"):
        plan_cells(["T1"], ["HVR"], [], [0])


@pytest.mark.slow
@given(st.text(max_size=80), st.text(max_size=80), st.integers(0, 99))
def test_ids_are_file_names_and_differ_where_cells_do(one: str, two: str, seed: int) -> None:
    a, b = (Cell("T1", "FloorPlan1", "HVR", model, seed) for model in (one, two))
    assert (a.id == b.id) == (one == two)
    assert a.id.replace("+", "_").replace("-", "_").replace(".", "_").replace("_", "a").isalnum()
    assert len(a.id) < 100


def test_the_id_of_a_cell_is_the_same_in_every_version() -> None:
    cell = Cell("T2", "FloorPlan16", "HVR+", "scripted:error=0.1,improve=0.7", 3)
    assert cell.id == "T2_HVR+_scripted_error_0.1_improve_0.7_FloorPlan16_3-cb26256fe2"


def test_results_survive_json() -> None:
    result = bench_cells.result(some()[0])
    assert CellResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    with pytest.raises(DataFileError):
        CellResult.from_json({"scores": None})


def test_a_password_in_an_address_is_not_written_down() -> None:
    options = CellOptions(model=ModelChoice(base_url="https://me:secret12345@host.example/v1"))
    assert "secret12345" not in json.dumps(options.to_json())


# --- running ---


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_each_cell_is_run_once_and_kept(tmp_path: Path, jobs: int) -> None:
    seen: list[Progress] = []
    results = run_bench(
        tmp_path / "b",
        some(),
        bench_cells.quick,
        OPTIONS,
        engine=EngineChoice(jobs=jobs),
        listen=seen.append,
    )
    assert [r.cell for r in results] == list(some())
    assert set(begun(tmp_path / "b").values()) == {1}
    assert [p.done for p in seen] == list(range(9))
    assert BenchFolder(tmp_path / "b").results() == results
    # A second start has nothing to do.
    again = run_bench(
        tmp_path / "b", some(), bench_cells.quick, OPTIONS, engine=EngineChoice(jobs=jobs)
    )
    assert again == results
    assert set(begun(tmp_path / "b").values()) == {1}


@pytest.mark.slow
def test_one_process_and_several_give_the_same(tmp_path: Path) -> None:
    one = run_bench(tmp_path / "1", some(), bench_cells.quick, OPTIONS, engine=EngineChoice(jobs=1))
    two = run_bench(tmp_path / "2", some(), bench_cells.quick, OPTIONS, engine=EngineChoice(jobs=2))
    assert one == two


def test_an_error_is_a_result_and_is_tried_again(tmp_path: Path) -> None:
    results = run_bench(tmp_path, some(), bench_cells.failing, OPTIONS)
    failed = [r for r in results if not r.finished]
    assert len(failed) == 4
    assert {(r.error, r.error_kind) for r in failed} == {
        ("the server closed the connection", "ModelError: connection")
    }
    (tmp_path / "healed").touch()
    results = run_bench(tmp_path, some(), bench_cells.failing, OPTIONS)
    assert all(r.finished for r in results)
    assert sorted(begun(tmp_path).values()) == [1, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.slow
def test_an_error_without_words_is_named(tmp_path: Path) -> None:
    results = run_bench(tmp_path, some(), bench_cells.broken, OPTIONS, engine=EngineChoice(jobs=2))
    assert {r.error_kind for r in results if not r.finished} == {"ZeroDivisionError"}
    assert all(r.error for r in results if not r.finished)


@pytest.mark.slow
def test_a_process_that_dies_costs_no_other_cell(tmp_path: Path) -> None:
    results = run_bench(tmp_path, some(3), bench_cells.deadly, OPTIONS, engine=EngineChoice(jobs=2))
    lost = [r for r in results if not r.finished]
    assert {(r.cell.setting, r.cell.seed) for r in lost} == {("LLM", 1)} and len(lost) == 2
    assert max(begun(tmp_path)[r.cell.id] for r in lost) == 2
    assert {r.error_kind for r in lost} == {"LostCellError"}
    assert len(results) == len(some(3))


def _gone_at_once() -> None:
    os._exit(9)


@pytest.mark.slow
def test_where_no_process_lives_every_cell_is_reported_and_can_be_done_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Progress] = []
    with monkeypatch.context() as patch:
        patch.setattr("hvr.bench.runner._start_worker", _gone_at_once)
        engine = EngineChoice(jobs=2)
        lost = run_bench(
            tmp_path, some(1)[:2], bench_cells.quick, OPTIONS, engine=engine, listen=told.append
        )
    assert {r.error_kind for r in lost} == {"LostCellError"} and len(lost) == 2
    assert {r.exit_code for r in lost} == {3} and told[-1].done == len(lost)
    assert all(r.finished for r in run_bench(tmp_path, some(1)[:2], bench_cells.quick, OPTIONS))


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_bench(tmp_path, some(), bench_cells.interrupted, OPTIONS)
    assert len(BenchFolder(tmp_path).results()) == 1
    results = run_bench(tmp_path, some(), bench_cells.quick, OPTIONS)
    assert all(r.finished for r in results)


def test_a_result_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    run_bench(tmp_path, some(), bench_cells.quick, OPTIONS)
    path = next((tmp_path / "cells").glob("*.json"))
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    run_bench(tmp_path, some(), bench_cells.quick, OPTIONS)
    assert sorted(begun(tmp_path).values())[-2:] == [1, 2]


_SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from tests.bench import bench_cells
from hvr.bench.cells import CellOptions, plan_cells
from hvr.bench.runner import run_bench
from hvr.base.engines.registry import EngineChoice
if __name__ == "__main__":
    cells = plan_cells(["T1", "T2"], ["HVR", "LLM"], ["scripted:error=0.1"], range(4))
    try:
        engine = EngineChoice(jobs=2)
        run_bench(Path({folder!r}), cells, bench_cells.slow, CellOptions(), engine=engine)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_kill_loses_no_finished_cell_and_leaves_no_process(
    tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "b"
    script = tmp_path / "script.py"
    tests = str(Path(__file__).parents[2])
    script.write_text(_SCRIPT.format(tests=tests, folder=str(folder)), encoding="utf-8")
    process = warm.Popen([sys.executable, str(script)], stderr=subprocess.PIPE)
    give_up = time.monotonic() + 600
    while len(list((folder / "cells").glob("*.json"))) < 2:
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < give_up
        time.sleep(0.05)
    process.send_signal(how)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == (130 if how == signal.SIGINT else -9)
    if how == signal.SIGINT:
        assert b"Traceback" not in errors
    workers = {int(x.split()[0]) for x in (folder / "log").read_text().splitlines()}
    while not all(map(_gone, workers)):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    kept = {r.cell.id for r in BenchFolder(folder).results()}
    assert len(kept) == 2  # the others would still be running
    cells = plan_cells(["T1", "T2"], ["HVR", "LLM"], ["scripted:error=0.1"], range(4))
    results = run_bench(folder, cells, bench_cells.quick, OPTIONS)
    assert all(r.finished for r in results)
    times = begun(folder)
    assert all(times[name] == 1 for name in kept)
    assert len(times) == 16


# --- the folder ---


def test_the_manifest_says_what_and_where(tmp_path: Path) -> None:
    run_bench(tmp_path, some(), bench_cells.quick, OPTIONS, prompts={"macro": "abc"})
    manifest = BenchFolder(tmp_path).manifest()
    subject, start = manifest["subject"], manifest["starts"][0]
    assert subject["tasks"] == ["T1", "T2"]
    assert subject["seeds"] == [0, 1]
    assert subject["models"] == ["scripted:error=0.1"]
    assert subject["settings"]["LLM"]["hierarchical"] is False
    assert subject["prompts"] == {"macro": "abc"}
    assert start["commit"] == commit() or start["commit"].rstrip("+") == commit().rstrip("+")
    assert {"hvr", "python", "system", "machine", "time"} <= start.keys()


@pytest.mark.parametrize(
    ("cells", "options", "prompts", "what"),
    [
        (some(3), OPTIONS, {}, "seeds"),
        (some()[:4], OPTIONS, {}, "tasks"),
        (some(), CellOptions(execute=False), {}, "options"),
        (some(), OPTIONS, {"block": "1"}, "prompts"),
        (plan_cells(["T1", "T2"], ["HVR", "LLM"], ["x"], range(2)), OPTIONS, {}, "models"),
    ],
)
def test_another_bench_in_the_folder_is_refused(
    tmp_path: Path,
    cells: tuple[Cell, ...],
    options: CellOptions,
    prompts: dict[str, str],
    what: str,
) -> None:
    run_bench(tmp_path, some(), bench_cells.quick, OPTIONS)
    with pytest.raises(UsageError, match=f"with different .*{what}"):
        run_bench(tmp_path, cells, bench_cells.quick, options, prompts=prompts)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").touch()
    with pytest.raises(DataFileError, match="new or empty"):
        run_bench(tmp_path, some(), bench_cells.quick, OPTIONS)
    with pytest.raises(DataFileError, match="not a bench folder"):
        BenchFolder(tmp_path).manifest()


def test_a_number_of_processes_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="jobs must be"):
        run_bench(tmp_path, some(), bench_cells.quick, OPTIONS, engine=EngineChoice(jobs=-1))
