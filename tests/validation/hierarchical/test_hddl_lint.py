"""Lint rules for hierarchical models: one change to a clean model violates each."""

from pathlib import Path

import pytest

from hvr.errors import PddlError
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.validation.hierarchical.lint import lint_hddl
from tests.command_line import Hvr

PARCELS = Path(__file__).parents[3] / "examples" / "parcels"
DOMAIN = (PARCELS / "domain.hddl").read_text(encoding="utf-8")
PROBLEM = (PARCELS / "problem.hddl").read_text(encoding="utf-8")


def found(domain: str, problem: str = "") -> list[tuple[str, str]]:
    lifted = parse_hddl_domain(domain)
    task = parse_hddl_problem(problem, lifted) if problem else None
    return [(one.rule, one.name) for one in lint_hddl(lifted, task)]


def test_the_example_is_clean() -> None:
    assert found(DOMAIN) == found(DOMAIN, PROBLEM) == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "name"),
    [
        (":hierarchy ", "", "HVR202", ":hierarchy"),
        ("(road ?from ?to - place))", "(road ?from ?to - place) (idle))", "HVR301", "idle"),
        ("(not (at ?van ?to)))\n", "(not (at ?van ?from)))\n", "HVR309", "drive-on"),
        ("(?van - van ?from ?next ?to - place)", "(?van ?spare - van ?from ?next ?to - place)",
         "HVR307", "drive-on"),
        ("  (:task go", "  (:task rest :parameters ())\n  (:task go", "HVR401", "rest"),
        (":subtasks ())", ":subtasks (go ?van ?to))", "HVR402", "go"),
        (":effect (and (not (at ?van ?from)) (at ?van ?to))",
         ":effect (and (not (at ?van ?from)) (at ?van ?to) (road ?to ?to) (not (road ?to ?from)))",
         "HVR405", "drive"),
    ],
)  # fmt: skip
def test_rules_about_a_domain(old: str, new: str, rule: str, name: str) -> None:
    assert old in DOMAIN
    assert (rule, name) in found(DOMAIN.replace(old, new, 1))


def test_what_the_network_never_leads_to_is_noted() -> None:
    problem = PROBLEM.replace("(first (deliver book shop))", "(first (go van1 shop))").replace(
        "(second (deliver lamp corner))", "(second (go van1 depot))"
    )
    assert ("HVR403", "unload") in found(DOMAIN, problem)


def test_one_method_without_an_order_among_many_is_noted() -> None:
    methods = "".join(
        f"(:method m{i} :parameters (?v - van ?p - place) :task (go ?v ?p) "
        f":{'subtasks' if i == 0 else 'ordered-subtasks'} (and (go ?v ?p) (go ?v ?p)))"
        for i in range(5)
    )
    text = DOMAIN.replace("  (:action drive", f"{methods}  (:action drive", 1)
    assert [one for one in found(text) if one[0] == "HVR404"] == [("HVR404", "m0")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(go ?van ?from)\n", "(goes ?van ?from)\n", "goes"),
        ("(go ?van ?from)\n", "(go ?van)\n", "takes 2 arguments, not 1"),
        ("(go ?van ?from)\n", "(go ?parcel ?from)\n", "wrong type"),
        ("(go ?van ?from)\n", "(go ?bus ?from)\n", "'?bus' is not declared"),
        (":task (go ?van ?to)", ":task (drive ?van ?to ?to)", "cannot be decomposed"),
        (":method stay", ":method drive-on", "defined twice"),
        (":subtasks ())", ":subtasks () :effect (at ?van ?to))", "effects of methods"),
        (":subtasks ())", ":subtasks () :wish (at ?van ?to))", "no field ':wish'"),
        (":subtasks ())", ":subtasks () :ordered-tasks ())", "exclude each other"),
        (":subtasks ())", ":subtasks () :constraints (at ?van ?to))", "constraints other than"),
        (":subtasks ())", ":subtasks (a (go ?van ?to)) :ordering (< a a))", "cyclic"),
        (":subtasks ())", ":subtasks (a (go ?van ?to)) :ordering (< a b))", "'b'"),
        (":subtasks ())", ":subtasks (and (a (go ?van ?to)) (a (go ?van ?to))))", "two subtasks"),
    ],
)
def test_what_cannot_be_read_has_a_place(old: str, new: str, words: str) -> None:
    assert old in DOMAIN
    with pytest.raises(PddlError, match=r"<domain>:\d+:\d+") as error:
        parse_hddl_domain(DOMAIN.replace(old, new, 1))
    assert words in str(error.value)


def test_a_problem_needs_a_network() -> None:
    lifted = parse_hddl_domain(DOMAIN)
    start, end = PROBLEM.index("(:htn"), PROBLEM.index("(:init")
    with pytest.raises(PddlError, match="no :htn"):
        parse_hddl_problem(PROBLEM[:start] + PROBLEM[end:], lifted)


def test_the_command_looks_at_hierarchical_models(hvr_: Hvr, tmp_path: Path) -> None:
    broken = tmp_path / "d.hddl"
    broken.write_text(DOMAIN.replace("  (:task go", "  (:task rest)\n  (:task go"))
    ended = hvr_("lint", broken)
    assert ended.code == 1
    assert "No method decomposes the task (rest)." in ended.out
    assert hvr_("lint", PARCELS / "domain.hddl", PARCELS / "problem.hddl").code == 0
