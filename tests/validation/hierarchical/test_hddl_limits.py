"""Deep and long plans, conditions of 10,000 levels, and their memory."""

import tracemalloc

import pytest

from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.validation.hierarchical.verifier import DecompositionVerifier

LEVELS = 10_000
STEPS = 3_000
"""Large enough for the plan to dominate the memory."""
DOMAIN = """(define (domain d) (:requirements :hierarchy :adl) (:predicates (p ?a ?b) (q ?a))
  (:task t :parameters (?a))
  (:method more :parameters (?a ?b) :task (t ?a) :precondition PRECONDITION
    :ordered-subtasks (and (m ?a ?b) (t ?a)) :constraints CONSTRAINT)
  (:method none :parameters (?a) :task (t ?a) :ordered-subtasks ())
  (:action m :parameters (?a ?b) :precondition (q ?a) :effect (p ?a ?b)))"""
PROBLEM = """(define (problem x) (:domain d) (:objects OBJECTS)
  (:htn :ordered-subtasks (and FIRST)) (:init (q o0)))"""


def verifier(
    first: str, precondition: str = "(q ?a)", constraint: str = "(= ?a ?a)"
) -> DecompositionVerifier:
    """Return a verifier for a problem with the given initial tasks."""
    text = DOMAIN.replace("PRECONDITION", precondition).replace("CONSTRAINT", constraint)
    domain = parse_hddl_domain(text)
    objects = " ".join(f"o{i}" for i in range(100))
    problem = PROBLEM.replace("OBJECTS", objects).replace("FIRST", first)
    return DecompositionVerifier(domain, parse_hddl_problem(problem, domain))


def deep(count: int) -> str:
    """Return a plan in which each task decomposes into an action and another task."""
    actions = [f"{i} m o0 o{i % 100}" for i in range(count)]
    tasks = [f"{count + i} t o0 -> more {i} {count + i + 1}" for i in range(count)]
    last = f"{2 * count} t o0 -> none"
    return "\n".join(["==>", *actions, f"root {count}", *tasks, last, "<=="])


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [True, False])
def test_a_plan_takes_at_most_20_times_its_size(ordered: bool) -> None:
    if ordered:
        judge, text = verifier("(t o0)"), deep(STEPS)
    else:
        judge = verifier(" ".join(f"(m o0 o{i % 100})" for i in range(STEPS)))
        actions = [f"{i} m o0 o{i % 100}" for i in range(STEPS)]
        text = "\n".join(["==>", *actions, "root " + " ".join(map(str, range(STEPS))), "<=="])
    tracemalloc.start()
    try:
        report = judge.check_file(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.valid
    assert peak <= 20 * len(text)
    # Lazily created parts are complete.
    count = STEPS + 2 if ordered else 1
    assert len(report.certificate) == len([*report.certificate]) == count
    assert report.certificate[0].method == ""


@pytest.mark.slow
@pytest.mark.parametrize(("fact", "valid"), [("(q ?a)", True), ("(q ?b)", False)])
def test_deep_preconditions_of_methods_are_judged(fact: str, valid: bool) -> None:
    nested = "(or (p ?b ?a) (and (q ?a) " * (LEVELS // 2) + fact + "))" * (LEVELS // 2)
    plan = "==>\n0 m o0 o1\nroot 1\n1 t o0 -> more 0 2\n2 t o0 -> none\n<==\n"
    assert verifier("(t o0)", nested).check_file(plan).valid == valid


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "valid"), [(LEVELS, True), (LEVELS + 1, False)])
def test_deep_constraints_of_methods_are_judged(levels: int, valid: bool) -> None:
    constraint = "(not " * levels + "(= ?a ?a)" + ")" * levels
    plan = "==>\n0 m o0 o1\nroot 1\n1 t o0 -> more 0 2\n2 t o0 -> none\n<==\n"
    assert verifier("(t o0)", constraint=constraint).check_file(plan).valid == valid
