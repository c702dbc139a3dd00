"""Suites: recognition of plans, their problems, and no silent omissions."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.engines.registry import EngineChoice
from hvr.errors import DataFileError, UsageError
from hvr.validation import Outcome
from hvr.validation.batch import BatchOptions
from hvr.validation.suite_collection import (
    collect,
    expand_patterns,
    judge_suite,
    plans_of,
    read_manifest,
)
from hvr.validation.suites import FileKind, Suite, classify

DOMAIN = """(define (domain {name}) (:requirements :strips) (:predicates (p) (q))
  (:action a :parameters () :precondition (p) :effect (q)))
"""
PROBLEM = "(define (problem {name}) (:domain {domain}) (:init (p)) (:goal (q)))\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str = "(a)\n") -> str:
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return name


def write_model(domain: str, *problems: str, of: str = "d") -> None:
    write(domain, DOMAIN.format(name=of))
    for problem in problems:
        write(problem, PROBLEM.format(name=Path(problem).stem, domain=of))


def pairs(suite: Suite) -> dict[str, tuple[str, str]]:
    return {plan: (job.domain, job.problem) for job in suite.jobs for plan in job.plans}


@pytest.mark.parametrize(
    "name",
    ["bad.SOL", "plan_p01", "best_plan.out", "p01.pddl.soln.1", "x.plan.3", "sas_plan", "P1.Plan",
     "sas_plan.12", "p01-plan.txt", "solution-3", "plan.json", "p.pddlplan", "p.pddlplan.2"],
)  # fmt: skip
def test_files_that_are_called_like_plans_are_plans(name: str) -> None:
    assert classify(write(name, "nothing that could be read\n")).kind is FileKind.PLAN


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("notes.txt", "Ask Ann about (holding b).\nThen go on.\n", FileKind.OTHER),
        ("notes.txt", "Try this:\n(pick-up a)\n(stack a b)\n", FileKind.MIXED),
        ("result.txt", "; made by x\n0: (pick-up a) [1]\n(stack a b)\n", FileKind.PLAN),
        ("result.txt", "; by LPG-td\n0.0002:   (LOAD A B) [1.0000])\n", FileKind.PLAN),
        ("result.log", "done\nplan: SequentialPlan:\n    a(b)\n", FileKind.PLAN),
        ("result.log", "Result(plan=SequentialPlan([a(b)]), engine=1)\n", FileKind.PLAN),
        ("answer", "pick-up(a)\nstack(a, b)\n", FileKind.PLAN),
        ("answer.json", '[{"action": "a", "args": []}]', FileKind.PLAN),
        ("answer.json", '["(go a b)", "(go b c)"]', FileKind.PLAN),
        ("answer.json", '{"plan": [{"name": "go", "parameters": ["a", "b"]}]}', FileKind.PLAN),
        (
            "answer.json",
            '{"result": {"plan": [{"name": "(go a b)", "action": "…"}]}}',
            FileKind.PLAN,
        ),
        ("long.json", '["(go a b)"' + ', "(go a b)"' * 9000 + "]", FileKind.PLAN),
        ("data.json", '{"rows": []}', FileKind.OTHER),
        ("names.json", '["go", "stay"]', FileKind.OTHER),
        ("long.json", '[{"id": 7}' + ', {"id": 7}' * 9000 + "]", FileKind.OTHER),
        ("p01.plan.gz", "", FileKind.PACKED),
        ("data.tar.gz", "", FileKind.OTHER),
        ("panda.txt", "status: solved\n==>\n0 go a b\nroot 0\n<==\n", FileKind.PLAN),
        ("README.md", "(pick-up a)\n", FileKind.OTHER),
        ("planner.log", "Searching...\nno solution\n", FileKind.OTHER),
        ("cut.txt", "(pick-up a\n", FileKind.MIXED),
        ("empty.txt", "", FileKind.OTHER),
        ("model.pddl", "; x\n(define (domain x))", FileKind.DOMAIN),
        ("model.plan", "(DEFINE (PROBLEM x) (:domain y))", FileKind.PROBLEM),
        ("planning.py", "(a)\n", FileKind.OTHER),
    ],
)
def test_other_files_are_what_is_in_them(name: str, text: str, kind: FileKind) -> None:
    assert classify(write(name, text)).kind is kind


@pytest.mark.parametrize(
    ("problem", "plan"),
    [
        ("p02.pddl", "plans/p02.soln"),
        ("p02.pddl", "plans/P02.pddl.soln.1"),
        ("p02.pddl", "plans/lpg_p02_best.SOL"),
        ("p02.pddl", "plans/plan_2"),
        ("p02.pddl", "plans/problem-2.plan"),
        ("p02.pddl", "plans/p02/sas_plan.3"),
        ("p02.pddl", "out/fd/p02-plan.out"),
        ("p02/problem.pddl", "p02/plans/sas_plan"),
        ("p02/problem.pddl", "plans/p02.soln"),
    ],
)
def test_plans_find_their_problem(problem: str, plan: str) -> None:
    write_model("domain.pddl", "p01.pddl", problem, "p03.pddl")
    write(plan)
    suite = collect(["."])
    assert pairs(suite) == {plan: ("domain.pddl", problem)}
    assert len(suite.without_plan) == 2


@pytest.mark.parametrize("plan", ["plans/p04.soln", "plans/best.plan", "plans/p022.plan"])
def test_a_plan_without_a_problem_is_named_and_no_success(plan: str) -> None:
    write_model("domain.pddl", "p01.pddl", "p02.pddl")
    write("p01.plan")
    write(plan)
    suite = collect(["."])
    assert [left.file for left in suite.left] == [plan]
    outcomes = [(r.plan, r.report.outcome, r.rule) for r in judge_suite(suite, BatchOptions())]
    assert outcomes == [("p01.plan", Outcome.VALID, ""), (plan, Outcome.UNKNOWN, "HVR006")]
    assert collect(["."], ["plans/*"]).skipped == (plan,)
    assert not collect(["."], [Path(plan).name]).left


def test_a_single_problem_takes_plans_that_are_not_called_like_another() -> None:
    write_model("domain.pddl", "p01.pddl")
    for name in ("best.plan", "plan_p01", "sas_plan.2", "p02.plan"):
        write(name)
    suite = collect(["."])
    assert set(pairs(suite)) == {"best.plan", "plan_p01", "sas_plan.2"}
    assert [left.file for left in suite.left] == ["p02.plan"]


def test_domains_are_told_apart_by_name_and_place() -> None:
    for of in ("blocks", "gripper"):
        write_model(f"{of}/domain.pddl", f"{of}/p1.pddl", of=of)
        write(f"{of}/plans/p1.soln")
        write(f"plans/{of}-p1.sol")
    suite = collect(["."])
    assert pairs(suite) == {
        plan: (f"{of}/domain.pddl", f"{of}/p1.pddl")
        for of in ("blocks", "gripper")
        for plan in (f"{of}/plans/p1.soln", f"plans/{of}-p1.sol")
    }
    write("plans/p1.soln")
    (left,) = collect(["."]).left
    assert left.file == "plans/p1.soln"
    assert "blocks/p1.pddl or gripper/p1.pddl" in left.reason


def test_a_domain_for_each_problem() -> None:
    for number in (1, 2, 10):
        write_model(f"domain{number:02}.pddl", f"p{number:02}.pddl")
        write(f"p{number:02}.plan")
    assert pairs(collect(["."]))["p10.plan"] == ("domain10.pddl", "p10.pddl")


def test_two_domains_that_suit_are_both_named() -> None:
    write_model("one.pddl", "p.pddl")
    write_model("two.pddl")
    write("p.plan")
    (left,) = collect(["."]).left
    assert "one.pddl or two.pddl" in left.reason


def test_patterns_with_fields() -> None:
    for of in ("x", "y"):
        write_model(f"{of}/domain.pddl", f"{of}/p1.pddl", f"{of}/p2.pddl", of=of)
        write(f"out/{of}/p1.soln")
    write("out/z/p1.soln")
    suite = expand_patterns("{domain}/domain.pddl", "{domain}/p*.pddl", ["out/{domain}/*.soln"])
    assert pairs(suite)["out/x/p1.soln"][0] == "x/domain.pddl"
    suite = expand_patterns(
        "{domain}/domain.pddl", "{domain}/{problem}.pddl", ["out/{domain}/{problem}.*"]
    )
    assert pairs(suite) == {
        f"out/{of}/p1.soln": (f"{of}/domain.pddl", f"{of}/p1.pddl") for of in ("x", "y")
    }
    assert [left.file for left in suite.left] == ["out/z/p1.soln"]
    assert "x/p2.pddl" in suite.without_plan
    with pytest.raises(UsageError, match=r"field \{task\}"):
        expand_patterns("d.pddl", "{task}.pddl", ["*.plan"])


def test_manifests() -> None:
    lines = [
        {"domain": "d.pddl", "problem": "p.pddl", "plan": "a.plan", "id": 7},
        {"domain": "d.pddl", "problem": "p.pddl", "plans": ["b.plan", "a.plan"]},
    ]
    write("all/suite.jsonl", "\n".join(map(json.dumps, lines)))
    (job,) = read_manifest("all/suite.jsonl").jobs
    assert (job.domain, job.problem) == ("all/d.pddl", "all/p.pddl")
    assert job.plans == ("all/a.plan", "all/b.plan")
    for wrong in ("[]", '{"domain": "d"}', '{"domain": "d", "problem": "p"}',
                  '{"domain": "d", "problem": "p", "plan": 3}'):  # fmt: skip
        write("wrong.jsonl", wrong)
        with pytest.raises(DataFileError, match=r"wrong\.jsonl:1"):
            read_manifest("wrong.jsonl")


def test_a_broken_problem_costs_only_its_plans() -> None:
    write_model("domain.pddl", "p1.pddl", "p2.pddl")
    write("p2.pddl", "(define (problem p2) (:domain d) (:init (r)) (:goal (q)))")
    write("p1.plan")
    write("p2.plan")
    judged = [one for r in judge_suite(collect(["."]), BatchOptions()) for one in r.expanded()]
    results = [(r.plan, r.rule) for r in judged]
    assert results == [("p1.plan", ""), ("", "HVR002"), ("p2.plan", "HVR006")]


NAMES = st.sampled_from(
    ["p1.pddl", "p2.pddl", "a/p1.pddl", "a/p3.pddl", "domain.pddl", "b/domain.pddl", "p1.plan",
     "a/p1.plan", "x.sol", "b/plan_p3", "notes.txt", "log.txt", "a/sas_plan.1", "b/p1/sas_plan"]
)  # fmt: skip


@pytest.mark.slow
@given(st.sets(NAMES, min_size=1))
def test_no_file_is_passed_over_in_silence(names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if "domain" in name:
                write(f"{folder}/{name}", DOMAIN.format(name="d"))
            elif name.endswith(".pddl"):
                write(f"{folder}/{name}", PROBLEM.format(name="x", domain="d"))
            else:
                text = {"notes.txt": "prose", "log.txt": "prose\n(a)\n"}.get(name, "(a)\n")
                write(f"{folder}/{name}", text)
        try:
            suite = collect([folder])
        except UsageError:
            return
        places = [
            *(left.file for left in (*suite.others, *suite.left)), *suite.without_plan,
            *dict.fromkeys(job.problem for job in suite.jobs),
            *(plan for job in suite.jobs for plan in job.plans),
        ]  # fmt: skip
        # The finding about a plan names a problem without a domain.
        reasons = " ".join(left.reason for left in suite.left)
        places += [f"{folder}/{name}" for name in names if f"{folder}/{name}" in reasons]
        named = {str(Path(place).relative_to(folder)) for place in places}
        assert named == {name for name in names if "domain" not in name}


def test_the_plans_of_one_problem_are_its_own_wherever_they_are() -> None:
    for name in ("plans/p7.plan", "plans/notes.txt", "plans/cut.txt"):
        write(name, "prose (b)" if "notes" in name else "(a")
    suite = plans_of("domain.pddl", "problem.pddl", ["plans"])
    assert suite.jobs[0].plans == ("plans/p7.plan",)
    assert [left.file for left in suite.left] == ["plans/cut.txt"]
    assert suite.remarks() == ["not plans: plans/notes.txt"]


@pytest.mark.slow
def test_problems_are_judged_side_by_side_as_one_after_the_other() -> None:
    write("one/domain.pddl", DOMAIN.format(name="d").replace("(:requirements :strips)", ""))
    write("one/p1.pddl", PROBLEM.format(name="p1", domain="e"))
    write("one/p2.pddl", PROBLEM.format(name="p2", domain="d"))
    write_model("two/domain.pddl", "two/p1.pddl", of="x")
    write("two/p2.pddl", "(define (problem p2) (:domain x) (:goal (no)))")
    for folder in ("one", "two"):
        for problem in ("p1", "p2"):
            for number in range(3):
                write(f"{folder}/{problem}.plan.{number}", "(a)\n" * number)
    suite = collect(["one", "two"])
    assert len(suite.jobs) == 4
    alone, together = (
        [
            result.replace(seconds=0)
            for result in judge_suite(suite, BatchOptions(), engine=EngineChoice(jobs=jobs))
        ]
        for jobs in (1, 3)
    )
    assert together == alone
    assert [r.warnings for r in together] == [r.warnings for r in alone]
    every = Counter(one.report.outcome for r in alone for one in r.expanded())
    assert every == {"valid": 6, "invalid": 3, "unknown": 4}


def test_hierarchical_problems_are_known_by_their_names() -> None:
    write_model("domain.hddl", "p01.hddl", "p02.hddl")
    for plan in ("p01.plan", "out/panda-p02.sol", "p02.hddl.sol"):
        write(plan)
    assert pairs(collect(["."])) == {
        "p01.plan": ("domain.hddl", "p01.hddl"),
        "out/panda-p02.sol": ("domain.hddl", "p02.hddl"),
        "p02.hddl.sol": ("domain.hddl", "p02.hddl"),
    }


def test_a_compressed_plan_is_named_and_makes_the_suite_no_success() -> None:
    write_model("domain.pddl", "p01.pddl")
    write("p01.plan")
    write("p01.soln.gz")
    suite = collect(["."])
    assert [(left.file, left.reason) for left in suite.left] == [
        ("p01.soln.gz", "it is compressed")
    ]


def test_a_domain_that_the_pattern_of_problems_fits_is_no_problem() -> None:
    write_model("d/domain.pddl", "d/p01.pddl")
    write("out/d-p01.plan")
    suite = expand_patterns("{domain}/domain.pddl", "{domain}/{problem}.pddl",
                            ["out/{domain}-{problem}.plan"])  # fmt: skip
    assert pairs(suite) == {"out/d-p01.plan": ("d/domain.pddl", "d/p01.pddl")}
    assert suite.remarks() == []


def test_plans_of_a_manifest_may_be_skipped() -> None:
    write_model("domain.pddl", "p01.pddl")
    line = {"domain": "domain.pddl", "problem": "p01.pddl", "plans": ["a.plan", "a.log"]}
    manifest = write("suite.jsonl", json.dumps(line))
    suite = read_manifest(manifest, ["*.log"])
    assert [job.plans for job in suite.jobs] == [("a.plan",)]
    assert suite.remarks() == ["skipped on request: a.log"]
    with pytest.raises(UsageError, match=r"every plan in .* is skipped"):
        read_manifest(manifest, ["a.*"])


# Plans in other texts -------------------------------------------------------------------------

TEXTS = ("p1.md", "P1.txt", "gpt-4_p1.md", "p1.answer.out", "answers/p1.log", "p1", "p1.json",
         "p1.txt.gz")  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("text", ["First pick it up, then go.\n", "- `a`\n- `b`\n", ""])
def test_a_text_named_after_a_problem_is_no_success(name: str, text: str) -> None:
    write_model("domain.pddl", "p1.pddl", "p2.pddl")
    write("p2.plan")
    write(name, text)
    (left,) = collect(["."]).left
    assert left.file == name
    assert "p1.pddl" in left.reason or left.reason == "it is compressed"
    assert left.remedy
    assert not collect(["."], [name]).left
    (left,) = plans_of("domain.pddl", "p1.pddl", [".", "p2.plan"]).left
    assert left.file == name
    if not name.endswith(".gz"):
        suite = collect(["."], mixed=True)
        assert pairs(suite)[name] == ("domain.pddl", "p1.pddl")
        by_file = {result.plan: result.report for result in judge_suite(suite, BatchOptions())}
        assert not by_file[name].valid


@pytest.mark.parametrize(
    "name",
    ["README.md", "notes.txt", "problem-statement.md", "docs/p10.md", "p1.png", "p1.py", "p1.yaml",
     "changes.log", "p12.txt", "domain.md"],
)  # fmt: skip
@pytest.mark.parametrize("extract", [False, True])
def test_texts_about_other_things_are_listed_and_no_failure(name: str, extract: bool) -> None:
    write_model("domain.pddl", "p1.pddl")
    write("p1.plan")
    write(name, "Ask Ann (today) about the plan.\n")
    suite = collect(["."], mixed=extract)
    assert pairs(suite) == {"p1.plan": ("domain.pddl", "p1.pddl")}
    assert not suite.left
    assert [left.file for left in suite.others] == [name]
    assert any(line.startswith(f"not validated: {name}: ") for line in suite.explained())


def test_plans_in_other_texts_are_found_on_demand() -> None:
    write_model("domain.pddl", "p1.pddl", "p2.pddl")
    fenced = "Here it is:\n\n```\n(a)\n```\n"
    for name in ("p1.md", "p2.txt", "README.md", "answer.md"):
        write(name, fenced)
    suite = collect(["."], mixed=True)
    assert set(pairs(suite)) == {"p1.md", "p2.txt"}
    assert [left.file for left in suite.left] == ["answer.md"]
    assert [left.file for left in suite.others] == ["README.md"]
    options = BatchOptions(extract=True)
    outcomes = [result.report.outcome for result in judge_suite(suite, options)]
    assert outcomes == [Outcome.VALID, Outcome.VALID, Outcome.UNKNOWN]


@pytest.mark.parametrize("name", ["p2.pddl", "p2.hddl"])
@pytest.mark.parametrize("text", ["", "(defin (problem p2))"])
def test_a_broken_model_is_no_success(name: str, text: str) -> None:
    write_model("domain.pddl", "p1.pddl")
    write("p1.plan")
    write(name, text)
    assert [left.file for left in collect(["."]).left] == [name]


def test_what_is_not_validated_is_explained() -> None:
    write_model("domain.pddl", "p1.pddl", "p2.pddl")
    names = ("old.plan", "p1.md", "p1.plan", "p1.plan.gz", "notes.txt", "a.png", ".git/config",
             ".hidden.plan")  # fmt: skip
    for name in names:
        write(name, "prose\n" if name == "notes.txt" else "(a)\n")
    lines = collect(["."], ["old*"]).explained()
    explained = {line.split(": ")[1]: line for line in lines}
    expected = {"old.plan", "p1.md", "p1.plan.gz", "notes.txt", "a.png", ".git", ".hidden.plan",
                "p2.pddl"}  # fmt: skip
    assert set(explained) == expected
    assert all("; " in line for line in lines)
    assert "--skip" in explained["old.plan"]
    assert "unpack" in explained["p1.plan.gz"]
    assert "--extract" in explained["p1.md"]
