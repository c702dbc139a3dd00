"""Verdicts on random partial-order networks agree with a brute-force reference."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.pddl.checker import UnprovenError, check
from hvr.pddl.hierarchy.parser import parse_hddl_domain, parse_hddl_problem
from hvr.pddl.hierarchy.plan import read_hierarchical_plan
from hvr.validation.certificate import NoCertificateError
from hvr.validation.hierarchical.conversion import ActionsJudge
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from hvr.validation.report import Outcome
from tests.validation.certificate_damage import certified_hierarchy, damaged
from tests.validation.hierarchical.hddl_networks import Model
from tests.validation.hierarchical.hddl_reference import HierarchyReference


def compare(seed: int, *, any_order: bool, plans: int = 4) -> list[bool]:
    """Compare the verdicts on some plans of a random problem; return them."""
    model = Model(Random(seed))
    domain = parse_hddl_domain(model.domain)
    problem = parse_hddl_problem(model.problem, domain)
    verifier = DecompositionVerifier(domain, problem, any_order=any_order)
    reference = HierarchyReference(domain, problem)
    verdicts = []
    for _ in range(plans):
        plan = read_hierarchical_plan(model.plan())
        if len(plan.actions) > 7 or len(plan.tasks) > 6:
            continue  # too many ways for the reference
        report = verifier.check(plan)
        assert report.outcome is not Outcome.UNKNOWN
        assert report.valid is reference.is_solution(plan, any_order=any_order), report.explain()
        if report.valid:
            assert reference.accepts(plan, report.certificate)
        else:
            assert report.failure is not None
            assert report.failure.location is not None or not report.failure.step
        verdicts.append(report.valid)
    return verdicts


@settings(max_examples=25)
@given(st.integers(0, 10**9), st.booleans())
def test_verdicts_are_those_of_the_definition(seed: int, any_order: bool) -> None:
    compare(seed, any_order=any_order)


def compare_found(seed: int, *, total: bool) -> list[bool]:
    """Compare the decompositions found from actions alone; return the verdicts."""
    model = Model(Random(seed), total=total)
    domain = parse_hddl_domain(model.domain)
    problem = parse_hddl_problem(model.problem, domain)
    verifier = DecompositionVerifier(domain, problem)
    reference = HierarchyReference(domain, problem)
    verdicts = []
    for _ in range(3):
        plan = read_hierarchical_plan(model.plan())
        if len(plan.actions) > 5:
            continue  # too many ways for the reference
        report, found = ActionsJudge(verifier).decompose(plan)
        assert report.outcome is not Outcome.UNKNOWN
        assert report.valid is reference.leads_to(plan), report.explain()
        assert report.valid is (found is not None)
        if found is not None:
            assert reference.accepts(found, report.certificate)
            assert [(a.name, a.args) for a in found.actions] == [
                (a.name, a.args) for a in plan.actions
            ]
        verdicts.append(report.valid)
    return verdicts


@settings(max_examples=25)
@given(st.integers(0, 10**9), st.booleans())
def test_a_decomposition_is_found_if_there_is_one(seed: int, total: bool) -> None:
    compare_found(seed, total=total)


def test_the_random_plans_are_of_both_kinds() -> None:
    verdicts = [v for seed in range(40) for v in compare(seed, any_order=True, plans=2)]
    assert 0.2 < sum(verdicts) / len(verdicts) < 0.9


@pytest.mark.parametrize("field", ["position", "subtasks", "parameters", "method"])
def test_the_checker_refuses_certificates_that_were_tampered_with(field: str) -> None:
    from tests.validation.hierarchical.test_hddl_verifier import PLAN, verifier

    judge = verifier()
    reference = HierarchyReference(judge.domain, judge.problem)
    plan = read_hierarchical_plan(PLAN)
    first, second, *rest = judge.check(plan).certificate
    assert reference.accepts(plan, (first, second, *rest))
    wrong = {
        "position": second.position + 7,
        "subtasks": second.subtasks[::-1],
        "parameters": tuple((name, "corner") for name, _ in second.parameters),
        "method": "stay",
    }
    if field == "position":
        wrong[field] = 7
    assert not reference.accepts(plan, (first, second.replace(**{field: wrong[field]}), *rest))
    assert not reference.accepts(plan, (first, *rest))


@pytest.mark.parametrize("seed", range(25))
def test_certificates_are_accepted_and_damaged_ones_refused(seed: int) -> None:
    model = Model(Random(seed))
    files = (model.domain.encode(), model.problem.encode(), model.plan().encode())
    try:
        certificate, report = certified_hierarchy(files)
    except NoCertificateError:
        return
    assert check(certificate, files).startswith(report.outcome.value)
    for kind, wrong in damaged(certificate, Random(seed)):
        with pytest.raises(UnprovenError):
            pytest.fail(f"{kind}: {check(wrong, files)}")
