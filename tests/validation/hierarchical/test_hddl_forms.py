"""Hierarchical models and plans in other formats, and hvr's plans as hierarchical ones."""

import json
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import HvrError, PddlSyntaxError
from hvr.pddl import GroundAction, parse_domain, parse_problem
from hvr.pddl.hierarchy.model import print_hddl_domain, print_hddl_problem
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import (
    HierarchicalPlan,
    PlanLine,
    print_hierarchical_plan,
    read_hierarchical_plan,
)
from hvr.validation.hierarchical.conversion import (
    ActionsJudge,
    Block,
    draw_svg,
    draw_tree,
    export_blocks,
    plan_to_values,
    read_actions,
)
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from tests.command_line import Hvr
from tests.validation.hierarchical.hddl_networks import Model

EXAMPLES = Path(__file__).parents[3] / "examples"
PARCELS = EXAMPLES / "parcels"
PLAN = (PARCELS / "plan.txt").read_text(encoding="utf-8")
ACTIONS = """\
(load van1 book depot) (drive van1 depot corner) (drive van1 corner shop) (unload van1 book shop)
(load van1 lamp shop) (drive van1 shop corner) (unload van1 lamp corner)
"""


@settings(max_examples=25)
@given(st.integers(0, 10**9))
def test_what_is_printed_reads_as_it_was(seed: int) -> None:
    model = Model(Random(seed))
    domain = parse_hddl_domain(model.domain)
    problem = parse_hddl_problem(model.problem, domain)
    again = parse_hddl_domain(print_hddl_domain(domain))
    assert again == domain
    assert parse_hddl_problem(print_hddl_problem(problem), again) == problem


def test_a_tree_shows_methods_and_steps() -> None:
    lines = draw_tree(read_hierarchical_plan(PLAN)).splitlines()
    assert lines[:3] == [
        "(deliver book shop) by carry",
        "├─ (go van1 depot) by stay",
        "├─ 1. (load van1 book depot)",
    ]
    assert lines[-1] == "└─ 7. (unload van1 lamp corner)"


def test_a_picture_is_xml_with_a_text_for_each_line() -> None:
    picture = ElementTree.fromstring(draw_svg(read_hierarchical_plan(PLAN)))
    assert len(picture.findall("{http://www.w3.org/2000/svg}text")) == len(PLAN.splitlines()) - 3


def test_values_have_all_lines() -> None:
    values = json.loads(json.dumps(plan_to_values(read_hierarchical_plan(PLAN))))
    assert values["root"] == [10, 20]
    assert values["actions"][0] == {"id": 0, "action": "(load van1 book depot)"}
    assert values["tasks"][0]["subtasks"] == [11, 0, 12, 3]


def test_no_form_minds_depth_or_circles() -> None:
    count = 3000
    tasks = tuple(PlanLine(i, "t", (), "m", (i + 1,)) for i in range(count))
    deep = HierarchicalPlan((PlanLine(count, "a"),), (0,), tasks)
    for plan in (deep, HierarchicalPlan((), (0,), (PlanLine(0, "t", (), "m", (0,)),))):
        assert draw_tree(plan)
        assert draw_svg(plan)
        assert plan_to_values(plan)


@pytest.mark.parametrize("claim", ["(clear a)", "(not (clear a))", "(no such literal"])
def test_blocks_become_methods_and_are_verified(claim: str) -> None:
    domain = parse_domain(EXAMPLES / "blocks" / "domain.pddl")
    problem = parse_problem(EXAMPLES / "blocks" / "problem.pddl", domain)
    steps = [
        (GroundAction("pick-up", (x,)), GroundAction("stack", (x, y))) for x, y in ("ab", "ca")
    ]
    blocks = [Block("Put a on b!", steps[0], (claim,)), Block("pick-up", steps[1], ("(clear b)",))]
    lifted, task, plan = export_blocks(domain, problem, blocks)
    assert list(lifted.tasks) == ["put-a-on-b", "pick-up-2"]
    report = DecompositionVerifier(lifted, task).check(plan)
    # A block's precondition becomes the precondition of its method.
    assert report.failure is not None
    assert str(report.failure.action) == (
        "(put-a-on-b a b)" if claim == "(not (clear a))" else "(pick-up-2 c a b)"
    )
    honest = export_blocks(domain, problem, [b.replace(precondition=()) for b in blocks])
    assert DecompositionVerifier(*honest[:2]).check(honest[2]).valid
    again = parse_hddl_domain(print_hddl_domain(honest[0]))
    problem_again = parse_hddl_problem(print_hddl_problem(honest[1]), again)
    text = print_hierarchical_plan(honest[2])
    assert DecompositionVerifier(again, problem_again).check_file(text).valid


# Without a decomposition ----------------------------------------------------------------------


def test_a_decomposition_is_found_for_steps_in_parentheses(hvr_: Hvr, tmp_path: Path) -> None:
    file = tmp_path / "actions.txt"
    file.write_text(f"; from somewhere\n{ACTIONS}")
    model = (PARCELS / "domain.hddl", PARCELS / "problem.hddl")
    assert hvr_("validate", *model, file, "--no-decomposition").code == 0
    assert hvr_("validate", *model, PARCELS / "plan.txt", "--no-decomposition").code == 0
    printed = hvr_("convert", file, "--to", "ipc", "--model", *model)
    assert printed.code == 0
    (tmp_path / "found.txt").write_text(printed.out)
    assert hvr_("validate", *model, tmp_path / "found.txt").code == 0
    file.write_text(ACTIONS.replace("(drive van1 shop corner)", "(drive van1 shop corner) " * 2))
    ended = hvr_("validate", *model, file, "--no-decomposition")
    assert ended.code == 1


