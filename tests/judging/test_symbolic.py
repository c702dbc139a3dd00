"""The symbolic judge: the remaining plan is valid and smallest, and reported gaps are real."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.judging.evidence import ExecutionTrace, execute, holds, reaches
from hvr.judging.reduction import smallest_reduction
from hvr.judging.symbolic import judge
from hvr.judging.verdict import Cause, Edits
from hvr.pddl import GroundAction, parse_domain, parse_plan, parse_problem
from hvr.validation import Validator
from tests.judging.random_tasks import cheapest, random_task
from tests.validation.test_minimise import ACTIONS, WISHES, cases, mixed

LAW = settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)

GRIPPER = """
(define (domain gripper) (:requirements :strips)
  (:predicates (at ?b ?r) (robot ?r) (free) (holds ?b))
  (:action pick :parameters (?b ?r) :precondition (and (at ?b ?r) (robot ?r) (free))
    :effect (and (holds ?b) (not (at ?b ?r)) (not (free))))
  (:action drop :parameters (?b ?r) :precondition (and (holds ?b) (robot ?r))
    :effect (and (at ?b ?r) (free) (not (holds ?b))))
  (:action move :parameters (?r ?s) :precondition (robot ?r)
    :effect (and (robot ?s) (not (robot ?r)))))
