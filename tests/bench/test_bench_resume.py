"""A bench that ended in the middle of a cell resumes there, and locks out other benches."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hvr.base.files import is_locked, try_lock
from hvr.bench import folder as bench_folder
from hvr.bench.cells import CellOptions, CellResult, plan_cells
from hvr.bench.folder import BenchFolder
from hvr.bench.runner import prompt_digests, run_bench, run_cell
from hvr.errors import DataFileError, UsageError
from hvr.models import recording
from hvr.models.choice import ModelChoice
from hvr.models.recording import set_aside
from tests import warm
from tests.bench import bench_cells
from tests.extras import needs
from tests.model_server import Behaviour, make_coffee
from tests.models.servers import OpenAIServer, Reply

needs("openai")

CELLS = plan_cells(["T2"], ["HVR"], ["openai:m"], [0])
_TEN_MINUTES = 600


def bench(folder: Path, url: str) -> CellResult:
    options = CellOptions(model=ModelChoice(base_url=url), execute=False)
    (result,) = run_bench(folder, CELLS, run_cell, options, prompts=prompt_digests(options))
    return result


def asked(folder: Path) -> list[str]:
    (cell,) = CELLS
    return [e.line["digest"] for e in recording.read(BenchFolder(folder).transcript(cell))[1]]


def wait_for(seen: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    given_up = time.monotonic() + _TEN_MINUTES
    while not seen():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < given_up
        time.sleep(0.05)


@contextmanager
def command(folder: Path, url: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Run the same bench from the command line in another process."""
    process = warm.Popen(
        [sys.executable, "-m", "hvr", "bench", "--tasks", "T2", "--settings", "HVR",
         "--models", "openai:m", "--base-url", url, "--no-execute", "--json",
         "--save", str(folder), *more],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HVR_LLM_API_KEY", "sk-0123456789abcdef0123")


@pytest.mark.slow
def test_a_cell_that_ended_in_an_error_asks_only_the_rest(tmp_path: Path) -> None:
    whole = Behaviour(make_coffee)
    with OpenAIServer(whole) as server:
        once = bench(tmp_path / "whole", server.url)
    broken = Behaviour(make_coffee, {n: Reply(status=401) for n in (2, 4, 5)})
    with OpenAIServer(broken) as server:
        results = [bench(tmp_path / "b", server.url) for _ in range(4)]
    assert [r.finished for r in results] == [False, False, False, True]
    assert len(broken.purposes) == len(whole.purposes) + 3
    assert asked(tmp_path / "b") == asked(tmp_path / "whole")
    (cell,) = CELLS
    assert len(set_aside(BenchFolder(tmp_path / "b").transcript(cell))) == 3
    assert once.scores is not None and results[-1].scores is not None
    assert results[-1].scores.spent.calls == once.scores.spent.calls + 3
    assert results[-1].record == once.record


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code", "said", "jobs"),
    [(signal.SIGKILL, -9, "", "2"), (signal.SIGINT, 130, "interrupted", "1")],
    ids=["kill -9", "SIGINT"],
)
def test_a_signal_costs_only_what_is_under_way(
    how: signal.Signals, code: int, said: str, jobs: str, tmp_path: Path
) -> None:
    seeds = ("--seeds", "2", "--jobs", jobs)
    paid = 3  # the next two of a cell are sent at once, and arrive in any order
    behaviour = Behaviour(make_coffee, after=Reply(hang=_TEN_MINUTES), since=4)
    with OpenAIServer(behaviour) as server:
        with command(tmp_path / "b", server.url, *seeds) as process:
            wait_for(
                lambda: (
                    len(behaviour.purposes) >= paid + int(jobs) and len(_kept(tmp_path)) >= paid
                ),
                process,
            )
            process.send_signal(how)
            _, err = process.communicate(timeout=_TEN_MINUTES)
        assert process.returncode == code and "Traceback" not in err
        assert said in err and (not said or "resume with --save" in err)
    healed = Behaviour(make_coffee)
    with OpenAIServer(healed) as server, command(tmp_path / "b", server.url, *seeds) as process:
        manifest = tmp_path / "b" / "manifest.json"
        # The address is part of a bench's identity.
        text = json.loads(manifest.read_text(encoding="utf-8"))
        text["subject"]["options"]["base_url"] = server.url
        manifest.write_text(json.dumps(text), encoding="utf-8")
        _, err = process.communicate(timeout=_TEN_MINUTES)
        assert process.returncode == 0, err
    # Both cells send the same requests, because the seed makes no difference.
    both = [
        [e.line["digest"] for e in recording.read(path)[1]]
        for path in (tmp_path / "b" / "transcripts").glob("*.jsonl")
        if "planner" not in path.name
    ]
    assert len(both) == 2 and both[0] == both[1]
    assert len(healed.purposes) == 2 * len(both[0]) - paid
    assert [p.suffix for p in (tmp_path / "b" / "cells").iterdir()] == [".json", ".json"]


