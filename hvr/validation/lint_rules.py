"""The rules of `hvr lint`, and what breaking one of them looks like."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.pddl import Location
from hvr.validation.rules import REQUIREMENT, Level, Rule

LINT_RULES: tuple[Rule, ...] = (
    # What a domain declares.
    Rule("HVR301", "unused-predicate", Level.WARNING, "A predicate is declared and never used."),
    Rule("HVR302", "never-true", Level.NOTE, "A predicate is read, but nothing makes it true."),
    Rule("HVR303", "never-read", Level.NOTE, "A predicate is changed, but nothing reads it."),
    Rule("HVR304", "unused-function", Level.WARNING, "A function is declared and never used."),
    Rule("HVR305", "unused-type", Level.WARNING, "A type is declared and never used."),
    Rule("HVR306", "unused-constant", Level.NOTE, "A constant is declared and never used."),
    Rule("HVR307", "unused-parameter", Level.NOTE, "A parameter serves only to be enumerated."),
    Rule("HVR308", "superfluous-requirement", Level.NOTE, "A flag is given for nothing."),
    # What its actions say.
    Rule("HVR309", "contradictory-condition", Level.WARNING, "A condition can never hold."),
    Rule("HVR310", "unreachable-action", Level.NOTE, "An action can never apply here."),
    Rule("HVR311", "empty-effect", Level.WARNING, "An action changes nothing."),
    Rule("HVR312", "redundant-effect", Level.NOTE, "A part of an effect changes nothing."),
    # What a problem says.
    Rule("HVR313", "goal-holds-initially", Level.WARNING, "The goal holds from the beginning."),
    Rule("HVR314", "unreachable-goal", Level.ERROR, "The goal can never be reached."),
    Rule("HVR315", "missing-value", Level.WARNING, "A number is read that is never given."),
    Rule("HVR316", "unused-object", Level.NOTE, "No action can use an object."),
    Rule("HVR317", "not-explored", Level.NOTE, "There are too many instances to tell all."),
)
"""Every rule that only `lint` reports, in the order of the ids."""

_BY_ID = {rule.id: rule for rule in (*LINT_RULES, REQUIREMENT)}


@dataclass(frozen=True, slots=True)
class LintFinding:
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
    return _BY_ID[finding.rule]


def found(
    rule: str, message: str, name: str, source: object = None, *, in_problem: bool = False
) -> LintFinding:
    """Make a finding with the level of its rule; `source` is the value whose place is its place."""
    place: Location | None = getattr(source, "location", None)
    return LintFinding(rule, _BY_ID[rule].level, message, name, place, in_problem)
