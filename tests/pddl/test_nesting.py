"""Formulas, effects and numbers nested to any depth mean the same as their shallow forms."""

import pickle
import tracemalloc

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hvr.errors import PddlSyntaxError
from hvr.pddl import (
    Task,
    holds,
    parse_domain,
    parse_formula,
    parse_problem,
    print_domain,
    print_formula,
    read_plan,
    substitute,
)
from hvr.pddl.formulas import all_free_variables
from hvr.validation import Validator, validate
from hvr.validation.lint import lint

LEVELS, MOST = 600, 10_000

# Contexts of a formula: (yes) is always true, (no) always false. Only `not` changes a value.
AROUND = {
    "(and (yes) ": False,
    "(or (no) ": False,
    "(imply (yes) ": False,
    "(forall (?z - thing) ": False,
    "(exists (?z - thing) ": False,
    "(not ": True,
}
AROUND_EFFECT = ["(and (seen) ", "(when (yes) ", "(forall (?z - thing) "]

LIT = "(exists (?y - thing) (lit ?y))"

DOMAIN = """
(define (domain deep) (:requirements :adl :fluents :durative-actions :derived-predicates)
  (:types thing) (:predicates (yes) (no) (seen) (lit ?x - thing) (shown)) (:functions (level))
  (:derived (shown) DERIVED)
  (:action light :parameters (?x - thing) :precondition CONDITION :effect EFFECT)
  (:action other :effect (and (not (yes)) (no) (increase (level) NUMBER)))
  (:durative-action wait :parameters (?x - thing) :duration (= ?duration 1)
    :condition (and (at start CONDITION) (over all CONDITION)) :effect (at end (seen))))
"""
PROBLEM = """
(define (problem p) (:domain deep) (:objects lamp - thing)
  (:init (yes) (= (level) 1)) (:goal GOAL))
"""
DEEP = settings(
    max_examples=2,
    deadline=None,
    phases=[
        Phase.explicit,
        Phase.generate,
    ],  # shrinking does not help: smaller examples take as long
    suppress_health_check=list(HealthCheck),
)


def nested(around: list[str], inside: str) -> str:
    """Wrap a text in contexts, the first one innermost."""
    return "".join(reversed(around)) + inside + ")" * len(around)


