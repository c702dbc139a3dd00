"""Unexpected errors end with exit code 3, one line, and a report without keys."""

from __future__ import annotations

import json
import re
import resource
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hvr.doors.cli.crash_reports import describe_crash
from tests import warm
from tests.command_line import Hvr, environment, process

SECRET = "a-secret-that-nobody-may-see"
LOOKS_LIKE_A_KEY = "sk-abcdefghijklmnop1234567890"
FAULTY = '''
"""A command line in which something goes wrong, and a planner that is as bad."""
import os, sys, warnings

class Panic(BaseException):
    """As libraries in Rust raise it."""

class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")

class Leaves:
    def __del__(self):
        raise ValueError("while it goes")

def endless(n):
    return endless(n + 1)

def trouble(*_, **__):
    kind = os.environ["KIND"]
    warnings.warn("an old name", DeprecationWarning)
    Leaves()
    if kind == "TypeError":
        None + 1
    if kind == "RecursionError":
        endless(0)
    if kind == "SystemExit":
        sys.exit(1)
    if kind == "exit well":
        sys.exit()
    secret = os.environ["OPENAI_API_KEY"]
    raise {"RuntimeError": RuntimeError(f"{secret} failed\\nas sk-abcdefghijklmnop1234567890 did"),
           "MemoryError": MemoryError, "Panic": Panic("in Rust"), "Mute": Mute(),
           "AssertionError": AssertionError, "OSError": OSError(5000, "unheard of"),
           "UnicodeError": TypeError("\\udcff")}[kind]

class Planner:
    def __init__(self, engine, seconds):
        pass

    solve = trouble

if __name__ == "__main__":
    import hvr.doors.cli.suites
    hvr.doors.cli.suites.find_suite = trouble
    from hvr.__main__ import start
    start()
'''
KINDS = (
    "TypeError", "RuntimeError", "RecursionError", "MemoryError", "AssertionError", "Panic",
    "Mute", "OSError", "UnicodeError", "SystemExit", "exit well",
)  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    return tmp_path


def environ(place: Path, **more: str) -> dict[str, str]:
    own = {"OPENAI_API_KEY": SECRET, "PYTHONPATH": str(place), "HVR_TRACEBACK": "", "KIND": "",
           "XDG_CACHE_HOME": str(place / "cache"), "TMPDIR": str(place)}  # fmt: skip
    return environment(**own | more)


