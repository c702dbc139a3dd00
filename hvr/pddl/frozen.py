"""Look a formula up in one state, however many instances its quantifiers have."""

from __future__ import annotations

from hvr.pddl.model import Domain, Formula, Problem
from hvr.pddl.task import Task


def holds_at_start(domain: Domain, problem: Problem, formula: Formula) -> bool:
    """Return whether a formula holds in the initial state of a problem.

    Without actions all facts are static, so that facts bind the variables of quantifiers one by
    one, where a task that may still change has to write out every combination of objects.

    Args:
        domain: The domain; its actions do not matter.
        problem: The problem; its goal does not matter.
        formula: A formula about the objects of the problem.

    Raises:
        GroundingLimitError: A quantifier still has too many instances.
    """
    return Task(domain.replace(actions={}), problem).initial.holds(formula)
