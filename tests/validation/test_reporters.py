"""Findings and formats, on hand-made results."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error as JUnitError
from junitparser import Failure as JUnitFailure
from junitparser import JUnitXml

from hvr.errors import UsageError
from hvr.pddl import Atom, Diagnostic, GroundAction, Location
from hvr.validation.findings import (
    FAILURE_RULES,
    PAGE,
    RULES,
    Finding,
    Judged,
    Level,
    explain_repair,
    findings,
    help_url,
    warning_finding,
)
from hvr.validation.outcomes import FORMATS, find_reporter
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    Repair,
    StepRef,
    UnmetLiteral,
    ValidationReport,
)
from hvr.validation.reporters import ReportOptions, SourceLines, relative_path, render_result
from tests.validation import validation_results as made

ROOT = Path(__file__).resolve().parents[2]
WARNING = warning_finding(Diagnostic(Location("d.pddl", 1, 9), "the requirement :adl is missing"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the results point into."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.plan").write_text("; a plan\n  (pick mug table) ; first\n\n(put  mug shelf)\n")
    (tmp_path / "p/broken.plan").write_text("go <there>\n")
    (tmp_path / "d.pddl").write_text("(define\n\t  (and (holding ?m) (free)))\n")
    return tmp_path


def rendered(format_name: str, *given: Judged, **options: Any) -> str:
    return "".join(find_reporter(format_name)(given, ReportOptions(**options)))


# Rules ----------------------------------------------------------------------------------------


def test_every_failure_has_a_rule_of_its_own() -> None:
    assert set(FAILURE_RULES) == set(FailureKind)
    assert len({rule.id for rule in FAILURE_RULES.values()}) == len(FailureKind)
    assert all(rule.id.startswith("HVR1") for rule in FAILURE_RULES.values())


def test_ids_are_in_order_and_names_are_unique() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(re.fullmatch(r"HVR\d{3}", rule.id) for rule in RULES.values())
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert all(rule.summary.endswith(".") for rule in RULES.values())


def test_the_page_describes_every_rule_in_order() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    headings = re.findall("^### (.*)$", page, re.MULTILINE)
    assert headings == [f"{rule.id} {rule.name}" for rule in RULES.values()]


def test_help_url() -> None:
    assert help_url(RULES["HVR101"]) == "docs/reference/rules.md#hvr101-precondition"
    assert help_url(RULES["HVR101"], "https://x.org/r/") == "https://x.org/r/#hvr101-precondition"


# Findings -------------------------------------------------------------------------------------


def test_a_finding_points_to_the_step_the_condition_and_the_culprit() -> None:
    (finding,) = findings(made.INVALID)
    assert finding.rule.id == "HVR101"
    assert finding.level is Level.ERROR
    assert finding.location == made.PUT.location
    assert "(holding mug) must be true; it was made false by step 1" in finding.message
    assert [str(related.location) for related in finding.related] == ["d.pddl:2:5", "p/a.plan:2:3"]
    assert str(finding).startswith("p/a.plan:4:1: error: Step 2")
    assert str(finding).endswith("[HVR101]")


@pytest.mark.parametrize(
    ("result", "ids"),
    [
        (made.VALID, []),
        (made.MISSED, ["HVR102"]),
        (made.BROKEN, ["HVR001"]),
        (made.MISSING, ["HVR004"]),
        (made.UNDECIDED, ["HVR005"]),
        (made.MODEL, ["HVR002"]),
        (made.RICH, ["HVR201"]),
    ],
)
def test_rules_of_results(result: Judged, ids: list[str]) -> None:
    assert [finding.rule.id for finding in findings(result)] == ids


@pytest.mark.parametrize("kind", FailureKind)
def test_every_failure_can_be_found_and_rendered(kind: FailureKind) -> None:
    failure = made.changed(made.FAILURE, kind=kind, step=None, action=None, time=Fraction(5, 2))
    result = made.judged(ValidationReport(Outcome.INVALID, 3, 1, (failure,)))
    (finding,) = findings(result)
    assert finding.rule is FAILURE_RULES[kind]
    for name in FORMATS:
        assert finding.rule.id in rendered(name, result) or name.startswith("json")


def test_a_note_about_a_place_points_there() -> None:
    note = "p/a.plan:2:11: one ')' too many"
    result = made.judged(made.changed(made.VALID.report, notes=(note, "the steps were read as x")))
    overlooked, notation = findings(result)
    assert (overlooked.rule.id, overlooked.message) == ("HVR203", "one ')' too many")
    assert overlooked.location == Location("p/a.plan", 2, 11)
    assert (notation.rule.id, notation.location) == ("HVR201", None)


def test_all_failures_are_findings() -> None:
    report = ValidationReport(Outcome.INVALID, 3, 1, (made.FAILURE, made.GOAL))
    assert [f.rule.id for f in findings(made.judged(report))] == ["HVR101", "HVR102"]


def test_warnings_about_a_model() -> None:
    assert (WARNING.rule.id, WARNING.level) == ("HVR202", Level.WARNING)
    other = warning_finding(Diagnostic(Location("d.pddl", 1, 9), "a stray comma"))
    assert other.rule.id == "HVR203"


@pytest.mark.parametrize(
    ("repair", "words"),
    [
        (Repair(2, (made.PICK,), True), "before step 2, the plan is valid"),
        (Repair(2, (made.PICK,), False), "before step 2, step 2 can be executed"),
        (Repair(None, (made.PICK,), False), "after the last step, the goal is reached"),
    ],
)
def test_advice(repair: Repair, words: str) -> None:
    assert words in explain_repair(repair)
    assert "(pick mug table)" in explain_repair(repair)


# Text -----------------------------------------------------------------------------------------


def test_text_of_a_valid_plan() -> None:
    assert rendered("text", made.VALID) == "p/valid.plan: valid (3 steps, cost 3.5)\n"


def test_text_of_an_invalid_plan() -> None:
    unmet = made.changed(made.UNMET, formula=Atom("holding", ("mug",)))
    failure = made.changed(made.FAILURE, literals=(unmet,))
    result = made.judged(ValidationReport(Outcome.INVALID, 3, 1, (failure,)))
    assert rendered("text", result).splitlines() == [
        "p/a.plan: invalid: precondition at step 2 of 3 [HVR101]",
        "  (put mug shelf)    [p/a.plan:4:1]",
        "    (holding mug)  made false by step 1 (pick mug table)",
    ]


def test_the_violated_condition_is_shown_with_a_caret(folder: Path) -> None:
    del folder
    text = rendered("text", made.INVALID).splitlines()
    at = text.index("  d.pddl:2")
    assert text[at + 1] == "    (and (holding ?m) (free)))"
    assert text[at + 2] == "     ^"


def test_a_caret_stands_under_each_unmet_literal(folder: Path) -> None:
    line = (folder / "d.pddl").read_text().splitlines()[1]
    places = [line.index("(holding") + 1, line.index("(free") + 1]
    literals = tuple(
        UnmetLiteral(Atom(name, location=Location("d.pddl", 2, place)), wanted=True)
        for name, place in zip(("holding", "free"), places, strict=True)
    )
    failure = made.changed(made.FAILURE, literals=literals)
    report = ValidationReport(Outcome.INVALID, 3, 1, (failure,))
    text = render_result(made.judged(report), sources=SourceLines()).splitlines()
    at = text.index("  d.pddl:2")
    assert text[at + 2] == "         ^            ^"


def test_long_lines_are_cut_around_the_caret(tmp_path: Path) -> None:
    file = tmp_path / "d.pddl"
    file.write_text(f"{'(x) ' * 200}(here){' (y)' * 200}\n")
    failure = made.changed(made.FAILURE, literals=(), condition=Location(str(file), 1, 801))
    report = ValidationReport(Outcome.INVALID, 3, 1, (failure,))
    text = render_result(made.judged(report), sources=SourceLines()).splitlines()
    assert max(map(len, text[3:])) < 120
    assert text[-2][text[-1].index("^") :].startswith("(here)")


def test_numbers_and_causes_are_shown() -> None:
    number = UnmetLiteral(
        Atom("stands-for-a-comparison"),
        wanted=True,
        changed_by=StepRef(1, made.PICK),
        numbers=(("(fuel)", Fraction(1, 2)), ("(need)", None)),  # type: ignore[arg-type]
    )
    derived = UnmetLiteral(Atom("above", ("a", "b")), wanted=True, because=(made.UNMET,))
    failure = made.changed(made.FAILURE, literals=(number, derived))
    text = render_result(made.judged(ValidationReport(Outcome.INVALID, 3, 1, (failure,))))
    assert "(fuel) is 0.5, (need) has no value, changed by step 1 (pick mug table)" in text
    assert "false; it would follow with:\n      (holding mug)  made false by step 1" in text
    words = failure.explain()
    assert "(fuel) is 0.5" in words
    assert "would be true with (holding mug)" in words


def test_text_of_everything_else() -> None:
    text = rendered("text", *made.ALL, warnings=(WARNING,))
    assert text.startswith("d.pddl:1:9: warning: the requirement :adl is missing [HVR202]\n")
    assert "p/missed.plan: invalid: goal not reached after 3 steps [HVR102]" in text
    assert "p/broken.plan: unknown: syntax error [HVR001]\n  p/broken.plan:1:4: no step" in text
    assert "p/x.plan: unknown: cannot read p/x.plan: no such file [HVR004]" in text
    assert "p/u.plan: unknown: too many instances [HVR005]\n" in text
    assert "preferences: 1 of 3 satisfied; violated: p2, p3 (2 times)" in text
    assert "without steps 2, 3 the plan is still valid:\n    (pick mug table)" in text
    assert "    0.5: step 1 (pick mug table): +(a) -(d)" in text
    assert "state after step 1:\n    (a)\n    (b c)\n    (= (fuel) 0.25)" in text
    assert "note: the steps were read as action(object, …)" in text
    assert "advice: With (pick mug table) before step 2, the plan is valid." in text
    assert text.endswith("8 plans: 2 valid, 3 invalid, 3 unknown\n")


def test_every_failure_is_rendered() -> None:
    report = ValidationReport(Outcome.INVALID, 3, 1, (made.FAILURE, made.GOAL))
    text = render_result(made.judged(report))
    assert "\n  and: goal not reached after 3 steps [HVR102]" in text


@pytest.mark.parametrize("name", ["text", "json-lines", "github"])
def test_formats_of_lines_stream(name: str) -> None:
    given: list[str] = []

    def results() -> Iterator[Judged]:
        for result in (made.VALID, made.INVALID, made.BROKEN):
            given.append(result.plan)
            yield result

    chunks = find_reporter(name)(results(), ReportOptions())
    first = next(chunks)
    assert "p/valid.plan" in first
    assert given == ["p/valid.plan"]


# JSON -----------------------------------------------------------------------------------------


def test_json_is_one_list() -> None:
    data = json.loads(rendered("json", *made.ALL))
    assert [entry["plan"] for entry in data] == [result.plan for result in made.ALL]
    rich = data[6]
    assert rich["violated_preferences"] == {"p1": 0, "p2": 1, "p3": 2}
    assert rich["minimised"] == {"steps": ["(pick mug table)"], "removed": [2, 3]}
    assert rich["state"]["numbers"] == {"(fuel)": 0.25}
    assert rich["happenings"][0]["time"] == 0.5
    assert data[3]["diagnostic"]["location"] == {"file": "p/broken.plan", "line": 1, "column": 4}
    assert data[3]["rule"] == "HVR001"
    assert json.loads(rendered("json")) == []
    assert json.loads(rendered("json", made.MODEL))[0]["plan"] is None


def test_json_lines_are_one_object_each() -> None:
    lines = rendered("json-lines", *made.ALL).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(rendered("json", *made.ALL))


# JUnit ----------------------------------------------------------------------------------------


def test_junit_is_read_by_others() -> None:
    xml = JUnitXml.fromstring(rendered("junit", *made.ALL).encode())
    assert (xml.tests, xml.failures, xml.errors) == (8, 3, 3)
    (suite,) = list(xml)
    assert suite.name == "problems/p 1.pddl"
    cases = {case.name: case for case in suite}
    assert cases["p/valid.plan"].is_passed
    assert cases["p/valid.plan"].time == 0.25
    (failure,) = cases["p/missed.plan"].result
    assert isinstance(failure, JUnitFailure)
    assert failure.type == "HVR102 goal"
    assert "(on mug shelf)" in failure.text
    (error,) = cases["p/broken.plan"].result
    assert isinstance(error, JUnitError)
    assert "go <there>" in error.text


def test_junit_writes_what_xml_cannot() -> None:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason='a \0 "b" <c>\n& \x1b \ud800')
    (suite,) = list(JUnitXml.fromstring(rendered("junit", made.judged(report)).encode()))
    (case,) = list(suite)
    assert '"b" <c>' in case.result[0].text


# SARIF ----------------------------------------------------------------------------------------


def test_sarif_has_what_the_standard_asks_for(folder: Path) -> None:
    text = rendered("sarif", *made.ALL, warnings=(WARNING,), base=str(folder))
    log = json.loads(text)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "hvr"
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert not any("helpUri" in rule for rule in driver["rules"])
    assert run["columnKind"] == "unicodeCodePoints"
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        for place in [*result["locations"], *result.get("relatedLocations", [])]:
            physical = place["physicalLocation"]
            uri = physical["artifactLocation"]["uri"]
            assert re.fullmatch(r"[\w./%-]+", uri)
            region = physical["region"]
            assert region["startLine"] >= 1
            assert region.get("startColumn", 1) >= 1
            assert region.get("endColumn", 999) > region.get("startColumn", 1)
    prints = [result["partialFingerprints"]["hvrFinding/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_regions(folder: Path) -> None:
    log = json.loads(rendered("sarif", made.INVALID, base=str(folder)))
    (result,) = log["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "p/a.plan"
    assert physical["region"] == {"startLine": 4, "startColumn": 1, "endColumn": 17}
    domain, culprit = (place["physicalLocation"] for place in result["relatedLocations"])
    assert domain["artifactLocation"]["uri"] == "d.pddl"
    assert culprit["region"] == {"startLine": 2, "startColumn": 3, "endColumn": 19}


def test_sarif_fingerprints_survive_new_lines_above() -> None:
    def fingerprint(line: int) -> str:
        failure = made.changed(made.FAILURE, location=Location("p/a.plan", line, 1))
        result = made.judged(ValidationReport(Outcome.INVALID, 9, 1, (failure,)))
        log = json.loads(rendered("sarif", result))
        return str(log["runs"][0]["results"][0]["partialFingerprints"]["hvrFinding/v1"])

    assert fingerprint(2) == fingerprint(40)


def test_sarif_paths(tmp_path: Path) -> None:
    outside = made.judged(made.MISSED.report, str(tmp_path / "ä b.plan"))
    inside = made.judged(made.MISSED.report, "a b.plan")
    log = json.loads(rendered("sarif", outside, inside, base=str(Path.cwd())))
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    ]
    assert uris[0].startswith("file:///")
    assert uris[0].endswith("/%C3%A4%20b.plan")
    assert uris[1] == "a%20b.plan"


def test_sarif_help_addresses() -> None:
    log = json.loads(rendered("sarif", rules_url="https://example.org/rules.html"))
    (first, *_) = log["runs"][0]["tool"]["driver"]["rules"]
    assert first["helpUri"] == "https://example.org/rules.html#hvr001-syntax-error"
    assert log["runs"][0]["results"] == []


def test_relative_paths(tmp_path: Path) -> None:
    assert relative_path(str(tmp_path / "a" / "b"), str(tmp_path)) == "a/b"
    assert relative_path(str(tmp_path / "..b"), str(tmp_path)) == "..b"
    assert relative_path(str(tmp_path.parent / "b"), str(tmp_path)).startswith("/")
    assert relative_path("<stdin>", str(tmp_path)) == "<stdin>"


# GitHub ---------------------------------------------------------------------------------------


def annotations(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::")]


def test_github_annotations(folder: Path) -> None:
    text = rendered("github", *made.ALL, warnings=(WARNING,), base=str(folder))
    lines = annotations(text)
    assert lines[0] == (
        "::warning file=d.pddl,line=1,col=9,title=HVR202 missing-requirement"
        "::the requirement :adl is missing"
    )
    assert len(lines) == 1 + 6
    assert lines[1].startswith("::error file=p/a.plan,line=4,col=1,title=HVR101 precondition::Step")
    assert "%0A- (holding mug)" in lines[1]
    assert "p/valid.plan: valid" in text
    assert text.endswith("8 plans: 2 valid, 3 invalid, 3 unknown\n")


def test_github_escapes() -> None:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason="50%,\r\nthen: more")
    (line,) = annotations(rendered("github", made.judged(report, "a,b:c%.plan")))
    assert line == ("::error file=a%2Cb%3Ac%25.plan,title=HVR005 undecided::50%25,%0D%0Athen: more")


COMMAND = re.compile(
    r"::(?:error|warning|notice) file=[^:,%\r\n]*(?:%[0-9A-F]{2}[^:,%\r\n]*)*"
    r"(?:,line=\d+,col=\d+)?,title=HVR\d{3} [a-z-]+::(?:[^%\r\n]|%(?:25|0D|0A))*"
)
"""A workflow command as documented by GitHub, with hvr's properties."""


