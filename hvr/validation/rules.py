"""The stable ids of everything that hvr reports about PDDL files.

An id never changes its meaning and is never used again. `docs/rules/` has a page for each.

| ids | what they are about |
| --- | --- |
| HVR0xx | input that cannot be used, so that the question stays open |
| HVR1xx | what makes a plan invalid, one id for each `FailureKind` |
| HVR2xx | how a text was read |
| HVR3xx, HVR4xx | the model itself, found by `hvr lint`; 4xx: tasks and methods |
"""

from __future__ import annotations

from enum import StrEnum

from hvr.pddl import Location
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
    ("HVR006", "not-validated", Level.ERROR, "A file looks like a plan and was not validated."),
    ("HVR007", "without-plan", Level.ERROR, "A problem has no plan, or a domain has no problem."),
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
    ("HVR114", "event", Level.ERROR, "An event happens endlessly at one time, or cannot happen."),
    # What makes a decomposition invalid.
    ("HVR121", "no-decomposition", Level.ERROR, "A plan does not say how its tasks are done."),
    ("HVR122", "unknown-task", Level.ERROR, "A line names a task the domain lacks."),
    ("HVR123", "unknown-method", Level.ERROR, "A line names a method the task does not have."),
    ("HVR124", "unknown-reference", Level.ERROR, "A line refers to a task that is not there."),
    ("HVR125", "no-tree", Level.ERROR, "A task stands below none, two or itself."),
    ("HVR126", "subtasks", Level.ERROR, "The tasks below a task are not those of its method."),
    ("HVR127", "listing-order", Level.ERROR, "Tasks are listed in an order the method forbids."),
    ("HVR128", "subtask-order", Level.ERROR, "Actions come in an order that a method forbids."),
    ("HVR129", "method-precondition", Level.ERROR, "A method's precondition does not hold."),
    # How a text was read.
    ("HVR201", "notation", Level.NOTE, "The plan is not in the notation of PDDL plan files."),
    ("HVR202", "missing-requirement", Level.WARNING, "A feature is used without its flag."),
    ("HVR203", "overlooked", Level.WARNING, "A slip in a text was passed over."),
    ("HVR204", "smaller-epsilon", Level.NOTE, "With a smaller --epsilon the plan is valid."),
    # What a domain declares.
    ("HVR301", "unused-predicate", Level.NOTE, "A predicate is declared and never used."),
    ("HVR302", "never-true", Level.NOTE, "A predicate is read, but nothing makes it true."),
    ("HVR303", "never-read", Level.NOTE, "A predicate is changed, but nothing reads it."),
    ("HVR304", "unused-function", Level.WARNING, "A function is declared and never used."),
    ("HVR305", "unused-type", Level.WARNING, "A type is declared and never used."),
    ("HVR306", "unused-constant", Level.NOTE, "A constant is declared and never used."),
    ("HVR307", "unused-parameter", Level.NOTE, "A parameter serves only to be enumerated."),
    ("HVR308", "superfluous-requirement", Level.NOTE, "A flag is given for nothing."),
    # What its actions say.
    ("HVR309", "contradictory-condition", Level.WARNING, "A condition can never hold."),
    ("HVR310", "unreachable-action", Level.NOTE, "An action can never apply here."),
    ("HVR311", "empty-effect", Level.WARNING, "An action changes nothing."),
    ("HVR312", "redundant-effect", Level.NOTE, "A part of an effect changes nothing."),
    # What a problem says.
    ("HVR313", "goal-holds-initially", Level.WARNING, "The goal holds from the beginning."),
    ("HVR314", "unreachable-goal", Level.ERROR, "The goal can never be reached."),
    ("HVR315", "missing-value", Level.WARNING, "A number is read that is never given."),
    ("HVR316", "unused-object", Level.NOTE, "No action can use an object."),
    ("HVR317", "not-explored", Level.NOTE, "There are too many instances to tell all."),
    ("HVR318", "timed-literal", Level.WARNING, "A timed literal repeats, or changes nothing."),
    # What a hierarchical model says.
    ("HVR401", "task-without-method", Level.WARNING, "No method decomposes a task."),
    ("HVR402", "endless-recursion", Level.WARNING, "A task never comes down to actions."),
    ("HVR403", "unreached-task", Level.NOTE, "The initial network never leads to a task."),
    ("HVR404", "unordered-method", Level.NOTE, "A method leaves an order open, others do not."),
    ("HVR405", "clashing-effects", Level.NOTE, "An effect may add and delete one atom."),
)

RULES: dict[str, Rule] = {row[0]: Rule(*row) for row in _TABLE}
"""Every rule by its id, in the order of the ids."""

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
    FailureKind.EVENT: RULES["HVR114"],
    FailureKind.NO_DECOMPOSITION: RULES["HVR121"],
    FailureKind.UNKNOWN_TASK: RULES["HVR122"],
    FailureKind.UNKNOWN_METHOD: RULES["HVR123"],
    FailureKind.UNKNOWN_REFERENCE: RULES["HVR124"],
    FailureKind.NO_TREE: RULES["HVR125"],
    FailureKind.SUBTASKS: RULES["HVR126"],
    FailureKind.LISTING_ORDER: RULES["HVR127"],
    FailureKind.SUBTASK_ORDER: RULES["HVR128"],
    FailureKind.METHOD_PRECONDITION: RULES["HVR129"],
}


def help_url(rule: Rule, base: str = PAGES) -> str:
    """Return the address of the page about a rule.

    Args:
        rule: the rule.
        base: the address of the folder with the pages; the folder in hvr's repository if not given.
    """
    return f"{base.rstrip('/')}/{rule.id}.md"


LINT_RULES: tuple[Rule, ...] = tuple(
    rule for number, rule in RULES.items() if number.startswith(("HVR3", "HVR4"))
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
