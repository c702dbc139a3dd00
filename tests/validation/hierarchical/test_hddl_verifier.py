"""Plans with their decomposition: each failure with its rule and line."""

from pathlib import Path

import pytest

from hvr.errors import PddlSyntaxError
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import print_hierarchical_plan, read_hierarchical_plan
from hvr.validation.findings import FAILURE_RULES
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from hvr.validation.report import Outcome

PARCELS = Path(__file__).parents[3] / "examples" / "parcels"
PLAN = (PARCELS / "plan.txt").read_text(encoding="utf-8")


def verifier(*, any_order: bool = False) -> DecompositionVerifier:
    domain = parse_hddl_domain(PARCELS / "domain.hddl")
    problem = parse_hddl_problem(PARCELS / "problem.hddl", domain)
    return DecompositionVerifier(domain, problem, any_order=any_order)


def changed(*pairs: tuple[str, str]) -> str:
    text = PLAN
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_plan_of_the_domain_is_valid() -> None:
    report = verifier().check_file(PLAN)
    assert (report.outcome, report.steps, report.cost) == (Outcome.VALID, 7, 7)
    assert [one.identifier for one in report.certificate][:2] == [None, 10]
    assert dict(report.certificate[1].parameters)["?from"] == "depot"


@pytest.mark.parametrize(
    ("change", "rule", "line", "words"),
    [
        (("root 10 20\n", ""), "HVR121", 18, "root"),
        (("20 deliver", "20 delivr"), "HVR122", 15, "delivr"),
        (("20 deliver lamp", "20 Deliver lamp"), "HVR122", 15, "Deliver"),
        (("-> carry 21", "-> cary 21"), "HVR123", 15, "cary"),
        (("21 4 22", "21 4 99"), "HVR124", 15, "99"),
        (("root 10 20", "root 10 20 14"), "HVR125", 9, "14"),
        (("root 10 20", "root 10 10 20"), "HVR125", 9, "2 times"),
        (("1 13\n", "1 12\n"), "HVR125", 12, "its own subtask"),
        (("root 10 20", "root 10"), "HVR126", 9, "lacks a subtask"),
        (("11 0 12 3", "11 0 12"), "HVR126", 10, "lacks a subtask"),
        (("-> stay\n20", "-> drive-on\n20"), "HVR126", 14, "The method stay would match"),
        (("10 deliver book shop", "10 deliver lamp shop"), "HVR126", 9, "'lamp'"),
        (("11 0 12 3", "11 12 0 3"), "HVR127", 10, "the other way round"),
        (("0 load van1 book depot", "0 loaded van1 book depot"), "HVR103", 2, "loaded"),
        (("0 load van1 book depot", "0 load van1 book"), "HVR105", 2, "3 arguments"),
        (("0 load van1 book depot", "0 load van1 book dept"), "HVR104", 2, "dept"),
        (("10 deliver book shop", "10 deliver book van1"), "HVR106", 10, "van1"),
        (("10 deliver book shop", "10 deliver book"), "HVR105", 10, "2 arguments"),
        (("10 deliver book shop", "10 deliver book shp"), "HVR104", 10, "shp"),
        (("12 go van1 shop", "12 drive van1 shop"), "HVR122", 12, "is an action"),
    ],
)  # fmt: skip
def test_one_fault_is_named_with_its_place(
    change: tuple[str, str], rule: str, line: int, words: str
) -> None:
    report = verifier().check_file(changed(change))
    failure = report.failure
    assert report.outcome is Outcome.INVALID
    assert failure is not None
    assert failure.location is not None
    assert (FAILURE_RULES[failure.kind].id, failure.location.line) == (rule, line)
    assert words in failure.message


def test_the_listing_order_counts_unless_told_otherwise() -> None:
    text = changed(("11 0 12 3", "11 12 0 3"))
    assert not verifier().check_file(text).valid
    assert verifier(any_order=True).check_file(text).valid


def test_actions_of_tasks_that_are_ordered_may_not_mix() -> None:
    early, late = "3 unload van1 book shop\n", "4 load van1 lamp shop\n"
    failure = verifier().check_file(changed((early + late, late + early))).failure
    assert failure is not None
    assert FAILURE_RULES[failure.kind].id == "HVR128"
    assert "the initial network orders them the other way round" in failure.message


def test_a_precondition_is_looked_for_where_its_method_begins() -> None:
    text = changed(
        ("5 drive van1 shop corner\n", ""),
        ("-> drive-on 5 23", "-> stay"),
        ("23 go van1 corner -> stay\n", ""),
    )
    failure = verifier().check_file(text).failure
    assert failure is not None
    assert FAILURE_RULES[failure.kind].id == "HVR129"
    assert [str(literal) for literal in failure.literals] == ["(at van1 corner)"]
    assert "after step 5" in failure.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 load van1 book depot\nroot\n<==\n",
        changed(("11 go van1 depot -> stay", "0 go van1 depot -> stay")),
        changed(("11 go van1 depot -> stay", "11 go van1 depot")),
        changed(("11 go van1 depot -> stay", "11 go van1 depot ->")),
        changed(("11 go van1 depot -> stay", "11 -> stay")),
        changed(("11 go van1", "eleven go van1")),
        changed(("root 10 20", "root 10 20\nroot 10 20")),
        PLAN[: PLAN.index("21 go")],
        PLAN[: PLAN.index("root")],
        PLAN + PLAN,
    ],
)
def test_what_is_no_complete_plan_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(PddlSyntaxError, match=r"<plan>:\d+:\d+"):
        verifier().check_file(text)


def test_a_plan_prints_as_it_is_read() -> None:
    assert print_hierarchical_plan(read_hierarchical_plan(PLAN)) == PLAN
    noisy = f"searching ...\n{PLAN.replace(chr(10), chr(13) + chr(10) + ' ')}time: 1 s\n"
    assert verifier().check_file(noisy).valid


def test_a_top_task_above_the_root_is_passed_over() -> None:
    text = changed(("root 10 20", "root 99\n99 __top -> __top_method 10 20"))
    assert verifier().check_file(text).valid
