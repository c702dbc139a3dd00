"""Printing and parsing are inverse, and the compiled semantics equals the definitions."""

from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hvr.pddl import (
    TRUE,
    And,
    Atom,
    Domain,
    Formula,
    GroundAction,
    Imply,
    Not,
    Or,
    Problem,
    State,
    Task,
    TimedAction,
    applicable_actions,
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
    read_plan,
    substitute,
)
from hvr.pddl.formulas import walk
from tests.pddl.pddl_strategies import (
    EVERYTHING,
    Names,
    Parts,
    World,
    all_actions,
    formulas,
    ground_atoms,
    law,
    planned,
    same,
    worlds,
)
from tests.reference import Reference
from tests.reference import World as Plain

NUMERIC = Parts(numbers=True, derived=True)


def _places(world: tuple[Domain, Problem]) -> list[object]:
    domain, problem = world
    schemas = [*domain.actions.values(), *domain.durative_actions.values()]
    parts = [e for s in schemas for e in (getattr(s, "precondition", TRUE), s.effect)]
    parts += [s.condition for s in domain.durative_actions.values()]
    parts += [*(rule.body for rule in domain.derived), problem.goal, problem.constraints]
    return [getattr(item, "location", None) for part in parts for item in walk(part)]


@pytest.mark.slow
@given(worlds(EVERYTHING))
@law(30)
def test_comments_in_every_gap_change_neither_the_values_nor_their_places(world: World) -> None:
    # The lexer reads lists with comments word by word, others in few tokens.
    texts = [print_domain(world.domain), print_problem(world.problem)]
    bare = [text.replace(" ", "\n") for text in texts]
    commented = [text.replace("\n", " ; )( not\n") for text in bare]
    domain, other = (parse_domain(text[0]) for text in (bare, commented))
    problem, second = (parse_problem(text[1], domain) for text in (bare, commented))
    assert (other, second) == (domain, problem)
    assert _places((other, second)) == _places((domain, problem))


@pytest.mark.slow
@given(worlds(EVERYTHING))
@law(80)
def test_printed_domain_and_problem_parse_to_equal_values(world: World) -> None:
    domain = parse_domain(print_domain(world.domain))
    assert domain == world.domain
    problem = parse_problem(print_problem(world.problem), domain)
    assert problem == world.problem
    assert print_domain(domain) == print_domain(world.domain)
    assert print_problem(problem) == print_problem(world.problem)


@pytest.mark.slow
@given(worlds(EVERYTHING), st.data())
@law(50)
def test_printed_formula_parses_to_an_equal_one(world: World, data: st.DataObject) -> None:
    objects = (*world.domain.constants, *world.problem.objects)
    formula = data.draw(formulas(Names(world.domain, objects, numbers=True), depth=3))
    for text in (str(formula), print_formula(formula), print_formula(formula, indent=90)):
        assert parse_formula(text, world.domain, world.problem.objects) == formula


names = st.from_regex(r"[a-z][a-z0-9_\-]{0,6}", fullmatch=True)
actions = st.builds(GroundAction, names, st.lists(names, max_size=4).map(tuple))
amounts = st.fractions(min_value=0)
timed = st.builds(TimedAction, actions, amounts, st.one_of(st.none(), amounts))


@pytest.mark.slow
@given(st.lists(actions).map(tuple), st.one_of(st.none(), st.integers(0, 99)))
@law(40)
def test_printed_plan_parses_to_an_equal_one(
    plan: tuple[GroundAction, ...], cost: int | None
) -> None:
    assert parse_plan(print_plan(plan, cost)) == plan
    assert plan_from_json(plan_to_json(plan)) == plan


@pytest.mark.slow
@given(st.lists(timed).map(tuple))
@law(30)
def test_printed_timed_plan_parses_to_an_equal_one(plan: tuple[TimedAction, ...]) -> None:
    assert read_plan(print_plan(plan)).steps == plan


@pytest.mark.slow
@given(planned(NUMERIC))
@law(80)
def test_states_formulas_and_applicable_actions(world: World) -> None:
    reference = world.reference
    plain = reference.initial()
    task = Task(world.domain, world.problem)
    state = task.initial
    candidates = all_actions(world)
    for action in (*world.plan, None):
        assert same(state, plain)
        goal = reference.truth(world.problem.goal, plain, {})
        schemas = world.domain.actions
        possible = set()
        for a in candidates:
            args = dict(zip((p.name for p in schemas[a.name].parameters), a.args, strict=True))
            if reference.truth(schemas[a.name].precondition, plain, args):
                possible.add(a)
        assert holds(state, world.problem.goal) is (goal is True)
        operators = {a: task.ground(a) for a in candidates}
        assert {
            a for a, o in operators.items() if o.applicable(state.bits, state.values)
        } == possible
        listed = list(applicable_actions(state))
        assert set(listed) == possible
        assert len(listed) == len(possible)
        if action not in possible:
            return
        after = reference.step(plain, action)
        if isinstance(after, str):
            return
        operator = operators[action]
        numbers = operator.apply_numbers(state.bits, state.values)
        bits = task.close(operator.apply(state.bits, state.values), numbers)
        plain, state = after, State(task, bits, numbers)


