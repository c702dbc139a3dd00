"""The validator: stepping, going back, and saying why not."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pddl_strategies import Naive, World, all_actions, worlds

from hvr.errors import DataFileError, PddlSyntaxError, UsageError
from hvr.pddl import (
    Atom,
    GroundAction,
    Task,
    atoms_of,
    parse_domain,
    parse_formula,
    parse_plan,
    parse_problem,
)
from hvr.validation import (
    Failure,
    FailureKind,
    Outcome,
    UnmetLiteral,
    ValidationReport,
    Validator,
    render_report,
    validate,
)

DOMAIN = """
(define (domain kitchen) (:requirements :adl)
  (:types item place)
  (:predicates (holding ?i - item) (hand-empty) (on ?i - item ?p - place) (open ?p - place)
    (fridge ?p - place) (hot ?i - item) (machine ?i - item))
  (:action pick :parameters (?i - item ?p - place)
    :precondition (and (hand-empty) (on ?i ?p) (or (not (fridge ?p)) (open ?p)))
    :effect (and (holding ?i) (not (hand-empty)) (not (on ?i ?p))))
  (:action put :parameters (?i - item ?p - place)
    :precondition (and (holding ?i) (or (not (fridge ?p)) (open ?p)))
    :effect (and (not (holding ?i)) (hand-empty) (on ?i ?p)))
  (:action open :parameters (?p - place)
    :precondition (and (fridge ?p) (not (open ?p)) (hand-empty)) :effect (open ?p))
  (:action brew :precondition (exists (?i - item) (and (machine ?i) (hot ?i))) :effect (and))
  (:action leave :precondition (forall (?p - place) (not (open ?p))) :effect (and))
  (:action swap :parameters (?i ?j - item) :precondition (not (= ?i ?j)) :effect (and))
  (:action heat :parameters (?i - item) :effect (hot ?i)))
"""
PROBLEM = """
(define (problem p) (:domain kitchen)
  (:objects mug apple urn kettle - item table cooler - place)
  (:init (hand-empty) (on mug table) (on apple cooler) (fridge cooler) (machine urn)
    (machine kettle))
  (:goal (and (on apple table) (not (open cooler)) (on mug table))))
