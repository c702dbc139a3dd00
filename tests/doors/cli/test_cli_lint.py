"""`hvr lint`: formats and exit codes."""

import json
from pathlib import Path

import pytest

from hvr.doors.cli.main import main

DOMAIN = """\
(define (domain fridge) (:requirements :strips)
  (:predicates (open) (full))
  (:action open :effect (open))
  (:action fill :precondition (open) :effect (full)))
"""
PROBLEM = "(define (problem filled) (:domain fridge) (:init) (:goal (full)))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    Path("domain.pddl").write_text(DOMAIN)
    Path("problem.pddl").write_text(PROBLEM)
    Path("unused.pddl").write_text(DOMAIN.replace("(full))", "(full) (cold))", 1))
    Path("empty.pddl").write_text(DOMAIN.replace("(full)))", "()))"))
    Path("broken.pddl").write_text("(define (domain fridge)\n  (:predicates (open)\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    code = main(["lint", *args])
    return code, capsys.readouterr().out


@pytest.mark.usefixtures("folder")
class TestLint:
    def test_nothing_found(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "domain.pddl") == (0, "nothing found\n")
        assert run(capsys, "domain.pddl", "problem.pddl") == (0, "nothing found\n")

    def test_a_note(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "unused.pddl")
        assert code == 0
        assert "unused.pddl" in out and "note: The predicate (cold) is never used" in out
        assert "[HVR301]\n" in out and out.endswith("\n1 note\n")

    def test_a_warning(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "empty.pddl")
        assert code == 1 and out.endswith("\n1 warning, 1 note\n")

    def test_the_place_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "empty.pddl")
        assert code == 1
        assert "empty.pddl:4:12: warning: The action fill changes nothing. [HVR311]\n" in out
        assert "\n    (:action fill :precondition (open) :effect ()))\n             ^\n" in out

    def test_notes_count_when_strict(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("note.pddl").write_text(DOMAIN.replace(":strips", ":strips :typing"))
        assert run(capsys, "note.pddl")[0] == 0
        assert run(capsys, "note.pddl", "--strict")[0] == 1

    def test_an_unreachable_goal(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "empty.pddl", "problem.pddl")
        assert code == 1
        assert "problem.pddl:1:" in out and "error: The goal needs (full)" in out

    @pytest.mark.parametrize(
        ("file", "rule"), [("broken.pddl", "HVR001"), ("missing.pddl", "HVR004")]
    )
    @pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
    def test_what_cannot_be_read(
        self, capsys: pytest.CaptureFixture[str], file: str, rule: str, form: str
    ) -> None:
        code, out = run(capsys, file, "--format", form)
        assert code == 2
        assert file in out and rule in out

    def test_a_problem_that_cannot_be_read(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "domain.pddl", "missing.pddl")
        assert code == 2
        assert out.startswith("missing.pddl: error: cannot read missing.pddl")

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "empty.pddl", "--format", "json")
        assert code == 1
        (finding,) = (one for one in json.loads(out)["findings"] if one["rule"] == "HVR311")
        assert finding["file"] == "empty.pddl"
        assert finding["about"] == "fill"
        assert finding["location"] == {"file": "empty.pddl", "line": 4, "column": 12}

    def test_github(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        code, out = run(capsys, "empty.pddl")
        assert code == 1
        assert "::warning file=empty.pddl,line=4,col=12,title=HVR311 empty-effect::" in out

    def test_sarif(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out = run(capsys, "empty.pddl", "--format", "sarif")
        assert code == 1
        (result,) = (
            one for one in json.loads(out)["runs"][0]["results"] if one["ruleId"] == "HVR311"
        )
        assert result["level"] == "warning"

    def test_bad_options(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "--wrong")[0] == 2
        assert run(capsys, "empty.pddl", "--output-file", "empty.pddl")[0] == 2
        assert run(capsys)[0] == 2
