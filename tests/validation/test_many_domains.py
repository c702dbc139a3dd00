"""A repository of many domains: each fault is one finding, in every format."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import Hvr

BLOCKS = Path(__file__).parents[2] / "examples" / "blocks"
DOMAINS = 30


def add_domain(folder: Path, problems: int = 3) -> None:
    folder.mkdir()
    shutil.copy(BLOCKS / "domain.pddl", folder)
    for number in range(1, problems + 1):
        shutil.copy(BLOCKS / "problem.pddl", folder / f"p{number}.pddl")
        shutil.copy(BLOCKS / "plans" / "short.txt", folder / f"p{number}.plan")


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which all plans are valid."""
    monkeypatch.chdir(tmp_path)
    for number in range(DOMAINS):
        add_domain(tmp_path / f"d{number}")
    return tmp_path


@pytest.fixture
def faulty(clean: Path) -> Path:
    """The repository with a misspelt domain, a deleted plan and a domain without problems."""
    domain = clean / "d3" / "domain.pddl"
    domain.write_text(domain.read_text().replace("(holding ?x) (clear ?y)", "(holdng ?x)"))
    (clean / "d5" / "p2.plan").unlink()
    add_domain(clean / "lonely", 0)
    return clean


PLACES = ["d3/domain.pddl", "d5/p2.pddl", "lonely/domain.pddl"]
COUNTS = f"{3 * DOMAINS - 1} plans: {3 * DOMAINS - 4} valid, 3 unknown"


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_fault_is_one_finding_in_every_format(hvr_: Hvr, faulty: Path, jobs: str) -> None:
    files = {form: faulty / f"report.{form}" for form in ("junit", "sarif", "github", "markdown")}
    formats = [f"--format={form}={path}" for form, path in files.items()]
    ended = hvr_("validate", *sorted(str(p.name) for p in faulty.iterdir() if p.is_dir()),
                 "--require-plans", "--failures-only", "--jobs", jobs, *formats)  # fmt: skip
    assert ended.code == 2
    heads = [line for line in ended.out.splitlines() if "[HVR" in line]
    assert [head.partition(":")[0] for head in heads] == PLACES
    assert ended.out.count("holdng' is not declared") == 1 and COUNTS in ended.out
    assert ": valid" not in ended.out
    assert "3 plans not judged because of this: d3/p1.plan, d3/p2.plan, d3/p3.plan" in ended.out
    sarif = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    places = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in sarif]
    assert places == PLACES
    annotations = [x for x in files["github"].read_text().splitlines() if x.startswith("::error")]
    assert [x.split("file=")[1].partition(",")[0] for x in annotations] == PLACES
    markdown = files["markdown"].read_text()
    assert COUNTS in markdown and [m.split()[1].partition(":")[0] for m in
                                   markdown.splitlines()[4:]] == PLACES  # fmt: skip
    junit = ElementTree.parse(files["junit"]).getroot()
    errors = [case.get("file") for case in junit.iter("testcase") if case.find("error") is not None]
    assert errors == PLACES
    assert (junit.get("errors"), junit.get("skipped")) == ("3", "3")
    assert len(list(junit.iter("skipped"))) == 3


@pytest.mark.slow
def test_without_the_option_they_are_named_and_no_failure(hvr_: Hvr, clean: Path) -> None:
    (clean / "d5" / "p2.plan").unlink()
    add_domain(clean / "lonely", 0)
    ended = hvr_("validate")
    assert ended.code == 0
    assert "problems without a plan: d5/p2.pddl" in ended.out
    assert "domains without a problem: lonely/domain.pddl" in ended.out
    assert hvr_("validate", "--require-plans").code == 2


@pytest.mark.slow
def test_a_domain_without_problems_is_read(hvr_: Hvr, clean: Path) -> None:
    add_domain(clean / "lonely", 0)
    (clean / "lonely" / "domain.pddl").write_text("(define (domain blocks) (:action")
    ended = hvr_("validate")
    assert ended.code == 2 and "lonely/domain.pddl: unknown: syntax error [HVR001]" in ended.out


