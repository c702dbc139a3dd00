"""Tasks, states and grounding: cases that the laws on small worlds do not cover."""

import pickle
from fractions import Fraction

import pytest

from hvr.errors import PddlSemanticError, UnknownObjectError
from hvr.pddl import (
    Atom,
    FunctionTerm,
    GroundAction,
    GroundingLimitError,
    State,
    Task,
    TimedAction,
    TypedName,
    UndefinedValueError,
    applicable_actions,
    ground_all,
    parse_domain,
    parse_formula,
    parse_problem,
    print_domain,
)
from hvr.pddl.reader import Location
from tests.work import lines_run

ROADS = """
(define (domain roads) (:requirements :adl :action-costs)
  (:types place thing)
  (:predicates (road ?a ?b - place) (at ?t - thing ?p - place) (locked ?t - thing))
  (:functions (total-cost) (length ?a ?b - place))
  (:action drive :parameters (?t - thing ?a ?b - place)
    :precondition (and (and (road ?a ?b)) (not (= ?a ?b)) (at ?t ?a) (not (locked ?t)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (length ?a ?b)))))
"""


def roads(count: int, extra: str = "") -> Task:
    domain = parse_domain(ROADS)
    places = " ".join(f"p{i}" for i in range(count))
    edges = " ".join(f"(road p{i} p{i + 1}) (road p{i} p{i})" for i in range(count - 1))
    text = (
        f"(define (problem r) (:domain roads) (:objects {places} - place t1 t2 - thing)"
        f" (:init (at t1 p0) (at t2 p1) {edges} {extra}) (:goal (at t1 p1)))"
    )
    return Task(domain, parse_problem(text, domain))


def test_static_facts_are_looked_up_and_not_stored() -> None:
    task = roads(4)
    assert task.is_static("road")
    assert task.is_static("locked")
    assert not task.is_static("at")
    assert task.initial.atoms() == {Atom("at", ("t1", "p0")), Atom("at", ("t2", "p1"))}
    assert Atom("road", ("p0", "p1")) in task.initial.atoms(static=True)
    assert Atom("road", ("p0", "p1")) in task.initial
    assert Atom("road", ("p3", "p0")) not in task.initial


def test_grounding_joins_static_facts() -> None:
    task = roads(400)
    actions = list(ground_all(task))
    # 2 objects on 399 roads; the inequality prunes the loops. All triples would be 320000.
    assert len(actions) == 2 * 399
    assert list(applicable_actions(task.initial)) == [
        GroundAction("drive", ("t1", "p0", "p1")),
        GroundAction("drive", ("t2", "p1", "p2")),
    ]
    assert lines_run(lambda: list(ground_all(task))) < 320_000


def test_quantifiers_over_static_facts_have_few_instances() -> None:
    task = roads(400)
    task.instance_limit = 1000
    task.goal.holds(task.initial.bits)
    text = "(exists (?a ?b ?c - place) (and (road ?a ?b) (road ?b ?c) (at t1 ?c) (not (= ?a ?b))))"
    formula = parse_formula(text, task.domain, task.problem.objects)
    assert not task.initial.holds(formula)
    text = "(forall (?a ?b - place) (imply (road ?a ?b) (not (at t2 ?a))))"
    assert not task.initial.holds(parse_formula(text, task.domain, task.problem.objects))
    text = "(exists (?a ?b - place) (and (at t1 ?a) (at t2 ?b)))"
    with pytest.raises(GroundingLimitError, match="1000 instances"):
        task.initial.holds(parse_formula(text, task.domain, task.problem.objects))


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        ("drve t1 p0 p1", PddlSemanticError, "no action 'drve'; did you mean 'drive'"),
        ("drive t1 p0", PddlSemanticError, "takes 3 arguments, not 2"),
        ("drive t1 p0 p9", UnknownObjectError, "no object 'p9'"),
        ("drive p0 t1 p1", PddlSemanticError, "'p0' is of type place"),
    ],
)
def test_actions_that_do_not_fit(action: str, error: type[Exception], words: str) -> None:
    name, *args = action.split()
    with pytest.raises(error, match=words.replace("(", r"\(")):
        roads(3).ground(GroundAction(name, tuple(args)))


