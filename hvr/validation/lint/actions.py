"""Actions and rules whose conditions contradict themselves, and effects that change nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Domain,
    DurativeActionSchema,
    Equal,
    Expression,
    Forall,
    Not,
    When,
    is_variable,
)
from hvr.pddl.facts import Literal, conjuncts, necessary_literals
from hvr.pddl.model import changes_of
from hvr.validation.occurrences import Schema, kind_of, schemas_of, without_times
from hvr.validation.rules import LintFinding, issue


def check_actions(domain: Domain) -> Iterator[LintFinding]:
    """Yield actions and rules that can never apply, and effects without effect."""
    for schema in schemas_of(domain):
        kind = kind_of(domain, schema)
        yield from _contradiction(schema, kind)
        if not any(True for _ in changes_of(schema.effect)):
            yield issue("HVR311", f"The {kind} {schema.name} changes nothing.", schema.name, schema)
        if isinstance(schema, ActionSchema):
            yield from _dead_branches(schema)
            yield from _redundant(schema)
    for rule in domain.derived:
        if (clash := _clash(necessary_literals(rule.body))) is not None:
            yield issue("HVR309", f"The rule for {rule.predicate} can never derive anything: "
                        f"{_reason(clash)}.", rule.predicate, clash)  # fmt: skip


def _contradiction(schema: Schema, kind: str) -> Iterator[LintFinding]:
    if isinstance(schema, DurativeActionSchema):
        parts = [without_times(schema.condition, (t,)) for t in ("at start", "over all", "at end")]
    else:
        parts = [schema.precondition]
    for part in parts:
        if (clash := _clash(necessary_literals(part))) is not None:
            yield issue("HVR309", f"The {kind} {schema.name} can never apply: {_reason(clash)}.",
                        schema.name, clash)  # fmt: skip
            return


def _dead_branches(schema: ActionSchema) -> Iterator[LintFinding]:
    needed = list(necessary_literals(schema.precondition))
    if _clash(needed) is not None:
        return
    hidden: set[str] = {p.name for p in schema.parameters}
    for branch in _branches(schema.effect, hidden):
        clash = _clash([*needed, *necessary_literals(branch.condition)])
        if clash is not None:
            yield issue("HVR309", f"A conditional effect of {schema.name} can never happen: "
                        f"{_reason(clash)}.", schema.name, clash)  # fmt: skip


def _branches(effect: Expression, hidden: set[str]) -> Iterator[When]:
    stack = [effect]
    while stack:
        match stack.pop():
            case When() as branch:
                yield branch
            case And(operands):
                stack.extend(reversed(operands))
            case Forall(variables, body) if hidden.isdisjoint(v.name for v in variables):
                stack.append(body)
            case _:
                pass


def _clash(literals: Iterable[Literal]) -> Atom | Equal | None:
    """Return a literal that excludes itself or an earlier one."""
    seen: dict[Atom | Equal, bool] = {}
    for literal, positive in literals:
        if seen.setdefault(literal, positive) != positive:
            return literal
        if isinstance(literal, Equal):
            left, right = literal.left, literal.right
            names = not (is_variable(left) or is_variable(right))
            if (left == right and not positive) or (names and left != right and positive):
                return literal
    return None


def _reason(clash: Atom | Equal) -> str:
    if isinstance(clash, Equal):
        return f"{clash} is demanded to be what it cannot be"
    return f"{clash} is to be both true and false"


def _redundant(schema: ActionSchema) -> Iterator[LintFinding]:
    """Yield parts of an effect that change nothing whenever the action applies."""
    added: dict[Atom, Atom] = {}
    deleted: dict[Atom, Atom] = {}
    for part in conjuncts(schema.effect):
        match part:
            case Atom():
                added[part] = part
            case Not(Atom() as atom):
                deleted[atom] = atom
            case _:
                pass
    needed = dict(necessary_literals(schema.precondition))
    adding, deleting = _polarities(schema.effect)
    for atom in added:
        if atom in deleted:
            yield issue("HVR312", f"{schema.name} deletes and adds {atom}; adding wins, so that "
                        "the deletion has no effect.", schema.name, atom)  # fmt: skip
        elif needed.get(atom) is True and atom.predicate not in deleting:
            yield issue("HVR312", f"{schema.name} adds {atom}, which its precondition demands to "
                        "be true already.", schema.name, atom)  # fmt: skip
    for atom in deleted:
        if needed.get(atom) is False and atom.predicate not in adding:
            yield issue("HVR312", f"{schema.name} deletes {atom}, which its precondition demands "
                        "to be false already.", schema.name, atom)  # fmt: skip


def _polarities(effect: Expression) -> tuple[set[str], set[str]]:
    """Return the predicates that an effect may add, and those that it may delete."""
    adding: set[str] = set()
    deleting: set[str] = set()
    stack = [effect]
    while stack:
        match stack.pop():
            case Atom(predicate):
                adding.add(predicate)
            case Not(Atom(predicate)):
                deleting.add(predicate)
            case And(operands):
                stack.extend(operands)
            case Forall(_, body) | When(_, body):
                stack.append(body)
            case _:
                pass
    return adding, deleting
