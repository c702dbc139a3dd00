"""The rules of `hvr lint`, and what breaking one of them looks like."""

from __future__ import annotations

from hvr.pddl import Location
from hvr.validation.rules import RULES, Level, Rule
from hvr.values import Value

LINT_RULES: tuple[Rule, ...] = tuple(
    rule for number, rule in RULES.items() if number.startswith("HVR3")
)
"""Every rule that only `lint` reports, in the order of the ids."""


class LintFinding(Value):
    """Something about a model that is wrong, superfluous or suspicious.

    Attributes:
        rule: the id of the rule.
        level: how much it matters.
        message: one sentence.
        name: what it is about: the name of a predicate, an action, …
        location: where, if the model knows.
        in_problem: whether it is about the problem, not the domain.
    """

    rule: str
    level: Level
    message: str
    name: str
    location: Location | None = None
    in_problem: bool = False


def rule_of(finding: LintFinding) -> Rule:
    """Return the rule that a finding is about."""
    return RULES[finding.rule]


def issue(
    rule: str, message: str, name: str, source: object = None, *, in_problem: bool = False
) -> LintFinding:
    """Make a finding with the level of its rule; `source` is the value whose place is its place."""
    place: Location | None = getattr(source, "location", None)
    return LintFinding(rule, RULES[rule].level, message, name, place, in_problem)
