"""The operations: their schemas are recorded, and every answer fits its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hvr.base.declared import decode, json_schema
from hvr.doors.operations import SessionState, answer, check_sources, error_answer
from hvr.doors.schema import OPERATIONS, ErrorAnswer
from hvr.errors import HvrError, UsageError
from tools.write_schemas import PAGE, SCHEMAS, page, schemas

EXAMPLES = Path(__file__).parents[2] / "examples"
BLOCKS = EXAMPLES / "blocks"
MODEL = {
    "domain": (BLOCKS / "domain.pddl").read_text(encoding="utf-8"),
    "problem": (BLOCKS / "problem.pddl").read_text(encoding="utf-8"),
}
PLAN = (BLOCKS / "plan.txt").read_text(encoding="utf-8")
SHORT = (BLOCKS / "plans/short.txt").read_text(encoding="utf-8")
TOOLS = json.dumps(
    [
        {
            "name": "lend_book",
            "description": "Lend a book",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "reader": {"type": "string"}},
                "required": ["title", "reader"],
            },
        }
    ]
)


def answered(name: str, **data: Any) -> dict[str, Any]:
    """Return the answer to a request, checked against its schema."""
    operation = OPERATIONS[name]
    jsonschema.validate(data, operation.request_schema())
    request = decode(operation.request, data)
    check_sources(request)
    found = json.loads(json.dumps(answer(name, request)))
    jsonschema.validate(found, operation.answer_schema())
    return dict(found)


@pytest.mark.slow
def test_schemas_and_their_page_are_as_recorded() -> None:
    """After a deliberate change, run `python -m tools.write_schemas`; consider schema_version."""
    assert schemas() == json.loads(SCHEMAS.read_text(encoding="utf-8"))
    assert page() == PAGE.read_text(encoding="utf-8")


LAMPS = """(define (domain t) (:requirements :durative-actions) (:predicates (lit) (power) (done))
(:durative-action on :parameters () :duration (= ?duration 2)
 :condition (at start (power)) :effect (at end (lit)))
(:durative-action off :parameters () :duration (= ?duration 1)
 :condition (at start (power)) :effect (at end (not (power)))))"""
LIT = "(define (problem p) (:domain t) (:init (power)) (:goal (and (lit) (done))))"


def test_a_plan_with_times_is_traced_up_to_its_failure() -> None:
    found = answered("trace_plan", domain=LAMPS, problem=LIT, plan="0: (off) [1]\n2: (on) [2]")
    steps = [(one["step"], one["action"], one["time"], one["ok"]) for one in found["steps"]]
    assert steps == [(1, "(off)", 0, True), (1, "(off)", 1, True), (2, "(on)", 2, False)]
    assert found["missing"] == []
    found = answered("trace_plan", domain=LAMPS, problem=LIT, plan="0: (on) [2]")
    assert all(one["ok"] for one in found["steps"]) and len(found["missing"]) == 1
    assert "(done)" in found["missing"][0]


def test_each_condition_names_the_step_that_changed_it_last() -> None:
    domain = """(define (domain d) (:requirements :negative-preconditions) (:predicates (p) (q))
    (:action on :effect (p)) (:action off :effect (not (p)))
    (:action go :precondition (and (p) (not (q))) :effect (q))
    (:action wait :precondition (not (p))))"""
    problem = "(define (problem i) (:domain d) (:init (p)) (:goal (q)))"
    plan = "(off)(wait)(on)(off)(on)(go)"
    needs = {"(p)": 5, "(not (q))": 0}
    found = answered("trace_plan", domain=domain, problem=problem, plan=plan)
    by_step = [{n["condition"]: n["made_true_by"] for n in one["needs"]} for one in found["steps"]]
    assert by_step == [{}, {"(not (p))": 1}, {}, {}, {}, needs]
    found = answered("explain_step", domain=domain, problem=problem, plan=plan, step=6)
    assert {one["condition"]: one["made_true_by"] for one in found["conditions"]} == needs


@pytest.mark.slow
def test_schemas_are_valid() -> None:
    for one in schemas().values():
        for schema in [one] if "type" in one else one.values():
            jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.slow
def test_validate_explain_judge_and_shorten() -> None:
    found = answered("validate_plan", **MODEL, plan=PLAN, state_at=1)
    assert found["failure"]["literals"][0]["changed_by"]["number"] == 2
    assert found["repair"]["insert"] == ["(pick-up a)"]
    assert answered("explain_step", **MODEL, plan=PLAN, step=3)["failure"]["step"] == 3
    links = answered("explain_step", **MODEL, plan=SHORT, step=1)["links"]
    assert {"literal": "(holding a)", "needed_by": [2], "undone_by": 2} in links
    assert answered("judge_plan", **MODEL, plan=PLAN)["outcome"] == "criticised"
    assert answered("minimise_plan", **MODEL, plan=f"(pick-up c)(put-down c){SHORT}")["removed"]
    assert answered("lint_model", **MODEL)["findings"] == []


@pytest.mark.slow
def test_a_repair_comes_with_its_proof() -> None:
    found = answered("repair_plan", **MODEL, plan=PLAN)
    assert found["outcome"] == "repaired"
    assert answered("validate_plan", **MODEL, plan="\n".join(found["plan"]))["outcome"] == "valid"
    assert answered("repair_plan", **MODEL, plan=SHORT)["outcome"] == "valid"


@pytest.mark.slow
def test_plans_are_found_and_tools_are_planned() -> None:
    found = answered("find_plan", **MODEL, planner="forward")
    assert answered("validate_plan", **MODEL, plan="\n".join(found["steps"]))["outcome"] == "valid"
    asked = answered("plan_tools", tools=TOOLS, goals=["lend_book"], given={"title": "Emma"})
    assert asked["decision"] == "ask" and asked["ask"] == ["reader"]


@pytest.mark.slow
def test_a_request_in_words_becomes_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = answered("plan_request", request="make coffee", scene="FloorPlan1")
    assert found["would_reach"] and (tmp_path / found["folder"] / "plan.pddl").is_file()


@pytest.mark.slow
def test_hierarchical_plans() -> None:
    folder = EXAMPLES / "parcels"
    model = {part: (folder / f"{part}.hddl").read_text("utf-8") for part in ("domain", "problem")}
    found = answered("validate_decomposition", **model, plan="", no_decomposition=True)
    assert found["outcome"] == "invalid"
    with pytest.raises(UsageError, match="validate_plan"):
        answered("validate_decomposition", **MODEL, plan=SHORT)


@pytest.mark.slow
def test_a_session_answers_with_states() -> None:
    for name, data in (
        ("open_session", {}),
        ("apply_action", {"action": "(pick-up a)"}),
        ("apply_action", {"action": "(stack a b)"}),
        ("applicable_actions", {"limit": 2}),
    ):
        state = decode(SessionState, {**MODEL, "session": "s", **data})
        found = json.loads(json.dumps(answer(name, state)))
        jsonschema.validate(found, OPERATIONS[name].answer_schema())
    assert found["actions"] == ["(pick-up a)", "(pick-up b)"] and not found["complete"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {**MODEL, "domain": MODEL["domain"].replace("(holding ?x)", "(holdng ?x)", 1)},
            {"error": "PddlSemanticError", "line": 7, "suggestion": "holdng"},
        ),
        ({**MODEL, "plan": "(pick-up a"}, {"error": "PddlSyntaxError", "file": "<plan>"}),
        ({"domain": "domain.pddl"}, {"error": "UsageError"}),
        ({"domain": MODEL["domain"]}, {"error": "UsageError"}),
        ({**MODEL, "domain_file": "x"}, {"error": "UsageError"}),
        ({**MODEL, "plna": ""}, {"error": "UsageError"}),
    ],
)
def test_unusable_input_is_an_error_with_its_place(
    data: dict[str, Any], expected: dict[str, Any]
) -> None:
    data = {"plan": SHORT, **data}
    with pytest.raises(HvrError) as caught:
        request = decode(OPERATIONS["validate_plan"].request, data)
        check_sources(request)
        answer("validate_plan", request)
    error = error_answer(caught.value).to_json()
    assert expected.items() <= error.items(), error
    jsonschema.validate(error, json_schema(ErrorAnswer))
