"""The planning language: text, lifted model, ground task and state.

`parse_domain`, `parse_problem`, `parse_formula` and `parse_plan` read text into the values of
`hvr.pddl.model` and `hvr.pddl.formulas`; `print_…` turns values back into text. A `Task` compiles
a domain and a problem on demand into operators over `State`s, which are bit sets. This package is
independent of robots, knowledge graphs and the command line.

Start with `model.py`, `formulas.py` and `traversal.py`, then `task.py` and `state.py`. `hierarchy/`
does the same for HDDL. `checker.py` checks certificates. It shares only the parsers with the rest
of hvr, so that a proof does not depend on the validator.
"""

from typing import TYPE_CHECKING

from hvr.errors import GroundingLimitError, NumberTooLargeError, UndefinedValueError
from hvr.pddl.formulas import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    Atom,
    Comparison,
    ContinuousEffect,
    Duration,
    Effect,
    Equal,
    Exists,
    Expression,
    Forall,
    Formula,
    FunctionTerm,
    Imply,
    IsViolated,
    Not,
    Number,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Timed,
    Trajectory,
    TypedName,
    When,
    atoms_of,
    is_variable,
    substitute,
)
from hvr.pddl.model import (
    ActionSchema,
    DerivedPredicate,
    Domain,
    DurativeActionSchema,
    Function,
    GroundAction,
    Metric,
    Predicate,
    Problem,
    TimedInitial,
)
from hvr.pddl.plan import PlanText, Step, TimedAction, parse_plan, print_plan, read_plan
from hvr.pddl.problem_parser import parse_constraint, parse_domain, parse_formula, parse_problem
from hvr.pddl.reader import Diagnostic, Location, UnsupportedPddlError
from hvr.pddl.state import State, holds
from hvr.pddl.task import Misfit, MisfitKind, Task

if TYPE_CHECKING:
    from hvr.pddl.model import print_domain, print_formula, print_problem
    from hvr.pddl.plan_json import plan_from_json, plan_to_json
    from hvr.pddl.task import applicable_actions, ground_all

_LATE = {
    "applicable_actions": "task",
    "ground_all": "task",
    "plan_from_json": "plan_json",
    "plan_to_json": "plan_json",
    "print_domain": "model",
    "print_formula": "model",
    "print_problem": "model",
}
"""Names that validation does not need; their modules are imported on first use."""

__all__ = [
    "OBJECT",
    "TRUE",
    "ActionSchema",
    "And",
    "Arithmetic",
    "Atom",
    "Comparison",
    "ContinuousEffect",
    "DerivedPredicate",
    "Diagnostic",
    "Domain",
    "Duration",
    "DurativeActionSchema",
    "Effect",
    "Equal",
    "Exists",
    "Expression",
    "Forall",
    "Formula",
    "Function",
    "FunctionTerm",
    "GroundAction",
    "GroundingLimitError",
    "Imply",
    "IsViolated",
    "Location",
    "Metric",
    "Misfit",
    "MisfitKind",
    "Not",
    "Number",
    "NumberTooLargeError",
    "NumericEffect",
    "NumericExpression",
    "Or",
    "PlanText",
    "Predicate",
    "Preference",
    "Problem",
    "State",
    "Step",
    "Task",
    "Timed",
    "TimedAction",
    "TimedInitial",
    "Trajectory",
    "TypedName",
    "UndefinedValueError",
    "UnsupportedPddlError",
    "When",
    "applicable_actions",
    "atoms_of",
    "ground_all",
    "holds",
    "is_variable",
    "parse_constraint",
    "parse_domain",
    "parse_formula",
    "parse_plan",
    "parse_problem",
    "plan_from_json",
    "plan_to_json",
    "print_domain",
    "print_formula",
    "print_plan",
    "print_problem",
    "read_plan",
    "substitute",
]


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
