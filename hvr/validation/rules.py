"""The stable ids of everything that hvr reports about PDDL files.

An id never changes its meaning and is never used again. `docs/rules/` has a page for each.

| ids | what they are about |
| --- | --- |
| HVR0xx | input that cannot be used, so that the question stays open |
| HVR1xx | what makes a plan invalid, one id for each `FailureKind` |
| HVR2xx | how a text was read |
| HVR3xx | the model itself, found by `hvr lint` |
"""

from __future__ import annotations

from enum import StrEnum

from hvr.validation.report import FailureKind
from hvr.values import Value

PAGES = "docs/rules"


class Level(StrEnum):
    """How much a finding matters; the values are those of SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Value):
    """A kind of finding.

    Attributes:
        id: what people write into filters and baselines.
        name: the same in words, joined by hyphens.
        level: how much a finding of this kind matters unless it says otherwise.
        summary: one sentence.
    """

    id: str
    name: str
    level: Level
    summary: str


_TABLE: tuple[tuple[str, str, Level, str], ...] = (
    # Input that cannot be used.
    ("HVR001", "syntax-error", Level.ERROR, "The text does not parse."),
    ("HVR002", "semantic-error", Level.ERROR, "The text parses but contradicts a declaration."),
    ("HVR003", "unsupported-feature", Level.ERROR, "The text uses a part of PDDL hvr lacks."),
    ("HVR004", "unreadable-file", Level.ERROR, "The file is missing or cannot be read."),
    ("HVR005", "undecided", Level.ERROR, "The plan could not be judged within the limits."),
    # What makes a plan invalid.
    ("HVR101", "precondition", Level.ERROR, "The precondition of a step does not hold."),
    ("HVR102", "goal", Level.ERROR, "The plan ends and the goal does not hold."),
    ("HVR103", "unknown-action", Level.ERROR, "A step names an action the domain lacks."),
    ("HVR104", "unknown-object", Level.ERROR, "A step names an object the problem lacks."),
    ("HVR105", "wrong-arity", Level.ERROR, "A step has too few or too many arguments."),
    ("HVR106", "wrong-type", Level.ERROR, "An argument is not of its parameter's type."),
    ("HVR107", "undefined-value", Level.ERROR, "A number that is needed has no value."),
    ("HVR108", "invariant", Level.ERROR, "An over-all condition fails during its action."),
    ("HVR109", "end-condition", Level.ERROR, "An at-end condition fails when its action ends."),
    ("HVR110", "duration", Level.ERROR, "A step's duration is missing or not allowed."),
    ("HVR111", "start-time", Level.ERROR, "A step's start time is missing or negative."),
    ("HVR112", "interference", Level.ERROR, "Two steps at one time disturb each other."),
    ("HVR113", "constraint", Level.ERROR, "A trajectory constraint is violated."),
    # How a text was read.
    ("HVR201", "notation", Level.NOTE, "The plan is not in the notation of PDDL plan files."),
    ("HVR202", "missing-requirement", Level.WARNING, "A feature is used without its flag."),
    ("HVR203", "overlooked", Level.WARNING, "A fault was overlooked because of --lenient."),
)

RULES: dict[str, Rule] = {row[0]: Rule(*row) for row in _TABLE}
"""Every rule by its id, in the order of the ids."""

SYNTAX = RULES["HVR001"]
SEMANTICS = RULES["HVR002"]
UNSUPPORTED = RULES["HVR003"]
UNREADABLE = RULES["HVR004"]
UNDECIDED = RULES["HVR005"]
NOTATION = RULES["HVR201"]
REQUIREMENT = RULES["HVR202"]
OVERLOOKED = RULES["HVR203"]

FAILURE_RULES: dict[FailureKind, Rule] = {
    FailureKind.PRECONDITION: RULES["HVR101"],
    FailureKind.GOAL: RULES["HVR102"],
    FailureKind.UNKNOWN_ACTION: RULES["HVR103"],
    FailureKind.UNKNOWN_OBJECT: RULES["HVR104"],
    FailureKind.WRONG_ARITY: RULES["HVR105"],
    FailureKind.WRONG_TYPE: RULES["HVR106"],
    FailureKind.UNDEFINED_VALUE: RULES["HVR107"],
    FailureKind.INVARIANT: RULES["HVR108"],
    FailureKind.END_CONDITION: RULES["HVR109"],
    FailureKind.DURATION: RULES["HVR110"],
    FailureKind.START_TIME: RULES["HVR111"],
    FailureKind.INTERFERENCE: RULES["HVR112"],
    FailureKind.CONSTRAINT: RULES["HVR113"],
}


def help_url(rule: Rule, base: str = PAGES) -> str:
    """Return where the page of a rule is.

    Args:
        rule: the rule.
        base: the address of the folder with the pages; the folder in hvr's repository if not given.
    """
    return f"{base.rstrip('/')}/{rule.id}.md"
