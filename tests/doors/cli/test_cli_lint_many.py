"""`hvr lint` for many files, and the selection of its findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

from hvr.doors.cli.main import main

DOMAIN = """\
(define (domain fridge) (:requirements :strips)
  (:predicates (open) (full)
    (cold) (warm))
  (:action open :effect (open))
  (:action fill :precondition (open) :effect ()))
"""
CLEAN = """\
(define (domain shelf) (:requirements :strips)
  (:predicates (full))
  (:action fill :effect (full)))
"""
PROBLEM = "(define (problem {name}) (:domain {domain}) (:init) (:goal (full)))\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    for name, text in (("fridge", DOMAIN), ("shelf", CLEAN)):
        Path(name).mkdir()
        Path(name, "domain.pddl").write_text(text)
        for number in (1, 2):
            problem = PROBLEM.format(name=f"p{number}", domain=name)
            Path(name, f"p{number}.pddl").write_text(problem)
    Path("shelf/p1.plan").write_text("(fill)\n")
    Path("README.md").write_text("read me\n")


def rules(capsys: pytest.CaptureFixture[str], *args: str) -> list[tuple[str, str, str]]:
    main(["lint", *args, "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return [(one["file"], one["rule"], one["about"]) for one in findings]


def test_problems_are_linted_with_their_domains(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "."]) == 1
    printed = capsys.readouterr()
    assert "shelf" not in printed.out
    assert "README.md" in printed.err
    assert "p1.plan" not in printed.err
    everything = rules(capsys, ".")
    assert len(set(everything)) == len(everything)
    goals = [file for file, rule, _ in everything if rule == "HVR314"]
    assert goals == ["fridge/p1.pddl", "fridge/p2.pddl"]
    assert everything == rules(capsys, "fridge/domain.pddl", "fridge/p1.pddl", "fridge/p2.pddl")
    assert rules(capsys, "fridge", "--skip", "p2.pddl") == rules(
        capsys, "fridge/domain.pddl", "fridge/p1.pddl"
    )


def test_what_cannot_be_read_hides_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    Path("shelf/p1.pddl").write_text("(define (problem p1) (:domain shelf)")
    Path("shelf/p3.pddl").write_text(PROBLEM.format(name="p3", domain="attic"))
    assert main(["lint", "shelf", "fridge"]) == 2
    out = capsys.readouterr().out
    assert "shelf/p1.pddl:1:" in out and "HVR001" in out
    assert "HVR314" in out


def test_select_and_ignore(capsys: pytest.CaptureFixture[str]) -> None:
    file = "fridge/domain.pddl"
    everything = {rule for _, rule, _ in rules(capsys, file)}
    assert {"HVR301", "HVR311"} <= everything
    assert {rule for _, rule, _ in rules(capsys, file, "--select", "hvr301")} == {"HVR301"}
    left = rules(capsys, file, "--select", "HVR3", "--ignore", "HVR301, HVR311")
    assert {rule for _, rule, _ in left} == everything - {"HVR301", "HVR311"}
    assert main(["lint", file, "--ignore", "HVR3"]) == 0
    assert main(["lint", "missing.pddl", "--select", "HVR301"]) == 2
    capsys.readouterr()
    assert main(["lint", file, "--ignore", "HVR999"]) == 2
    assert "no rule named 'HVR999'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(cold)", "(cold) ; hvr: ignore HVR301\n"),
        ("    (cold)", "    ; it is tidier, hvr: ignore HVR303, HVR301\n    (cold)"),
        ("    (cold)", "  ; hvr:ignore\n    (cold)"),
        ("(:action open", "; hvr: ignore-file HVR301\n (:action open"),
    ],
)
def test_comments_ignore(capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    file = Path("fridge/domain.pddl")
    unused = (str(file), "HVR301", "cold")
    before = rules(capsys, str(file))
    assert unused in before
    file.write_text(DOMAIN.replace(old, new))
    after = rules(capsys, str(file))
    assert unused not in after
    assert ("ignore-file" in new) is ((str(file), "HVR301", "full") not in after)
    assert [rule for _, rule, _ in after if rule == "HVR311"]
    file.write_text(file.read_text().replace("HVR301", "HVR311").replace("hvr:ignore", ""))
    assert unused in rules(capsys, str(file))


@pytest.mark.parametrize("place", ["{} ; hvr: ignore HVR311", "; hvr: ignore HVR311\n{}"])
def test_comments_are_about_their_line(capsys: pytest.CaptureFixture[str], place: str) -> None:
    file = Path("fridge/domain.pddl")
    other = "  (:action other :effect ())"
    line = "  (:action fill :precondition (open) :effect ())"
    text = DOMAIN.replace(line + ")", f"{other}\n{line}\n)")
    file.write_text(text)
    assert [about for _, rule, about in rules(capsys, str(file)) if rule == "HVR311"] == [
        "other", "fill",
    ]  # fmt: skip
    file.write_text(text.replace(line, place.format(line)))
    assert [about for _, rule, about in rules(capsys, str(file)) if rule == "HVR311"] == ["other"]


def test_settings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text(
        '[tool.hvr.lint]\nfiles = ["fridge"]\nignore = ["HVR301"]\nskip = ["p2.pddl"]\n'
    )
    found = rules(capsys)
    assert found and not [rule for _, rule, _ in found if rule == "HVR301"]
    assert "HVR301" in {rule for _, rule, _ in rules(capsys, "--ignore", "HVR311")}
    Path("pyproject.toml").write_text("[tool.hvr.lint]\nignored = true\n")
    assert main(["lint"]) == 2
    assert "did you mean 'ignore'?" in capsys.readouterr().err


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", ".", "--format", "junit", "--output-file", "lint.xml"]) == 1
    assert "HVR311" in capsys.readouterr().out
    document = JUnitXml.fromfile("lint.xml")
    suites = {suite.name: suite for suite in document}
    assert suites["shelf/domain.pddl"].tests == 1 and suites["shelf/p1.pddl"].failures == 0
    assert suites["fridge/p1.pddl"].failures >= 1
    assert document.errors == 0


def test_a_warning_of_the_validator_can_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    domain = Path("shelf/domain.pddl")
    domain.write_text(CLEAN.replace(":effect", ":precondition (not (full)) :effect"))
    call = ["validate", str(domain), "shelf/p1.pddl", "shelf/p1.plan"]
    assert main(call) == 0
    assert "HVR202" in capsys.readouterr().out
    domain.write_text("; hvr: ignore-file HVR202\n" + domain.read_text())
    assert main(call) == 0
    assert "HVR202" not in capsys.readouterr().out


def write_repeats(number: int) -> None:
    for n in range(3, number + 1):
        text = PROBLEM.format(name=f"p{n}", domain="fridge")
        Path(f"fridge/p{n}.pddl").write_text(text)


def test_a_finding_that_problems_share_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    write_repeats(30)
    assert main(["lint", "fridge", "--select", "HVR314"]) == 1
    (line, *_, summary) = capsys.readouterr().out.splitlines()
    assert "(in all 30 problems: fridge/p1.pddl … fridge/p9.pddl)" in line
    assert summary == "1 error (and 29 repeats in other problems)"
    Path("fridge/p7.pddl").write_text("(define (problem p7) (:domain fridge) (:init (full))"
                                      " (:goal (full)))\n")  # fmt: skip
    main(["lint", "fridge", "--select", "HVR314,HVR310"])
    out = capsys.readouterr().out
    assert "(in 29 of 30 problems: fridge/p1.pddl … fridge/p9.pddl)" in out


def test_a_finding_of_one_problem_in_the_domain_names_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("shelf/domain.pddl").write_text(
        "(define (domain shelf) (:predicates (full) (key)) (:action fill :precondition (key)"
        " :effect (full)))"
    )
    Path("shelf/p2.pddl").write_text(
        "(define (problem p2) (:domain shelf) (:init (key)) (:goal (full)))"
    )
    main(["lint", "shelf", "--select", "HVR310"])
    out = capsys.readouterr().out
    assert "(in 1 of 2 problems: shelf/p1.pddl)" in out
    main(["lint", "shelf", "--select", "HVR310", "--format", "json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["problems"] == ["shelf/p1.pddl"]
    main(["lint", "shelf/domain.pddl", "shelf/p1.pddl", "--select", "HVR310"])
    assert "problems:" not in capsys.readouterr().out


def test_programs_get_every_repeat(capsys: pytest.CaptureFixture[str]) -> None:
    write_repeats(30)
    reports = ["--format=json", "--format=sarif=l.sarif", "--format=junit=l.xml"]
    assert main(["lint", "fridge", "--select", "HVR314", *reports]) == 1
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 30
    (result,) = json.loads(Path("l.sarif").read_text())["runs"][0]["results"]
    places = [*result["locations"], *result["relatedLocations"]]
    files = {place["physicalLocation"]["artifactLocation"]["uri"] for place in places}
    assert files == {f"fridge/p{n}.pddl" for n in range(1, 31)}
    assert JUnitXml.fromfile("l.xml").failures == 30


@pytest.mark.parametrize("text", ["", "(defin (problem p4) (:domain shelf))", "; later\n"])
@pytest.mark.parametrize("name", ["p4.pddl", "p4.hddl"])
def test_a_model_file_that_defines_nothing_is_a_finding(
    name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shelf", name).write_text(text)
    assert main(["lint", "shelf"]) == 2
    assert f"shelf/{name}: error: not linted" in capsys.readouterr().out


def test_without_files_and_settings_the_folder_is_linted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lint"]) == main(["lint", "."]) == 1
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]
