"""Printed text contains no terminal commands, forged lines or keys."""

from __future__ import annotations

import ast
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

import hvr
from hvr.base.printable import block, console, one_line, printable, protect_output, short_names
from tests import warm
from tests.command_line import Hvr

ROOT = Path(hvr.__file__).parent
HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\u202ee\x08f\rg\x7fh\u2066i"
COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
KEY = "q7Zw9Qp2Lm4Nk6Jh"


@given(st.text())
def test_texts_become_printable_and_mean_the_same(text: str) -> None:
    shown = printable(text)
    assert not COMMANDING.search(shown.replace("\r\n", "\n"))
    assert printable(shown) == shown
    if not COMMANDING.search(text):
        assert shown == text or any(c in text for c in "\u061c\u200e\u200f\u2028\u2029")
    # As JSON, the text is unchanged.
    assert json.loads(printable(json.dumps(text, ensure_ascii=False))) == text


def test_long_names_are_shortened_and_places_are_not() -> None:
    place = f"/{'folder/' * 20}domain.pddl:3:7"
    shown = short_names(f"{place}: the predicate '{'p' * 1_000_000}' is not one of {'q' * 99}, r")
    assert shown == f"{place}: the predicate '{'p' * 57}…' is not one of {'q' * 57}…, r"
    assert short_names("x" * 500_000 + ":1").endswith("x:1")


@given(st.text())
def test_a_line_stays_one(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@given(st.text())
def test_no_line_of_a_message_but_the_first_begins_at_the_margin(text: str) -> None:
    _, *more = printable(block(text)).splitlines() or [""]
    assert not [line for line in more if line and not line[0].isspace()]


def test_streams_are_cleaned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HVR_LLM_API_KEY", KEY)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    for _ in range(2):  # a second time changes nothing
        protect_output()
    print(f"{HOSTILE} {KEY}", end="\n")
    sys.stdout.writelines([f"{HOSTILE}\n", KEY])
    print(f"{HOSTILE} {KEY} Bearer abcdef1234567890", file=sys.stderr)
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert not COMMANDING.search(text) and KEY not in text and r"\u001b[2J" in text
    assert "Bearer [key]" in said.err
    assert sys.stdout.encoding and not sys.stdout.isatty()


def test_streams_that_are_not_there_stay_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    protect_output()
    assert sys.stdout is None and sys.stderr is None


def test_a_console_keeps_styles_and_spells_commands_out() -> None:
    stream = io.StringIO()
    screen = console(file=stream, force_terminal=True, color_system="standard", width=200,
                     highlight=False)  # fmt: skip
    table = Table(title=HOSTILE)
    table.add_column("name")
    table.add_row(HOSTILE)
    screen.print(table)
    screen.print(Text(HOSTILE, style="bold red"))
    screen.print(f"[link=http://example.org]{HOSTILE}[/link] :mug:")
    shown = stream.getvalue()
    assert "\x1b[1;31m" in shown, "a style of rich's own"
    assert not COMMANDING.search(re.sub(r"\x1b\[[\d;]*m", "", shown))
    assert shown.count(r"\u001b]0;owned") == 4
    assert "[link=http://example.org]" in shown and ":mug:" in shown


@pytest.mark.slow
def test_every_console_of_rich_is_this_one() -> None:
    for path in ROOT.rglob("*.py"):
        if path.name == "printable.py":
            continue
        text = path.read_text(encoding="utf-8")
        if "rich" not in text and "Console" not in text:
            continue
        nodes = list(ast.walk(ast.parse(text)))
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        rich = [one for one in imports if (one.module or "").startswith("rich")]
        names = {alias.asname or alias.name for one in rich for alias in one.names}
        assert not names & {"get_console", "print", "print_json"}, path
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "Console", path
                makes_one = node.func.id in names & {"Live", "Progress", "Bar", "track", "Status"}
                given = {keyword.arg for keyword in node.keywords}
                assert not makes_one or "console" in given, path


# The command line -------------------------------------------------------------------------------


def test_a_message_about_a_file_is_printable(hvr_: Hvr, tmp_path: Path) -> None:
    name = tmp_path / f"{HOSTILE}\nerror: all is well.pddl".replace("/", "")
    for words in (["validate", name, name, name], ["show", name], ["lint", name]):
        ended = hvr_(*words)
        assert ended.code == 2 and not COMMANDING.search(ended.out + ended.err)
        lines = (ended.out + ended.err).splitlines()
        assert not [line for line in lines if line.startswith("error: all is well")]


DOMAIN = "(define (domain d) (:predicates (p)) (:action a :effect (p)))"
PROBLEM = "(define (problem q) (:domain d) (:init) (:goal (p)))"


@pytest.mark.skipif(sys.platform == "win32", reason="such names are not possible there")
@pytest.mark.parametrize("form", ["text", "json", "json-lines", "junit", "sarif", "github"])
def test_names_of_plans_forge_no_verdict(form: str, hvr_: Hvr, tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    plan = tmp_path / f"bad{HOSTILE}\ngood.plan: valid (1 step)\n"
    plan.write_text("")
    ended = hvr_("validate", tmp_path / "d.pddl", tmp_path / "p.pddl", plan, "--format", form)
    assert ended.code == 1
    assert not COMMANDING.search(ended.out + ended.err)
    assert not [line for line in ended.out.splitlines() if line.startswith("good.plan: valid")]
    if form == "json":
        assert json.loads(ended.out)[0]["plan"] == str(plan)


@pytest.mark.skipif(
    shutil.which("sh") is None or sys.platform == "win32", reason="needs a terminal"
)
@pytest.mark.slow
def test_a_run_on_a_terminal_looks_as_it_should(tmp_path: Path) -> None:
    """The live tree uses rich's control codes, and none of them appears as text."""
    reader, writer = pty.openpty()
    process = warm.Popen(
        [sys.executable, "-m", "hvr", "plan", "make coffee", "--save", str(tmp_path / "run")],
        stdout=writer, stderr=writer, stdin=subprocess.DEVNULL, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT.parent), "TERM": "xterm", "HVR_VERIFY": "0"},
    )  # fmt: skip
    os.close(writer)
    shown = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # Linux reports the end of a terminal this way
            break
        if not part:
            break
        shown += part
    os.close(reader)
    assert process.wait(timeout=600) == 0
    assert b"\x1b[" in shown and rb"\u001b" not in shown
    assert "✓✓✓".encode() in re.sub(rb"\x1b\[[\d;]*m", b"", shown)


def test_lone_surrogates_are_spelled_out() -> None:
    assert printable("a\ud800b") == "a\\ud800b"
    one_line("\udfff").encode()
