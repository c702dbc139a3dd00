"""A full disk: exit code 4, no truncated file that looks complete, and a later attempt works.

A file size limit acts like a full disk for any user: writes beyond it fail. For root, a small file
system does the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import warm

resource = pytest.importorskip("resource")
FULL = "File too large|disk I/O error|disk is full"
"""Messages of the system and SQLite."""

BEGIN = """
import resource, sys
from hvr.doors.cli.main import run
limit = int(sys.argv[1])
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
sys.argv = ["hvr", *sys.argv[2:]]
run()
"""

RUN = """
import json, resource, sys
from pathlib import Path
from hvr.errors import HvrError
from hvr.models.choice import ModelChoice
from hvr.runs.request import Options
from hvr.runs.spine import plan

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
number, spec = 0, sys.argv[1] or None
for last in [int(word) for word in sys.argv[2:]]:
    seen = 0

    def listen(event):
        global seen
        seen += 1
        if seen == last:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))

    number += 1
    options = Options(save=Path(f"run{number}"), model=ModelChoice(spec=spec))
    code, words = 0, ""
    try:
        plan(task="T1", options=options, listen=listen)
    except HvrError as error:
        code, words = error.exit_code, str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(json.dumps({"code": code, "words": words, "events": seen, "folder": f"run{number}"}))
"""


# The limit would truncate byte code, and later imports would stumble over it.
_NO_BYTE_CODE = "import sys\nsys.dont_write_bytecode = True\n"


def python(code: str, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HVR_VERIFY": "0"}
    return warm.run(
        [sys.executable, "-c", _NO_BYTE_CODE + code, *map(str, words)],
        check=False, cwd=cwd, env=env, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def check_files(folder: Path) -> None:
    """Check that every file of hvr is complete, and that nothing else remains."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".part"), path
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".jsonl":
            lines = path.read_text(encoding="utf-8").split("\n")
            assert lines[-1] == "", path
            for line in lines[:-1]:
                json.loads(line)


COMMANDS = {
    "show": "show made/run --html page.html",
    "export": "kg export --run made/run --out graph.ttl",
    "scene": "scene show FloorPlan1 --output plan.svg",
    "library": "library export known.json --library made/known.ttl",
    "merge": "library merge made/known.ttl --library other.ttl",
    "validate": "validate made/run/domain.pddl made/run/problem.pddl made/run/plan.pddl "
    "--json --output-file report.json",
    "solve": "solve made/run/domain.pddl made/run/problem.pddl --planner forward --save new "
    "--html page.html",
    "plan": "plan --task T1 --save new -q",
    "bench": "bench --tasks T1 --settings HVR --models scripted:error=0 --save new --max-calls 99 "
    "--html page.html --csv table.csv",
    "cache": "plan --task T1 --llm scripted:error=0 --dry-run --save new --cache cache.sqlite -q",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a library."""
    from hvr.planning.library.library import write_library
    from tests.planning.library.library_worlds import learnt

    folder = tmp_path_factory.mktemp("made")
    write_library(learnt("T1"), folder / "known.ttl")
    done = python(BEGIN, 0, "plan", "make coffee", "--save", "run", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_files_that_cannot_grow_end_a_command_with_a_line(
    name: str, made: Path, tmp_path: Path
) -> None:
    (tmp_path / "made").symlink_to(made)
    codes = []
    for limit in (50, 3_000, 0):
        done = python(BEGIN, limit, *COMMANDS[name].split(), cwd=tmp_path)
        assert "Traceback" not in done.stderr, done.stderr
        codes.append(done.returncode)
        if done.returncode:
            assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
        check_files(tmp_path)
    # With space again, the same command succeeds.
    assert codes[0] == 4 and codes[1] in (0, 4) and codes[2] == 0


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["", "scripted:error=0.1"])
def test_a_disk_that_fills_up_during_a_run_leaves_whole_files(spec: str, tmp_path: Path) -> None:
    moments = (1, 2, 5, 9) if not spec else (1, 5, 11, 17)
    done = python(RUN, spec, *moments, 10_000, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    check_files(tmp_path)
    *full, last = results
    for result, moment in zip(full, moments, strict=True):
        assert result["code"] == 4 and re.search(FULL, result["words"]), result
        assert result["events"] == moment
        folder = tmp_path / result["folder"]
        if folder.exists():  # without a plan there is nothing to save
            trace = (folder / "trace.jsonl").read_text(encoding="utf-8")
            assert trace.count("\n") == moment
    assert last["code"] == 0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder that is a file system of 100 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can make a file system")
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be made here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_file_system_is_told_and_later_forgotten(small: Path, made: Path) -> None:
    filler = small / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    page = ("show", made / "run", "--html", "page.html")
    done = python(BEGIN, 0, *page, cwd=small)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "error: page.html: cannot be written: No space left on device\n"
    assert [path.name for path in small.iterdir()] == ["filler"]
    filler.unlink()
    assert python(BEGIN, 0, "scene", "show", "FloorPlan1", "-o", "x.svg", cwd=small).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("kept", [4096, 8192])
def test_a_planner_without_room_for_its_plan_does_not_say_that_there_is_none(
    kept: int, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (small / "filler").open("wb", buffering=0) as file:
        size = os.statvfs(small)
        file.write(b"x" * (size.f_bavail * size.f_frsize - kept))
    monkeypatch.setenv("TMPDIR", str(small))
    words = ("plan", "make coffee", "--save", "new", "-q", "--dry-run", "--budget", "5")
    done = python(BEGIN, 0, *words, cwd=tmp_path)
    assert done.returncode == 4 and "No space left on device" in done.stderr, done.stderr
