"""Undeliverable output: the work is done, the exit code reports the outcome, and only a full disk
causes an error message.

Every command runs in this process with realistic streams; a few also run as real processes.
"""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests import warm
from tests.command_line import COMMANDS, environment, parser_of, process
from tests.doors.cli.broken_streams import (
    FULL,
    call,
    check_broken_streams,
    check_full,
    full,
    into,
    nobody_reads,
)

DOMAIN = """(define (domain d) (:predicates (p) (q)) (:action a :precondition (p) :effect (q)))"""
PROBLEM = """(define (problem i) (:domain d) (:init (p)) (:goal (q)))"""

CASES: Mapping[tuple[str, ...], str] = {
    ("plan",): "'open the fridge' --no-verify --html page.html",
    ("validate",): "domain.pddl problem.pddl bläd.plan good.plan --jobs 2",
    ("chat",): "--quiet",
    ("check",): "good.json domain.pddl problem.pddl good.plan",
    ("judge",): "good.plan --domain domain.pddl --problem problem.pddl --html page.html",
    ("lint",): "domain.pddl problem.pddl",
    ("convert",): "htn.txt --to json",
    ("solve",): "domain.pddl problem.pddl",
    ("world", "check"): "blocksworld",
    ("world", "show"): "blocksworld --problem tower",
    ("tasks",): "",
    ("scenes",): "--having Kettle",
    ("show",): "made",
    ("kg", "query"): "'SELECT ?o { ?o a k:Mug }' --run made",
    ("kg", "show"): "mug-1 --run made",
    ("kg", "export"): "--run made",
    ("kg", "check"): "",
    ("llm", "check"): "openai:m --base-url http://127.0.0.1:9 --timeout 1",
    ("llm", "usage"): "made",
    ("library", "list"): "--library library.ttl",
    ("library", "show"): "ID --library library.ttl",
    ("library", "merge"): "library.ttl --library merged.ttl",
    ("library", "import"): "library.ttl --library merged.ttl",
    ("library", "export"): "exported.ttl --library library.ttl",
    ("library", "clusters"): "--library library.ttl",
    ("bench", "run"): "--tasks T2 --settings LLM --save benched",
    ("bench", "show"): "benched --per-task",
    ("doctor", "machine"): "",
    ("doctor", "thor"): "--thor-executable no-such-program",
    ("scene", "show"): "FloorPlan16 --objects",
    ("verify", "plan"): "made",
    ("tools", "import"): "tools.json",
    ("tools", "plan"): "parcels pick-up",
    ("tools", "run"): "parcels cancel --yes-destructive",
    ("tools", "graph"): "tools.json --json",
    ("completion",): "bash",
}
"""Command lines that print something."""
LONG = {("solve",), ("verify", "plan"), ("kg", "check"), ("bench", "run")}
DEAR = {*LONG, ("plan",), ("chat",), ("tools", "plan"), ("tools", "run"), ("judge",)}
"""Commands of which only a full disk is tried; `LONG` ones are not tried with JSON either."""

ELSEWHERE = {
    ("scene", "serve"): "prints nothing",
    **dict.fromkeys([("serve",), ("studio",)], "prints its address and goes on until stopped"),
    ("lsp",): "tests/doors/lsp/test_lsp_server.py, where it speaks to a client",
    ("mcp",): "tests/doors/test_mcp.py, where it speaks to a client",
    ("tools", "guard"): "tests/tools/calling/test_guard_server.py, where it speaks to a client",
    ("problems",): "tests/planning/problems/test_problems.py",
    ("export", "sft"): "tests/runs/teaching/test_lessons_and_examples.py",
    ("tools", "serve-stats"): "prints a line and goes on until it is interrupted",
    ("tools", "learn"): "tests/tools/navigation/test_learnt_moves.py, where there are dialogues",
    ("world", "new"): "prints a line about the folder that it made, and makes it only once",
    ("verify", "train"): "prints a line, as evaluate does, after long work",
    **dict.fromkeys(
        [("kg", "runs"), ("kg", "publish")],
        "tests/knowledge/test_shared_graphs.py, where there is a server",
    ),
    **dict.fromkeys(
        [("verify", "correct"), ("verify", "evaluate")],
        "tests/doors/cli/test_cli_verify.py, where a verifier is trained",
    ),
    **dict.fromkeys(
        [("tools", "train"), ("tools", "retrieve"), ("tools", "evaluate")],
        "tests/tools/test_tools_cli.py, where a retriever is trained",
    ),
}


