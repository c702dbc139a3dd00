"""`lint`: all rules about a model, put together."""

from __future__ import annotations

from hvr.pddl import Domain, Problem
from hvr.validation.lint.actions import check_actions
from hvr.validation.lint.declarations import check_declarations
from hvr.validation.lint.problem import check_problem
from hvr.validation.lint.requirements import check_requirements
from hvr.validation.rules import LintFinding

__all__ = ["LintFinding", "lint"]


def lint(
    domain: Domain, problem: Problem | None = None, *, seconds: float = 2.0
) -> list[LintFinding]:
    """Say what is wrong, superfluous or suspicious in a model.

    What another problem of the domain could make sense of is not reported for a domain alone, or
    is a note.

    Args:
        domain: the domain.
        problem: a problem of it; findings about its actions and goal are then about this problem.
        seconds: how long to explore what can become true.

    Returns:
        the findings, those about the domain first, in the order of the rules.
    """
    findings = [
        *check_requirements(domain, problem),
        *check_declarations(domain, problem),
        *check_actions(domain),
    ]
    if problem is not None:
        findings += check_problem(domain, problem, seconds)
    return sorted(findings, key=lambda finding: (finding.in_problem, finding.rule))
