"""Derived predicates: least fixpoints, negation between strata, and their explanations."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl import Atom, Domain, GroundAction, Problem, Task, parse_domain, parse_problem
from hvr.validation import FailureKind, OnFailure, Validator

DOMAIN = """
(define (domain net) (:requirements :derived-predicates :adl :fluents)
  (:types server - node node)
  (:predicates (link ?a ?b - node) (up ?n - node) (reach ?a ?b - node) (alone ?n - node)
    (whole) (rich) (known ?n - node))
  (:functions (load ?n - node))
  (:derived (reach ?a ?b) (and (link ?a ?b) (up ?a) (up ?b)))
  (:derived (reach ?a ?b) (exists (?c - node) (and (reach ?a ?c) (reach ?c ?b))))
  (:derived (alone ?n) (and (up ?n) (not (exists (?m - node) (reach ?n ?m)))))
  (:derived (whole) (forall (?n - node) (imply (up ?n) (not (alone ?n)))))
  (:derived (rich) (exists (?n - node) (> (load ?n) 5)))
  (:derived (known ?n - server) (up ?n))
  (:action cut :parameters (?a ?b - node) :precondition (reach ?a ?b)
    :effect (and (not (link ?a ?b)) (increase (load ?a) 3)))
  (:action join :parameters (?a ?b - node) :effect (link ?a ?b))
  (:action switch :parameters (?n - node) :effect (when (alone ?n) (not (up ?n)))))