def test_a_drawing_says_which_lines_it_lacks(hvr_: Hvr, tmp_path: Path) -> None:
    text = (PARCELS / "plan.txt").read_text()
    file = tmp_path / "plan.txt"
    file.write_text(text.replace("root ", "99 drive van1 shop corner\nroot 98 ", 1))
    for form in ("tree", "svg"):
        ended = hvr_("convert", file, "--to", form)
        assert "99 drive" in ended.err
        assert "no line has the identifier 98" in ended.err
    assert not hvr_("convert", PARCELS / "plan.txt").err


def test_actions_that_no_task_asks_for_are_refused() -> None:
    domain = parse_hddl_domain(PARCELS / "domain.hddl")
    problem = parse_hddl_problem(PARCELS / "problem.hddl", domain)
    judge = ActionsJudge(DecompositionVerifier(domain, problem))
    more = f"{ACTIONS} (drive van1 corner depot)"
    failure = judge.check_file(more).failure
    assert failure is not None
    assert failure.message == (
        "No decomposition of the initial network leads to these actions: those before "
        "(drive van1 corner depot) begin one, but (drive van1 corner depot) cannot follow them."
    )
    half = judge.check_file(ACTIONS[: ACTIONS.index("(load van1 lamp")]).failure
    assert half is not None
    assert "more actions must follow" in half.message
    for text in ("()", "(load van1 book depot) and so on", "==>\n0 load"):
        try:
            assert not judge.check_file(text).valid
        except HvrError as error:
            assert "<plan>:" in str(error)


def test_runs_and_plans_are_converted(hvr_: Hvr, tmp_path: Path) -> None:
    plan = PARCELS / "plan.txt"
    assert "└─ 7. (unload van1 lamp corner)" in hvr_("convert", plan).out
    assert json.loads(hvr_("convert", plan, "--to", "json").out)["root"] == [10, 20]
    assert hvr_("convert", plan, "--to", "svg").out.startswith("<svg")
    assert hvr_("convert", plan, "--to", "ipc").out == PLAN
    assert hvr_("convert", tmp_path / "none", "--to", "svg").code == 2
    assert hvr_("convert", tmp_path, "--to", "hddl").code == 2
    domain, problem = (EXAMPLES / "blocks" / f"{x}.pddl" for x in ("domain", "problem"))
    (tmp_path / "domain.pddl").write_text(domain.read_text())
    (tmp_path / "problem.pddl").write_text(problem.read_text())
    steps = [["pick-up", "a"], ["stack", "a", "b"], ["pick-up", "c"], ["stack", "c", "a"]]
    actions = [{"action": name, "args": args} for name, *args in steps]
    block = {"macro": {"name": "a tower", "precondition": []}, "actions": actions}
    (tmp_path / "plan.json").write_text(json.dumps({"blocks": [block]}))
    assert hvr_("convert", tmp_path, "--to", "hddl", "--folder", tmp_path / "htn").code == 0
    made = [tmp_path / "htn" / name for name in ("domain.hddl", "problem.hddl", "plan.txt")]
    assert hvr_("validate", *made).code == 0
    (tmp_path / "plan.json").write_text("{}")
    assert hvr_("convert", tmp_path, "--to", "hddl", "--folder", tmp_path / "htn").code == 2


OUTPUTS = Path(__file__).parents[2] / "validation" / "planner_outputs" / "parcels"


def judged(text: str) -> str:
    domain = parse_hddl_domain(PARCELS / "domain.hddl")
    problem = parse_hddl_problem(PARCELS / "problem.hddl", domain)
    return str(DecompositionVerifier(domain, problem).check_file(text).outcome)


def test_what_pandapiengine_prints_is_to_be_converted_first() -> None:
    with pytest.raises(PddlSyntaxError, match="pandaPIparser -c") as caught:
        judged((OUTPUTS / "pandaPIengine.log").read_text(encoding="utf-8"))
    assert "<plan>:63:1: " in str(caught.value)


def test_what_pandapiparser_converts_has_no_end_and_is_read() -> None:
    text = (OUTPUTS / "pandaPIparser.plan").read_text(encoding="utf-8")
    assert "<==" not in text
    assert judged(text) == "valid"


@pytest.mark.parametrize("file", [PARCELS / "plan.txt", OUTPUTS / "pandaPIparser.plan"])
def test_a_plan_that_is_cut_off_is_not_invalid(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("<==", "").rstrip()
    assert judged(text) == "valid"
    for end in range(0, len(text), 7):
        with pytest.raises(PddlSyntaxError):
            judged(text[:end])


def test_lines_around_a_plan_are_counted_and_never_those_of_a_plan() -> None:
    text = (PARCELS / "plan.txt").read_text(encoding="utf-8")
    domain = parse_hddl_domain(PARCELS / "domain.hddl")
    problem = parse_hddl_problem(PARCELS / "problem.hddl", domain)
    verifier = DecompositionVerifier(domain, problem)
    report = verifier.check_file(f"searching\n\n{text}done\n")
    assert report.valid
    (note,) = report.notes
    assert note.endswith("from '==>' to '<==' were read as the plan; 2 other lines were ignored")
    with pytest.raises(PddlSyntaxError, match="is outside the plan"):
        verifier.check_file(f"{text}90 deliver book shop -> carry 1 2\n")


def test_actions_keep_the_order_of_their_numbers() -> None:
    assert len(read_actions("0: (load van1 book depot)\n1: (stay)\n").actions) == 2
    with pytest.raises(PddlSyntaxError, match="not in the order of their numbers"):
        read_actions("1: (load van1 book depot)\n0: (stay)\n")
    plan = (PARCELS / "plan.txt").read_text(encoding="utf-8")
    with pytest.raises(PddlSyntaxError, match="within the plan"):
        read_actions(plan[: plan.index("root")])
