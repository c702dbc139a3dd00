"""The table of rules, the result of one plan, and the findings that reporters print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, PddlSemanticError, PddlSyntaxError
from hvr.pddl import Diagnostic, GroundAction, Location, UnsupportedPddlError
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    PlanResult,
    Repair,
    UnmetLiteral,
    ValidationReport,
    decimal_text,
    explain_failure,
    explain_literal,
)
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.timeline import Curve, Timeline


# Rules --------------------------------------------------------------------------------------------
# The stable ids of everything that hvr reports about PDDL files. An id keeps its meaning and is
# never reused. `docs/reference/rules.md` describes each.
#
# | ids | subject |
# | --- | --- |
# | HVR0xx | unusable input: the plan cannot be judged |
# | HVR1xx | invalid plans, one id for each `FailureKind` |
# | HVR2xx | how a text was read |
# | HVR3xx, HVR4xx | the model itself, checked by `hvr lint`; 4xx: tasks and methods |

PAGE = "docs/reference/rules.md"


class Level(StrEnum):
    """Severity of a finding, with SARIF's values."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Value):
    """A kind of finding.

    Attributes:
        id: Id of the rule, as used in filters and baselines.
        name: Short name of the rule.
        level: The default severity of its findings.
    """

    id: str
    name: str
    level: Level
    summary: str


