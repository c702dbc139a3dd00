"""The metrics, against hand-computed values."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.bench.metrics import (
    BlockVerification,
    block_verification,
    execution_success,
    expanded_plan_verification,
    goal_condition_success,
    length_discrepancy,
    macro_plan_verification,
)
from hvr.pddl import Atom, Task, parse_domain, parse_formula, parse_problem
from hvr.planning.plans import MacroAction
from hvr.policies.llm.record import BlockRecord, MacroCheck


def test_execution_success() -> None:
    assert execution_success(1.0, 25, 29) == pytest.approx(0.862, abs=1e-3)  # table 6, T7
    assert execution_success(1.0, 32, 36) == pytest.approx(0.8889, abs=1e-4)  # table 12, T10
    assert execution_success(1.0, 0, 8) == 0.0
    assert execution_success(1.0, 35, 8) == 1.0  # a longer plan: capped
    assert execution_success(0.99, 8, 8) is None  # only for correct plans


def test_length_discrepancy() -> None:
    assert length_discrepancy(35, 8) == pytest.approx(3.375)  # table 13, T1 with HVR
    assert length_discrepancy(4, 8) == -0.5  # table 13, T1 with HR
    assert length_discrepancy(8, 8) == 0.0
    assert length_discrepancy(0, 8) == -1.0


def test_expanded_plan_verification() -> None:
    assert expanded_plan_verification(17, 35) == pytest.approx(0.4857, abs=1e-4)  # table 14, T1
    assert expanded_plan_verification(8, 8) == 1.0
    assert expanded_plan_verification(0, 0) == 0.0  # an empty plan is not a success


def test_macro_plan_verification() -> None:
    assert macro_plan_verification(MacroCheck(1, 19)) == pytest.approx(0.0526, abs=1e-4)
    assert macro_plan_verification(MacroCheck(0, 0)) == 0.0
    assert macro_plan_verification(None) is None


def block(before: bool, after: bool | None) -> BlockRecord:
    return BlockRecord(
        macro=MacroAction("do"),
        written=(),
        actions=(),
        verified_before=before,
        verified_after=after,
    )


def test_block_verification() -> None:
    blocks = [block(True, True), block(False, True), block(False, False)]
    assert block_verification(blocks, 3) == BlockVerification(1 / 3, 2 / 3)
    # One macro action was never expanded.
    assert block_verification(blocks, 4) == BlockVerification(0.25, 0.5)
    assert block_verification([block(True, None)], 1) == BlockVerification(1.0, None)
    assert block_verification([], 0) == BlockVerification(0.0, None)
    assert block_verification([], 5) == BlockVerification(0.0, None)


# --- goal conditions ---

DOMAIN = parse_domain(
    """(define (domain d) (:requirements :adl) (:types cup table - object)
  (:predicates (on ?a ?b) (full ?a) (red ?a))
  (:action fill :parameters (?a - cup) :precondition () :effect (full ?a))
  (:action put :parameters (?a ?b) :precondition () :effect (on ?a ?b)))"""
)
NAMES = {"cup": ("c-1", "c-2", "c-3"), "table": ("t-1", "t-2")}
PROBLEM = parse_problem(
    """(define (problem p) (:domain d) (:objects c-1 c-2 c-3 - cup t-1 t-2 - table)
  (:init (red c-2)) (:goal (and)))""",
    DOMAIN,
)
TASK = Task(DOMAIN, PROBLEM)


def share(goal: str, *atoms: Atom) -> float:
    formula = parse_formula(goal, DOMAIN, PROBLEM.objects)
    return goal_condition_success(TASK.state(atoms), formula)


ON = Atom("on", ("c-1", "t-1"))
FULL_1, FULL_2 = Atom("full", ("c-1",)), Atom("full", ("c-2",))


def test_goal_conditions_by_hand() -> None:
    goal = "(exists (?c - cup ?t - table) (and (full ?c) (on ?c ?t)))"
    assert share(goal) == 0.0
    assert share(goal, FULL_1) == 0.5
    assert share(goal, FULL_2, ON) == 0.5  # not one cup that is both
    assert share(goal, FULL_1, ON) == 1.0
    assert share("(and (full c-1) (full c-2) (not (full c-3)))", FULL_1) == pytest.approx(2 / 3)
    assert share("(full c-1)", FULL_1) == 1.0
    assert share("(and)") == 1.0


def test_equalities_restrict_and_do_not_count() -> None:
    two = "(exists (?a ?b - cup) (and (not (= ?a ?b)) (full ?a) (full ?b)))"
    assert share(two, FULL_1) == 0.5
    assert share(two, FULL_1, FULL_2) == 1.0
    assert share("(exists (?t ?u ?v - table) (and (not (= ?t ?u)) (not (= ?u ?v)) "
                 "(not (= ?t ?v)) (red c-2)))") == 0.0  # fmt: skip


def test_static_facts_disjunctions_and_inner_quantifiers_count_as_one_condition() -> None:
    inner = "(or (full ?c) (full c-3)) (exists (?t - table) (on ?c ?t))"
    goal = f"(exists (?c - cup) (and (red ?c) {inner}))"
    assert share(goal, ON) == pytest.approx(1 / 3)
    assert share(goal, FULL_2, ON) == pytest.approx(2 / 3)


def test_a_type_without_objects_cannot_be_met() -> None:
    empty = parse_problem(
        "(define (problem p) (:domain d) (:objects t-1 - table) (:init) (:goal (and)))", DOMAIN
    )
    goal = parse_formula("(exists (?c - cup) (full ?c))", DOMAIN, empty.objects)
    assert goal_condition_success(Task(DOMAIN, empty).initial, goal) == 0.0


@st.composite
def goals(draw: st.DrawFn) -> tuple[list[str], list[Atom]]:
    cups, tables = st.sampled_from(["?a", "?b", "c-1"]), st.sampled_from(["?t", "t-2"])
    literals = st.one_of(
        st.builds("(full {})".format, cups),
        st.builds("(on {} {})".format, cups, tables),
        st.builds("(not (on {} {}))".format, cups, tables),
        st.builds("(or (full {}) (on {} {}))".format, cups, cups, tables),
    )
    parts = draw(st.lists(literals, min_size=1, max_size=6))
    atoms = st.one_of(
        st.builds(lambda c: Atom("full", (c,)), st.sampled_from(NAMES["cup"])),
        st.builds(
            lambda c, t: Atom("on", (c, t)),
            st.sampled_from(NAMES["cup"]),
            st.sampled_from(NAMES["table"]),
        ),
    )
    return parts, draw(st.lists(atoms, max_size=6))


@pytest.mark.slow
@given(goals(), st.booleans())
def test_goal_conditions_are_what_trying_all_bindings_gives(
    case: tuple[list[str], list[Atom]], different: bool
) -> None:
    parts, atoms = case
    restriction = "(not (= ?a ?b))" if different else ""
    goal = f"(exists (?a ?b - cup ?t - table) (and {restriction} {' '.join(parts)}))"
    state, best = TASK.state(atoms), 0
    for a, b, t in product(NAMES["cup"], NAMES["cup"], NAMES["table"]):
        if different and a == b:
            continue
        ground = [p.replace("?a", a).replace("?b", b).replace("?t", t) for p in parts]
        held = [state.holds(parse_formula(g, DOMAIN, PROBLEM.objects)) for g in ground]
        best = max(best, sum(held))
    # The parser folds the same equal conjuncts, so the counts are equal.
    assert share(goal, *atoms) == pytest.approx(best / len(parts))
