"""Print the model as PDDL text; parsing the text gives an equal value."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.pddl.formulas import (
    OBJECT,
    TRUE,
    And,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Preference,
    Timed,
    TypedName,
    When,
    typed_list,
)
from hvr.pddl.model import ActionSchema, Domain, DurativeActionSchema, Problem

_WIDTH = 100
_DEEPEST = 80


def print_domain(domain: Domain) -> str:
    """Format a domain as PDDL text."""
    lines = [f"(define (domain {domain.name})"]
    if domain.requirements:
        lines.append(f"  (:requirements {' '.join(sorted(domain.requirements))})")
    if domain.types:
        names = [TypedName(name, parents) for name, parents in domain.types.items()]
        lines += _section(":types", names)
    if domain.constants:
        lines += _section(":constants", domain.constants)
    if domain.predicates:
        lines += ["  (:predicates", *(f"    {p}" for p in domain.predicates.values())]
        lines[-1] += ")"
    if domain.functions:
        lines += ["  (:functions", *(f"    {f} - number" for f in domain.functions.values())]
        lines[-1] += ")"
    if domain.constraints != TRUE:
        lines += _field("  (:constraints", domain.constraints, 4)
        lines[-1] += ")"
    for rule in domain.derived:
        lines += ["", *_field(f"  (:derived {rule}", rule.body, 4)]
        lines[-1] += ")"
    for action in domain.actions.values():
        lines += ["", *_action(action)]
    for durative in domain.durative_actions.values():
        lines += ["", *_durative_action(durative)]
    for process in domain.processes.values():
        lines += ["", *_action(process, ":process")]
    for event in domain.events.values():
        lines += ["", *_action(event, ":event")]
    return "\n".join(lines) + ")\n"


def print_problem(problem: Problem) -> str:
    """Format a problem as PDDL text."""
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain_name})"]
    if problem.objects:
        lines += _section(":objects", problem.objects)
    facts = sorted(map(str, problem.init))
    facts += sorted(f"(= {t} {v:f})" for t, v in problem.numeric_init.items())
    facts += map(str, problem.timed_init)
    lines += ["  (:init", *(f"    {fact}" for fact in facts)]
    lines[-1] += ")"
    lines += _field("  (:goal", problem.goal, 4)
    lines[-1] += ")"
    if problem.constraints != TRUE:
        lines += _field("  (:constraints", problem.constraints, 4)
        lines[-1] += ")"
    if problem.metric is not None:
        lines.append(f"  {problem.metric}")
    return "\n".join(lines) + ")\n"


def print_formula(formula: Expression, *, indent: int = 0) -> str:
    """Format a formula or effect, over several lines if it is long, indented by `indent` spaces."""
    return "\n".join(_layout(formula, indent))


def _section(keyword: str, names: Iterable[TypedName]) -> list[str]:
    rows: list[list[TypedName]] = []
    for item in names:
        if rows and rows[-1][0].types == item.types:
            rows[-1].append(item)
        else:
            rows.append([item])
    if all(row[0].types == (OBJECT,) for row in rows):
        return [f"  ({keyword} {typed_list(rows[0])})"]
    lines = [f"  ({keyword}"]
    for row in rows:
        kind = str(row[-1]).partition(" - ")[2]
        lines.append(f"    {' '.join(n.name for n in row)} - {kind}")
    lines[-1] += ")"
    return lines


def _action(action: ActionSchema, keyword: str = ":action") -> list[str]:
    lines = [f"  ({keyword} {action.name}", f"    :parameters ({typed_list(action.parameters)})"]
    # Printed even if empty, because VAL ignores actions without a precondition.
    lines += _field("    :precondition", action.precondition, 6)
    lines += _field("    :effect", action.effect, 6)
    lines[-1] += ")"
    return lines


def _durative_action(action: DurativeActionSchema) -> list[str]:
    lines = [
        f"  (:durative-action {action.name}",
        f"    :parameters ({typed_list(action.parameters)})",
    ]
    lines += _field("    :duration", action.duration, 6)
    lines += _field("    :condition", action.condition, 6)
    lines += _field("    :effect", action.effect, 6)
    lines[-1] += ")"
    return lines


def _field(keyword: str, expression: Expression, indent: int) -> list[str]:
    text = str(expression)
    if len(keyword) + 1 + len(text) <= _WIDTH:
        return [f"{keyword} {text}"]
    return [keyword, *_layout(expression, indent)]


def _layout(expression: Expression, indent: int) -> list[str]:
    # Expressions without room are printed on one line, which limits the recursion to about 40
    # levels.
    text = str(expression)
    pad = " " * indent
    if indent + len(text) <= _WIDTH or indent >= _DEEPEST:
        return [pad + text]
    match expression:
        case And(operands):
            head, parts = "and", operands
        case Or(operands):
            head, parts = "or", operands
        case Not(operand):
            head, parts = "not", (operand,)
        case Imply(left, right):
            head, parts = "imply", (left, right)
        case When(left, right):
            head, parts = "when", (left, right)
        case Forall(variables, body):
            head, parts = f"forall ({typed_list(variables)})", (body,)
        case Exists(variables, body):
            head, parts = f"exists ({typed_list(variables)})", (body,)
        case Timed(when, body):
            head, parts = when, (body,)
        case Preference(name, body):
            head, parts = f"preference {name}" if name else "preference", (body,)
        case _:
            return [pad + text]
    lines = [f"{pad}({head}"]
    for part in parts:
        lines += _layout(part, indent + 2)
    lines[-1] += ")"
    return lines