_TABLE: tuple[tuple[str, str, Level, str], ...] = (
    # Unusable input.
    ("HVR001", "syntax-error", Level.ERROR, "The text does not parse."),
    ("HVR002", "semantic-error", Level.ERROR, "The text parses but contradicts a declaration."),
    ("HVR003", "unsupported-feature", Level.ERROR, "The text uses an unsupported part of PDDL."),
    ("HVR004", "unreadable-file", Level.ERROR, "The file is missing or cannot be read."),
    ("HVR005", "undecided", Level.ERROR, "The plan could not be judged within the limits."),
    ("HVR006", "not-validated", Level.ERROR, "A file looks like a plan and was not validated."),
    ("HVR007", "without-plan", Level.ERROR, "A problem has no plan, or a domain has no problem."),
    # Invalid plans.
    ("HVR101", "precondition", Level.ERROR, "The precondition of a step does not hold."),
    ("HVR102", "goal", Level.ERROR, "The plan ends and the goal does not hold."),
    ("HVR103", "unknown-action", Level.ERROR, "A step names an action the domain lacks."),
    ("HVR104", "unknown-object", Level.ERROR, "A step names an object the problem lacks."),
    ("HVR105", "wrong-arity", Level.ERROR, "A step has too few or too many arguments."),
    ("HVR106", "wrong-type", Level.ERROR, "An argument is not of its parameter's type."),
    ("HVR107", "undefined-value", Level.ERROR, "A required number has no value."),
    ("HVR108", "invariant", Level.ERROR, "An over-all condition fails during its action."),
    ("HVR109", "end-condition", Level.ERROR, "An at-end condition fails when its action ends."),
    ("HVR110", "duration", Level.ERROR, "A step's duration is missing or not allowed."),
    ("HVR111", "start-time", Level.ERROR, "A step's start time is missing or negative."),
    ("HVR112", "interference", Level.ERROR, "Two simultaneous steps interfere."),
    ("HVR113", "constraint", Level.ERROR, "A trajectory constraint is violated."),
    ("HVR114", "event", Level.ERROR, "An event repeats endlessly at one time, or cannot happen."),
    # Invalid decompositions.
    ("HVR121", "no-decomposition", Level.ERROR, "A plan lacks the decomposition of its tasks."),
    ("HVR122", "unknown-task", Level.ERROR, "A line names a task the domain lacks."),
    ("HVR123", "unknown-method", Level.ERROR, "A line names a method that the task lacks."),
    ("HVR124", "unknown-reference", Level.ERROR, "A line refers to a missing task."),
    ("HVR125", "no-tree", Level.ERROR, "A task has no parent, several parents or is in a cycle."),
    ("HVR126", "subtasks", Level.ERROR, "The subtasks of a task do not match its method."),
    ("HVR127", "listing-order", Level.ERROR, "Tasks are listed in an order the method forbids."),
    ("HVR128", "subtask-order", Level.ERROR, "Actions come in an order that a method forbids."),
    ("HVR129", "method-precondition", Level.ERROR, "A method's precondition does not hold."),
    # How a text was read.
    ("HVR201", "notation", Level.NOTE, "The plan is not in the notation of PDDL plan files."),
    ("HVR202", "missing-requirement", Level.WARNING, "A feature lacks its requirement flag."),
    (
        "HVR203",
        "tolerated-violation",
        Level.WARNING,
        "An error that leaves the meaning clear was tolerated.",
    ),
    ("HVR204", "smaller-epsilon", Level.NOTE, "With a smaller --epsilon the plan is valid."),
    # Declarations of a domain.
    ("HVR301", "unused-predicate", Level.NOTE, "A predicate is declared and never used."),
    ("HVR302", "never-true", Level.NOTE, "A predicate is read, but nothing makes it true."),
    ("HVR303", "never-read", Level.NOTE, "A predicate is changed, but nothing reads it."),
    ("HVR304", "unused-function", Level.WARNING, "A function is declared and never used."),
    ("HVR305", "unused-type", Level.WARNING, "A type is declared and never used."),
    ("HVR306", "unused-constant", Level.NOTE, "A constant is declared and never used."),
    (
        "HVR307",
        "unused-parameter",
        Level.NOTE,
        "A parameter occurs in neither a condition nor an effect.",
    ),
    ("HVR308", "superfluous-requirement", Level.NOTE, "A requirement flag is not needed."),
    # Actions.
    ("HVR309", "contradictory-condition", Level.WARNING, "A condition can never hold."),
    ("HVR310", "unreachable-action", Level.NOTE, "An action can never be applied in this problem."),
    ("HVR311", "empty-effect", Level.WARNING, "An action changes nothing."),
    ("HVR312", "redundant-effect", Level.NOTE, "A part of an effect changes nothing."),
    # Problems.
    ("HVR313", "goal-holds-initially", Level.WARNING, "The goal holds in the initial state."),
    ("HVR314", "unreachable-goal", Level.ERROR, "The goal can never be reached."),
    ("HVR315", "missing-value", Level.WARNING, "A number is read but never gets a value."),
    ("HVR316", "unused-object", Level.NOTE, "No action can use an object."),
    ("HVR317", "not-explored", Level.NOTE, "The problem has too many action instances to explore."),
    ("HVR318", "timed-literal", Level.WARNING, "A timed literal repeats, or changes nothing."),
    # Hierarchical models.
    ("HVR401", "task-without-method", Level.WARNING, "No method decomposes a task."),
    ("HVR402", "endless-recursion", Level.WARNING, "A task never decomposes into actions."),
    ("HVR403", "unreached-task", Level.NOTE, "The initial network never leads to a task."),
    ("HVR404", "unordered-method", Level.NOTE, "A method is unordered, unlike most methods."),
    ("HVR405", "clashing-effects", Level.NOTE, "An effect may add and delete the same atom."),
)

RULES: dict[str, Rule] = {row[0]: Rule(*row) for row in _TABLE}
"""Every rule by its id, sorted by id."""

SYNTAX = RULES["HVR001"]
SEMANTICS = RULES["HVR002"]
UNSUPPORTED = RULES["HVR003"]
UNREADABLE = RULES["HVR004"]
UNDECIDED = RULES["HVR005"]
NOT_VALIDATED = RULES["HVR006"]
WITHOUT_PLAN = RULES["HVR007"]
NOTATION = RULES["HVR201"]
REQUIREMENT = RULES["HVR202"]
OVERLOOKED = RULES["HVR203"]
SMALLER_EPSILON = RULES["HVR204"]

_BY_NAME = {rule.name: rule for rule in RULES.values()}
FAILURE_RULES = {kind: _BY_NAME[kind.value.replace(" ", "-")] for kind in FailureKind}