def test_numbers_change_with_the_steps() -> None:
    task = roads(3, "(= (length p0 p1) 2.5)")
    first = task.ground(GroundAction("drive", ("t1", "p0", "p1")))
    values = first.apply_numbers(task.initial.bits, task.initial.values)
    after = State(task, first.apply(task.initial.bits, task.initial.values), values)
    # The constant (length …) is not part of a state; (total-cost) starts at 0.
    assert task.initial.numbers() == {FunctionTerm("total-cost"): 0}
    assert after.numbers() == {FunctionTerm("total-cost"): Fraction(5, 2)}
    second = task.ground(GroundAction("drive", ("t1", "p1", "p2")))
    with pytest.raises(UndefinedValueError, match=r"\(length p1 p2\) has no value"):
        second.apply_numbers(after.bits, after.values)


def test_an_atom_deleted_and_added_is_true() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p) (q))"
        " (:action both :effect (and (p) (not (p)) (when (p) (not (q))) (when (q) (q)))))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:init (p) (q)) (:goal (and)))", domain
    )
    task = Task(domain, problem)
    after = task.ground(GroundAction("both")).apply(task.initial.bits)
    assert State(task, after).atoms() == {Atom("p"), Atom("q")}


def test_all_effects_of_one_condition_happen() -> None:
    domain = parse_domain(
        "(define (domain d) (:predicates (p) (q) (r) (s))"
        " (:action a :effect (when (p) (and (q) (not (p)) (when (r) (not (r))) (s)))))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:init (p) (r)) (:goal (and)))", domain
    )
    task = Task(domain, problem)
    after = task.ground(GroundAction("a")).apply(task.initial.bits)
    assert State(task, after).atoms() == {Atom("q"), Atom("s")}


def test_thousands_of_parameters() -> None:
    names = " ".join(f"?v{i}" for i in range(3000))
    domain = parse_domain(
        "(define (domain d) (:predicates (p ?x))"
        f" (:action a :parameters ({names}) :effect (p ?v0)))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects o) (:init) (:goal (p o)))", domain
    )
    (action,) = ground_all(Task(domain, problem))
    assert len(action.args) == 3000
    assert parse_domain(print_domain(domain)) == domain


def test_objects_of_several_types_belong_to_each() -> None:
    domain = parse_domain(
        "(define (domain d) (:types a b c) (:predicates (p ?x - a) (q ?x - b))"
        " (:action f :parameters (?x - (either a b)) :effect (and)))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects o - (either a b) n - c)"
        " (:init (p o) (q o)) (:goal (and)))",
        domain,
    )
    assert list(ground_all(Task(domain, problem))) == [GroundAction("f", ("o",))]


def test_a_free_variable_is_an_error() -> None:
    with pytest.raises(PddlSemanticError, match=r"\?x is not bound"):
        roads(2).initial.holds(Atom("at", ("?x", "p0")))


def test_states_can_be_pickled() -> None:
    task = roads(3)
    copy = pickle.loads(pickle.dumps(task.initial))
    assert copy.atoms(static=True) == task.initial.atoms(static=True)
    assert copy == copy.task.initial
    assert repr(copy) == "<State with 2 true fluents>"


def test_values_that_come_in_masses_are_small_and_can_be_pickled_and_changed() -> None:
    action = GroundAction("go", ("a", "b"), Location("plan", 1, 2))
    for value in (
        Atom("at", ("a",)),
        action,
        TimedAction(action, Fraction(1), Fraction(2)),
        TypedName("a", ("room",)),
        FunctionTerm("fuel", ("a",)),
    ):
        assert not hasattr(value, "__dict__")
        copy = pickle.loads(pickle.dumps(value))
        assert copy == value == value.replace()
        assert repr(copy) == repr(value)
        with pytest.raises(AttributeError, match="cannot be changed"):
            copy.args = ()
    assert pickle.loads(pickle.dumps(action)).location == action.location


def test_joins_keep_to_the_type_of_the_variable() -> None:
    domain = parse_domain(
        "(define (domain d) (:types a b) (:predicates (mark ?x) (done ?x))"
        " (:action f :parameters (?x - a) :precondition (mark ?x) :effect (done ?x)))"
    )
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects o o2 - a n - b)"
        " (:init (mark o) (mark n) (done o)) (:goal (and)))",
        domain,
    )
    task = Task(domain, problem)
    assert list(ground_all(task)) == [GroundAction("f", ("o",))]
    assert list(applicable_actions(task.initial)) == [GroundAction("f", ("o",))]
    for text, true in [
        ("(forall (?x - a) (imply (mark ?x) (done ?x)))", True),
        ("(forall (?x) (imply (mark ?x) (done ?x)))", False),
        ("(exists (?x - a) (and (mark ?x) (not (done ?x))))", False),
        ("(exists (?x - b) (and (mark ?x) (not (done ?x))))", True),
    ]:
        assert task.initial.holds(parse_formula(text, domain, problem.objects)) == true