def failing(place: Path, kind: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `hvr validate` with an injected failure."""
    given = [sys.executable, "faulty.py", "validate", "domain", "problem", "plan", *words]
    env = environ(place, KIND=kind, **more.pop("environ", {}))
    return warm.run(given, cwd=place, env=env, capture_output=True, text=True, check=False,
                          encoding="utf-8", timeout=300, **more)  # fmt: skip


def reports(place: Path) -> list[Path]:
    return sorted(place.rglob("hvr-*.txt"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_one_line_and_a_report(kind: str, place: Path) -> None:
    done = failing(place, kind, "--json")
    assert done.returncode == 3
    assert done.stderr.startswith("error: hvr failed: ") and done.stderr.count("\n") == 1
    told = done.stderr.removeprefix("error: ").strip()
    document = json.loads(done.stdout)
    assert document["error"].encode("utf-8", "backslashreplace").decode() == told
    assert document.keys() == {"error", "exit_code"} and document["exit_code"] == 3
    (report,) = reports(place)
    assert told.endswith(f"; a full report is in {report}; please report it")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text(encoding="utf-8")
    assert re.match(r"hvr: \d+\.\d+.*, commit \w+", text)
    assert "\nPython: 3." in text and "\nplatform: " in text
    assert "\ncommand line: hvr validate domain problem plan --json\n" in text
    assert "Traceback" in text and "in trouble" in text
    assert SECRET not in text + done.stdout + done.stderr
    assert LOOKS_LIKE_A_KEY not in text + done.stdout + done.stderr


@pytest.mark.slow
def test_keys_of_the_command_line_are_taken_out(place: Path) -> None:
    done = failing(place, "TypeError", f"--output-file={LOOKS_LIKE_A_KEY}", SECRET)
    (report,) = reports(place)
    assert done.returncode == 3
    assert "--output-file=[key]' '[key]'" in report.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_plugin_fails_with_a_run_that_says_so(place: Path) -> None:
    done = process("plan", "open the fridge", "--planner", "faulty:Planner", "--no-verify",
                   cwd=place, environ=environ(place, KIND="TypeError"))  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: hvr failed: TypeError: unsupported operand")
    assert done.stderr.count(b"\n") == 1 and len(reports(place)) == 1


@pytest.mark.slow
def test_a_traceback_can_be_asked_for(place: Path) -> None:
    done = failing(place, "TypeError", environ={"HVR_TRACEBACK": "1"})
    assert done.returncode == 3 and not reports(place)
    assert "Traceback" in done.stderr and "in trouble" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: hvr failed: TypeError: unsupported operand")


@pytest.mark.slow
def test_where_the_folder_cannot_be_had_the_report_is_a_temporary_file(place: Path) -> None:
    (place / "cache").write_text("a file")
    done = failing(place, "TypeError")
    (report,) = reports(place)
    assert (done.returncode, report.parent) == (3, place)
    assert str(report) in done.stderr


@pytest.mark.slow
def test_where_nothing_can_be_written_the_report_is_printed(place: Path) -> None:
    # A file size limit acts as a full disk for every user, root included.
    done = failing(
        place, "RuntimeError",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert (done.returncode, done.stdout, reports(place)) == (3, "", [])
    assert "Traceback" in done.stderr and SECRET not in done.stderr
    assert done.stderr.endswith("; the report is above; please report it\n")


@pytest.mark.slow
def test_old_reports_make_room(place: Path) -> None:
    folder = place / "cache" / "hvr" / "failures"
    folder.mkdir(parents=True)
    for number in range(25):
        (folder / f"hvr-20000101-0000{number:02}-x.txt").touch()
    failing(place, "TypeError")
    kept = reports(place)
    assert len(kept) == 20 and kept[-1].stat().st_size and kept[0].name.endswith("06-x.txt")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["hvr.doors.cli.arguments", "hvr.base.secrets"])
def test_a_damaged_installation_is_no_traceback(module: str, place: Path) -> None:
    (place / "sitecustomize.py").write_text(
        "import sys\nclass Missing:\n    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: raise ImportError('damaged')\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    done = failing(place, "TypeError")
    assert done.returncode == 3
    assert done.stderr.startswith("error: hvr failed: ") and done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_tell_what_nobody_foresaw(jobs: int, place: Path) -> None:
    for name in ("one.plan", "two.plan"):
        (place / name).write_text("(a)")
    (place / "d").write_text("(define (domain d) (:predicates (p)) (:action a :effect (p)))")
    (place / "p").write_text("(define (problem i) (:domain d) (:init) (:goal (p)))")
    # Every Python process imports it, including the workers.
    (place / "sitecustomize.py").write_text(
        "import faulty, hvr.validation.batch\nhvr.validation.batch.judge = faulty.trouble"
    )
    done = subprocess.run(
        [sys.executable, "-m", "hvr", "validate", "d", "p", "one.plan", "two.plan",
         "--jobs", str(jobs)],
        cwd=place, env=environ(place, KIND="TypeError"), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert "TypeError: unsupported operand" in done.stderr
    (report,) = reports(place)
    assert "in trouble" in report.read_text(encoding="utf-8")


# System errors -----------------------------------------------------------------------------------


def test_what_the_system_says_of_a_named_file_is_about_that_file(
    hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    long = "x" * 5000
    for words in (["show", long], ["kg", "query", "ASK {}", "--run", long],
                  ["bench", "show", tmp_path, f"--html={long}"]):  # fmt: skip
        ended = hvr_(*words)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"error: {long}") and ended.err.count("\n") == 1
        assert "File name too long" in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("words", ["validate d p plan", "show run", "plan 'open the fridge'"])
def test_a_working_folder_may_be_gone(words: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone}; rmdir {gone}; exec {sys.executable} -m hvr {words}"
    done = subprocess.run(["sh", "-c", script], env=environment(), capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("error", "given", "code"),
    [
        (PermissionError(13, "Permission denied", "/root/x.html"), ["--html", "/root/x.html"], 2),
        (PermissionError(13, "Permission denied", "runs/a/trace.jsonl"), ["show", "runs/a/"], 2),
        (PermissionError(13, "Permission denied", "./x"), ["--save=x"], 2),
        (OSError(28, "No space left on device", "elsewhere"), [], 4),
        (OSError(28, "No space left on device"), [], 4),
        (PermissionError(13, "Permission denied", "/usr/lib/hvr/a.ttl"), ["show", "runs/a"], 3),
        (FileNotFoundError(2, "No such file", "ontology/a.ttl"), ["show", ""], 3),
        (OSError("without a number"), ["show"], 3),
        (ValueError("x"), ["x"], 3),
    ],
)
def test_who_is_to_blame_for_what_the_system_says(
    error: Exception, given: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HVR_TRACEBACK", raising=False)
    message, status = describe_crash(error, given)
    assert status == code and "\n" not in message
    assert len(reports(tmp_path)) == (code == 3)