def test_every_command_has_its_streams_tested() -> None:
    assert sorted({*CASES, *ELSEWHERE}) == sorted(COMMANDS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a library and the other inputs of the calls."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(PROBLEM)
    (folder / "good.plan").write_text("(a)")
    (folder / "tools.json").write_text('[{"name": "a"}]')
    (folder / "htn.txt").write_text("==>\n0 a\nroot 1\n1 t -> m 0\n<==\n")
    (folder / "bläd.plan").write_text("(a)(b)")
    process("validate", "domain.pddl", "problem.pddl", "good.plan", "--certificate", "good.json",
            cwd=folder)  # fmt: skip
    done = process("plan", "--task", "T2", "--llm", "scripted:error=0", "--library", "library.ttl",
                   "--save", "made", "--no-verify", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_what_cannot_be_delivered_does_not_change_what_comes_out(
    words: tuple[str, ...], made: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if words == ("verify", "plan"):
        pytest.importorskip("torch_geometric")
    if words == ("llm", "check"):
        pytest.importorskip("openai")
    monkeypatch.chdir(made)
    whole = whole_call(words, made, monkeypatch)
    if words in DEAR:
        check_full(whole, monkeypatch, capsys)
    else:
        check_broken_streams(whole, monkeypatch, capsys)


def whole_call(words: Sequence[str], made: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the words of a call after preparing its inputs."""
    monkeypatch.setenv("GITHUB_ACTIONS", "")
    if words == ("bench", "show") and not (made / "benched").exists():
        call(["bench", *shlex.split(CASES["bench", "run"])], monkeypatch)
    whole = [*words, *shlex.split(CASES[tuple(words)])]
    if "ID" in whole:
        whole[whole.index("ID")] = first_macro(made / "library.ttl")
    return whole


def first_macro(library: Path) -> str:
    from hvr.planning.library.library import read_library

    return next(iter(read_library(library))).id


# JSON, and texts in other encodings ------------------------------------------------------------


IN_JSON = [
    w for w in CASES if w not in {*LONG, ("llm", "check")} and parser_of(w).flag("json") is not None
]


@pytest.mark.slow
@pytest.mark.parametrize("words", IN_JSON, ids=" ".join)
@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
def test_json_is_utf8_whatever_the_locale(
    words: tuple[str, ...], encoding: str, made: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(made)
    whole = [*whole_call(words, made, monkeypatch), "--json"]
    with (tmp_path / "out").open("wb") as file, into(file.fileno(), encoding, monkeypatch):
        assert call(whole, monkeypatch) in (0, 1)
    assert json.loads((tmp_path / "out").read_bytes().decode("utf-8"))


FORMATS = ("json", "json-lines", "sarif", "junit")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16"])
def test_reports_for_programs_are_utf8_and_texts_can_be_printed(encoding: str, made: Path) -> None:
    plans = ("domain.pddl", "problem.pddl", "bläd.plan")
    for form in FORMATS:
        done = process("validate", *plans, "--format", form, cwd=made,
                       environ={"PYTHONIOENCODING": encoding})  # fmt: skip
        assert (done.returncode, done.stderr) == (1, b""), form
        text = done.stdout.decode("utf-8")
        assert "bläd.plan" in text or "bl%C3%A4d.plan" in text, form
        if form != "junit":
            json.loads(text)
    done = process("validate", *plans, cwd=made, environ={"PYTHONIOENCODING": encoding})
    assert done.returncode == 1
    shown = "bl\\xe4d.plan" if encoding == "ascii" else "bläd.plan"
    assert done.stdout.decode(encoding).startswith(shown)
    done = process("scene", "show", "Küche", "--json", environ={"PYTHONIOENCODING": encoding})
    assert "Küche" in json.loads(done.stdout.decode("utf-8"))["error"]


@pytest.mark.slow
def test_a_locale_without_letters_reads_and_writes_utf8(made: Path, tmp_path: Path) -> None:
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    report = tmp_path / "börse.json"
    done = process("validate", "domain.pddl", "problem.pddl", "bläd.plan", "--format", "json",
                   "--output-file", report, cwd=made, environ=bare)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(report.read_text(encoding="utf-8"))[0]["outcome"] == "invalid"
    done = process("plan", "slice the Küche", cwd=tmp_path, environ=bare)
    assert done.returncode == 2
    assert "k\\xfcche" in done.stderr.decode("ascii")


# Processes ------------------------------------------------------------------------------------

PROCESSES = {
    "text": (1, "validate", "domain.pddl", "problem.pddl", "bläd.plan", "good.plan"),
    "jobs": (1, "validate", "domain.pddl", "problem.pddl", "bläd.plan", "good.plan", "--jobs", "2"),
    "help": (0, "plan", "--help"),
    "bytes": (0, "kg", "export", "--run", "made"),
    "no answer": (2, "show", "nowhere"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "buffered"), [*((which, True) for which in PROCESSES), ("text", False)]
)
def test_processes_end_well_on_broken_streams(which: str, buffered: bool, made: Path) -> None:
    usual, *words = PROCESSES[which]
    unbuffered = {} if buffered else {"PYTHONUNBUFFERED": "1"}
    more: dict[str, object] = {"cwd": made, "environ": unbuffered}
    answered = usual in (0, 1)
    with nobody_reads() as writer:
        done = process(*words, stdout=writer, **more)
        assert done.returncode == usual
        assert bool(done.stderr) is not answered
    with full() as device:
        done = process(*words, stdout=device, **more)
        assert done.returncode == (4 if answered else usual)
        if answered:
            assert done.stderr == FULL.encode()
        # The exit code remains correct even if the error message cannot be written.
        assert process(*words, stdout=device, stderr=device, **more).returncode == done.returncode
    done = process(*words, preexec_fn=lambda: os.close(1), **more)
    assert (done.returncode, done.stdout, bool(done.stderr)) == (usual, b"", not answered)
    assert process(*words, preexec_fn=lambda: os.closerange(0, 3), **more).returncode == usual


@pytest.mark.slow
def test_a_run_whose_reader_goes_is_complete(made: Path) -> None:
    """Like `hvr plan ... | head -1`: the reader reads one line and exits."""
    plan = ("plan", "open the fridge", "--no-verify")
    for words, folder in ((plan, "headed"), ((*plan, "--json"), "jason")):
        with warm.Popen(
            [sys.executable, "-m", "hvr", *words, "--save", folder],
            cwd=made, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as child:  # fmt: skip
            assert child.stdout is not None and child.stderr is not None
            child.stdout.read(1)
            child.stdout.close()
            assert (child.wait(300), child.stderr.read()) == (0, b"")
        done = json.loads((made / folder / "task.json").read_text(encoding="utf-8"))
        assert done["reached"] is True
        assert (made / folder / "graph.ttl").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "domain.pddl", "problem.pddl", "-"), ("validate", "--serve"),
        ("kg", "query", "-"), ("chat",), ("mcp",), ("lsp",),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_closed_standard_input_is_no_empty_input(words: tuple[str, ...], made: Path) -> None:
    done = process(*words, cwd=made, preexec_fn=lambda: os.close(0))
    assert done.returncode == 2
    assert b"it is closed" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_file_does_not_get_the_number_of_a_closed_stream(made: Path) -> None:
    done = process("validate", "domain.pddl", "problem.pddl", "bläd.plan", "--format", "json",
                   "--output-file", "closed.json", cwd=made,
                   preexec_fn=lambda: os.closerange(0, 3))  # fmt: skip
    assert done.returncode == 1
    (result,) = json.loads((made / "closed.json").read_text(encoding="utf-8"))
    assert result["plan"] == "bläd.plan"


def test_a_stream_that_does_not_block_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    script = (
        "from hvr.doors.cli import process; import sys; process.prepare_streams()\n"
        "sys.stdout.write('x' * 1_000_000); sys.stdout.flush()"
    )
    child = warm.Popen([sys.executable, "-c", script], stdout=writer, env=environment())
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        assert len(file.read()) == 1_000_000
    assert child.wait(60) == 0


@pytest.mark.slow
def test_watching_ends_when_nobody_reads(made: Path) -> None:
    with nobody_reads() as writer:
        done = process("validate", "domain.pddl", "problem.pddl", "bläd.plan", "--watch",
                       cwd=made, stdout=writer)  # fmt: skip
    assert done.returncode == 0


# Terminals ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "1", "abc", "²", "-5", "100000", ""])
def test_any_width_is_survived(columns: str, made: Path) -> None:
    for words in (("llm", "usage", "made"), ("plan", "--help")):
        done = process(*words, cwd=made, environ={"COLUMNS": columns, "LINES": columns})
        assert (done.returncode, done.stderr) == (0, b""), words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "environ"),
    [
        ((5, 20), {}),
        ((0, 0), {}),
        ((1, 1), {"NO_COLOR": "1"}),
        ((24, 80), {"TERM": "dumb"}),
        ((24, 80), {"PYTHONIOENCODING": "ascii"}),
    ],
)
def test_any_terminal_is_survived(
    size: tuple[int, int], environ: dict[str, str], made: Path, tmp_path: Path
) -> None:
    for words in (
        ("plan", "open the fridge", "--no-verify", "--save", tmp_path / "run"),
        ("llm", "usage", made / "made"),
    ):
        code, shown = on_terminal(words, size, environ)
        assert code == 0, shown
        assert b"Traceback" not in shown and b"error:" not in shown, shown


def on_terminal(
    words: Sequence[object], size: tuple[int, int], environ: dict[str, str]
) -> tuple[int, bytes]:
    """Run a command on a terminal of the given size; return the exit code and its output."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, size)
    env = {
        name: v for name, v in environment(**environ).items() if name not in ("COLUMNS", "LINES")
    }
    child = warm.Popen([sys.executable, "-m", "hvr", *map(str, words)],
                             stdin=theirs, stdout=theirs, stderr=theirs, env=env)  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65536):
            shown += data
    except OSError:  # Linux reports a closed peer this way
        pass
    os.close(ours)
    return child.wait(60), shown