def help_url(rule: Rule, page: str = PAGE) -> str:
    """Return the address of a rule's section on the page of rules, whose address is `page`."""
    return f"{page}#{rule.id.lower()}-{rule.name}"


class LintFinding(Value):
    """A flaw in a model, or a suspicious construct.

    Attributes:
        rule: The id of the rule.
        name: The name that the finding is about, such as an action or a flag.
        in_problem: Whether the finding concerns the problem rather than the domain.
    """

    rule: str
    level: Level
    message: str
    name: str
    location: Location | None = None
    in_problem: bool = False


def issue(
    rule: str, message: str, name: str, source: object = None, *, in_problem: bool = False
) -> LintFinding:
    """Create a finding with the default level of its rule, at the location of `source`, if any."""
    place: Location | None = getattr(source, "location", None)
    return LintFinding(rule, RULES[rule].level, message, name, place, in_problem)


# Plan results of a batch --------------------------------------------------------------------------

STDIN = "-"
"""The file name that means standard input."""


class ShownState(Value):
    """A state, formatted as text.

    Attributes:
        step: The number of the step that it follows, or 0 for the initial state.
        requested: The requested step number, which is greater than `step` if the plan fails
            earlier.
        atoms: The true atoms, in alphabetical order.
        numbers: The defined function terms and their values.
    """

    step: int
    requested: int
    atoms: tuple[str, ...]
    numbers: tuple[tuple[str, Fraction], ...] = ()

    json_shape = "after_step=step atoms numbers{}"


class HappeningText(Value):
    """A change of the state at one moment, formatted as text.

    Attributes:
        step: The number of the step, or 0 (null in JSON) if no step of the plan is the cause.
        action: The step or the event, or "" for a timed initial literal.
        time: The time of the change, or None in a plan without times.
        added: The facts that became true.
        deleted: The facts that became false.
    """

    step: int
    action: str
    time: Fraction | None
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    json_shape = "step? action? time added deleted"

    def __str__(self) -> str:
        at = "" if self.time is None else f"{decimal_text(self.time)}: "
        cause = f"step {self.step}" if self.step else "event"
        cause = f"{cause} {self.action}" if self.action else "timed initial literal"
        changes = [f"+{atom}" for atom in self.added] + [f"-{atom}" for atom in self.deleted]
        return f"{at}{cause}: {' '.join(changes) or 'no change'}"


class Judged(Value):
    """The result of one plan of a batch, with everything its report needs.

    Attributes:
        rule: The id of the rule that explains the outcome "unknown", or "". If the result names no
            plan, the domain or the problem is unusable.
        state: The requested intermediate state, if any.
        happenings: Every change of the state, if a trace was requested.
        warnings: The findings about the domain and problem of a suite, attached to the first of
            their plans.
        values: The numeric fluents over time, if requested.
        timeline: The plan over time, if a picture was requested (not part of the JSON values).
        blocked: The plans that cannot be judged because the domain or problem of this result is
            unusable.
    """

    result: PlanResult
    rule: str = ""
    seconds: float = 0.0
    state: ShownState | None = None
    happenings: tuple[HappeningText, ...] | None = None
    warnings: tuple[Finding, ...] = ()
    values: tuple[Curve, ...] | None = None
    timeline: Timeline | None = None
    blocked: tuple[str, ...] = ()

    json_shape = "*result rule? state- happenings- values-"

    @property
    def plan(self) -> str:
        """The name of the plan file, or "" if the result concerns the domain or the problem."""
        return self.result.plan

    def expanded(self) -> tuple[Judged, ...]:
        """Return this result, followed by one result for each plan in `blocked`."""
        reason = "not validated: its domain or problem cannot be used"
        report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
        domain, problem = self.result.domain, self.result.problem
        blocked = (PlanResult(plan, domain, problem, report) for plan in self.blocked)
        return (self, *(Judged(result, NOT_VALIDATED.id) for result in blocked))

    @property
    def report(self) -> ValidationReport:
        return self.result.report


