"""Reports as text. Every function here is a function of the report alone."""

from __future__ import annotations

from hvr.pddl import Atom, Equal
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    StepReport,
    UnmetLiteral,
    ValidationReport,
    number_to_json,
)


def explain_report(report: ValidationReport, limit: int | None = 20) -> str:
    """Return a report in sentences, fit as feedback to whoever made the plan."""
    match report.outcome:
        case Outcome.VALID:
            count = _count(report.steps, "step")
            return f"The plan is valid: its {count} can be executed and the goal is reached."
        case Outcome.UNKNOWN:
            return f"It could not be decided whether the plan is valid: {report.reason}."
        case Outcome.INVALID:
            why = explain_failure(report.failure, limit) if report.failure else report.reason
            return f"The plan is invalid. {why}"


def explain_step(report: StepReport) -> str:
    """Return the report of one step in sentences."""
    if report.failure is not None:
        return explain_failure(report.failure)
    parts = []
    if report.added:
        parts.append(f"made true: {' '.join(map(str, report.added))}")
    if report.deleted:
        parts.append(f"made false: {' '.join(map(str, report.deleted))}")
    return f"Step {report.step} {report.action} was executed; {'; '.join(parts) or 'no change'}."


def explain_failure(failure: Failure, limit: int | None = 20) -> str:
    """Return a failure in sentences, one a line, naming at most `limit` literals."""
    hint = f" Did you mean {failure.suggestion!r}?" if failure.suggestion else ""
    lines = [f"{failure.message}{hint}"]
    lines += [f"- {explain_literal(literal)}" for literal in failure.literals[:limit]]
    if limit is not None and len(failure.literals) > limit:
        lines.append(f"- and {len(failure.literals) - limit} more.")
    return "\n".join(lines)


def explain_literal(literal: UnmetLiteral) -> str:
    """Return an unmet literal in a sentence."""
    wanted, actual = ("true", "false") if literal.wanted else ("false", "true")
    formula = literal.formula
    if isinstance(formula, Equal):
        relation = "be the same object" if literal.wanted else "be two different objects"
        return f"{formula.left} and {formula.right} must {relation}."
    start = f"{formula} must be {wanted}"
    if not isinstance(formula, Atom):
        return f"{start}; it is {actual}: there is nothing that it could hold for."
    if literal.fixed:
        return f"{start}; it is {actual}, and no action can change it."
    if literal.changed_by is not None:
        return f"{start}; it was made {actual} by {literal.changed_by}."
    return f"{start}; it was {actual} in the initial state, and no step has changed it."


def render_report(report: ValidationReport, *, name: str = "plan", limit: int | None = 20) -> str:
    """Return a report for a terminal or a log, without a final newline.

    Args:
        report: the report.
        name: what the plan is called, such as its file name.
        limit: how many literals to show; None for all.
    """
    if report.outcome is Outcome.VALID:
        cost = "" if report.cost is None else f", cost {number_to_json(report.cost)}"
        return f"{name}: valid ({_count(report.steps, 'step')}{cost})"
    if report.outcome is Outcome.UNKNOWN or report.failure is None:
        return f"{name}: {report.outcome.value}: {report.reason}"
    failure = report.failure
    if failure.kind is FailureKind.GOAL:
        where = f"goal not reached after {_count(report.steps, 'step')}"
    else:
        where = f"{failure.kind.value} at step {failure.step} of {report.steps}"
    lines = [f"{name}: invalid: {where}"]
    if failure.action is not None:
        place = f"    [{failure.location}]" if failure.location else ""
        lines.append(f"  {failure.action}{place}")
    if failure.literals:
        shown = failure.literals[:limit]
        width = min(48, max(len(str(literal)) for literal in shown))
        lines += [f"    {literal!s:<{width}}  {_provenance(literal)}" for literal in shown]
        if len(shown) < len(failure.literals):
            lines.append(f"    … and {len(failure.literals) - len(shown)} more")
    else:
        lines.append(f"    {failure.message}")
    if failure.suggestion:
        lines.append(f"  did you mean {failure.suggestion!r}?")
    return "\n".join(lines)


def _provenance(literal: UnmetLiteral) -> str:
    value = "true" if literal.actual else "false"
    if not isinstance(literal.formula, Atom):
        return "violated"
    if literal.fixed:
        return f"always {value}"
    if literal.changed_by is not None:
        return f"made {value} by {literal.changed_by}"
    return f"{value} since the initial state"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
