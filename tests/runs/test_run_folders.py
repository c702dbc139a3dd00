"""A run folder belongs to one run, even with concurrent claims."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from hvr.errors import DataFileError
from hvr.runs.folder import LOCK_FILE, RunFolder
from hvr.runs.report.run_page import read_story
from tests import warm
from tests.command_line import Hvr

NOW = datetime(2026, 1, 2, 3, 4, 5)
_PLANNING = """
import sys
from pathlib import Path
from hvr.errors import HvrError
from hvr.runs.request import Options
from hvr.runs.spine import plan
save = Path(sys.argv[1]) if len(sys.argv) > 1 else None
sys.stdin.readline()  # all begin together
try:
    print(plan("make coffee", options=Options(save=save)).folder)
except HvrError as error:
    print("refused:", error)
"""


def together(work: list[threading.Thread]) -> None:
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()


def planned_by_processes(count: int, folder: Path, *arguments: str) -> list[str]:
    """Return the output of each of several processes that plan concurrently."""
    processes = [
        warm.Popen(
            [sys.executable, "-c", _PLANNING, *arguments], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(count)
    ]  # fmt: skip
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=600) for process in processes]
    assert [err for _, err in said if err] == []
    return [out.strip() for out, _ in said]


def complete(folder: Path) -> bool:
    """Return whether a folder contains one complete run."""
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    lines = (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = Counter(json.loads(line)["event"] for line in lines)
    return bool(task["reached"]) and kinds["finished"] == 1 and not (folder / LOCK_FILE).exists()


@pytest.mark.slow
def test_of_runs_that_want_the_same_folder_one_gets_it(tmp_path: Path) -> None:
    said = planned_by_processes(8, tmp_path, "same")
    refused = [words for words in said if words != "same"]
    assert len(refused) == 7
    assert all(words.startswith("refused: same: ") and "\n" not in words for words in refused)
    assert complete(tmp_path / "same")
    assert [p.name for p in tmp_path.iterdir()] == ["same"]


@pytest.mark.slow
def test_runs_without_a_name_all_get_their_own_folder(tmp_path: Path) -> None:
    said = planned_by_processes(5, tmp_path)
    assert len(set(said)) == 5
    assert all(complete(tmp_path / folder) for folder in said)
    assert {str(p.relative_to(tmp_path)) for p in (tmp_path / "runs").iterdir()} == set(said)


@pytest.mark.parametrize("there", [False, True])
def test_of_threads_that_want_the_same_folder_one_gets_it(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "a" / "b" / "same"
    if there:
        path.mkdir(parents=True)
    got, refused = list[RunFolder](), list[str]()

    def want() -> None:
        try:
            got.append(RunFolder.create(path, "x", NOW))
        except DataFileError as error:
            refused.append(str(error))

    together([threading.Thread(target=want) for _ in range(12)])
    (winner,) = got
    assert refused == [f"{path}: another run is using this folder; choose another"] * 11
    assert [p.name for p in path.iterdir()] == [LOCK_FILE]
    winner.write("task.json", "{}")
    winner.close()
    with pytest.raises(DataFileError, match="new or empty"):
        RunFolder.create(path, "x", NOW)
    assert [p.name for p in path.iterdir()] == ["task.json"]


def test_equal_names_in_the_same_second_are_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    got = list[RunFolder]()
    together([
        threading.Thread(target=lambda: got.append(RunFolder.create(None, "Make coffee!", NOW)))
        for _ in range(20)
    ])  # fmt: skip
    first = "20260102-030405-make-coffee"
    names = [first, *(f"{first}-{number}" for number in range(2, 21))]
    assert sorted(f.path.name for f in got) == sorted(names)


@pytest.mark.slow
def test_runs_that_leave_nothing_take_nothing_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the runs discard their folders, the last one also the parents, while others start."""
    monkeypatch.chdir(tmp_path)
    kept, faults = list[Path](), list[BaseException]()

    def work(number: int) -> None:
        try:
            for turn in range(25):
                folder = RunFolder.create(Path("runs") / f"{turn % 3}" / f"{number}", "x", NOW)
                folder.write("file", "mine")
                if turn == 24 and number % 2:
                    kept.append(folder.path)
                    folder.close()
                else:
                    (folder.path / "graph").mkdir()
                    folder.discard()
        except BaseException as error:
            faults.append(error)

    together([threading.Thread(target=work, args=(n,)) for n in range(8)])
    assert faults == []
    assert [p for p in kept if (p / "file").read_text() != "mine"] == []
    left = {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {path / "file" for path in kept}


@pytest.mark.parametrize("there", [False, True])
def test_a_request_that_cannot_be_met_leaves_what_was_there(
    there: bool, hvr_: Hvr, tmp_path: Path
) -> None:
    folder = tmp_path / "a" / "run"
    if there:
        folder.mkdir(parents=True)
    ended = hvr_("plan", "toast the mug", "--save", folder)
    assert ended.code == 1
    assert folder.exists() == (tmp_path / "a").exists() == there
    assert not there or list(folder.iterdir()) == []


def test_what_a_run_killed_at_once_leaves_is_as_good_as_empty(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).touch()
    (tmp_path / ".task.json.12-345.part").write_text("{")
    with pytest.raises(DataFileError, match="the run was killed before it started"):
        read_story(tmp_path)
    folder = RunFolder.create(tmp_path, "x", NOW)
    folder.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "full"])
def test_a_folder_that_cannot_be_used_is_left_alone(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    if kind == "file":
        path.write_text("diary")
    else:
        path.mkdir()
        (path / "diary").touch()
    with pytest.raises(DataFileError, match=r"choose another|cannot be written"):
        RunFolder.create(path, "x", NOW)
    assert not path.is_dir() or [p.name for p in path.iterdir()] == ["diary"]


@pytest.mark.skipif(sys.platform != "linux", reason="uses /proc")
def test_a_file_system_that_refuses_folders_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc")
    for path in (Path("runs/one"), Path("/proc/a/b/c/d")):
        with pytest.raises(DataFileError, match="cannot be written"):
            RunFolder.create(path, "x", NOW)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nobody may not write")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(DataFileError, match="cannot be written here"):
        RunFolder.create(tmp_path / "run", "x", NOW)
    with pytest.raises(DataFileError, match="cannot be written here"):
        RunFolder.create(tmp_path, "x", NOW)
