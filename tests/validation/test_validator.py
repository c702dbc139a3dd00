"""The validator: stepping, undoing, and explaining failures."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from hvr.errors import DataFileError, PddlSyntaxError, UsageError
from hvr.pddl import (
    Atom,
    GroundAction,
    Task,
    UnsupportedPddlError,
    parse_domain,
    parse_formula,
    parse_plan,
    parse_problem,
    read_plan,
)
from hvr.pddl.reader import SourceText
from hvr.validation import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
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
    """Return the unmet literals with the step that changed each."""
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
        # exists: the instance with the fewest unmet literals, preferably a repairable one
        ("(brew)", {"(hot kettle)": None}),
        ("(heat mug)(brew)", {"(hot kettle)": None}),
        # forall: the violating instances
        ("(open cooler)(leave)", {"(not (open cooler))": "step 1 (open cooler)"}),
        ("(swap mug mug)", {"(not (= mug mug))": None}),
        # the last change of a literal counts
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
    assert "it has no instance" in failure.explain()
    assert shown(validator.apply(GroundAction("b")).failure) == {"(or)": None}


def test_an_exists_ruled_out_by_static_facts_says_what_its_best_instance_lacks(task: Task) -> None:
    formula = "(exists (?i - item ?p - place) (and (machine ?i) (fridge ?p) (= ?i mug)))"
    domain, problem = task.domain, task.problem
    goal = parse_formula(formula, domain, problem.objects)
    problem = problem.replace(goal=goal)
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
    assert report == ValidationReport(Outcome.VALID, 3, 3, cost=Fraction(3))
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
    report = validate("(define (domain d) (:axiom p))", PROBLEM, "")
    assert report.outcome is Outcome.UNKNOWN
    assert not report.valid
    assert "axioms in the notation of PDDL 1 are not supported" in report.explain()
    assert json.loads(json.dumps(report.to_json()))["outcome"] == "unknown"


def test_steps_at_the_same_time_happen_together() -> None:
    report = validate(DOMAIN, PROBLEM, "1: (leave)\n1: (heat mug)")
    assert report.failure is not None
    assert report.failure.kind is FailureKind.GOAL
    report = validate(DOMAIN, PROBLEM, "1: (open cooler)\n1: (leave)")
    assert report.failure is not None
    assert report.failure.kind is FailureKind.INTERFERENCE


def test_a_negative_time_is_invalid() -> None:
    report = validate(DOMAIN, PROBLEM, "-1: (heat mug)\n2: (open cooler)")
    assert report.failure is not None
    assert report.failure.kind is FailureKind.START_TIME
    assert report.failure.step == 1
    assert report.failure.time == -1


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        (OnFailure.STOP, [(FailureKind.PRECONDITION, 1)]),
        (
            OnFailure.SKIP,
            [
                (FailureKind.PRECONDITION, 1),
                (FailureKind.PRECONDITION, 2),
                (FailureKind.GOAL, None),
            ],
        ),
        (OnFailure.FORCE, [(FailureKind.PRECONDITION, 1)]),
    ],
)
def test_all_failures_on_request(
    task: Task, mode: OnFailure, found: list[tuple[FailureKind, int | None]]
) -> None:
    plan = steps("(pick apple cooler) (put apple cooler)")
    if mode is OnFailure.FORCE:
        plan = steps("(pick apple cooler) (put apple table)")
    report = Validator(task).check(plan, on_failure=mode)
    assert [(f.kind, f.step) for f in report.failures] == found
    assert report.failure == report.failures[0]


def test_a_skipped_step_keeps_its_number(task: Task) -> None:
    plan = steps("(brew) (pick mug table) (put apple table)")
    report = Validator(task).check(plan, on_failure=OnFailure.SKIP)
    assert [f.step for f in report.failures] == [1, 3, None]
    assert report.executed == 1


def test_states_and_changes_on_the_way(task: Task) -> None:
    plan = steps("(pick mug table) (put mug cooler) (brew)")
    validator = Validator(task)
    assert Atom("holding", ("mug",)) in validator.state_after(plan, 1)
    assert validator.state_after(plan, 0) == task.initial
    # The plan fails at its second step, and the validator stops there.
    assert validator.state_after(plan, 3) == validator.state_after(plan, 1)
    found = list(validator.trace(plan))
    assert [(number, time) for number, time, *_ in found] == [(1, None)]
    assert found[0][3] == (Atom("holding", ("mug",)),)
    assert validator.step_number == 0


def test_too_many_instances_are_unknown(task: Task) -> None:
    task.instance_limit = 1
    report = Validator(task).check(steps("(heat mug) (brew)"))
    assert report.outcome is Outcome.UNKNOWN
    assert "more than 1 instances" in report.reason


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
    assert "(price) has no value" in report.explain()


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
        "changed_by": {"number": 1, "action": "(pick mug table)", "time": None},
        "numbers": {},
        "because": [],
        "location": {"file": "<domain>", "line": 7, "column": 24},
    }


@pytest.mark.slow
def test_of_many_failures_the_first_thousand_are_reported() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p)) (:action a :precondition (p) :effect (p)))"
    )
    validator = Validator(
        domain, parse_problem("(define (problem x) (:domain d) (:init) (:goal (p)))", domain)
    )
    report = validator.check([GroundAction("a")] * 2000, on_failure=OnFailure.SKIP)
    assert len(report.failures) == 1000
    assert report.notes == ("stopped after 1000 failures",)


def test_forced_steps_keep_their_numbers_after_a_violated_constraint() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p) (q))"
        " (:action a :precondition (p) :effect (q)) (:action b :effect (not (q))))"
    )
    text = """(define (problem x) (:domain d) (:init)
        (:goal (q)) (:constraints (always (not (q)))))"""
    validator = Validator(domain, parse_problem(text, domain))
    plan = [GroundAction(name) for name in "bababa"]
    report = validator.check(plan, on_failure=OnFailure.FORCE)
    found = [(failure.kind, failure.step) for failure in report.failures]
    assert found == [
        (FailureKind.PRECONDITION, 2),
        (FailureKind.CONSTRAINT, 2),
        (FailureKind.PRECONDITION, 4),
        (FailureKind.PRECONDITION, 6),
    ]


def test_a_metric_too_large_to_compute_leaves_the_question_open() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p)) (:functions (f)) (:action a :effect (p)))"
    )
    big = "9" * 900
    product = "(* (f) (f) (f) (f) (f) (f))"
    text = f"""(define (problem x) (:domain d) (:init (= (f) {big}))
        (:goal (p)) (:metric minimize {product}))"""
    report = Validator(domain, parse_problem(text, domain)).check_file("(a)")
    assert report.outcome is Outcome.UNKNOWN
    assert "bits" in report.reason


def test_a_plan_that_cannot_be_decided_leaves_nothing_behind_for_the_next() -> None:
    """The undecided plan's steps lead to a state with derived atoms that are too expensive."""
    square = "(* (* (x) (x)) (* (x) (x)))"
    domain = parse_domain(
        f"""(define (domain d) (:predicates (p) (q) (large)) (:functions (x))
        (:derived (large) (> (* {square} {square}) 5))
        (:action grow :effect (assign (x) 1{"0" * 900})) (:action shrink :effect (assign (x) 1))
        (:action add :effect (p)) (:action delete :effect (not (p))))"""
    )
    text = "(define (problem x) (:domain d) (:init (= (x) 1)) (:goal (p)))"
    problem = parse_problem(text, domain)
    plans = ["(add) (delete)", "(add) (grow) (shrink) (delete)", "(add) (delete)", "", "(delete)"]
    validator = Validator(domain, problem)
    for plan in plans:
        report = validator.check_file(plan)
        assert report == Validator(domain, problem).check_file(plan)
        assert report == validator.check(read_plan(plan).steps)
        assert report.outcome is (Outcome.UNKNOWN if "grow" in plan else Outcome.INVALID)