@pytest.mark.slow
@pytest.mark.usefixtures("faulty")
def test_json_has_every_plan_once(hvr_: Hvr) -> None:
    results = json.loads(hvr_("validate", "--json").out)
    plans = [result["plan"] for result in results if result["plan"]]
    assert len(plans) == len(set(plans)) == 3 * DOMAINS - 1
    assert sum(result["plan"] is None for result in results) == 1


def test_settings_name_suites(hvr_: Hvr, clean: Path) -> None:
    (clean / "pyproject.toml").write_text(
        '[tool.hvr.validate]\nsuites = ["d1", "d2"]\nfailures-only = true\nrequire-plans = true\n'
    )
    assert hvr_("validate").out == "6 plans: 6 valid\n"
    assert "d3/p1.plan" in hvr_("validate", "d3", "--no-failures-only").out


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
def test_only_what_has_changed_is_judged(hvr_: Hvr, clean: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(clean, "init", "-q")
    git(clean, "add", ".")
    git(clean, "commit", "-qm", "All")
    nothing = hvr_("validate", "--changed-since", "HEAD")
    assert nothing.code == 0 and f"validated: {3 * DOMAINS} plans" in nothing.out
    (clean / "d1" / "p1.plan").write_text("")  # one plan
    (clean / "d2" / "p2.pddl").write_text((clean / "d2" / "p2.pddl").read_text() + "; more\n")
    (clean / "d4" / "domain.pddl").write_text((clean / "d4" / "domain.pddl").read_text() + ";\n")
    shutil.copy(clean / "d6" / "p1.plan", clean / "d6" / "p1-new.plan")  # untracked by git
    (clean / "d7" / "p3.plan").unlink()
    results = json.loads(hvr_("validate", "--changed-since", "HEAD", "--json").out)
    assert [result["plan"] for result in results] == [
        "d1/p1.plan", "d2/p2.plan", "d4/p1.plan", "d4/p2.plan", "d4/p3.plan", "d6/p1-new.plan",
    ]  # fmt: skip
    assert hvr_("validate", "--changed-since", "HEAD", "--require-plans").out.count("HVR007") == 1
    wrong = hvr_("validate", "--changed-since", "--output=x")
    assert wrong.code == 2
    unknown = hvr_("validate", "--changed-since", "nowhere")
    assert unknown.code == 2 and "git cannot list the changes" in unknown.err


@pytest.mark.slow
def test_a_baseline_leaves_only_new_findings(hvr_: Hvr, faulty: Path) -> None:
    (faulty / "d1" / "p1.plan").write_text("")
    assert hvr_("validate", "--update-baseline").code == 2
    options = ("validate", "--require-plans", "--failures-only", "--baseline", "known.json")
    assert hvr_(*options).code == 2  # the baseline does not exist yet
    written = hvr_(*options, "--update-baseline")
    assert written.code == 0 and "holdng" in written.out
    known = json.loads((faulty / "known.json").read_text())["findings"]
    assert [finding["rule"] for finding in known] == ["HVR102", "HVR002", "HVR007", "HVR007"]
    same = hvr_(*options)
    assert same.code == 0 and "HVR" not in same.out
    assert "accepted in known.json, not reported: 4 findings" in same.out
    (faulty / "d2" / "p3.plan").write_text("(pick-up b)\n")
    shutil.copy(BLOCKS / "plans" / "short.txt", faulty / "d1" / "p1.plan")
    new = hvr_(*options)
    assert new.code == 1 and "d2/p3.plan" in new.out and new.out.count("[HVR1") == 1
    assert "3 findings; 1 accepted finding no longer found" in new.out
    (faulty / "known.json").write_text("[]")
    assert "not a baseline" in hvr_(*options).err
