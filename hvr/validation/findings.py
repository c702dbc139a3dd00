"""Findings: what is wrong, by which rule, where; what SARIF and annotations are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hvr.pddl import Diagnostic, GroundAction, Location
from hvr.validation import rules
from hvr.validation.judged import Judged
from hvr.validation.report import Failure, Outcome, Repair, UnmetLiteral
from hvr.validation.rules import Level, Rule
from hvr.validation.text import explain_failure, explain_literal
from hvr.values import Value

_PLACE = r"(?s)(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)"


class Related(Value):
    """Another place that explains a finding."""

    location: Location
    message: str


class Finding(Value):
    """One thing that is wrong or worth knowing.

    Attributes:
        rule: what kind of thing.
        level: how much it matters.
        message: what is wrong, in sentences.
        location: where; None when it is about the file as a whole.
        related: the places that explain it, such as the violated condition in the domain file.
        plan: the plan file that it is about; "" when it is about the domain or the problem.
        subject: what stays the same when lines are inserted before it, to recognise it by.
        problems: The problem files that it depends on; () when it holds for the domain alone.
    """

    rule: Rule
    level: Level
    message: str
    location: Location | None = None
    related: tuple[Related, ...] = ()
    plan: str = ""
    subject: str = ""
    problems: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The file that it is found in."""
        return self.location.file if self.location else self.plan

    def __str__(self) -> str:
        where = str(self.location) if self.location else self.plan
        return f"{where}: {self.level.value}: {self.message} [{self.rule.id}]"


def findings(result: Judged, *, limit: int | None = 20) -> tuple[Finding, ...]:
    """Return all findings about one plan.

    Args:
        result: the result.
        limit: how many literals a message names; None for all.
    """
    report = result.report
    collected: list[Finding] = []
    if report.outcome is Outcome.UNKNOWN:
        collected.append(_unusable(result))
    elif report.outcome is Outcome.INVALID:
        for failure in report.failures:
            advice = result.result.repair if failure is report.failure else None
            collected.append(_failing(result, failure, advice, limit))
    collected += [_noted(result, note) for note in report.notes]
    return tuple(collected)


def warning_finding(warning: Diagnostic) -> Finding:
    """Return the finding for what was overlooked in a domain or problem."""
    # The reader gives no kind, so the word that every message about a flag has decides.
    rule = rules.REQUIREMENT if "requirement" in warning.message else rules.OVERLOOKED
    message = warning.message
    if warning.suggestion:
        message += f"; did you mean {warning.suggestion!r}?"
    return Finding(rule, Level.WARNING, message, warning.location, subject=warning.message)


def explain_repair(repair: Repair) -> str:
    """Return advice in a sentence."""
    if repair.change:
        return f"With {repair.change}, the plan is valid."
    steps = " ".join(map(str, repair.actions))
    where = "after the last step" if repair.step is None else f"before step {repair.step}"
    if repair.completes:
        effect = "the plan is valid"
    elif repair.step is None:
        effect = "the goal is reached"
    else:
        effect = f"step {repair.step} can be executed"
    return f"With {steps} {where}, {effect}."


def _unusable(result: Judged) -> Finding:
    diagnostic = result.result.diagnostic
    rule = rules.RULES.get(result.rule, rules.SYNTAX if diagnostic else rules.UNDECIDED)
    if diagnostic is None:
        reason = result.report.reason
        return Finding(rule, rule.level, reason, plan=result.plan, subject=reason)
    message = diagnostic.message
    if diagnostic.context:
        message += f" (in {diagnostic.context})"
    if diagnostic.expected:
        message += f"; expected: {diagnostic.expected}"
    if diagnostic.suggestion:
        message += f"; did you mean {diagnostic.suggestion!r}?"
    return Finding(
        rule,
        rule.level,
        message,
        diagnostic.location,
        plan=result.plan,
        subject=diagnostic.message,
    )


def _failing(result: Judged, failure: Failure, advice: Repair | None, limit: int | None) -> Finding:
    rule = rules.FAILURE_RULES[failure.kind]
    message = explain_failure(failure, limit)
    if advice is not None:
        message += f"\n{explain_repair(advice)}"
    action = "" if failure.action is None else str(failure.action)
    return Finding(
        rule,
        rule.level,
        message,
        failure.location,
        _related(failure, limit),
        result.plan,
        " ".join([action, *sorted(map(str, failure.literals))]),
    )


def _related(failure: Failure, limit: int | None) -> tuple[Related, ...]:
    related: dict[Related, None] = {}
    if failure.condition is not None:
        related[Related(failure.condition, f"the {_condition_name(failure)}")] = None
    for literal in _with_causes(failure.literals[:limit]):
        if literal.location is not None:
            related[Related(literal.location, explain_literal(literal))] = None
        changed_by = literal.changed_by
        if changed_by is not None and isinstance(changed_by.action, GroundAction):
            place = changed_by.action.location
            if place is not None and place != failure.location:
                value = "true" if literal.actual else "false"
                message = f"{literal.formula} was made {value} here"
                if literal.numbers:
                    message = f"a number of {literal.formula} was changed here"
                related[Related(place, message)] = None
    return tuple(related)


def _with_causes(literals: Sequence[UnmetLiteral]) -> list[UnmetLiteral]:
    everything: list[UnmetLiteral] = []
    for literal in literals:
        everything += [literal, *literal.because]
    return everything


def _condition_name(failure: Failure) -> str:
    if failure.action is None:
        return f"{failure.kind.value} that is not fulfilled"
    return f"violated condition of {failure.action.name}"


def _noted(result: Judged, note: str) -> Finding:
    # A note about a place begins with it, as messages do.
    match = re.fullmatch(_PLACE, note)
    if match is None or match["file"] != result.plan:
        return Finding(rule_of_note(note), Level.NOTE, note, plan=result.plan, subject=note)
    place = Location(match["file"], int(match["line"]), int(match["column"]))
    message = match["message"]
    return Finding(rule_of_note(note), Level.NOTE, message, place, (), result.plan, message)


def rule_of_note(note: str) -> Rule:
    """Return the rule of a note on how a plan was read."""
    # Notes are sentences, which have these words.
    if note.startswith("with --epsilon "):
        return rules.SMALLER_EPSILON
    return rules.NOTATION if "were read as" in note else rules.OVERLOOKED
