"""Plan validation: is the plan valid, and if not, at which step and why.

`Validator` executes steps one at a time, with undo and fork; `validate` answers for whole files.
Reports are plain values; `hvr.validation.text` renders them.
"""

from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    PlanResult,
    Repair,
    StepRef,
    StepReport,
    UnmetLiteral,
    ValidationReport,
)
from hvr.validation.reporters.text import render_report
from hvr.validation.text import explain_failure, explain_report, explain_step
from hvr.validation.validator import Validator, validate

__all__ = [
    "Failure",
    "FailureKind",
    "OnFailure",
    "Outcome",
    "PlanResult",
    "Repair",
    "StepRef",
    "StepReport",
    "UnmetLiteral",
    "ValidationReport",
    "Validator",
    "explain_failure",
    "explain_report",
    "explain_step",
    "render_report",
    "validate",
]