def _kept(folder: Path) -> list[str]:
    """Return the lines of the models' transcripts so far."""
    paths = (folder / "b" / "transcripts").glob("*.jsonl")
    return [
        line
        for path in paths
        if "planner" not in path.name
        for line in path.read_text(encoding="utf-8").splitlines()
        if '"digest"' in line
    ]


@pytest.mark.slow
def test_two_benches_at_once_do_not_meet(tmp_path: Path) -> None:
    behaviour = Behaviour(make_coffee, after=Reply(hang=_TEN_MINUTES), since=3)
    with OpenAIServer(behaviour) as server:
        with command(tmp_path / "b", server.url) as process:
            wait_for(lambda: len(behaviour.purposes) == 3, process)
            before = {p: p.read_bytes() for p in (tmp_path / "b").rglob("*.json*")}
            with pytest.raises(UsageError, match="another bench is running here"):
                bench(tmp_path / "b", server.url)
            assert {p: p.read_bytes() for p in (tmp_path / "b").rglob("*.json*")} == before
            assert len(behaviour.purposes) == 3
        assert not is_locked(tmp_path / "b" / "bench.lock")


def test_a_cell_waits_for_the_process_that_is_at_work_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of a killed bench keep running until they notice."""
    (cell,) = cells = plan_cells(["T1"], ["HVR"], ["scripted"], [0])
    path = tmp_path / "cells" / f"{cell.id}.lock"
    path.parent.mkdir()
    worker = try_lock(path)
    assert worker is not None
    monkeypatch.setattr(bench_folder, "_PATIENCE_S", 0.0)
    bench_ = BenchFolder(tmp_path)
    with pytest.raises(DataFileError, match="another process is running"), bench_.locked_cell(cell):
        pass
    worker.release()
    for _ in range(2):
        with bench_.locked_cell(cell):
            assert is_locked(path)
    assert not path.exists() and cells


def test_what_a_bench_killed_at_once_leaves_is_as_good_as_empty(tmp_path: Path) -> None:
    (tmp_path / "bench.lock").touch()
    (tmp_path / ".manifest.json.1-2.part").write_text("{")
    cells = plan_cells(["T1"], ["HVR"], ["scripted"], [0])
    run_bench(tmp_path, cells, bench_cells.quick, CellOptions())
    assert not (tmp_path / "bench.lock").exists()
    assert len(BenchFolder(tmp_path).results()) == 1


@pytest.mark.slow
def test_an_unreadable_goal_is_a_failed_plan_with_its_cause(tmp_path: Path) -> None:
    cells = plan_cells(["T2"], ["LLM+P"], ["openai:m"], [0])
    with OpenAIServer([Reply("I cannot say.")]) as server:
        options = CellOptions(model=ModelChoice(base_url=server.url), execute=False)
        (result,) = run_bench(tmp_path / "b", cells, run_cell, options)
    assert result.scores is not None and result.exit_code == 0
    assert not result.scores.success and result.scores.unreadable == 1
    assert result.error_kind == "unreadable answer" and "not the requested JSON" in result.error


@pytest.mark.slow
def test_a_plan_whose_requests_are_spent_goes_on_if_more_are_allowed(tmp_path: Path) -> None:
    def planned(url: str, calls: int) -> CellResult:
        model = ModelChoice(base_url=url, calls_per_plan=calls)
        options = CellOptions(model=model, execute=False)
        (result,) = run_bench(tmp_path / "b", CELLS, run_cell, options)
        return result

    with OpenAIServer(Behaviour(make_coffee)) as server:
        first = planned(server.url, 2)
        assert (first.error_kind, first.scores and first.scores.spent.calls) == ("budget spent", 2)
        assert planned(server.url, 2).cell == first.cell and len(server.received) == 2
        assert planned(server.url, 50).error_kind == ""
