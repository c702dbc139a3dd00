"""hvr: household robot plans, proven before they run and watched while they run.

>>> import hvr
>>> run = hvr.plan("make coffee")
>>> run.reached
True
>>> domain, problem, plan = (run.folder / f"{name}.pddl" for name in ("domain", "problem", "plan"))
>>> hvr.validate(domain, problem, plan).valid
True
"""

from hvr.base.forks import register as _register_forks

# The module typing takes longer to import than all that is needed here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hvr.errors import DataFileError as DataFileError
    from hvr.errors import HvrError as HvrError
    from hvr.errors import ImpossibleGoalError as ImpossibleGoalError
    from hvr.errors import LanguageError as LanguageError
    from hvr.errors import LLMError as LLMError
    from hvr.errors import MissingExtraError as MissingExtraError
    from hvr.errors import PddlError as PddlError
    from hvr.errors import PlannerError as PlannerError
    from hvr.errors import UsageError as UsageError
    from hvr.judging.verifier.verdict import Verdict as Verdict
    from hvr.models.choice import ModelChoice as ModelChoice
    from hvr.planning.plans import Plan as Plan
    from hvr.runs.options import Options as Options
    from hvr.runs.result import Run as Run
    from hvr.runs.spine import plan as plan
    from hvr.runs.verification import verify as verify
    from hvr.validation.report import ValidationReport as ValidationReport
    from hvr.validation.validator import validate as validate

__version__ = "0.1.0"

_WHERE = {
    "DataFileError": "hvr.errors",
    "HvrError": "hvr.errors",
    "ImpossibleGoalError": "hvr.errors",
    "LLMError": "hvr.errors",
    "LanguageError": "hvr.errors",
    "MissingExtraError": "hvr.errors",
    "ModelChoice": "hvr.models.choice",
    "Options": "hvr.runs.options",
    "PddlError": "hvr.errors",
    "Plan": "hvr.planning.plans",
    "PlannerError": "hvr.errors",
    "Run": "hvr.runs.result",
    "UsageError": "hvr.errors",
    "ValidationReport": "hvr.validation.report",
    "Verdict": "hvr.judging.verifier.verdict",
    "plan": "hvr.runs.spine",
    "validate": "hvr.validation.validator",
    "verify": "hvr.runs.verification",
}
"""The public names. None is the name of a module of hvr, which would take its place when it is
imported."""

__all__ = [
    "DataFileError",
    "HvrError",
    "ImpossibleGoalError",
    "LLMError",
    "LanguageError",
    "MissingExtraError",
    "ModelChoice",
    "Options",
    "PddlError",
    "Plan",
    "PlannerError",
    "Run",
    "UsageError",
    "ValidationReport",
    "Verdict",
    "__version__",
    "plan",
    "validate",
    "verify",
]


_register_forks()


def __getattr__(name: str) -> "Any":
    # Imported when used, so that `import hvr` and `hvr --help` start in a blink.
    if name in _WHERE:
        from importlib import import_module

        try:
            return getattr(import_module(_WHERE[name]), name)
        except ModuleNotFoundError as error:
            from hvr.base.extras import explained

            raise explained(error) or error from None
    raise AttributeError(f"module 'hvr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
