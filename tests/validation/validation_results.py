"""Hand-made results of every kind, for the tests of the formats."""

from fractions import Fraction
from typing import Any

from hvr.pddl import Atom, Diagnostic, GroundAction, Location
from hvr.validation.findings import HappeningText, Judged, ShownState
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    PlanResult,
    Repair,
    StepRef,
    UnmetLiteral,
    ValidationReport,
)

PICK = GroundAction("pick", ("mug", "table"), Location("p/a.plan", 2, 3))
PUT = GroundAction("put", ("mug", "shelf"), Location("p/a.plan", 4, 1))

UNMET = UnmetLiteral(Atom("holding", ("mug",)), wanted=True, changed_by=StepRef(1, PICK))
FAILURE = Failure(
    FailureKind.PRECONDITION,
    "Step 2 (put mug shelf) cannot be executed: its precondition does not hold.",
    2,
    PUT,
    (UNMET,),
    location=PUT.location,
    condition=Location("d.pddl", 2, 5),
)
GOAL = Failure(
    FailureKind.GOAL,
    "The goal is not reached.",
    literals=(UnmetLiteral(Atom("on", ("mug", "shelf")), wanted=True),),
)


def judged(
    report: ValidationReport, plan: str = "p/a.plan", diagnostic: Diagnostic | None = None,
    rule: str = "",
) -> Judged:  # fmt: skip
    result = PlanResult(plan, "d.pddl", "problems/p 1.pddl", report, diagnostic)
    return Judged(result, rule, 0.25)


def changed(value: Any, **changes: Any) -> Any:
    """Return a copy with some fields replaced."""
    return type(value)(**{n: getattr(value, n) for n in value.__match_args__} | changes)


VALID = judged(ValidationReport(Outcome.VALID, 3, 3, cost=Fraction(7, 2)), "p/valid.plan")
INVALID = judged(ValidationReport(Outcome.INVALID, 3, 1, (FAILURE,)))
MISSED = judged(ValidationReport(Outcome.INVALID, 3, 3, (GOAL,), Fraction(3)), "p/missed.plan")
BROKEN = judged(
    ValidationReport(Outcome.UNKNOWN, 0, 0, reason="no step"),
    "p/broken.plan",
    Diagnostic(Location("p/broken.plan", 1, 4), "no step", "go <there>", "a step", "there"),
    "HVR001",
)
MISSING = judged(
    ValidationReport(Outcome.UNKNOWN, 0, 0, reason="cannot read p/x.plan: no such file"),
    "p/x.plan",
    rule="HVR004",
)
UNDECIDED = judged(ValidationReport(Outcome.UNKNOWN, 9, 4, reason="too many instances"), "p/u.plan")
MODEL = judged(
    ValidationReport(Outcome.UNKNOWN, 0, 0, reason="no type 'mugg'"),
    "",
    Diagnostic(Location("d.pddl", 3, 7), "no type 'mugg'", "(a - mugg)", suggestion="mug"),
    "HVR002",
)
RICH = Judged(
    PlanResult(
        "p/rich.plan",
        "d.pddl",
        "problems/p 1.pddl",
        ValidationReport(
            Outcome.VALID,
            3,
            3,
            violated=(("p1", 0), ("p2", 1), ("p3", 2)),
            notes=("the steps were read as action(object, …)",),
        ),
        minimised=(PICK,),
        removed=(2, 3),
    ),
    state=ShownState(1, 1, ("(a)", "(b c)"), (("(fuel)", Fraction(1, 4)),)),
    happenings=(HappeningText(1, "(pick mug table)", Fraction(1, 2), ("(a)",), ("(d)",)),),
)
ADVISED = Judged(
    PlanResult(
        "p/a.plan",
        "d.pddl",
        "problems/p 1.pddl",
        INVALID.report,
        repair=Repair(2, (PICK,), completes=True),
    )
)
ALL = (VALID, INVALID, MISSED, BROKEN, MISSING, UNDECIDED, RICH, ADVISED)