"""


def task(init: str, goal: str = "()") -> tuple[Domain, Problem]:
    domain = parse_domain(DOMAIN)
    text = (
        "(define (problem p) (:domain net) (:objects a b c - node s - server)"
        f" (:init {init}) (:goal {goal}))"
    )
    return domain, parse_problem(text, domain)


SQUARE = "(* (* (* (x) (x)) (* (x) (x))) (* (* (x) (x)) (* (x) (x))))"
ALL_UP = "(up a) (up b) (up c) (= (load c) 0)"
RING = f"{ALL_UP} (link a b) (link b c) (link c a) (= (load a) 0) (= (load b) 0)"


def names(validator: Validator, predicate: str) -> set[str]:
    return {"".join(a.args) for a in validator.state.atoms() if a.predicate == predicate}


def step(name: str, *args: str) -> GroundAction:
    return GroundAction(name, args)


def test_recursion_through_a_cycle() -> None:
    validator = Validator(*task(RING))
    assert names(validator, "reach") == {x + y for x in "abc" for y in "abc"}
    assert validator.apply(step("cut", "c", "a")).ok
    assert names(validator, "reach") == {"ab", "ac", "bc"}
    # Atoms derived from the link are gone, even if they also support themselves.
    assert names(validator, "alone") == {"c"}
    validator.undo()
    assert len(names(validator, "reach")) == 9


def test_nothing_supports_itself() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p) (q) (r)) (:derived (p) (q)) (:derived (q) (p))"
        " (:action a :precondition (p) :effect (r)))"
    )
    problem = parse_problem("(define (problem x) (:domain d) (:init) (:goal (q)))", domain)
    assert not Validator(domain, problem).apply(step("a")).ok


def test_negation_between_strata() -> None:
    validator = Validator(*task(f"{ALL_UP} (link a b) (link b a)"))
    assert names(validator, "alone") == {"c"}
    assert Atom("whole") not in validator.state
    assert validator.apply(step("switch", "c")).ok
    assert Atom("whole") in validator.state


def test_steps_report_derived_atoms_among_what_they_change() -> None:
    validator = Validator(*task(f"{ALL_UP} (link a b)"))
    report = validator.apply(step("join", "b", "a"))
    assert Atom("reach", ("b", "b")) in report.added
    assert Atom("alone", ("b",)) in report.deleted


def test_rules_read_numbers() -> None:
    validator = Validator(*task(RING))
    for first, second in ("ab", "bc"):
        assert Atom("rich") not in validator.state
        validator.apply(step("cut", first, second))
    validator.apply(step("join", "a", "b"))
    validator.apply(step("cut", "a", "b"))
    assert Atom("rich") in validator.state


def test_a_rule_for_a_subtype_says_nothing_about_others() -> None:
    validator = Validator(*task("(up a) (up s)"))
    assert names(validator, "known") == {"s"}


@pytest.mark.parametrize("goal", ["(reach a c)", "(whole)", "(not (alone a))"])
def test_unmet_derived_atoms_are_explained_by_their_rules(goal: str) -> None:
    validator = Validator(*task(RING, goal))
    validator.apply(step("cut", "a", "b"))
    failure = validator.goal_failure()
    assert failure is not None
    assert failure.kind is FailureKind.GOAL
    (literal,) = failure.literals
    assert literal.changed_by is not None
    assert literal.changed_by.number == 1
    assert literal.because
    assert "(link a b)" in failure.explain() or "reach" in failure.explain()


def test_names_of_outer_variables_may_come_again() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p ?x) (q ?x) (r ?x)) (:derived (r ?x)"
        " (and (p ?x) (exists (?x) (and (q ?x) (not (p ?x)))))) (:action a :effect (p k))"
        " (:constants k))"
    )
    text = "(define (problem x) (:domain d) (:objects m n) (:init (p m) (q n)) (:goal (r m)))"
    validator = Validator(domain, parse_problem(text, domain))
    assert validator.goal_holds()
    assert names(validator, "r") == {"m"}


def test_reasons_that_are_read_late_are_those_of_the_time_of_the_verdict() -> None:
    world = task(f"{ALL_UP} (link a b) (= (load a) 0) (= (load b) 0)", "(and (reach a c) (whole))")
    validator = Validator(*world)
    plan = [step("cut", "a", "b"), step("join", "b", "c")]
    late = validator.check(plan)
    now = Validator(*world).check(plan)
    written = now.to_json()
    for action in (step("join", "b", "c"), step("join", "c", "a"), step("cut", "a", "b")):
        assert validator.apply(action).ok
    assert late.to_json() == written
    assert late == now
    assert pickle.loads(pickle.dumps(late)) == now
    assert late.failures[0].literals[0].because


ACTIONS = [step("join", a, b) for a in "abc" for b in "abc"]
ACTIONS += [step("cut", a, b) for a in "abc" for b in "abc" if a != b]
ACTIONS += [step("switch", n) for n in "abc"]
# Favour steps that are always executable, so that plans get far before they fail.
STEPS = st.sampled_from([*ACTIONS, *(ACTIONS[:9] * 20)])
EDITS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 3), STEPS), min_size=1, max_size=6)


@pytest.mark.slow
@given(
    st.lists(STEPS, min_size=60, max_size=90),
    EDITS,
    st.sampled_from(["(whole)", "(reach a c)", "(rich)", "()", "(not (reach a a))"]),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_a_plan_that_changes_by_a_step_is_judged_like_a_new_one(
    plan: list[GroundAction], edits: list[tuple[int, int, GroundAction]], goal: str, as_text: bool
) -> None:
    world = task(RING, goal)
    validator = Validator(*world)

    def judged(by: Validator) -> object:
        text = "\n".join(map(str, plan))
        report = by.check_file(text) if as_text else by.check(plan)
        return report.to_json()

    for place, what, action in ((0, 3, plan[0]), *edits):
        if what == 0:
            plan.insert(place, action)
        elif what == 1:
            del plan[place : place + 1]
        elif what == 2:
            plan[place : place + 1] = [action]
        else:
            del plan[max(place, 55) :]
            plan += [action] * 3
        assert judged(validator) == judged(Validator(*world))


def test_the_reasons_of_derived_atoms_are_those_of_the_time_of_the_failure() -> None:
    """The reasons stay correct even if the run continues and later steps change the causes."""
    domain = parse_domain(
        """(define (domain d) (:predicates (p) (r) (open))
        (:derived (open) (and (p) (r)))
        (:durative-action try :parameters () :duration (= ?duration 1)
          :condition (at start (open)) :effect (at start (r)))
        (:durative-action shut :parameters () :duration (= ?duration 1)
          :condition () :effect (and (at start (not (p))) (at end (not (r))))))"""
    )
    problem = parse_problem("(define (problem x) (:domain d) (:init (p)) (:goal (open)))", domain)
    text = "0: (try) [1]  2: (shut) [1]  4: (try) [1]"
    for mode in (OnFailure.SKIP, OnFailure.FORCE):
        report = Validator(domain, problem).check_file(text, on_failure=mode)
        by = [
            {str(one.formula): one.changed_by for one in failure.literals[0].because}
            for failure in report.failures[:2]
        ]
        assert by[0] == {"(r)": None}
        assert {atom: ref and ref.number for atom, ref in by[1].items()} == {
            "(p)": 2,
            "(r)": 2 if mode is OnFailure.FORCE else None,
        }


@pytest.mark.parametrize(
    ("formula", "steps"),
    [
        ("(exists (?a ?b ?c ?d) (and (r ?a ?b) (r ?b ?c) (r ?c ?d) (or (r ?d ?a) (p))))", ""),
        (f"(and (p) (> {SQUARE} 3))", "(grow)"),
    ],
)
@pytest.mark.parametrize("mode", OnFailure)
def test_reasons_that_cannot_be_told_leave_the_verdict(
    formula: str, steps: str, mode: OnFailure
) -> None:
    """Computing them raises nothing, and the atom's truth was known without them."""
    domain = parse_domain(
        f"""(define (domain d) (:predicates (p) (q) (r ?x ?y) (seen)) (:functions (x))
        (:derived (seen) {formula})
        (:action link :parameters (?x ?y) :effect (r ?x ?y)) (:action shrink :effect (assign (x) 1))
        (:action grow :effect (assign (x) 1{"0" * 900}))
        (:action use :precondition (seen) :effect (q))
        (:action try :precondition {formula} :effect (q)))"""
    )
    text = """(define (problem x) (:domain d) (:objects a b c d) (:init (= (x) 1))
        (:goal (and (q) (seen))))"""
    task = Task(domain, parse_problem(text, domain), instance_limit=100)
    for step in ("(use)", "(try)"):
        report = Validator(task).check_file(f"{steps}{step}", on_failure=mode)
        assert report.to_json()["outcome"] in ("invalid", "unknown")
        assert pickle.loads(pickle.dumps(report)) == report
        assert report.explain()