def test_steps_to_blame_are_placed_in_the_plan_that_is_judged() -> None:
    """The places are not taken from a plan judged earlier."""
    domain = parse_domain(
        """(define (domain d) (:predicates (p) (q))
        (:action add :effect (p)) (:action take :precondition (p) :effect (not (p))))"""
    )
    problem = parse_problem("(define (problem x) (:domain d) (:init) (:goal (p)))", domain)
    validator = Validator(domain, problem)
    for text in ("(add) (take)", "\n(add) (take) (take)", "(add)\n\n(add)\n(take)", "(add)(take)"):
        for file in ("one", "two"):
            reports = (
                validator.check(read_plan(text, file=file).steps),
                validator.check_file(text, file=file),
            )
            for report in reports:
                ref = report.failures[0].literals[0].changed_by
                place = SourceText(text, file).location(text.index("(take)"))
                assert ref is not None
                assert ref.action is not None
                assert ref.action.location == place


@pytest.mark.parametrize(
    ("domain", "feature"),
    [
        ("(:predicates (p)) (:action a :effect (probabilistic 0.5 (p)))", "probabilistic effects"),
        ("(:predicates (p)) (:action a :effect (oneof (p) (not (p))))", "nondeterministic effects"),
        ("(:predicates (p) (:private ?a (q)))", "private predicates"),
        ("(:predicates (p)) (:action a :agent ?a :effect (p))", "agents of actions"),
        ("(:predicates (p)) (:action a :observe (p))", "sensing actions"),
    ],
)
def test_languages_beside_pddl_are_named(domain: str, feature: str) -> None:
    with pytest.raises(UnsupportedPddlError, match=f"{feature}.* are not supported"):
        parse_domain(f"(define (domain d) {domain})")


@pytest.mark.parametrize(
    ("init", "feature"),
    [
        ("(p) (oneof (q) (not (q)))", "alternative initial states"),
        ("(and (p) (or (q) (p)))", "alternative initial states"),
        ("(and (unknown (q)))", "unknown facts"),
        ("(probabilistic 0.5 (q))", "probabilistic initial states"),
    ],
)
def test_uncertain_initial_states_are_named(init: str, feature: str) -> None:
    domain = parse_domain("(define (domain d) (:predicates (p) (q)))")
    with pytest.raises(UnsupportedPddlError, match=f"{feature}.* are not supported"):
        parse_problem(f"(define (problem x) (:domain d) (:init {init}) (:goal (p)))", domain)


def test_a_predicate_may_have_the_name_of_an_effect_of_another_language() -> None:
    domain = parse_domain("(define (domain d) (:predicates (oneof)) (:action a :effect (oneof)))")
    assert "oneof" in domain.predicates
