"""Laws: printing and parsing are inverse; the compiled semantics is the plain one."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pddl_strategies import Naive, World, all_actions, formulas, ground_atoms, worlds

from hvr.pddl import (
    And,
    Atom,
    Formula,
    GroundAction,
    Imply,
    Not,
    Or,
    Problem,
    State,
    Task,
    applicable_actions,
    atoms_of,
    ground_all,
    holds,
    parse_domain,
    parse_formula,
    parse_plan,
    parse_problem,
    plan_from_json,
    plan_to_json,
    print_domain,
    print_formula,
    print_plan,
    print_problem,
    substitute,
)

law = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@given(worlds())
@law
def test_printed_domain_and_problem_parse_to_equal_values(world: World) -> None:
    domain = parse_domain(print_domain(world.domain))
    assert domain == world.domain
    problem = parse_problem(print_problem(world.problem), domain)
    assert problem == world.problem
    assert print_domain(domain) == print_domain(world.domain)
    assert print_problem(problem) == print_problem(world.problem)


@given(worlds(), st.data())
@law
def test_printed_formula_parses_to_an_equal_one(world: World, data: st.DataObject) -> None:
    objects = (*world.domain.constants, *world.problem.objects)
    formula = data.draw(formulas(world.domain, (), objects, depth=4))
    for text in (str(formula), print_formula(formula), print_formula(formula, indent=90)):
        assert parse_formula(text, world.domain, world.problem.objects) == formula


names = st.from_regex(r"[a-z][a-z0-9_\-]{0,6}", fullmatch=True)
actions = st.builds(GroundAction, names, st.lists(names, max_size=4).map(tuple))


@given(st.lists(actions).map(tuple), st.one_of(st.none(), st.integers(0, 99)))
@law
def test_printed_plan_parses_to_an_equal_one(
    plan: tuple[GroundAction, ...], cost: int | None
) -> None:
    assert parse_plan(print_plan(plan, cost)) == plan
    assert plan_from_json(plan_to_json(plan)) == plan


@given(worlds(), st.data())
@law
def test_compiled_semantics_is_the_plain_one(world: World, data: st.DataObject) -> None:
    task, naive = Task(world.domain, world.problem), Naive(world)
    every = ground_atoms(world.domain, (*world.domain.constants, *world.problem.objects))
    plain = world.problem.init
    state = task.initial
    candidates = all_actions(world)
    for _ in range(4):
        assert state.atoms(static=True) == plain
        assert holds(state, world.problem.goal) == naive.holds(plain, world.problem.goal, {})
        assert all(holds(state, atom) == (atom in plain) for atom in every)
        possible = {a for a in candidates if naive.step(plain, a) is not None}
        assert {a for a in candidates if task.ground(a).applicable(state.bits)} == possible
        listed = list(applicable_actions(state))
        assert set(listed) == possible
        assert len(listed) == len(possible)
        if not possible:
            return
        action = data.draw(st.sampled_from(sorted(possible, key=str)))
        result = naive.step(plain, action)
        assert result is not None
        operator = task.ground(action)
        assert operator.cost(state.bits) == Fraction(result[1])
        plain, state = result[0], State(task, operator.apply(state.bits))


@given(worlds())
@law
def test_ground_all_has_every_action_that_is_applicable_anywhere(world: World) -> None:
    task, naive = Task(world.domain, world.problem), Naive(world)
    listed = list(ground_all(task))
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(all_actions(world))
    every = ground_atoms(world.domain, (*world.domain.constants, *world.problem.objects))
    static = {a for a in world.problem.init if task.is_static(a.predicate)}
    fluents = [a for a in every if not task.is_static(a.predicate)]
    # Some states of every kind: none, all, and each fluent alone.
    for true in ([], fluents, *([f] for f in fluents)):
        state = frozenset(static.union(true))
        for action in all_actions(world):
            if naive.step(state, action) is not None:
                assert action in listed


@given(worlds(), st.data())
@law
def test_substitution_of_all_variables_leaves_none(world: World, data: st.DataObject) -> None:
    naive = Naive(world)
    candidates = all_actions(world)
    if not candidates:
        return
    action = data.draw(st.sampled_from(candidates))
    schema = world.domain.actions[action.name]
    binding = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
    ground = substitute(schema.precondition, binding)
    init = world.problem.init
    assert naive.holds(init, ground, {}) == naive.holds(init, schema.precondition, binding)


@given(worlds())
@law
def test_a_state_is_rebuilt_from_its_atoms(world: World) -> None:
    task = Task(world.domain, world.problem)
    assert task.state(task.initial.atoms()) == task.initial
    assert hash(task.state(task.initial.atoms(static=True))) == hash(task.initial)
    assert task.initial.atoms() <= world.problem.init
    for atom in atoms_of(world.problem.goal):
        assert isinstance(atom, Atom)


LIGHTS = parse_domain(
    "(define (domain d) (:predicates (a) (b) (c) (d)) (:action all :effect (and (a) (b) (c) (d))))"
)
SWITCHES = [Atom(name) for name in "abcd"]


def combine(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(inner, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Not, inner),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Imply, inner, inner),
    )


@given(st.recursive(st.sampled_from(SWITCHES), combine, max_leaves=20))
@example(Or((And((SWITCHES[0], Or((SWITCHES[1], Not(SWITCHES[2]))))), SWITCHES[3])))
@law
def test_compiled_propositional_formula_in_every_state(formula: Formula) -> None:
    problem = Problem("q", "d")
    task, naive = Task(LIGHTS, problem), Naive(World(LIGHTS, problem))
    for count in range(5):
        for true in combinations(SWITCHES, count):
            expected = naive.holds(frozenset(true), formula, {})
            assert task.state(true).holds(formula) == expected


def test_a_state_is_immutable() -> None:
    domain = parse_domain("(define (domain d) (:predicates (p)) (:action a :effect (p)))")
    task = Task(
        domain, parse_problem("(define (problem q) (:domain d) (:init) (:goal (p)))", domain)
    )
    with pytest.raises(AttributeError):
        task.initial.bits = 1
    assert Atom("p") not in task.initial
    assert task.initial != "something else"
