"""The planning language: text, lifted model, ground task and state.

Text is read by `parse_domain`, `parse_problem`, `parse_formula` and `parse_plan` into the values
of `hvr.pddl.model`, printed by `print_…`, and compiled on demand by a `Task` into operators over
`State`s. Nothing here knows of robots, knowledge graphs or the command line.
"""

from hvr.pddl.diagnostics import Diagnostic, UnsupportedPddlError
from hvr.pddl.grounding import applicable_actions, ground_all
from hvr.pddl.location import Location
from hvr.pddl.model import (
    OBJECT,
    TRUE,
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Domain,
    Effect,
    Equal,
    Exists,
    Expression,
    Forall,
    Formula,
    Function,
    FunctionTerm,
    GroundAction,
    Imply,
    Increase,
    Metric,
    Not,
    Number,
    NumericExpression,
    Or,
    Predicate,
    Problem,
    TypedName,
    When,
    atoms_of,
    is_variable,
    substitute,
)
from hvr.pddl.parser import parse_domain, parse_formula, parse_problem
from hvr.pddl.plan import parse_plan, plan_from_json, plan_to_json, print_plan
from hvr.pddl.printer import print_domain, print_formula, print_problem
from hvr.pddl.state import State, holds
from hvr.pddl.task import GroundingLimitError, Misfit, MisfitKind, Task

__all__ = [
    "OBJECT",
    "TRUE",
    "ActionSchema",
    "And",
    "Arithmetic",
    "Atom",
    "Diagnostic",
    "Domain",
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
    "Increase",
    "Location",
    "Metric",
    "Misfit",
    "MisfitKind",
    "Not",
    "Number",
    "NumericExpression",
    "Or",
    "Predicate",
    "Problem",
    "State",
    "Task",
    "TypedName",
    "UnsupportedPddlError",
    "When",
    "applicable_actions",
    "atoms_of",
    "ground_all",
    "holds",
    "is_variable",
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
    "substitute",
]
