"""Laws of the validator: on random tasks and plans it follows the definitions."""

import json
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from hvr.pddl import ActionSchema, And, Atom, Comparison, Formula, GroundAction, Not, ground_rules
from hvr.validation import (
    Failure,
    FailureKind,
    OnFailure,
    UnmetLiteral,
    ValidationReport,
    Validator,
)
from tests.pddl.pddl_strategies import (
    EVERYTHING,
    PLAIN,
    Names,
    Parts,
    World,
    all_actions,
    atoms,
    law,
    planned,
    same,
    scheduled,
)
from tests.reference import Reference, Verdict
from tests.reference import World as Plain

SEQUENTIAL = Parts(numbers=True, derived=True, wishes=True)


def check_value(report: ValidationReport, verdict: Verdict) -> None:
    """Check the metric and the violated preferences."""
    violated = {name: count for name, count in verdict.violated.items() if count}
    assert {name: count for name, count in report.violated if count} == violated
    if report.valid:
        assert report.cost == verdict.metric


def check_verdict(world: World, validator: Validator, report: ValidationReport) -> None:
    """Check the verdict on a sequence and the intermediate states."""
    reference = world.reference
    verdict = reference.judge(world.plan)
    event(report.failure.kind if report.failure else "valid")
    assert report.valid == verdict.valid
    if report.failure is None:
        check_value(report, verdict)
    elif report.failure.kind is FailureKind.CONSTRAINT:
        seen = verdict.worlds[: (report.failure.step or 0) + 1]
        assert not reference.judge_constraints(seen, Verdict())
    else:
        assert (report.failure.kind.value, report.failure.step) in verdict.why
        if report.failure.kind is FailureKind.GOAL:
            check_value(report, verdict)
    for number, (_, plain) in enumerate(verdict.worlds):
        assert same(validator.state_after(world.plan, number), plain)


@pytest.mark.slow
@given(planned(PLAIN))
@law(80)
def test_sequences(world: World) -> None:
    validator = Validator(world.domain, world.problem)
    check_verdict(world, validator, validator.check(world.plan))


@pytest.mark.slow
@given(planned(SEQUENTIAL))
@law(90)
def test_sequences_with_numbers_rules_and_preferences(world: World) -> None:
    validator = Validator(world.domain, world.problem)
    report = validator.check(world.plan)
    check_verdict(world, validator, report)
    text = "\n".join(map(str, world.plan))
    quick = Validator(world.domain, world.problem).check_file(text)
    assert (quick.outcome, quick.cost) == (report.outcome, report.cost)


@pytest.mark.slow
@given(scheduled(EVERYTHING))
@law(60)
def test_plans_in_time(world: World) -> None:
    reference = world.reference
    verdict = reference.judge_timed(world.timed)
    validator = Validator(world.domain, world.problem)
    report = validator.check(world.timed)
    event(report.failure.kind if report.failure else "valid")
    assert report.valid == verdict.valid
    if report.failure is None:
        check_value(report, verdict)
        for number, plain in verdict.after.items():
            assert same(validator.state_after(world.timed, number), plain)
    elif report.failure.kind is FailureKind.CONSTRAINT:
        seen = [w for w in verdict.worlds if w[0] <= (report.failure.time or verdict.worlds[-1][0])]
        assert not reference.judge_constraints(seen, Verdict())
    else:
        assert (report.failure.kind.value, report.failure.step) in verdict.why


def check_literals(world: World, literals: Iterable[UnmetLiteral], plain: Plain) -> None:
    """Check the reported values of a failure's literals."""
    for literal in literals:
        truth = world.reference.truth(literal.formula, plain, {})
        assert truth is (None if None in dict(literal.numbers).values() else literal.actual)
        for term, value in literal.numbers:
            if term.function in {t.function for t in plain.numbers}:
                assert plain.numbers.get(term) == value
        check_literals(world, literal.because, plain)


