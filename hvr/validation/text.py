"""Reports as text. Every function here is a function of the report alone."""

from __future__ import annotations

from hvr.base.printable import short_names
from hvr.pddl import Atom, Equal
from hvr.validation.report import (
    Failure,
    Outcome,
    StepReport,
    UnmetLiteral,
    ValidationReport,
    decimal_text,
)


def explain_report(report: ValidationReport, limit: int | None = 20) -> str:
    """Return a report in sentences, fit as feedback to whoever made the plan."""
    match report.outcome:
        case Outcome.VALID:
            steps = count(report.steps, "step")
            return f"The plan is valid: its {steps} can be executed and the goal is reached."
        case Outcome.UNKNOWN:
            return f"It could not be decided whether the plan is valid: {report.reason}."
        case Outcome.INVALID:
            why = [explain_failure(failure, limit) for failure in report.failures]
            return "The plan is invalid. " + ("\n".join(why) or report.reason)


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


def explain_literal(
    literal: UnmetLiteral, unchanged: str = "in the initial state, and no step has changed it"
) -> str:
    """Return an unmet literal in a sentence.

    Args:
        literal: it.
        unchanged: when it was as it is, if no step that was looked at has changed it.
    """
    return short_names(_literal(literal, unchanged))


def _literal(literal: UnmetLiteral, unchanged: str) -> str:
    wanted, actual = ("true", "false") if literal.wanted else ("false", "true")
    formula = literal.formula
    if isinstance(formula, Equal):
        relation = "be the same object" if literal.wanted else "be two different objects"
        return f"{formula.left} and {formula.right} must {relation}."
    start = f"{formula} must be {wanted}"
    if literal.numbers:
        changed = f", last changed by {literal.changed_by}" if literal.changed_by else ""
        return f"{start}; {explain_numbers(literal)}{changed}."
    if literal.because:
        wanting = ", ".join(map(str, literal.because))
        return f"{start}; it is {actual}, and would be {wanted} with {wanting}."
    if not isinstance(formula, Atom):
        return f"{start}; it is {actual}: there is nothing that it could hold for."
    if literal.fixed:
        return f"{start}; it is {actual}, and no action can change it."
    if literal.changed_by is not None:
        return f"{start}; it was made {actual} by {literal.changed_by}."
    return f"{start}; it was {actual} {unchanged}."


def explain_numbers(literal: UnmetLiteral) -> str:
    """Return the present values of the numbers of a comparison."""
    parts = [
        f"{term} has no value" if value is None else f"{term} is {decimal_text(value)}"
        for term, value in literal.numbers
    ]
    return ", ".join(parts)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 step`, `2 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
