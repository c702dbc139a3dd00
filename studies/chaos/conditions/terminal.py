"""Terminals, encodings, and output without a reader."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import struct
import termios
import threading
from collections.abc import Mapping
from functools import partial

from studies.chaos.checks import Group
from studies.chaos.conditions.small import plan_words, write_task
from studies.chaos.invariants import GOOD, UNANSWERED, UNUSABLE, Run, examine, require
from studies.chaos.lab import Lab
from studies.chaos.process import Ended
from studies.chaos.wire import ChaosServer, Talk

terminal = Group("terminal")

_GONE = {GOOD, 128 + 13}
"""A closed pipe is neither a failure nor the answer "no"."""


def _encoding(env: Mapping[str, str | None], lab: Lab) -> None:
    changed = {"LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **env}
    how = lab.surroundings(env=changed)
    run, words = plan_words(lab, name="kaffee-☕-läuft")
    examine(lab, lab.hvr(*words, how=how), {GOOD}, run=run)
    wrong = lab.hvr("plan", "mache Käffchen ☕ \U0001f600", "--save", lab.work / "no", how=how)
    examine(lab, wrong, {UNUSABLE})
    examine(lab, lab.hvr("show", run.folder, how=how), {GOOD})
    examine(lab, lab.hvr("bench", "--tasks", "T2", "--settings", "LLM", "--no-execute",
                         "--save", lab.work / "bänk", how=how), {GOOD})  # fmt: skip


for _name, _env in {
    "c": {"LANG": "C"},
    "posix": {"LC_ALL": "POSIX"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "ascii-strict": {"PYTHONIOENCODING": "ascii:strict"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "cp437": {"PYTHONIOENCODING": "cp437"},
    "unknown": {"LC_ALL": "tlh_QO.KLINGON"},
}.items():
    terminal.add(f"encoding-{_name}", partial(_encoding, _env))


@terminal.check()
def encoding_with_another_width(lab: Lab) -> None:
    run, words = plan_words(lab)
    how = lab.surroundings(env={"PYTHONIOENCODING": "utf-16-le"})
    ended = lab.hvr(*words, how=how)
    require(ended.code in (GOOD, UNUSABLE), f"exit code {ended.code}")
    require("Traceback".encode("utf-16-le") not in ended.out + ended.err, "a traceback was shown")
    del run


def _on_a_terminal(
    lab: Lab, words: tuple[object, ...], env: Mapping[str, str | None], size: tuple[int, int]
) -> Ended:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    parts: list[bytes] = []

    def read() -> None:
        # Linux reports an error when reading after the last writer has closed.
        with contextlib.suppress(OSError):
            while data := os.read(ours, 65536):
                parts.append(data)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    how = lab.surroundings(env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    process = lab.start(*words, how=how)
    os.close(theirs)
    ended = process.wait()
    reader.join(10)
    os.close(ours)
    shown = b"".join(parts)
    return Ended(ended.code, shown, b"", ended.seconds, ended.peak, ended.late)


def _terminal(env: Mapping[str, str | None], size: tuple[int, int], lab: Lab) -> None:
    run, words = plan_words(lab)
    examine(lab, _on_a_terminal(lab, words, env, size), {GOOD}, run=run, escapes=True)
    bench = ("bench", "--tasks", "T2", "--settings", "LLM", "--no-execute",
             "--save", lab.work / "bench")  # fmt: skip
    examine(lab, _on_a_terminal(lab, bench, env, size), {GOOD}, escapes=True)
    examine(lab, _on_a_terminal(lab, ("plan", "--help"), env, size), {GOOD}, escapes=True)


_SIZE = (24, 80)
for _name, _env, _size in (
    ("dumb", {"TERM": "dumb"}, _SIZE),
    ("unknown", {"TERM": "no-such-terminal"}, _SIZE),
    ("without-a-name", {}, _SIZE),
    ("of-one-letter", {"TERM": "xterm"}, (1, 1)),
    ("of-no-size", {"TERM": "xterm"}, (0, 0)),
    ("columns-1", {"TERM": "xterm", "COLUMNS": "1"}, _SIZE),
    ("columns-huge", {"TERM": "xterm", "COLUMNS": "100000", "LINES": "100000"}, _SIZE),
    ("columns-garbage", {"TERM": "xterm", "COLUMNS": "wide", "LINES": "-3"}, _SIZE),
    ("columns-superscript", {"TERM": "xterm", "COLUMNS": "²", "LINES": "²"}, _SIZE),
):
    terminal.add(f"terminal-{_name}", partial(_terminal, _env, _size))


@terminal.check()
def escapes_on_a_terminal(lab: Lab) -> None:
    """Plan with a model whose answers contain escapes: only hvr's own reach the terminal."""

    def act(talk: Talk) -> None:
        talk.reply(talk.good(talk.answer().replace("Brew", "\x1b]0;owned\x07\x1b[8mBrew")))

    run = Run(lab.work / "run")
    with ChaosServer(act) as server:
        words = ("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                 "--base-url", server.url, "--save", run.folder)  # fmt: skip
        ended = _on_a_terminal(lab, words, {"TERM": "xterm-256color"}, (40, 120))
    require(ended.code in (0, 1, 4), f"exit code {ended.code}")
    require(b"\x1b]0;owned" not in ended.out, "the terminal title was changed")
    require(b"\x1b[8m" not in ended.out, "text was hidden by the model's escape")
    shown = _on_a_terminal(lab, ("show", run.folder), {"TERM": "xterm"}, (40, 120))
    require(b"\x1b]0;owned" not in shown.out, "hvr show changes the title of the terminal")


@terminal.check()
def forced_colours(lab: Lab) -> None:
    run, words = plan_words(lab)
    how = lab.surroundings(env={"FORCE_COLOR": "1", "NO_COLOR": "1", "PYTHON_COLORS": "1"})
    examine(lab, lab.hvr(*words, how=how), {GOOD}, run=run, escapes=True)


def _reader(script: str, codes: set[int], lab: Lab) -> None:
    write_task(lab.work, plans=3)
    run, _ = plan_words(lab)
    ended = lab.shell(f"{script}\nexit ${{PIPESTATUS[0]}}")
    examine(lab, ended, codes)
    require(not ended.err.strip(), f"expected no error output, found: {ended.last}")
    if run.folder.exists():
        require(run.complete, "the run is incomplete")


for _name, _script in {
    "plan": 'hvr plan "make coffee" --scene FloorPlan1 --save run | head -1',
    "plan-at-once": 'hvr plan "make coffee" --scene FloorPlan1 --save run | true',
    "plan-json": 'hvr plan "make coffee" --scene FloorPlan1 --save run --json | true',
    "validate": "hvr validate domain.pddl problem.pddl plan-0.txt plan-1.txt plan-2.txt | true",
    "help": "hvr bench --help | head -1",
    "scenes": "hvr scenes | true",
    "all-output": 'hvr plan "make coffee" --scene FloorPlan1 --save run 2>&1 | head -2',
}.items():
    terminal.add(f"reader-gone-{_name}", partial(_reader, _script, _GONE))


def _closed(streams: str, lab: Lab) -> None:
    run, words = plan_words(lab)
    ended = lab.shell(f'hvr "$@" {streams}', *words)
    # The output has no reader, but the run itself must complete.
    examine(lab, ended, {GOOD, UNANSWERED})
    require(run.complete, f"the run is incomplete ({ended.last})")
    write_task(lab.work)
    judged = lab.shell(f"hvr validate domain.pddl problem.pddl plan-0.txt {streams}")
    examine(lab, judged, {GOOD, UNANSWERED})


for _name, _streams in {
    "stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "output": ">&- 2>&-",
    "all": "<&- >&- 2>&-",
}.items():  # fmt: skip
    terminal.add(f"closed-{_name}", partial(_closed, _streams), quick=_name == "stdout")


@terminal.check()
def a_usage_error_without_stderr(lab: Lab) -> None:
    """Use an invalid option without standard error: the exit code reports it."""
    ended = lab.shell("hvr plan --no-such-option 2>&-")
    examine(lab, ended, {UNUSABLE})


@terminal.check()
def output_of_another_program_is_json(lab: Lab) -> None:
    """Keep warnings and progress out of JSON output."""
    import json

    run, words = plan_words(lab, "--json")
    ended = lab.hvr(*words, how=lab.surroundings(env={"PYTHONWARNINGS": "default"}))
    examine(lab, ended, {GOOD}, run=run)
    json.loads(ended.out)
    require(not re.search(rb"\S", ended.err), f"standard error has {ended.last!r}")