# Findings -----------------------------------------------------------------------------------------

_PLACE = r"(?s)(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)"


class Related(Value):
    """A second location that explains a finding."""

    location: Location
    message: str


class Finding(Value):
    """An error, a warning or a note, located in a file.

    Attributes:
        rule: The rule that the finding is about.
        level: The severity.
        message: The finding in one sentence.
        location: The place, or None if the finding concerns the whole file.
        related: Other places that explain the finding, such as the violated condition in the domain
            file.
        plan: The plan file concerned, or "" if the finding concerns the domain or the problem.
        subject: A text that identifies the finding even after lines are inserted above it.
        problems: The problem files that the finding depends on (empty if it holds for the domain
            alone).
    """

    rule: Rule
    level: Level
    message: str
    location: Location | None = None
    related: tuple[Related, ...] = ()
    plan: str = ""
    subject: str = ""
    problems: tuple[str, ...] = ()

    json_shape = "rule=rule.id name=rule.name level message file about=subject location problems"

    @property
    def file(self) -> str:
        """The file of the finding, or "" if it has neither a location nor a plan."""
        return self.location.file if self.location else self.plan

    def __str__(self) -> str:
        where = str(self.location) if self.location else self.plan
        return f"{where}: {self.level.value}: {self.message} [{self.rule.id}]"


def findings(result: Judged, *, limit: int | None = 20) -> tuple[Finding, ...]:
    """Return all findings about one plan; messages list at most `limit` literals (None: all)."""
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
    """Return the finding for a warning about a domain or problem."""
    # The reader reports no kind; every message about a flag contains this word.
    rule = REQUIREMENT if "requirement" in warning.message else OVERLOOKED
    message = warning.message
    if warning.suggestion:
        message += f"; did you mean {warning.suggestion!r}?"
    return Finding(rule, Level.WARNING, message, warning.location, subject=warning.message)


def with_hints(message: str, diagnostic: Diagnostic) -> str:
    if diagnostic.expected:
        message += f"; expected: {diagnostic.expected}"
    if diagnostic.suggestion:
        message += f"; did you mean {diagnostic.suggestion!r}?"
    return message


def error_rule(error: BaseException) -> Rule:
    if isinstance(error, UnsupportedPddlError):
        return UNSUPPORTED
    if isinstance(error, PddlSyntaxError):
        return SYNTAX
    if isinstance(error, PddlSemanticError):
        return SEMANTICS
    return UNREADABLE if isinstance(error, DataFileError) else UNDECIDED


def error_reason(error: BaseException) -> str:
    """Return the reason why a file is unusable, without its location."""
    if isinstance(error, RecursionError):
        return "the text is nested too deeply"
    if isinstance(error, MemoryError):
        return "there is not enough memory to read it"
    diagnostic: Diagnostic | None = getattr(error, "diagnostic", None)
    return diagnostic.message if diagnostic else str(error)


def explain_repair(repair: Repair) -> str:
    """Return a suggested repair as a sentence."""
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
    rule = RULES.get(result.rule, SYNTAX if diagnostic else UNDECIDED)
    if diagnostic is None:
        reason = result.report.reason
        return Finding(rule, rule.level, reason, plan=result.plan, subject=reason)
    message = diagnostic.message
    if diagnostic.context:
        message += f" (in {diagnostic.context})"
    message = with_hints(message, diagnostic)
    return Finding(
        rule, rule.level, message, diagnostic.location, plan=result.plan, subject=diagnostic.message
    )


def _failing(result: Judged, failure: Failure, advice: Repair | None, limit: int | None) -> Finding:
    rule = FAILURE_RULES[failure.kind]
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
        return f"{failure.kind.value} that is not satisfied"
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
    """Return the rule of a note on how a plan was read, which is recognised by its wording."""
    if note.startswith("with --epsilon "):
        return SMALLER_EPSILON
    return NOTATION if "were read as" in note else OVERLOOKED
