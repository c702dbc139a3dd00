"""What `hvr.validation.languages` wants to know of HDDL."""

from __future__ import annotations

from fractions import Fraction

from hvr.errors import UsageError
from hvr.pddl.hierarchy.model import HierarchicalDomain, HierarchicalProblem
from hvr.pddl.hierarchy.parse import parse_hddl_domain as parse_domain
from hvr.pddl.hierarchy.parse import parse_hddl_problem as parse_problem
from hvr.validation.batch import BatchOptions
from hvr.validation.hierarchical.verifier import DecompositionVerifier
from hvr.validation.languages import PlanJudge
from hvr.validation.rules import LintFinding

__all__ = ["judge_of", "lint", "parse_domain", "parse_problem"]


def judge_of(
    domain: HierarchicalDomain, problem: HierarchicalProblem, options: BatchOptions
) -> PlanJudge:
    """Return what judges plans of a problem.

    Raises:
        UsageError: something is asked for that is not known of hierarchical plans.
    """
    if options.needs_steps:
        raise UsageError(
            "advice, minimal plans, states, happenings and values are not to be had of "
            "hierarchical plans"
        )
    tolerance: Fraction = options.numeric_tolerance
    verifier = DecompositionVerifier(
        domain, problem, any_order=options.any_order, numeric_tolerance=tolerance
    )
    if not options.no_decomposition:
        return verifier
    from hvr.validation.hierarchical.recover import ActionsJudge

    return ActionsJudge(verifier)


def lint(domain: HierarchicalDomain, problem: HierarchicalProblem | None) -> list[LintFinding]:
    """Say what is suspicious in a domain, and in a problem if it is not None."""
    from hvr.validation.hierarchical.lint import lint_hddl

    return lint_hddl(domain, problem)