@given(st.text(min_size=1), st.text(), st.sampled_from(Level))
def test_every_annotation_is_a_command_that_says_the_same(
    file: str, message: str, level: Level
) -> None:
    finding = Finding(RULES["HVR301"], level, message, plan=file)
    (line, *others) = rendered("github", warnings=(finding,)).split("\n")
    assert COMMAND.fullmatch(line)
    assert others == [""]
    said = line.split("::", 2)[2]  # properties contain no raw colons
    assert said.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%") == message


@pytest.mark.parametrize("level", Level)
def test_what_github_does_not_show_is_in_the_log(level: Level) -> None:
    many = [Finding(RULES["HVR301"], level, f"number {n}.", plan="d.pddl") for n in range(25)]
    text = rendered("github", warnings=tuple(many))
    assert len(annotations(text)) == 10
    assert all(f"number {n}." in text for n in range(25))
    assert "this log has 15 more findings" in text
    assert "GitHub shows" not in rendered("github", warnings=tuple(many[:10]))


@given(st.text())
def test_markdown_cells_are_text(reason: str) -> None:
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
    text = rendered("markdown", made.VALID, made.judged(report, "a|b.plan"))
    *_, row = text.splitlines()
    assert text.startswith("**hvr validate**: 2 plans: 1 valid, 1 unknown\n")
    assert row.startswith(r"| a\|b.plan | unknown | HVR005 | ")
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`]", row)


def test_a_plan_cannot_give_the_runner_commands() -> None:
    place = Location("p/a.plan", 1, 1)
    report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason="no step")
    for evil in ("::add-mask::e", "  ::stop-commands::x", "##[group]x"):
        result = made.judged(report, "p/a.plan", Diagnostic(place, "no step", evil))
        text = rendered("github", result)
        assert len(annotations(text)) == 1
        others = [line.strip() for line in text.splitlines() if not line.startswith("::error")]
        assert not any(line.startswith("::") or "##[" in line for line in others)


# The rest -------------------------------------------------------------------------------------


def test_there_is_no_other_format() -> None:
    with pytest.raises(UsageError, match="sarif"):
        find_reporter("xml")


def test_source_lines(folder: Path) -> None:
    sources = SourceLines()
    assert sources.line(Location("p/a.plan", 4, 1)) == "(put  mug shelf)"
    assert sources.line(Location("p/a.plan", 99, 1)) == ""
    assert sources.line(Location("<stdin>", 1, 1)) == ""
    assert sources.line(Location(str(folder), 1, 1)) == ""
    assert sources.end_column(Location("p/a.plan", 2, 3)) == 19
    assert sources.end_column(Location("p/broken.plan", 1, 4)) == 11
    assert sources.end_column(Location("p/broken.plan", 1, 40)) is None
    for number in range(9):
        (folder / f"{number}.txt").write_text(f"{number}\n")
        assert sources.line(Location(f"{number}.txt", 1, 1)) == str(number)


def test_failures_without_an_action() -> None:
    failure = Failure(FailureKind.CONSTRAINT, "The constraint is violated.")
    result = made.judged(ValidationReport(Outcome.INVALID, 2, 2, (failure,)))
    assert render_result(result).splitlines() == [
        "p/a.plan: invalid: constraint [HVR113]",
        "    The constraint is violated.",
    ]
    assert GroundAction("a") == GroundAction("a", (), Location("x", 1, 1))