@pytest.mark.slow
@given(worlds())
@law(40)
def test_ground_all_has_every_action_that_is_applicable_anywhere(world: World) -> None:
    task, reference = Task(world.domain, world.problem), world.reference
    listed = list(ground_all(task))
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(all_actions(world))
    every = ground_atoms(world.domain, (*world.domain.constants, *world.problem.objects))
    static = {a for a in world.problem.init if task.is_static(a.predicate)}
    fluents = [a for a in every if not task.is_static(a.predicate)]
    # Extreme states: none, all, and each fluent alone.
    for true in ([], fluents, *([f] for f in fluents)):
        state = Plain(frozenset(static.union(true)), {})
        for action in all_actions(world):
            if reference.step(state, action) != "precondition":
                assert action in listed


@pytest.mark.slow
@given(worlds(Parts(numbers=True)), st.data())
@law(60)
def test_substitution_of_all_variables_leaves_none(world: World, data: st.DataObject) -> None:
    reference = world.reference
    candidates = all_actions(world)
    if not candidates:
        return
    action = data.draw(st.sampled_from(candidates))
    schema = world.domain.actions[action.name]
    binding = dict(zip((p.name for p in schema.parameters), action.args, strict=True))
    ground = substitute(schema.precondition, binding)
    plain = reference.initial()
    assert reference.truth(ground, plain, {}) == reference.truth(
        schema.precondition, plain, binding
    )


@pytest.mark.slow
@given(worlds(NUMERIC))
@law(30)
def test_a_state_is_rebuilt_from_its_atoms(world: World) -> None:
    task = Task(world.domain, world.problem)
    values = task.initial.values
    assert task.state(task.initial.atoms(), values) == task.initial
    assert hash(task.state(task.initial.atoms(static=True), values)) == hash(task.initial)


@pytest.mark.slow
@given(planned(Parts(numbers=True)), st.data())
@law(60)
def test_the_task_of_another_problem_equals_a_new_one(world: World, data: st.DataObject) -> None:
    domain, problem = world.domain, world.problem
    new = Task(domain, problem)
    shared = data.draw(st.booleans())
    init = {a for a in problem.init if shared and new.is_static(a.predicate)}
    numbers = {
        term: number
        for term, number in problem.numeric_init.items()
        if shared and term.function not in new.fluent_functions
    }
    for atom in sorted(problem.init, key=str):
        if data.draw(st.booleans()):
            init.add(atom)
    for term, number in problem.numeric_init.items():
        if data.draw(st.booleans()):
            numbers[term] = number
    earlier = problem.replace(init=frozenset(init), numeric_init=numbers, goal=TRUE)
    first = Task(domain, earlier)
    for action in all_actions(world):
        first.ground(action)
    task = first.with_problem(problem)
    assert not shared or task.parts is first.parts
    states = [each.initial for each in (task, new)]
    for action in (*world.plan, None):
        one, other = states
        assert one.atoms(static=True) == other.atoms(static=True)
        assert one.numbers() == other.numbers()
        assert one.holds(problem.goal) is other.holds(problem.goal)
        assert set(applicable_actions(one)) == set(applicable_actions(other))
        if action is None or not other.task.ground(action).applicable(other.bits, other.values):
            break
        states = [_after(state, action) for state in states]
    assert first.initial.atoms(static=True) == init


def _after(state: State, action: GroundAction) -> State:
    operator, bits, values = state.task.ground(action), state.bits, state.values
    return State(state.task, operator.apply(bits, values), operator.apply_numbers(bits, values))


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


@pytest.mark.slow
@given(st.recursive(st.sampled_from(SWITCHES), combine, max_leaves=20))
@example(Or((And((SWITCHES[0], Or((SWITCHES[1], Not(SWITCHES[2]))))), SWITCHES[3])))
@law()
def test_compiled_propositional_formula_in_every_state(formula: Formula) -> None:
    problem = Problem("q", "d")
    task, reference = Task(LIGHTS, problem), Reference(LIGHTS, problem)
    for count in range(5):
        for true in combinations(SWITCHES, count):
            expected = reference.truth(formula, Plain(frozenset(true), {}), {})
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
