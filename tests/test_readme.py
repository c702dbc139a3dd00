"""What the README shows works."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from hvr.cli.main import run

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def command(name: str) -> str:
    match = re.search(rf"<!-- command: {name} -->\n```sh\n(.+)\n```", README)
    assert match, f"the README marks no command {name!r}"
    return match[1]


@pytest.mark.parametrize("name", ["start", "test"])
def test_the_set_up_commands_are_one_line_and_use_the_constraints(name: str) -> None:
    text = command(name)
    assert "\n" not in text
    assert "-m venv" in text
    assert "-c constraints.txt" in text


def used() -> list[str]:
    block = re.search(r"## Use\n\n```sh\n(.+?)```", README, re.DOTALL)
    assert block
    return [line.split("#")[0].strip() if "query" not in line else line.strip()
            for line in block[1].splitlines() if line.startswith("hvr")]  # fmt: skip


@pytest.mark.slow
def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = used()
    assert len(lines) >= 5
    for line in lines:
        arguments = shlex.split(line)[1:]
        if arguments[0] in ("validate", "lint"):
            folder = next(p for p in Path("runs").iterdir() if (p / "plan.pddl").exists())
            arguments = [str(folder / a.replace("plan.txt", "plan.pddl")) if "." in a else a
                         for a in arguments]  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["hvr", *arguments])
        with pytest.raises(SystemExit) as ending:
            run()
        # `lint` says 1 when it has found something.
        good = (0, 1) if arguments[0] == "lint" else (0, None)
        assert ending.value.code in good, f"{line}: {capsys.readouterr().err}"


@pytest.mark.slow
def test_the_examples_with_a_simulated_model_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = re.search(r"## Plan with a language model\n\n```sh\n(.+?)```", README, re.DOTALL)
    assert block
    lines = [line.split(" #")[0].strip() for line in block[1].splitlines() if "scripted" in line]
    assert len(lines) == 2
    monkeypatch.chdir(tmp_path)
    for line in lines:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ending:
            run()
        output = capsys.readouterr()
        assert ending.value.code in (0, None), f"{line}: {output.err}"
        assert "simulated" in output.out
    (folder,) = Path("runs").iterdir()
    monkeypatch.setattr(
        sys, "argv", ["hvr", "plan", "--llm", f"replay:{folder}", "--save", "again"]
    )
    with pytest.raises(SystemExit) as ending:
        run()
    assert ending.value.code in (0, None)
    for name in ("llm.jsonl", "plan.json", "plan.pddl", "planning.json", "trace.jsonl"):
        assert (Path("again") / name).read_bytes() == (folder / name).read_bytes()
