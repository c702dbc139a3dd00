"""`hvr validate` as people and CI systems call it."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

import hvr
from hvr.base.files import unwritable
from hvr.doors.cli.main import run
from hvr.validation.outcomes import FORMATS
from tests import warm
from tests.command_line import Hvr
from tests.validation.validation_task import write_task

SOURCES = Path(hvr.__file__).resolve().parents[1]
TASK = ("domain.pddl", "problem.pddl")
TIMES = re.compile(r'(?<=time=")[0-9.]+|(?<="seconds": )[-0-9.e]+')


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    write_task(tmp_path)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(monkeypatch, capsys)


class Call:
    """Calls the entry point in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Return the exit code and both outputs."""
        self._monkeypatch.setattr(sys, "argv", ["hvr", "validate", *arguments])
        with pytest.raises(SystemExit) as ending:
            run()
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err
        return int(ending.value.code or 0), captured.out, captured.err


def process(*arguments: str, **more: str) -> subprocess.Popen[str]:
    return warm.Popen(
        [sys.executable, "-m", "hvr", *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCES), **more},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


# Exit codes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plans", "code"),
    [
        (["good.plan"], 0),
        (["early.plan"], 1),
        (["ajar.plan"], 1),
        (["good.plan", "early.plan"], 1),
        (["broken.plan"], 2),
        (["none.plan"], 2),
        (["good.plan", "broken.plan"], 2),
        (["early.plan", "broken.plan"], 2),
        (["early.plan", "ajar.plan"], 1),
    ],
)
def test_exit_codes(call: Call, plans: list[str], code: int) -> None:
    files = [f"plans/{name}" for name in plans]
    assert call(*TASK, *files)[0] == code
    assert call(*TASK, *files, "--exit-zero")[0] == (0 if code == 1 else code)
    assert call(*TASK, *files, "--json", "--jobs", "2")[0] == code
    assert call(*TASK, *files, "-q") == (code, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*TASK, "plans/good.plan", "--format", "sarif="], ["sarif=", "file"]),
        ([*TASK, "plans/good.plan", "--format", "text", "--format", "junit"], ["text", "junit"]),
        ([*TASK, "plans/good.plan", "--format", "json=a", "--format", "text=./a"], ["two outputs"]),
        ([*TASK, "plans/good.plan", "--gantt", "a.svg", "--values", "a.svg"], ["two outputs"]),
        ([*TASK, "plans/good.plan", "--gantt", "a.svg", "--output-file", "a.svg"], ["two outputs"]),
        ([*TASK, "plans/good.plan", "--certificate", "a", "--format", "json=a"], ["two outputs"]),
        ([*TASK, "plans/good.plan", "--output-file", "plans/good.plan"], ["would overwrite"]),
        ([*TASK, "plans/good.plan", "--format", "json=domain.pddl"], ["would overwrite"]),
        ([*TASK, "plans/good.plan", "--certificate", "./problem.pddl"], ["would overwrite"]),
        (["--serve", "--gantt", "a.svg"], ["--serve", "--gantt"]),
        ([*TASK, "plans/good.plan", "--format", "json=none/a"], ["none/a"]),
        ([*TASK, "plans/good.plan", "--format", "json=-"], ["expected an output file"]),
        (["domain.pddl"], ["missing problem file"]),
        ([*TASK], ["missing plan"]),
        ([*TASK, "plans/good.plan", "--fromat", "sarif"], ["--fromat", "--help"]),
        ([*TASK, "plans/good.plan", "--format", "xml"], ["xml", "sarif"]),
        ([*TASK, "plans/good.plan", "--json", "--format", "sarif"], ["--json", "sarif"]),
        ([*TASK, "plans/good.plan", "--jobs", "-1"], ["--jobs"]),
        ([*TASK, "plans/good.plan", "--jobs", "99999"], ["99999"]),
        ([*TASK, "plans/good.plan", "--epsilon", "soon"], ["--epsilon", "soon"]),
        ([*TASK, "plans/good.plan", "--tolerance", "1e999999999"], ["--tolerance"]),
        ([*TASK, "plans/good.plan", "--state-at", "x"], ["--state-at"]),
        ([*TASK, "*.nothing"], ["*.nothing"]),
        ([*TASK, "-", "--watch"], ["--watch", "standard input"]),
        ([*TASK, "plans/good.plan", "--output-file", "none/out.json"], ["none/out.json"]),
        ([*TASK, "plans/good.plan", "--output-file", "plans"], ["plans", "folder"]),
        (["none.pddl", "problem.pddl", "plans/good.plan"], ["none.pddl"]),
        (["domain.pddl", "domain.pddl", "plans/good.plan"], ["domain.pddl:1"]),
    ],
)
def test_bad_requests_are_one_error(call: Call, arguments: list[str], words: list[str]) -> None:
    before = sorted(Path().rglob("*"))
    code, out, err = call(*arguments)
    assert code == 2
    assert not out or json.loads(out)["exit_code"] == 2
    assert err.startswith("error: ")
    assert err.count("error: ") == 1
    for word in words:
        assert word in err
    assert sorted(Path().rglob("*")) == before


def test_options_and_files_may_be_mixed(call: Call) -> None:
    code, out, _ = call("domain.pddl", "--quiet", "problem.pddl", "--jobs", "1", "plans/good.plan")
    assert (code, out) == (0, "")


# Output ---------------------------------------------------------------------------------------


def test_text_explains(call: Call) -> None:
    code, out, err = call(*TASK, "plans")
    assert code == 2
    assert err == ""
    assert "plans/good.plan: valid (3 steps, cost 3)\n" in out
    assert "plans/early.plan: invalid: precondition at step 1 of 2 [HVR101]" in out
    assert "(open)  false since the initial state" in out
    assert "  domain.pddl:7\n" in out
    assert "plans/broken.plan: unknown: syntax error [HVR001]\n  plans/broken.plan:1:" in out
    assert out.endswith("4 plans: 1 valid, 2 invalid, 1 unknown\n")


def test_json_formats(call: Call) -> None:
    data = json.loads(call(*TASK, "plans", "--json")[1])
    assert [entry["outcome"] for entry in data] == ["invalid", "unknown", "invalid", "valid"]
    lines = call(*TASK, "plans", "--format", "json-lines")[1].splitlines()
    assert [json.loads(line) for line in lines] == data


def test_sarif(call: Call) -> None:
    log = json.loads(call(*TASK, "plans", "--format", "sarif")[1])
    results = {result["ruleId"]: result for result in log["runs"][0]["results"]}
    assert set(results) == {"HVR001", "HVR101", "HVR102"}
    place = results["HVR101"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "plans/early.plan"
    assert place["region"] == {"startLine": 2, "startColumn": 1, "endColumn": 7}
    related = results["HVR101"]["relatedLocations"][0]["physicalLocation"]
    assert related["artifactLocation"]["uri"] == "domain.pddl"
    assert related["region"]["startLine"] == 7


def test_junit(call: Call) -> None:
    xml = JUnitXml.fromstring(call(*TASK, "plans", "--format", "junit")[1].encode())
    assert (xml.tests, xml.failures, xml.errors) == (4, 2, 1)


def test_github_is_chosen_in_its_workflows(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    _, out, _ = call(*TASK, "plans")
    assert f"\n::error file={tmp_path.name}/plans/early.plan,line=2,col=1,title=HVR101 " in out
    assert "plans/good.plan: valid" in out
    assert "::" not in call(*TASK, "plans", "--format", "text")[1]
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert "::" not in call(*TASK, "plans")[1]


@pytest.mark.parametrize("name", ["json", "json-lines", "junit", "sarif", "github"])
def test_a_broken_domain_is_reported_in_every_format(call: Call, name: str) -> None:
    Path("bad.pddl").write_text("(define (domain d)\n  (:predicates (p)\n")
    code, out, err = call("bad.pddl", "problem.pddl", "plans", "--format", name)
    assert code == 2
    assert err.startswith("error: bad.pddl:")
    if name.startswith("json"):
        entry = json.loads(out)[0] if name == "json" else json.loads(out)
        assert (entry["plan"], entry["rule"]) == (None, "HVR001")
        assert entry["diagnostic"]["location"]["file"] == "bad.pddl"
    elif name == "sarif":
        (result,) = json.loads(out)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "bad.pddl"
    elif name == "junit":
        assert JUnitXml.fromstring(out.encode()).errors == 1
    else:
        assert "::error file=bad.pddl,line=" in out


def test_all_failures(call: Call) -> None:
    def kinds(*options: str) -> list[str]:
        data = json.loads(call(*TASK, "plans/early.plan", "--json", *options)[1])
        return [failure["kind"] for failure in data[0]["failures"]]

    assert kinds() == ["precondition"]
    assert kinds("--all-failures") == ["precondition", "precondition", "goal"]
    assert kinds("--on-failure", "force") == ["precondition", "precondition"]
    assert kinds("--on-failure", "stop") == ["precondition"]


@pytest.mark.slow
def test_standard_input() -> None:
    child = process("validate", *TASK, "-", "--json")
    out, _ = child.communicate("(open) (fill) (close)")
    assert child.returncode == 0
    assert json.loads(out)[0]["plan"] == "<stdin>"


@pytest.mark.slow
def test_a_reader_that_goes_away() -> None:
    with process("validate", *TASK, "plans/early.plan", "plans/good.plan") as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        assert "Traceback" not in child.stderr.read()
    assert child.returncode != 0


@pytest.mark.slow
def test_names_that_the_terminal_cannot_show() -> None:
    name = os.fsdecode(b"plans/\xffber.plan")
    Path(name).write_text("(open)\n")
    for name_of_format in ("text", "json", "sarif", "junit", "github"):
        child = process("validate", *TASK, name, "--format", name_of_format, LC_ALL="C",
                        PYTHONIOENCODING="ascii")  # fmt: skip
        _, err = child.communicate()
        assert (child.returncode, err) == (1, "")


# Files ----------------------------------------------------------------------------------------


def test_output_file(call: Call) -> None:
    code, out, _ = call(*TASK, "plans", "--format", "sarif", "--output-file", "out.sarif")
    assert code == 2
    assert "plans/good.plan: valid" in out
    assert len(json.loads(Path("out.sarif").read_text())["runs"][0]["results"]) == 3
    code, out, _ = call(*TASK, "plans", "--output-file", "out.txt")
    assert out == "4 plans: 1 valid, 2 invalid, 1 unknown; see out.txt\n"
    assert "plans/good.plan: valid" in Path("out.txt").read_text()
    assert call(*TASK, "plans", "--json", "--output-file", "out.json", "-q")[1] == ""
    assert len(json.loads(Path("out.json").read_text())) == 4
    assert not list(Path().glob(".out*"))


def test_several_reports_from_one_run(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [f"--format={form}={form}.out" for form in FORMATS]
    code, out, _ = call(*TASK, "plans", *files)
    assert code == 2
    assert out == call(*TASK, "plans")[1] == Path("text.out").read_text()
    for form in FORMATS:
        alone = call(*TASK, "plans", "--format", form)[1]
        remarks = () if form not in ("text", "github") else ("not plans", "problems without")
        alone = "".join(line for line in alone.splitlines(True) if not line.startswith(remarks))
        # Only times may differ.
        assert TIMES.sub("", Path(f"{form}.out").read_text()) == TIMES.sub("", alone), form
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "\n::error " in call(*TASK, "plans", "--format", "sarif=out.sarif")[1]
    code, out, _ = call(*TASK, "plans", "--format", "sarif=out.sarif", "--json")
    assert len(json.loads(out)) == len(json.loads(Path("json.out").read_text()))
    Path("pyproject.toml").write_text(
        '[tool.hvr.validate]\nformat = ["text", "json-lines=sub/lines.json"]\n'
    )
    Path("sub").mkdir()
    call(*TASK, "plans")
    assert Path("sub/lines.json").read_text()


def test_one_report_that_cannot_be_written_keeps_no_other_from_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: str) -> None:
        if path.name == "a.json":
            raise unwritable(path, OSError(errno.ENOSPC, "No space left on device"))
        path.write_text(content)

    monkeypatch.setattr("hvr.doors.cli.output.write_whole", full)
    reports = ("--format", "json=a.json", "--format", "sarif=b.sarif")
    code, out, err = call(*TASK, "plans/good.plan", *reports)
    assert code == 4
    assert "plans/good.plan: valid" in out
    assert "a.json" in err
    assert json.loads(Path("b.sarif").read_text())["version"] == "2.1.0"


def test_without_files_and_settings_the_suite_is_the_folder(call: Call) -> None:
    code, out, _ = call()
    assert code == 2
    assert (code, out) == call(".")[:2]


def test_output_file_of_a_broken_domain(call: Call) -> None:
    Path("bad.pddl").write_text("(define")
    code, _, err = call("bad.pddl", "problem.pddl", "plans", "--format", "sarif",
                        "--output-file", "out.sarif")  # fmt: skip
    assert code == 2
    assert err.startswith("error: bad.pddl")
    assert len(json.loads(Path("out.sarif").read_text())["runs"][0]["results"]) == 1


def test_an_old_output_file_stays_when_the_new_one_is_not_finished(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("out.json").write_text("old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    code, _, err = call(*TASK, "plans", "--json", "--output-file", "out.json")
    assert code == 4
    assert "No space left" in err
    assert Path("out.json").read_text() == "old"
    assert not list(Path().glob(".out*"))


def test_what_is_no_file_is_not_replaced_by_one(call: Call) -> None:
    assert call(*TASK, "plans/good.plan", "--output-file", "/dev/null")[0] == 0
    assert not Path("/dev/null").is_file()


# Settings -------------------------------------------------------------------------------------


def configure(text: str, place: str = "pyproject.toml") -> None:
    Path(place).write_text(f"[tool.hvr.validate]\n{text}\n")


def test_everything_may_be_configured(call: Call) -> None:
    configure('domain = "domain.pddl"\nproblem = "problem.pddl"\nplans = ["plans/g*.plan"]')
    assert call() == (0, "plans/good.plan: valid (3 steps, cost 3)\n", "")
    assert call("plans/early.plan")[0] == 1
    # A complete command line is independent of the settings.
    Path("other.pddl").write_text(Path("problem.pddl").read_text().replace("(full)", ""))
    assert call(*TASK, "plans/early.plan")[0] == 1
    Path("idle.plan").write_text("")
    assert call("domain.pddl", "other.pddl", "idle.plan")[0] == 0
    assert call("idle.plan")[0] == 1


def test_settings_are_found_from_folders_below(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    configure('domain = "domain.pddl"\nproblem = "problem.pddl"\nplans = ["plans/good.plan"]')
    monkeypatch.chdir("plans")
    assert call()[0] == 0
    assert call("early.plan")[0] == 1


def test_options_win_over_settings(call: Call) -> None:
    configure('format = "json"\nquiet = true\nexit-zero = true\njobs = 2\non-failure = "skip"')
    assert call(*TASK, "plans/early.plan") == (0, "", "")
    code, out, _ = call(*TASK, "plans/early.plan", "--no-quiet", "--no-exit-zero")
    assert code == 1
    assert len(json.loads(out)[0]["failures"]) == 3
    assert call(*TASK, "plans/good.plan", "--no-quiet", "--format", "text")[1].endswith(")\n")


def test_numbers_of_settings_are_exact(call: Call) -> None:
    configure("epsilon = 0.001\ntolerance = '0.5'")
    assert call(*TASK, "plans/good.plan")[0] == 0


def test_the_address_of_the_rules(call: Call) -> None:
    configure('rules-url = "https://example.org/r"')
    log = json.loads(call(*TASK, "plans", "--format", "sarif")[1])
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert rules[0]["helpUri"] == "https://example.org/r#hvr001-syntax-error"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fromat = 'json'", ["'fromat'", "did you mean 'format'"]),
        ("format = 'xml'", ["'format'", "sarif"]),
        ("jobs = true", ["'jobs'", "non-negative integer"]),
        ("jobs = -1", ["'jobs'", "-1"]),
        ("quiet = 'yes'", ["'quiet'", "true or false"]),
        ("epsilon = -0.1", ["'epsilon'", "-0.1"]),
        ("epsilon = nan", ["'epsilon'"]),
        ("plans = 'a.plan'", ["'plans'", "list"]),
        ("plans = [1]", ["'plans'", "list"]),
        ("domain = 3", ["'domain'", "file"]),
        ("watch = true", ["'watch'"]),
        ("domain = ", ["not valid TOML"]),
    ],
)
def test_bad_settings_are_one_error(call: Call, text: str, words: list[str]) -> None:
    configure(text)
    code, out, err = call(*TASK, "plans/good.plan")
    assert (code, out) == (2, "")
    assert "pyproject.toml" in err
    for word in words:
        assert word in err


def test_settings_of_others_are_left_alone(call: Call) -> None:
    Path("pyproject.toml").write_text("[tool.other]\nhvr = 1\n")
    assert call(*TASK, "plans/good.plan")[0] == 0
    Path("pyproject.toml").write_text("tool = 3 # hvr\n")
    assert call(*TASK, "plans/good.plan")[0] == 2


# Help and start-up ----------------------------------------------------------------------------


def test_help(
    call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call("--help")
    assert code == 0
    for word in ("examples:", "exit codes:", "--output-file", "pyproject.toml", "--watch"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 100
    monkeypatch.setattr(sys, "argv", ["hvr", "--help"])
    with pytest.raises(SystemExit):
        run()
    listed = capsys.readouterr().out
    assert "validate" in listed
    assert "lint" in listed


@pytest.mark.slow
def test_it_starts_without_what_it_does_not_need() -> None:
    code = (
        "import sys; sys.argv = ['hvr', 'validate', 'domain.pddl', 'problem.pddl',"
        " 'plans/good.plan']\n"
        "from hvr.doors.cli.main import run\n"
        "try: run()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES), "GITHUB_ACTIONS": ""},
    )  # fmt: skip
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {
        "typer", "click", "dataclasses", "inspect", "hvr.validation.reachability",
        "rich", "rdflib", "csv", "tomllib", "multiprocessing",
        "hashlib", "xml", "tempfile", "shutil", "hvr.runs", "hvr.knowledge",
        "hvr.validation.continuous", "hvr.validation.machine_reports", "hvr.doors.cli.plan",
    }  # fmt: skip
    if sys.version_info < (3, 13):  # pathlib imports glob there
        heavy.add("glob")
    assert not loaded & heavy


# Watching -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_watch_validates_again_after_a_change() -> None:
    child = process("validate", *TASK, "plans/ajar.plan", "--watch", GITHUB_ACTIONS="")
    assert child.stdout is not None and child.stderr is not None
    errors = ""
    try:
        assert "invalid: goal not reached" in child.stdout.readline()
        assert "(open)" in child.stdout.readline()
        plan = Path("plans/ajar.plan")
        plan.write_text(plan.read_text() + "(close)\n")
        line = child.stdout.readline()
        while "valid (3 steps" not in line:
            assert line, "it ended"
            line = child.stdout.readline()
        Path("domain.pddl").write_text("(define")
        while "error: domain.pddl" not in errors:
            line = child.stderr.readline()
            assert line, "it ended"
            errors += line
    finally:
        child.send_signal(signal.SIGINT)
        errors += child.stderr.read()
        child.communicate(timeout=600)
    assert child.returncode == 0
    assert "changed: plans/ajar.plan" in errors
    assert "error: domain.pddl" in errors
    assert "Traceback" not in errors


GARDEN = SOURCES / "examples" / "garden"


def garden(*plans: str) -> list[str]:
    return [str(GARDEN / name) for name in ("domain.pddl", "problem.pddl", *plans)]


def test_values_are_told_and_drawn(call: Call, tmp_path: Path) -> None:
    code, out, _ = call(*garden("plan.txt"), "--values")
    assert code == 0
    assert "6 to 10: from 17 to 9, 17 - 0.5 t^2" in out
    assert call(*garden("plan.txt"), "--values", "levels.svg")[0] == 0
    picture = (tmp_path / "levels.svg").read_text()
    assert picture.startswith("<svg ")
    assert "(drain): 6 to 10" in picture
    code, out, _ = call(*garden("plan.txt"), "--json")
    values = {curve["fluent"]: curve["pieces"] for curve in json.loads(out)[0]["values"]}
    assert values["(level)"][0]["coefficients"] == [2, 3]


def test_values_of_a_plan_without_numbers_are_none(call: Call) -> None:
    code, out, _ = call(*TASK, "plans/good.plan", "--json")
    assert code == 0
    assert "values" not in json.loads(out)[0]
    assert call(*TASK, "plans/good.plan", "--values")[1].splitlines()[-1] == "  values:"


def test_a_picture_is_of_one_plan(call: Call, tmp_path: Path) -> None:
    code, _, err = call(*garden("plan.txt", "late.txt"), "--values", "levels.svg")
    assert code == 2
    assert "--values requires exactly one plan" in err
    assert not (tmp_path / "levels.svg").exists()
    code, _, err = call(*garden("plan.txt"), "--values", "nowhere/levels.svg")
    assert code == 2
    assert "the folder nowhere does not exist" in err
    code, _, err = call("--values", *garden("plan.txt"))
    assert code == 2
    assert "write --values after the files" in err
    code, _, err = call(*garden("plan.txt"), "--gantt", "plan.png")
    assert code == 2
    assert "--gantt must name a .svg or .html file" in err


def test_a_plan_is_drawn_over_time(call: Call, tmp_path: Path) -> None:
    code, out, _ = call(*garden("early.txt"), "--gantt", "plan.svg")
    assert code == 1
    assert "invariant at step 1" in out
    picture = (tmp_path / "plan.svg").read_text()
    assert "step 1 (water): 0 to 4" in picture
    assert 'class="bar failed"' in picture


def test_a_hierarchical_plan_is_one_page(call: Call, tmp_path: Path) -> None:
    names = ("domain.hddl", "problem.hddl", "plan.txt")
    files = [str(SOURCES / "examples" / "parcels" / name) for name in names]
    assert call(*files, "--html", "plan.html")[0] == 0
    assert "(deliver book shop)" in (tmp_path / "plan.html").read_text()


@pytest.mark.parametrize("option", ["--gantt", "--html"])
def test_a_plan_is_written_as_a_page(call: Call, tmp_path: Path, option: str) -> None:
    code, out, _ = call(*garden("early.txt"), option, "plan.html")
    assert code == 1
    assert "invariant at step 1" in out
    page = (tmp_path / "plan.html").read_text()
    assert '"kind": "plan"' in page and '"outcome": "invalid"' in page
    code, _, err = call(*garden("early.txt"), "--html", "plan.png")
    assert code == 2 and "--html must name a .html or .htm file" in err


def test_a_certificate_proves_the_verdict(hvr_: Hvr) -> None:
    for name, code, proven in (
        ("good", 0, "valid"),
        ("early", 1, "invalid"),
        ("ajar", 1, "invalid"),
    ):
        plan, file = f"plans/{name}.plan", f"{name}.json"
        assert hvr_("validate", *TASK, plan, "--certificate", file).code == code
        checked = hvr_("check", file, *TASK, plan)
        assert (checked.code, checked.err) == (0, "")
        assert checked.out.startswith(f"{plan}: proven {proven} (")
    other = hvr_("check", "good.json", *TASK, "plans/ajar.plan")
    assert (other.code, other.out) == (1, "")
    assert "different files" in other.err
    damaged = hvr_("check", "plans/good.plan", *TASK, "plans/good.plan")
    assert damaged.code == 2
    assert "expected JSON, as hvr validate --certificate writes it" in damaged.err


def test_a_certificate_that_cannot_be_had_is_not_written(hvr_: Hvr) -> None:
    unknown = hvr_("validate", *TASK, "plans/broken.plan", "--certificate", "proof.json")
    assert unknown.code == 2
    assert "proof.json was not written: the plan cannot be read" in unknown.err
    assert not Path("proof.json").exists()
    Path("answer.txt").write_text("The plan:\n```\n(open)\n(fill)\n(close)\n```\n")
    longer = hvr_("validate", *TASK, "answer.txt", "--extract", "--certificate", "proof.json")
    assert longer.code == 0
    assert "write the plan to a separate file" in longer.err
    assert not Path("proof.json").exists()
    several = hvr_("validate", *TASK, "plans/", "--certificate", "proof.json")
    assert several.code == 2
    assert "one plan" in several.err
    for wrong in ("-", "no/such/folder/proof.json"):
        assert hvr_("validate", *TASK, "plans/good.plan", "--certificate", wrong).code == 2