def formulas(base: str) -> st.SearchStrategy[tuple[str, bool]]:
    """Draw formulas of LEVELS levels, and whether their value differs from the base's value."""

    def made(kinds: list[str]) -> tuple[str, bool]:
        around = (kinds * (LEVELS // len(kinds) + 1))[:LEVELS]
        return nested(around, base), sum(AROUND[kind] for kind in around) % 2 == 1

    return st.lists(st.sampled_from(sorted(AROUND)), min_size=2, max_size=40).map(made)


def written(**parts: str) -> tuple[str, str]:
    """Return the texts of a domain and a problem; omitted parts are trivial."""
    texts = {"derived": LIT, "condition": "(yes)", "effect": "(seen)", "goal": "(yes)"}
    domain, problem = DOMAIN, PROBLEM
    for name, text in {**texts, "number": "1", **parts}.items():
        domain = domain.replace(name.upper(), text)
        problem = problem.replace(name.upper(), text)
    return domain, problem


@pytest.mark.slow
@DEEP
@given(formulas("(lit lamp)"), st.booleans())
def test_a_deep_formula_has_the_value_of_a_shallow_one(made: tuple[str, bool], lit: bool) -> None:
    text, flipped = made
    domain_text, problem_text = written(effect="(lit ?x)")
    domain = parse_domain(domain_text)
    problem = parse_problem(problem_text, domain)
    formula = parse_formula(text, domain, problem.objects)
    validator = Validator(Task(domain, problem.replace(goal=formula)))
    if lit:
        (step,) = read_plan("(light lamp)").steps
        assert validator.apply(step).ok
    assert validator.goal_holds() is (lit != flipped)
    assert holds(validator.state, formula) is (lit != flipped)
    failure = validator.goal_failure()
    if lit == flipped:
        assert failure is not None
        named = {str(literal.formula): literal.actual for literal in failure.literals}
        assert named
        assert named.items() <= {"(lit lamp)": lit, "(yes)": True, "(no)": False}.items()
    else:
        assert failure is None


@pytest.mark.slow
@DEEP
@given(formulas("(lit ?x)"))
def test_deep_formulas_are_values(made: tuple[str, bool]) -> None:
    domain = parse_domain(written(condition=made[0])[0])
    formula = domain.actions["light"].precondition
    assert all_free_variables(formula)[id(formula)] == {"?x"}
    again = parse_domain(print_domain(domain))
    assert again.actions["light"].precondition == formula
    assert hash(again.actions["light"].precondition) == hash(formula)
    ground = substitute(formula, {"?x": "lamp"})
    assert ground != formula
    assert str(ground) == str(formula).replace("?x", "lamp")
    assert print_formula(formula).split() != print_formula(ground).split()
    assert repr(formula).count("(") == str(formula).count("(")


@pytest.mark.slow
@DEEP
@given(formulas("(lit ?x)"), st.lists(st.sampled_from(AROUND_EFFECT), min_size=2, max_size=9))
def test_plans_of_deep_domains(made: tuple[str, bool], around: list[str]) -> None:
    condition, flipped = made
    effect = nested((around * LEVELS)[:LEVELS], "(lit ?x)")
    domain, problem = written(effect=effect, goal="(shown)")
    assert validate(domain, problem, "0: (light lamp)\n1: (wait lamp) [1]").valid
    held = written(condition=condition, effect="(lit ?x)", goal="(yes)")
    report = validate(*held, "0: (wait lamp) [1]")
    assert report.valid is flipped
    lint(parse_domain(held[0]))  # must not raise


@pytest.mark.slow
def test_the_deepest_formula_that_is_read() -> None:
    around = (sorted(AROUND) * MOST)[:MOST]
    flipped = sum(AROUND[kind] for kind in around) % 2 == 1
    domain, problem = written(condition=nested(around, "(lit ?x)"), effect="(lit ?x)")
    assert validate(domain, problem, "0: (light lamp)").valid is flipped


@pytest.mark.slow
def test_rules_and_numbers_may_be_deep() -> None:
    turns = ["(exists (?z - thing) ", "(or (no) ", "(and (yes) "]
    rule = nested(turns * (LEVELS // 3), LIT)
    number = nested(["(+ 1 ", "(* 1 "] * (LEVELS // 2), "(level)")
    goal = f"(and (shown) (= (level) {LEVELS // 2 + 2}))"
    domain, problem = written(derived=rule, effect="(lit ?x)", number=number, goal=goal)
    report = validate(domain, problem, "0: (light lamp)\n1: (other)")
    assert report.failure is not None  # (yes) is gone, so the rule does not hold
    assert "(shown)" in {str(literal.formula) for literal in report.failure.literals}
    goal = f"(= (level) {LEVELS // 2 + 2})"
    domain, problem = written(number=number, goal=goal)
    assert validate(domain, problem, "0: (other)").valid


def test_a_value_is_sent_to_another_process_without_its_hash() -> None:
    domain = parse_domain(written()[0])
    formula = domain.actions["other"].effect
    before = len(pickle.dumps(formula))
    hash(formula)
    assert len(pickle.dumps(formula)) == before
    assert pickle.loads(pickle.dumps(formula)) == formula


def test_what_is_far_too_deep_is_refused_with_its_place() -> None:
    text = nested(["(and (yes) ", "(or (no) "] * MOST, "(yes)")
    with pytest.raises(PddlSyntaxError, match="nested more than"):
        parse_formula(text, parse_domain(written()[0]))


def test_lists_that_are_never_closed_take_no_object_each() -> None:
    text = "(define (domain d) (:action a :effect " + "(forall (?x) " * 50_000
    tracemalloc.start()
    with pytest.raises(PddlSyntaxError, match="nested more than"):
        parse_domain(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(text)