"""


def gripper(goal: str = "(at ball b)") -> Validator:
    domain = parse_domain(GRIPPER)
    problem = parse_problem(
        "(define (problem p) (:domain gripper) (:objects ball bag a b c)"
        f"(:init (at ball a) (at bag a) (robot a) (free)) (:goal (and {goal})))",
        domain,
    )
    return Validator(domain, problem)


def fewest(validator: Validator, plan: tuple[GroundAction, ...]) -> int | None:
    """Return the length of the shortest subplan that reaches the goal, by brute force."""
    operators = [validator.task.ground(action) for action in plan]
    for size in range(len(plan) + 1):
        for part in combinations(operators, size):
            if reaches(validator.state, part):
                return size
    return None


@st.composite
def any_plans(draw: st.DrawFn) -> tuple[Validator, tuple[GroundAction, ...]]:
    wishes = draw(st.lists(st.sampled_from(WISHES), min_size=1, max_size=3, unique=True))
    plan = draw(st.lists(st.sampled_from(ACTIONS), max_size=9))
    return mixed(f"(and {' '.join(wishes)})"), tuple(plan)


@pytest.mark.slow
@LAW
@given(any_plans())
def test_brute_force_agrees_on_the_smallest_part(
    case: tuple[Validator, tuple[GroundAction, ...]],
) -> None:
    validator, plan = case
    operators = [validator.task.ground(action) for action in plan]
    reduction = smallest_reduction(validator.state, operators)
    size = fewest(validator, plan)
    assert reduction.proven
    assert (None if reduction.kept is None else len(reduction.kept)) == size
    if reduction.kept is not None:
        assert reaches(validator.state, [operators[i] for i in reduction.kept])
    for removed in reduction.alternatives:
        left = [o for i, o in enumerate(operators) if i not in removed]
        assert len(left) == size and reaches(validator.state, left)


def cheapest_within(
    validator: Validator, plan: tuple[GroundAction, ...], budget: int
) -> tuple[int, int] | None:
    """Return the fewest insertions, then kept steps, by trying every action at every place."""
    task = validator.task
    others = [task.ground(action) for action in ACTIONS]
    layer = {(validator.state.bits, validator.state.values): (0, 0)}
    for place in range(len(plan) + 1):
        for spent in range(budget):
            for mark, cost in [item for item in layer.items() if item[1][0] == spent]:
                for other in others:
                    after = execute(task, other, mark)
                    if after is not None:
                        more = (spent + 1, cost[1])
                        layer[after] = min(layer.get(after, more), more)
        if place == len(plan):
            break
        following = dict(layer)
        for mark, (spent, kept) in layer.items():
            after = execute(task, task.ground(plan[place]), mark)
            if after is not None:
                more = (spent, kept + 1)
                following[after] = min(following.get(after, more), more)
        layer = following
    return min((c for mark, c in layer.items() if holds(task.goal, mark)), default=None)


@pytest.mark.slow
@settings(LAW, max_examples=20)
@given(any_plans(), st.integers(1, 2))
def test_brute_force_agrees_on_the_fewest_steps_to_put_in(
    case: tuple[Validator, tuple[GroundAction, ...]], budget: int
) -> None:
    validator, plan = case
    plan = plan[:5]
    operators = [validator.task.ground(action) for action in plan]
    offers = [[validator.task.ground(action) for action in ACTIONS]] * (len(plan) + 1)
    reduction = smallest_reduction(validator.state, operators, offers=offers, budget=budget)
    best = cheapest_within(validator, plan, budget)
    assert reduction.proven
    if reduction.kept is None:
        assert best is None
        return
    assert (len(reduction.inserted), len(reduction.kept)) == best
    made = []
    for place in range(len(plan) + 1):
        made += [operator for at, operator in reduction.inserted if at == place]
        made += [operators[place]] if place in reduction.kept else []
    assert reaches(validator.state, made)


@pytest.mark.slow
@LAW
@given(cases())
def test_what_is_left_of_a_valid_plan_is_valid_and_loses_no_step_and_no_pair(
    case: tuple[Validator, tuple[GroundAction, ...]],
) -> None:
    validator, plan = case
    verdict = judge(validator, plan)
    assert verdict.valid and verdict.proven and not verdict.missing
    left = verdict.repaired
    assert left == tuple(a for i, a in enumerate(plan, 1) if i not in verdict.removed)
    cost = validator.check(left).cost
    assert cost is not None
    most = validator.task.problem.metric
    sign = -1 if most is not None and most.direction == "maximize" else 1
    for count in (1, 2):
        for gone in combinations(range(len(left)), count):
            report = validator.check([a for i, a in enumerate(left) if i not in gone])
            worse = report.cost is None or sign * report.cost > sign * cost
            assert not report.valid or worse


@pytest.mark.slow
@LAW
@given(any_plans())
def test_a_repaired_plan_is_valid_and_made_of_what_the_verdict_says(
    case: tuple[Validator, tuple[GroundAction, ...]],
) -> None:
    validator, plan = case
    verdict = judge(validator, plan)
    if verdict.repaired is None:
        assert verdict.outcome != "clean"
        return
    assert validator.check(verdict.repaired).valid
    put_in = {}
    for critique in verdict.missing:
        put_in.setdefault(critique.index, []).extend(critique.actions)
    made = []
    for number in range(1, len(plan) + 2):
        made += put_in.get(number, [])
        if number <= len(plan) and number not in verdict.removed:
            made.append(plan[number - 1])
    assert tuple(made) == verdict.repaired
    assert judge(validator, verdict.repaired).outcome == "clean"


@pytest.mark.parametrize(
    ("text", "removed", "causes"),
    [
        ("(pick ball a) (move a b) (drop ball b)", (), ()),
        ("(pick bag a) (drop bag a) (pick ball a) (move a b) (drop ball b)", (1, 2),
         (Cause.IRRELEVANT, Cause.IRRELEVANT)),
        ("(pick ball a) (drop ball a) (pick ball a) (move a b) (drop ball b)", (2, 3), None),
        ("(pick ball a) (move a b) (drop ball b) (move b c) (move c b)", (4, 5), None),
        ("(drop ball a) (pick ball a) (move a b) (drop ball b)", (1,), (Cause.CONTRADICTORY,)),
        ("(pick ball a) (move a b) (drop ball b) (pick ball b) (drop ball b)", (4, 5), None),
    ],
)  # fmt: skip
def test_redundant_steps_are_named(
    text: str, removed: tuple[int, ...], causes: tuple[Cause, ...] | None
) -> None:
    verdict = judge(gripper(), parse_plan(text))
    sets = {frozenset(verdict.removed), *map(frozenset, verdict.alternatives)}
    assert frozenset(removed) in sets
    assert verdict.exit_code == (1 if removed else 0)
    if causes is not None:
        assert tuple(c.cause for c in verdict.critiques) == causes


@pytest.mark.parametrize(
    ("text", "index", "missing"),
    [
        ("(pick ball a) (drop ball b)", 2, "(move a b)"),
        ("(move a b) (drop ball b)", 1, "(pick ball a)"),
        ("(pick ball a) (move a b)", 3, "(drop ball b)"),
    ],
)
def test_missing_steps_are_named_with_their_place(text: str, index: int, missing: str) -> None:
    verdict = judge(gripper(), parse_plan(text))
    (critique,) = verdict.critiques
    assert (critique.index, " ".join(map(str, critique.actions))) == (index, missing)
    assert critique.links


def test_what_a_later_step_would_have_taken_along_is_missing_long_before() -> None:
    domain = parse_domain(
        "(define (domain van) (:requirements :conditional-effects)"
        "(:predicates (at ?x ?r) (van ?r) (in ?x))"
        "(:action load :parameters (?x ?r) :precondition (and (van ?r) (at ?x ?r))"
        " :effect (in ?x))"
        "(:action drive :parameters (?r ?s) :precondition (van ?r)"
        " :effect (and (van ?s) (not (van ?r)) (forall (?x) (when (in ?x)"
        " (and (at ?x ?s) (not (at ?x ?r))))))))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain van) (:objects ball bag a b c)"
        "(:init (at ball a) (at bag a) (van a)) (:goal (and (at ball c) (at bag c))))",
        domain,
    )
    plan = parse_plan("(load ball a) (drive a b) (drive b c)")
    (critique,) = judge(Validator(domain, problem), plan).critiques
    assert critique.index <= 2 and critique.actions == parse_plan("(load bag a)")


def test_a_second_object_that_the_goal_wants_is_not_criticised() -> None:
    plan = parse_plan(
        "(pick ball a) (move a b) (drop ball b) (move b a) (pick bag a) (move a b) (drop bag b)"
    )
    assert judge(gripper("(at ball b) (at bag b)"), plan).outcome == "clean"


def test_a_finding_says_what_the_step_makes_and_who_takes_it_back() -> None:
    plan = parse_plan("(pick bag a) (drop bag a) (pick ball a) (move a b) (drop ball b)")
    first = judge(gripper(), plan).critiques[0]
    links = {link.literal: link for link in first.links}
    assert links["(holds bag)"].undone_by == 2


def test_a_step_that_is_none_of_the_task_goes() -> None:
    plan = parse_plan("(fly ball) (pick ball a) (move a b) (drop ball b) (pick cow a)")
    verdict = judge(gripper(), plan)
    assert verdict.removed == {1, 5}
    assert verdict.exit_code == 1


def test_a_goal_out_of_reach_is_no_clean_plan() -> None:
    domain = parse_domain(GRIPPER)
    problem = parse_problem(
        "(define (problem p) (:domain gripper) (:objects ball a) (:init (at ball a))"
        "(:goal (holds ball)))",
        domain,
    )
    verdict = judge(Validator(domain, problem), parse_plan("(pick ball a)"))
    assert verdict.repaired is None and verdict.unknown and verdict.exit_code == 1


def test_a_long_plan_is_judged_without_a_proof() -> None:
    plan = parse_plan("(pick ball a) (move a b) (drop ball b)" + "(move b c) (move c b)" * 50)
    verdict = judge(gripper(), plan)
    assert len(verdict.removed) == 100 and not verdict.proven


def test_preferences_and_times_are_judged_by_full_checks() -> None:
    domain = parse_domain(GRIPPER)
    problem = parse_problem(
        "(define (problem p) (:domain gripper) (:objects ball bag a b c)"
        "(:init (at ball a) (at bag a) (robot a) (free))"
        "(:goal (and (at ball b) (preference home (robot a))))"
        "(:metric minimize (is-violated home)))",
        domain,
    )
    verdict = judge(
        Validator(domain, problem),
        parse_plan("(pick ball a) (move a b) (drop ball b) (move b c) (move c a)"),
    )
    # The plan returns home by way of c: the preference holds only with both moves.
    assert verdict.outcome == "clean"
    twice = parse_plan("(pick ball a) (pick ball a) (move a b) (drop ball b) (move b c) (move c a)")
    verdict = judge(Validator(domain, problem), twice)
    assert verdict.removed == {2} and not verdict.missing
    assert verdict.repaired == (*twice[:1], *twice[2:])


def test_a_course_passes_failing_steps_over() -> None:
    validator = gripper()
    course = ExecutionTrace.of(validator.state, parse_plan("(drop ball a) (pick ball a)"))
    assert course.failing == {0} and not course.valid


def test_when_the_work_is_done_nothing_is_called_proven() -> None:
    verdict = judge(gripper(), parse_plan("(pick ball a) (drop ball b)"), work=0)
    assert verdict.repaired is None and not verdict.proven and verdict.outcome != "clean"
    assert verdict.unknown.startswith("no repair was found in 0 condition tests")


LIFT = """(define (domain lift) (:requirements :adl :typing) (:types floor passenger)
(:predicates (at ?f - floor) (above ?a ?b - floor) (origin ?p - passenger ?f - floor)
 (dest ?p - passenger ?f - floor) (boarded ?p - passenger) (served ?p - passenger))
(:action up :parameters (?a ?b - floor) :precondition (and (at ?a) (above ?b ?a))
 :effect (and (at ?b) (not (at ?a))))
(:action down :parameters (?a ?b - floor) :precondition (and (at ?a) (above ?a ?b))
 :effect (and (at ?b) (not (at ?a))))
(:action stop :parameters (?f - floor) :precondition (at ?f) :effect (and
 (forall (?p - passenger) (when (and (origin ?p ?f) (not (served ?p))) (boarded ?p)))
 (forall (?p - passenger)
  (when (and (dest ?p ?f) (boarded ?p)) (and (served ?p) (not (boarded ?p))))))))"""


def test_three_stops_are_missing_where_three_are_enough() -> None:
    domain = parse_domain(LIFT)
    above = " ".join(f"(above f{j} f{i})" for i in range(6) for j in range(i + 1, 6))
    rides = [("a", 1, 4), ("b", 3, 0), ("c", 5, 2), ("d", 2, 5)]
    ways = " ".join(f"(origin {p} f{o}) (dest {p} f{d})" for p, o, d in rides)
    problem = parse_problem(
        "(define (problem p) (:domain lift) (:objects f0 f1 f2 f3 f4 f5 - floor a b c d - "
        f"passenger) (:init (at f0) {above} {ways}) (:goal (forall (?p - passenger) (served ?p))))",
        domain,
    )
    verdict = judge(
        Validator(domain, problem),
        parse_plan(
            "(up f0 f1) (up f1 f4) (stop f4) (down f4 f3) (down f3 f0) (stop f0) (up f0 f5)"
            "(down f5 f2) (stop f2) (up f2 f5) (stop f5)"
        ),
    )
    assert [(c.index, str(c.actions[0])) for c in verdict.missing] == [
        (2, "(stop f1)"), (5, "(stop f3)"), (8, "(stop f5)"),
    ]  # fmt: skip
    assert verdict.proven and verdict.least == 3 and verdict.edits == Edits(insert=3)


def test_a_step_at_the_wrong_place_is_a_move_and_one_on_the_wrong_object_a_replacement() -> None:
    moved = judge(gripper(), parse_plan("(pick ball a) (drop ball b) (move a b)"))
    assert moved.edits.insert == 0 and moved.edits.move == 1
    replaced = judge(gripper(), parse_plan("(pick ball a) (move a c) (drop ball b)"))
    assert replaced.edits == Edits(replace=1)


@LAW
@given(st.integers(0, 10**9))
def test_brute_force_agrees_on_the_fewest_edits(seed: int) -> None:
    start, plan, actions = random_task(seed)
    best = cheapest(start, plan, actions)
    verdict = judge(start, plan)
    if best is None:
        assert verdict.repaired is None and verdict.unknown.endswith("proven unreachable")
        return
    assert verdict.repaired is not None and start.check(verdict.repaired).valid
    inserted = sum(len(critique.actions) for critique in verdict.missing)
    assert verdict.proven and (inserted, len(verdict.repaired)) == best
    assert verdict.least == best[0]


@LAW
@given(st.integers(0, 10**9), st.integers(0, 400))
def test_with_little_work_no_proof_is_refuted(seed: int, work: int) -> None:
    start, plan, actions = random_task(seed)
    best = cheapest(start, plan, actions)
    verdict = judge(start, plan, work=work)
    assert verdict == judge(start, plan, work=work)
    if best is None:
        assert verdict.repaired is None
        return
    assert verdict.least <= best[0] and not verdict.unknown.endswith("proven unreachable")
    if verdict.proven and verdict.repaired is not None:
        inserted = sum(len(critique.actions) for critique in verdict.missing)
        assert (inserted, len(verdict.repaired)) == best