"""


@pytest.fixture
def task() -> Task:
    domain = parse_domain(DOMAIN)
    return Task(domain, parse_problem(PROBLEM, domain))


def steps(text: str) -> tuple[GroundAction, ...]:
    return parse_plan(text)


def step(text: str) -> GroundAction:
    (only,) = parse_plan(f"({text})")
    return only


def shown(failure: Failure | None) -> dict[str, str | None]:
    """The unmet literals with the step that changed each."""
    assert failure is not None
    return {str(u): u.changed_by and str(u.changed_by) for u in failure.literals}


def test_steps_report_what_they_change(task: Task) -> None:
    validator = Validator(task)
    report = validator.apply(step("pick mug table"))
    assert report.ok
    assert report.step == validator.step_number == 1
    assert set(report.added) == {Atom("holding", ("mug",))}
    assert set(report.deleted) == {Atom("hand-empty"), Atom("on", ("mug", "table"))}
    assert "made true: (holding mug)" in report.explain()
    assert report.to_json()["failure"] is None
    assert validator.apply(step("heat mug")).ok
    again = validator.apply(step("heat mug"))
    assert (again.added, again.deleted) == ((), ())
    assert "no change" in again.explain()
    assert validator.steps == steps("(pick mug table)(heat mug)(heat mug)")


def test_a_failing_step_changes_nothing(task: Task) -> None:
    validator = Validator(task)
    validator.apply(step("pick mug table"))
    before = validator.state
    report = validator.apply(step("pick apple cooler"))
    assert not report.ok
    assert report.step == 2
    assert validator.state == before
    assert validator.step_number == 1
    assert shown(report.failure) == {
        "(hand-empty)": "step 1 (pick mug table)",
        "(open cooler)": None,
    }
    assert report.explain().splitlines() == [
        "Step 2 (pick apple cooler) cannot be executed: its precondition does not hold.",
        "- (hand-empty) must be true; it was made false by step 1 (pick mug table).",
        "- (open cooler) must be true; it was false in the initial state, and no step has"
        " changed it.",
    ]


@pytest.mark.parametrize(
    ("plan", "unmet"),
    [
        # of an exists, the instance with fewest unmet literals, of those one that can be mended
        ("(brew)", {"(hot kettle)": None}),
        ("(heat mug)(brew)", {"(hot kettle)": None}),
        # of a forall, the offenders
        ("(open cooler)(leave)", {"(not (open cooler))": "step 1 (open cooler)"}),
        ("(swap mug mug)", {"(not (= mug mug))": None}),
        # a literal may have changed more than once; the last change counts
        (
            "(pick mug table)(put mug table)(pick mug table)(put mug table)(put mug table)",
            {"(holding mug)": "step 4 (put mug table)"},
        ),
        ("(open table)", {"(fridge table)": None}),
    ],
)
def test_blame(task: Task, plan: str, unmet: dict[str, str | None]) -> None:
    report = Validator(task).check(steps(plan))
    assert report.outcome is Outcome.INVALID
    assert report.failure is not None
    assert report.failure.kind is FailureKind.PRECONDITION
    assert report.failure.step == len(steps(plan)) == report.executed + 1
    assert shown(report.failure) == unmet


def test_static_literals_are_said_to_be_fixed(task: Task) -> None:
    failure = Validator(task).apply(step("open table")).failure
    assert failure is not None
    assert [u.fixed for u in failure.literals] == [True]
    assert "no action can change it" in failure.explain()


def test_an_exists_without_instances_is_blamed_as_a_whole() -> None:
    domain = parse_domain(
        "(define (domain d) (:types ghost) (:predicates (seen ?g - ghost) (done))"
        " (:action a :precondition (exists (?g - ghost) (seen ?g)) :effect (done))"
        " (:action b :precondition (or) :effect (done)))"
    )
    problem = parse_problem("(define (problem p) (:domain d) (:init) (:goal (done)))", domain)
    validator = Validator(domain, problem)
    failure = validator.apply(GroundAction("a")).failure
    assert shown(failure) == {"(exists (?g - ghost) (seen ?g))": None}
    assert failure is not None
    assert "nothing that it could hold for" in failure.explain()
    assert shown(validator.apply(GroundAction("b")).failure) == {"(or)": None}


def test_an_exists_ruled_out_by_static_facts_says_what_its_best_instance_lacks(task: Task) -> None:
    formula = "(exists (?i - item ?p - place) (and (machine ?i) (fridge ?p) (= ?i mug)))"
    domain, problem = task.domain, task.problem
    goal = parse_formula(formula, domain, problem.objects)
    problem = type(problem)(**{**vars(problem), "goal": goal})
    assert shown(Validator(domain, problem).goal_failure()) == {"(machine mug)": None}


def test_goal(task: Task) -> None:
    plan = steps("(open cooler) (pick apple cooler) (put apple table)")
    report = Validator(task).check(plan)
    assert report.outcome is Outcome.INVALID
    assert report.failure is not None
    assert report.failure.kind is FailureKind.GOAL
    assert report.failure.step is None
    assert report.executed == 3
    assert shown(report.failure) == {"(not (open cooler))": "step 1 (open cooler)"}
    assert report.explain() == (
        "The plan is invalid. The goal is not reached.\n"
        "- (open cooler) must be false; it was made true by step 1 (open cooler)."
    )


def test_valid_plan() -> None:
    goal = PROBLEM.replace("(not (open cooler))", "(open cooler)")
    report = validate(DOMAIN, goal, "(open cooler) (pick apple cooler) (put apple table)")
    assert report.valid
    assert report == ValidationReport(Outcome.VALID, 3, 3, None, Fraction(3))
    assert "valid" in report.explain()
    assert render_report(report, name="a.plan") == "a.plan: valid (3 steps, cost 3)"


@pytest.mark.parametrize(
    ("action", "kind", "words", "suggestion"),
    [
        ("(pik mug table)", FailureKind.UNKNOWN_ACTION, "no action 'pik'", "pick"),
        ("(pick mugg table)", FailureKind.UNKNOWN_OBJECT, "no object 'mugg'", "mug"),
        ("(pick mug)", FailureKind.WRONG_ARITY, "takes 2 arguments, not 1", ""),
        ("(brew mug)", FailureKind.WRONG_ARITY, "takes 0 arguments, not 1", ""),
        ("(pick table mug)", FailureKind.WRONG_TYPE, "'table' is of type place", ""),
    ],
)
def test_steps_that_are_none(
    task: Task, action: str, kind: FailureKind, words: str, suggestion: str
) -> None:
    report = Validator(task).check(steps(f"(heat mug)\n{action}"))
    assert report.failure is not None
    assert report.failure.kind is kind
    assert report.failure.step == 2
    assert words in report.failure.message
    assert report.failure.suggestion == suggestion
    assert (f"Did you mean '{suggestion}'?" in report.explain()) == bool(suggestion)
    assert str(report.failure.location) == "<plan>:2:1"
    text = render_report(report)
    assert text.startswith(f"plan: invalid: {kind.value} at step 2 of 2")
    assert "<plan>:2:1" in text


def test_undo_and_fork(task: Task) -> None:
    validator = Validator(task)
    with pytest.raises(UsageError, match="no step to undo"):
        validator.undo()
    validator.apply(step("pick mug table"))
    other = validator.fork()
    assert validator.undo() == step("pick mug table")
    assert validator.state == task.initial
    assert other.step_number == 1
    other.apply(step("put mug cooler"))
    assert other.apply(step("put mug table")).ok
    assert validator.apply(step("open cooler")).ok
    assert Atom("open", ("cooler",)) not in other.state


def test_check_goes_on_from_the_present_state(task: Task) -> None:
    validator = Validator(task)
    validator.apply(step("pick mug table"))
    report = validator.check(steps("(put mug table) (put mug table)"))
    assert report.failure is not None
    assert report.failure.step == 3
    assert shown(report.failure) == {"(holding mug)": "step 2 (put mug table)"}
    assert validator.step_number == 1


def test_begin_in_another_state(task: Task) -> None:
    state = task.state([Atom("holding", ("mug",))])
    validator = Validator(task, state=state)
    assert validator.apply(step("put mug table")).ok
    with pytest.raises(UsageError):
        Validator(task.domain, task.problem, state=state)
    with pytest.raises(UsageError):
        Validator(task.domain)
    with pytest.raises(UsageError):
        Validator(task, task.problem)


def test_applicable_actions(task: Task) -> None:
    validator = Validator(task)
    names = {a.name for a in validator.applicable_actions()}
    assert names == {"pick", "open", "leave", "swap", "heat"}
    assert len(validator.applicable_actions(limit=3)) == 3


def test_unsupported_input_is_unknown() -> None:
    report = validate("(define (domain d) (:durative-action a))", PROBLEM, "")
    assert report.outcome is Outcome.UNKNOWN
    assert not report.valid
    assert "durative actions are not supported yet" in report.explain()
    assert "unknown" in render_report(report)
    assert json.loads(json.dumps(report.to_json()))["outcome"] == "unknown"
    report = validate(DOMAIN, PROBLEM, "1: (leave)\n1: (leave)")
    assert report.outcome is Outcome.UNKNOWN


def test_too_many_instances_are_unknown(task: Task) -> None:
    task.instance_limit = 1
    report = Validator(task).check(steps("(heat mug) (brew)"))
    assert report.outcome is Outcome.UNKNOWN
    assert report.executed == 1


def test_bad_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PddlSyntaxError):
        validate(DOMAIN, PROBLEM, "I would first pick the mug.")
    with pytest.raises(DataFileError):
        validate(DOMAIN, PROBLEM, tmp_path / "none.plan")


def test_costs() -> None:
    domain = (
        "(define (domain d) (:requirements :action-costs) (:predicates (p))"
        " (:functions (total-cost) (price))"
        " (:action a :effect (and (p) (increase (total-cost) 1.5)))"
        " (:action b :effect (increase (total-cost) (price))))"
    )
    problem = (
        "(define (problem p) (:domain d) (:init (= (total-cost) 10)) (:goal (p))"
        " (:metric minimize (total-cost)))"
    )
    report = validate(domain, problem, "(a)(a)")
    assert report.cost == 13
    assert report.to_json()["cost"] == 13
    assert validate(domain, problem, "(a)").to_json()["cost"] == 11.5
    report = validate(domain, problem, "(a)(b)")
    assert report.failure is not None
    assert report.failure.kind is FailureKind.UNDEFINED_VALUE
    assert "(price), which has no value" in report.explain()


def test_rendering_and_json_of_a_failure(task: Task) -> None:
    plan = parse_plan("(pick mug table)\n(pick apple cooler)", file="a.plan")
    report = Validator(task).check(plan)
    assert render_report(report, name="a.plan").splitlines() == [
        "a.plan: invalid: precondition at step 2 of 2",
        "  (pick apple cooler)    [a.plan:2:1]",
        "    (hand-empty)   made false by step 1 (pick mug table)",
        "    (open cooler)  false since the initial state",
    ]
    assert render_report(report, limit=1).endswith("… and 1 more")
    assert report.explain(limit=1).endswith("and 1 more.")
    data = json.loads(json.dumps(report.to_json()))
    assert data["failure"]["location"] == {"file": "a.plan", "line": 2, "column": 1}
    assert data["failure"]["literals"][0] == {
        "formula": "(hand-empty)",
        "wanted": True,
        "actual": False,
        "fixed": False,
        "changed_by": {"number": 1, "action": "(pick mug table)"},
    }


# --- laws -------------------------------------------------------------------------------------

law = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def walk(validator: Validator, data: st.DataObject, most: int = 5) -> None:
    """Take some random applicable steps."""
    for _ in range(data.draw(st.integers(0, most))):
        possible = validator.applicable_actions()
        if not possible:
            return
        assert validator.apply(data.draw(st.sampled_from(possible))).ok


@given(worlds(), st.data())
@law
def test_undo_takes_apply_back(world: World, data: st.DataObject) -> None:
    validator = Validator(world.domain, world.problem)
    walk(validator, data)
    for action in all_actions(world):
        before = validator.state, validator.step_number, validator.steps, validator.cost()
        if validator.apply(action).ok:
            assert validator.undo() == action
        assert (validator.state, validator.step_number, validator.steps, validator.cost()) == before
    while validator.step_number:
        validator.undo()
    assert validator.state == validator.task.initial


@given(worlds(), st.data())
@law
def test_forks_are_independent(world: World, data: st.DataObject) -> None:
    validator = Validator(world.domain, world.problem)
    walk(validator, data)
    before = validator.state, validator.steps
    fork = validator.fork()
    walk(fork, data)
    assert (validator.state, validator.steps) == before
    after = fork.state, fork.steps
    walk(validator, data)
    if validator.step_number:
        validator.undo()
    assert (fork.state, fork.steps) == after
    # A fork and a validator that took the same steps from the start agree in everything.
    again = Validator(validator.task)
    for action in fork.steps:
        assert again.apply(action).ok
    assert again.state == fork.state
    assert again.goal_failure() == fork.goal_failure()
    assert again.cost() == fork.cost()


@given(worlds(), st.data())
@law
def test_reports_agree_with_the_plain_semantics(world: World, data: st.DataObject) -> None:
    naive = Naive(world)
    validator = Validator(world.domain, world.problem)
    walk(validator, data, most=3)
    state = validator.state.atoms(static=True)
    for action in all_actions(world):
        report = validator.fork().apply(action)
        result = naive.step(state, action)
        assert report.ok == (result is not None)
        if result is not None:
            assert set(report.added) == result[0] - state
            assert set(report.deleted) == state - result[0]
            assert report.cost == Fraction(result[1])
        else:
            check_literals(report.failure, naive, state, validator)
    failure = validator.goal_failure()
    assert (failure is None) == naive.holds(state, world.problem.goal, {})
    if failure is not None:
        check_literals(failure, naive, state, validator)


def check_literals(
    failure: Failure | None, naive: Naive, state: frozenset[Atom], validator: Validator
) -> None:
    """Each blamed literal is ground, has the value that is not wanted, and was set when said."""
    assert failure is not None
    assert failure.literals
    for unmet in failure.literals:
        assert naive.holds(state, unmet.formula, {}) == unmet.actual
        if isinstance(unmet.formula, Atom):
            check_provenance(unmet, naive, validator)
    json.dumps(failure.to_json())
    assert failure.explain().count("\n") == len(failure.literals)


def check_provenance(unmet: UnmetLiteral, naive: Naive, validator: Validator) -> None:
    state = validator.task.initial.atoms(static=True)
    last = None
    (atom,) = atoms_of(unmet.formula)
    for number, action in enumerate(validator.steps, 1):
        result = naive.step(state, action)
        assert result is not None
        if (atom in state) != (atom in result[0]):
            last = number
        state = result[0]
    assert last == (unmet.changed_by and unmet.changed_by.number)
