"""A benchmark repository in CI: 12 problems of 3 domains, plans of 6 planners, one broken."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

from hvr.doors.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
OUTPUTS = ROOT / "tests" / "validation" / "planner_outputs"

LIGHTS = """(define (domain lights)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (on ?l - lamp))
  (:action switch-on :parameters (?l - lamp) :precondition (and) :effect (on ?l)))
"""
COUNTERS = """(define (domain counters)
  (:requirements :strips :numeric-fluents)
  (:functions (value))
  (:action increment :parameters () :precondition (< (value) 9) :effect (increase (value) 1)))
"""
# Plan formats of planners; the text of each step replaces the parentheses.
FORMS = {
    "fd": lambda steps: "Solution found!\n" + "".join(f"{s} (1)\n" for s in steps)
    + f"[t=0.1s, 1 KB] Plan length: {len(steps)} step(s).\n[t=0.1s, 1 KB] Plan cost: 1\n",
    "ff": lambda steps: "ff: found legal plan as follows\n\nstep    "
    + "        ".join(f"{n}: {s.upper()}\n" for n, s in enumerate(steps)) + "\ntime spent: 0\n",
    "enhsp": lambda steps: "Problem Solved\n\nFound Plan:\n"
    + "".join(f"{n}.0: ({s})\n" for n, s in enumerate(steps)) + "\nPlan-Length:1\n",
    "pyperplan": lambda steps: "".join(f"({s})\n" for s in steps),
    "lpg": lambda steps: "; Version LPG-td-1.4\n\n"
    + "".join(f"{n}:   ({s.upper()}) [1]\n" for n, s in enumerate(steps)),
    "model": lambda steps: json.dumps([{"name": s.split()[0], "parameters": s.split()[1:]}
                                       for s in steps]),
}  # fmt: skip
NAMES = {
    "fd": "{p}.fd.log", "ff": "{p}-ff.out", "enhsp": "enhsp_{p}.log",
    "pyperplan": "{p}.pddl.soln.1", "lpg": "{p}.SOL", "model": "plan_{p}.json",
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder per domain and one for the plans."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("lights", "counters", "blocks"):
        Path("bench", name).mkdir(parents=True)
        Path("plans", name).mkdir(parents=True)
    Path("bench/lights/domain.pddl").write_text(LIGHTS)
    Path("bench/counters/domain.pddl").write_text(COUNTERS)
    blocks = ROOT / "examples" / "blocks"
    shutil.copy(blocks / "domain.pddl", "bench/blocks/domain.pddl")
    planners = list(FORMS)
    for number in range(1, 5):
        lamps = " ".join(f"l{n}" for n in range(number))
        goal = " ".join(f"(on l{n})" for n in range(number))
        Path(f"bench/lights/p0{number}.pddl").write_text(
            f"(define (problem l) (:domain lights) (:objects {lamps} - lamp) (:init)"
            f" (:goal (and {goal})))"
        )
        Path(f"bench/counters/p0{number}.pddl").write_text(
            "(define (problem c) (:domain counters) (:init (= (value) 0))"
            f" (:goal (= (value) {number})))"
        )
        shutil.copy(blocks / "problem.pddl", f"bench/blocks/p0{number}.pddl")
        planner = planners[number - 1]
        steps = [f"switch-on l{n}" for n in range(number)]
        write_plan("lights", number, planner, steps)
        write_plan("counters", number, planners[5 - number], ["increment"] * number)
        write_plan("blocks", number, planner, ["pick-up a", "stack a b", "pick-up c", "stack c a"])
    write_plan("lights", 2, "lpg", ["switch-on l0"])
    Path("README.md").write_text("Benchmarks, with (steps) in the text.\n")
    Path("plans/notes.txt").write_text("Nothing here yet.\n")
    return tmp_path


def write_plan(domain: str, number: int, planner: str, steps: list[str]) -> None:
    name = NAMES[planner].format(p=f"p0{number}")
    Path("plans", domain, name).write_text(FORMS[planner](steps))


BROKEN = "plans/lights/p02.SOL"


@pytest.mark.usefixtures("repository")
def test_one_call_judges_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "."]) == 1
    out = capsys.readouterr().out
    assert f"{BROKEN} for bench/lights/p02.pddl: invalid: goal not reached after 1 step" in out
    assert "13 plans: 12 valid, 1 invalid\n" in out
    assert "not plans: README.md, plans/notes.txt\n" in out


@pytest.mark.usefixtures("repository")
def test_every_format_names_the_broken_plan_and_no_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["validate", ".", "--format", "sarif", "--output-file", "hvr.sarif"]) == 1
    results = json.loads(Path("hvr.sarif").read_text())["runs"][0]["results"]
    errors = [result for result in results if result["level"] == "error"]
    (place,) = (location["physicalLocation"] for error in errors for location in error["locations"])
    assert place["artifactLocation"]["uri"] == BROKEN
    assert main(["validate", ".", "--format", "junit", "--output-file", "hvr.xml"]) == 1
    document = JUnitXml.fromfile("hvr.xml")
    assert (document.tests, document.failures, document.errors) == (13, 1, 0)
    assert len(list(document)) == 12
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["validate", "."]) == 1
    annotations = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    (annotation,) = annotations
    assert annotation.startswith(f"::error file={BROKEN},")


@pytest.mark.usefixtures("repository")
def test_a_plan_of_no_problem_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    write_plan("lights", 2, "lpg", ["switch-on l0", "switch-on l1"])
    assert main(["validate", "."]) == 0
    write_plan("lights", 9, "fd", ["switch-on l0"])
    write_plan("lights", 8, "model", ["switch-on l0"])
    capsys.readouterr()
    assert main(["validate", "."]) == 2
    out = capsys.readouterr().out
    for name in ("plans/lights/p09.fd.log", "plans/lights/plan_p08.json"):
        assert f"{name}: unknown: not validated: " in out
    assert main(["validate", ".", "--skip", "*p0[89]*"]) == 0
    assert "skipped on request: plans/lights/p09.fd.log" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_settings_pair_by_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text(
        '[tool.hvr.validate]\ndomain = "bench/{domain}/domain.pddl"\n'
        'problem = "bench/{domain}/p*.pddl"\nplans = ["plans/{domain}/*"]\nskip = ["p02.SOL"]\n'
    )
    # Every plan of a domain is checked against each of its problems, so most are invalid.
    assert main(["validate", "-q"]) in (1, 2)
    text = Path("pyproject.toml").read_text()
    text = text.replace("p*.pddl", "{problem}.pddl").replace('/*"', '/*{problem}*"')
    Path("pyproject.toml").write_text(text)
    capsys.readouterr()
    assert main(["validate", "--jobs", "2"]) == 0
    assert "12 plans: 12 valid" in capsys.readouterr().out


@pytest.mark.usefixtures("repository")
def test_the_models_are_linted_in_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "bench", "--format", "json"]) in (0, 1)
    files = {one["file"] for one in json.loads(capsys.readouterr().out)["findings"]}
    assert main(["lint", "bench", "--select", "HVR314", "--ignore", "HVR3"]) == 0
    assert files <= {str(file) for file in Path("bench").rglob("*.pddl")}


# A repository with 30 domains -------------------------------------------------------------------

DOMAINS = 30


@pytest.fixture
def thirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder for each of 30 domains, with two problems and their plans."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    for number in range(DOMAINS):
        folder = Path(f"domains/d{number:02}")
        folder.mkdir(parents=True)
        (folder / "domain.pddl").write_text(LIGHTS.replace("lights", f"lights-{number}"))
        for problem in ("p1", "p2"):
            (folder / f"{problem}.pddl").write_text(
                f"(define (problem {problem}) (:domain lights-{number}) (:objects l - lamp)"
                " (:init) (:goal (on l)))"
            )
            (folder / f"{problem}.plan").write_text("(switch-on l)\n")
    Path("README.md").write_text("# Thirty domains\n")
    return tmp_path


@pytest.mark.usefixtures("thirty")
@pytest.mark.parametrize(
    ("changes", "options", "code", "words"),
    [
        ({}, [], 0, "60 plans: 60 valid\n"),
        ({"d07/p1.plan": "(switch-on x)\n"}, [], 1, "60 plans: 59 valid, 1 invalid\n"),
        ({"d07/p1.plan": "prose\n"}, [], 2, "60 plans: 59 valid, 1 unknown\n"),
        ({"d07/p1.plan": "(no)", "d08/p1.plan": "prose"}, [], 2, "1 invalid, 1 unknown\n"),
        ({"d07/p1.plan": "(no)"}, ["--skip", "*/d07/p1.plan"], 0, "59 plans: 59 valid\n"),
        ({"d07/p1.plan": "(no)"}, ["--exit-zero"], 0, "60 plans: 59 valid, 1 invalid\n"),
        ({"d07/p1.plan": None, "d07/p1.md": "1. on\n"}, [], 2, "p1.md: unknown: not validated"),
        ({"d07/domain.pddl": None}, [], 2, "60 plans: 58 valid, 2 unknown\n"),
        # A changed domain rechecks the plans of all its problems.
        ({"d07/domain.pddl": LIGHTS.replace("lights", "lights-7").replace("(and)", "(on ?l)")},
         [], 1, "60 plans: 58 valid, 2 invalid\n"),
    ],
)  # fmt: skip
def test_exit_codes_of_a_repository_with_30_domains(
    changes: dict[str, str | None],
    options: list[str],
    code: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in changes.items():
        if text is None:
            Path("domains", name).unlink()
        else:
            Path("domains", name).write_text(text)
    reports = ["--format=text", "--format=sarif=plans.sarif", "--format=junit=plans.xml"]
    assert main(["validate", *options, *reports]) == code
    assert words in capsys.readouterr().out
    results = json.loads(Path("plans.sarif").read_text())["runs"][0]["results"]
    assert bool(results) is ("valid\n" not in words or "invalid" in words or "unknown" in words)
    document = JUnitXml.fromfile("plans.xml")
    assert document.failures + document.errors == len(results)


@pytest.mark.usefixtures("thirty")
def test_lint_of_30_domains_is_clean_and_a_slip_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lint"]) == 0
    Path("domains/d07/p2.pddl").write_text("(define (problem p2)")
    assert main(["lint"]) == 2
    assert "domains/d07/p2.pddl:1:" in capsys.readouterr().out
