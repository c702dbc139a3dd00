"""Plan validation: whether a plan is valid, and if not, which step fails, why, and what repairs it.

`Validator` executes steps one at a time, with undo and fork. `validate` judges whole files and
`stream` any number of texts. All return reports, which are plain values (`report.py`).

Start with `validator.py`. `sequences.py` judges untimed sequences on `stepper.py`, `temporal.py`
timed plans, `continuous/` processes and events, and `hierarchical/` HDDL plans. `repair.py` and
`minimise.py` improve plans. `findings.py` is the table of rules, `lint.py` contains the rules for
models, and `reporters.py` writes reports. `suites.py` finds plans in folders, and `extraction/`
finds them in the output of planners and in answers of language models.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        explain_failure,
        explain_report,
        explain_step,
    )
    from hvr.validation.reporters import render_report
    from hvr.validation.streaming import stream
    from hvr.validation.validator import Validator, validate

_WHERE = {
    **dict.fromkeys(
        (
            "Failure FailureKind OnFailure Outcome PlanResult Repair StepRef StepReport "
            "UnmetLiteral ValidationReport explain_failure explain_report explain_step"
        ).split(),
        "hvr.validation.report",
    ),
    **dict.fromkeys(("Validator", "validate"), "hvr.validation.validator"),
    "render_report": "hvr.validation.reporters",
    "stream": "hvr.validation.streaming",
}

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
    "stream",
    "validate",
]


def __getattr__(name: str) -> Any:
    # Import lazily: to print its help, the command line needs the names of choices but no PDDL.
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