@pytest.mark.slow
@given(scheduled(EVERYTHING))
@law(60)
def test_a_failure_reports_the_values_of_its_time(world: World) -> None:
    """The literals are false in the state at the reported time."""
    report = Validator(world.domain, world.problem).check(world.timed)
    if report.failure is None or not report.failure.literals:
        return
    failure = report.failure
    event(failure.kind)
    verdict = world.reference.judge_timed(world.timed)
    at = verdict.worlds[-1][0] if failure.time is None else failure.time
    # A step's condition is read before it; an invariant, after the happening.
    early = failure.kind in (FailureKind.PRECONDITION, FailureKind.END_CONDITION)
    seen = [plain for t, plain in verdict.worlds if t < at or (t == at and not early)]
    check_literals(world, failure.literals, seen[-1] if seen else verdict.worlds[0][1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sequence", "time"])
def test_the_random_plans_have_both_verdicts(kind: str) -> None:
    found: Counter[bool] = Counter()

    @given(planned(SEQUENTIAL) if kind == "sequence" else scheduled(EVERYTHING))
    @law(40)
    def count(world: World) -> None:
        if kind == "sequence":
            found[bool(world.plan) and world.reference.judge(world.plan).valid] += 1
        else:
            found[bool(world.timed) and world.reference.judge_timed(world.timed).valid] += 1

    count()
    assert min(found[True], found[False]) >= sum(found.values()) // 8, found


@pytest.mark.slow
@given(planned(SEQUENTIAL), st.sampled_from(list(OnFailure)))
@law(60)
def test_the_first_failure_is_the_same_whatever_comes_after_it(
    world: World, mode: OnFailure
) -> None:
    validator = Validator(world.domain, world.problem)
    first = validator.check(world.plan)
    report = validator.check(world.plan, on_failure=mode)
    assert report.outcome is first.outcome
    assert report.failure == first.failure
    json.dumps(report.to_json())
    assert report.explain()


# --- undo and redo ------------------------------------------------------------------------------


@pytest.mark.slow
@given(planned(Parts(numbers=True, derived=True)))
@law(50)
def test_undo_takes_apply_back(world: World) -> None:
    validator = Validator(world.domain, world.problem)
    for action in world.plan:
        validator.apply(action)
    for action in all_actions(world):
        before = validator.state, validator.step_number, validator.steps, validator.cost()
        if validator.apply(action).ok:
            assert validator.undo() == action
        assert (validator.state, validator.step_number, validator.steps, validator.cost()) == before
    while validator.step_number:
        validator.undo()
    assert validator.state == validator.task.initial


@pytest.mark.slow
@given(planned(Parts(numbers=True, derived=True)), st.data())
@law(50)
def test_forks_are_independent(world: World, data: st.DataObject) -> None:
    validator = Validator(world.domain, world.problem)
    cut = data.draw(st.integers(0, len(world.plan)))
    for action in world.plan[:cut]:
        validator.apply(action)
    before = validator.state, validator.steps
    fork = validator.fork()
    for action in world.plan[cut:]:
        fork.apply(action)
    assert (validator.state, validator.steps) == before
    after = fork.state, fork.steps
    if validator.step_number:
        validator.undo()
    assert (fork.state, fork.steps) == after
    # A fork agrees in everything with a validator that took the same steps from the start.
    again = Validator(validator.task)
    for action in fork.steps:
        assert again.apply(action).ok
    assert again.state == fork.state
    assert again.goal_failure() == fork.goal_failure()
    assert again.cost() == fork.cost()


@pytest.mark.slow
@given(planned(Parts(numbers=True, derived=True)), st.data())
@law(30)
def test_ground_rules_derive_what_joins_derive(world: World, data: st.DataObject) -> None:
    task, joined = (Validator(world.domain, world.problem).task for _ in range(2))
    fluents = [
        Atom(name, row)
        for name in sorted(task.fluent_predicates - task.derived_predicates)
        for row in product(
            *(task.members(p.types) for p in world.domain.predicates[name].parameters)
        )
    ][:30]
    with pytest.MonkeyPatch.context() as patch:
        # In order, because earlier truths determine the instances.
        for _ in range(4):
            some = data.draw(st.sets(st.sampled_from(fluents))) if fluents else set()
            ground = task.state(some, task.initial.values)
            patch.setattr(ground_rules, "_MOST_INSTANCES", -1)
            lifted = joined.state(some, joined.initial.values)
            patch.undo()
            assert ground.atoms() == lifted.atoms()


# --- explanations -------------------------------------------------------------------------------


@pytest.mark.slow
@given(planned(Parts(numbers=True, derived=True)))
@law(70)
def test_what_steps_report_and_blame_is_true(world: World) -> None:
    reference = world.reference
    validator = Validator(world.domain, world.problem)
    trace = [reference.initial()]
    for action in world.plan:
        if not validator.apply(action).ok:
            break
        after = reference.step(trace[-1], action)
        assert not isinstance(after, str)
        trace.append(after)
    plain = trace[-1]
    for action in all_actions(world):
        report = validator.fork().apply(action)
        result = reference.step(plain, action)
        assert report.ok == (not isinstance(result, str))
        if not isinstance(result, str):
            assert set(report.added) == result.atoms - plain.atoms
            assert set(report.deleted) == plain.atoms - result.atoms
        elif result == "precondition":
            check_blame(report.failure, reference, trace)
    goal = reference.truth(world.problem.goal, plain, {})
    failure = validator.goal_failure()
    assert (failure is None) is (goal is True)
    if failure is not None:
        check_blame(failure, reference, trace)


def check_blame(failure: Failure | None, reference: Reference, trace: list[Plain]) -> None:
    """Check that each blamed literal has the unwanted value and was set at the stated step."""
    assert failure is not None
    assert failure.literals
    for unmet in failure.literals:
        assert reference.truth(unmet.formula, trace[-1], {}) in (unmet.actual, None)
        check_past(unmet, reference, trace)
    json.dumps(failure.to_json())
    assert failure.explain()


def check_past(unmet: UnmetLiteral, reference: Reference, trace: list[Plain]) -> None:
    found = unmet.changed_by and unmet.changed_by.number
    if isinstance(unmet.formula, Atom):
        values = [unmet.formula in plain.atoms for plain in trace]
    elif isinstance(unmet.formula, Comparison):
        for term, value in unmet.numbers:
            assert trace[-1].numbers.get(term) == value
        terms = [term for term, _ in unmet.numbers]
        values = [[plain.numbers.get(t) for t in terms] for plain in trace]  # type: ignore[misc]
    else:
        return
    changes = [i for i in range(1, len(trace)) if values[i] != values[i - 1]]
    assert found == (changes[-1] if changes else None)
    for inner in unmet.because:
        assert reference.truth(inner.formula, trace[-1], {}) in (inner.actual, None)
        check_past(inner, reference, trace)


@pytest.mark.slow
@given(planned(PLAIN), st.data())
@law(50)
def test_a_conjunction_holds_when_what_was_unmet_is_turned_round(
    world: World, data: st.DataObject
) -> None:
    objects = (*world.domain.constants, *world.problem.objects)
    wanted: dict[Atom, bool] = {}
    for _ in range(data.draw(st.integers(1, 5))):
        wanted[data.draw(atoms(Names(world.domain, objects)))] = data.draw(st.booleans())
    literals: list[Formula] = [a if sign else Not(a) for a, sign in wanted.items()]
    goal: Formula = And(tuple(literals))
    if data.draw(st.booleans()):
        goal = And((And(tuple(literals[:2])), Not(Not(And(tuple(literals[2:]))))))
    problem = world.problem.replace(goal=goal)
    reference = Reference(world.domain, problem)
    failure = Validator(world.domain, problem).goal_failure()
    plain = reference.initial()
    unmet = {} if failure is None else {u.formula: u.wanted for u in failure.literals}
    right = {a for a, sign in wanted.items() if (a in plain.atoms) == sign}
    assert unmet == {a: sign for a, sign in wanted.items() if a not in right}


# --- numbers do not drift -----------------------------------------------------------------------


@given(st.integers(1, 60), st.sampled_from(["0.1", "0.01", "0.3", "1.7"]))
@law(30)
def test_sums_are_exact(count: int, amount: str) -> None:
    from hvr.pddl import parse_domain, parse_problem

    domain = parse_domain(
        "(define (domain d) (:functions (f)) (:predicates (p))"
        f" (:action a :effect (increase (f) {amount})))"
    )
    total = Fraction(amount) * count
    text = (
        "(define (problem x) (:domain d) (:init (= (f) 0))"
        f" (:goal (= (f) {float(total):.3f})) (:metric minimize (f)))"
    )
    report = Validator(domain, parse_problem(text, domain)).check([GroundAction("a")] * count)
    assert report.valid
    assert report.cost == total
    assert isinstance(domain.actions["a"], ActionSchema)
