"""Functions over expressions: subexpressions, substitution, variables and polarity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl.formulas import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Imply,
    Not,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Timed,
    Trajectory,
    TypedName,
    When,
    is_variable,
)


def substitute(expression: Expression, binding: Mapping[str, str]) -> Expression:
    """Replace free ?variables by the objects in `binding`, keeping locations."""
    return run_trampoline(_substitute(expression, binding))


def _substitute(expression: Expression, binding: Mapping[str, str]) -> Steps[Expression]:
    match expression:
        case Atom(predicate, args):
            row = tuple([binding.get(a, a) for a in args])
            return Atom(predicate, row, location=expression.location)
        case Equal(left, right):
            left, right = binding.get(left, left), binding.get(right, right)
            return Equal(left, right, location=expression.location)
        case Comparison(_, left_, right_):
            return expression.replace(
                left=substitute_number(left_, binding), right=substitute_number(right_, binding)
            )
        case NumericEffect(_, fluent, amount):
            term = FunctionTerm(fluent.function, tuple([binding.get(a, a) for a in fluent.args]))
            return expression.replace(fluent=term, amount=substitute_number(amount, binding))
        case Forall(variables) | Exists(variables):
            # A quantifier hides outer variables of the same name.
            binding = _without(binding, variables)
    parts: list[Expression] = []
    for part in parts_of(expression):
        parts.append((yield _substitute(part, binding)))
    return with_parts(expression, parts)


def substitute_number(
    expression: NumericExpression, binding: Mapping[str, str]
) -> NumericExpression:
    def bound(leaf: NumericExpression) -> NumericExpression:
        if not isinstance(leaf, FunctionTerm):
            return leaf
        return FunctionTerm(leaf.function, tuple([binding.get(a, a) for a in leaf.args]))

    return map_leaves(expression, bound)


def map_leaves(
    expression: NumericExpression, change: Callable[[NumericExpression], NumericExpression]
) -> NumericExpression:
    """Replace the operands of a numeric expression that are not arithmetic."""
    return run_trampoline(_map_leaves(expression, change))


def _map_leaves(
    expression: NumericExpression, change: Callable[[NumericExpression], NumericExpression]
) -> Steps[NumericExpression]:
    if not isinstance(expression, Arithmetic):
        return change(expression)
    operands: list[NumericExpression] = []
    for operand in expression.operands:
        operands.append((yield _map_leaves(operand, change)))
    return Arithmetic(expression.operator, tuple(operands))


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct subexpressions in order, including the conditions of effects."""
    match expression:
        case Not(operand):
            return (operand,)
        case And(operands) | Or(operands):
            return operands
        case Imply(left, right) | When(left, right):
            return left, right
        case Forall(_, body) | Exists(_, body) | Timed(_, body) | Preference(_, body):
            return (body,)
        case Trajectory(_, _, formulas):
            return formulas
        case _:
            return ()


def with_parts(expression: Expression, parts: Iterable[Expression]) -> Expression:
    """Return an expression with other parts, in the order of `parts_of`."""
    parts = tuple(parts)
    match expression:
        case Not():
            return Not(parts[0], expression.location)
        case And():
            return And(parts)
        case Or():
            return expression.replace(operands=parts)
        case Imply():
            return expression.replace(left=parts[0], right=parts[1])
        case When():
            return When(*parts)
        case Forall() | Exists() | Timed() | Preference():
            return expression.replace(body=parts[0])
        case Trajectory():
            return expression.replace(formulas=parts)
        case _:
            return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its subexpressions in the order of the text."""
    stack = [expression]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(reversed(parts_of(item)))


def all_free_variables(expression: Expression) -> dict[int, frozenset[str]]:
    """Return the free ?variables of every subexpression of a condition, keyed by its `id`."""
    result: dict[int, frozenset[str]] = {}
    # Innermost first: each expression combines the results of its parts.
    for item in reversed([*walk(expression)]):
        match item:
            case Atom(_, args):
                names = frozenset(filter(is_variable, args))
            case Equal(left, right):
                names = frozenset(filter(is_variable, (left, right)))
            case Comparison():
                terms = [t for n in (item.left, item.right) for t in functions_of(n)]
                names = frozenset(a for term in terms for a in term.args if is_variable(a))
            case _:
                names = frozenset().union(*[result[id(part)] for part in parts_of(item)])
                if isinstance(item, Forall | Exists):
                    names -= {variable.name for variable in item.variables}
        result[id(item)] = names
    return result


def signed_parts(formula: Expression, positive: bool = True) -> Iterator[tuple[Expression, bool]]:
    """Yield a formula and all its subformulas like `walk`, each with its polarity.

    The polarity is False under an odd number of negations; the left side of an implication counts
    as negated.
    """
    stack = [(formula, positive)]
    while stack:
        item, sign = stack.pop()
        yield item, sign
        match item:
            case Not(operand):
                stack.append((operand, not sign))
            case Imply(left, right):
                stack += (right, sign), (left, not sign)
            case _:
                stack.extend([(part, sign) for part in reversed(parts_of(item))])


def preferences_of(formula: Expression) -> Iterator[Preference]:
    """Yield the preferences in a formula; they may stand only under and, forall or a time."""
    stack = [formula]
    while stack:
        match stack.pop():
            case Preference() as preference:
                yield preference
            case And(operands):
                inner = [o for o in operands if isinstance(o, And | Forall | Timed | Preference)]
                stack.extend(reversed(inner))
            case Forall(_, body) | Timed(_, body):
                stack.append(body)
            case _:
                pass


def atoms_of(expression: Expression) -> Iterator[Atom]:
    """Yield all atoms of an expression in order, including the conditions of effects."""
    return (item for item in walk(expression) if isinstance(item, Atom))


def numbers_of(expression: Expression) -> Iterator[NumericExpression]:
    """Yield the outermost numeric expressions of an expression."""
    for item in walk(expression):
        if isinstance(item, Comparison):
            yield from (item.left, item.right)
        elif isinstance(item, NumericEffect):
            yield from (item.fluent, item.amount)


def functions_of(expression: NumericExpression) -> Iterator[FunctionTerm]:
    stack = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, FunctionTerm):
            yield item
        elif isinstance(item, Arithmetic):
            stack.extend(reversed(item.operands))


def changes_of(effect: Expression) -> Iterator[Atom | NumericEffect]:
    """Yield the atoms that an effect may add or delete, and its numeric effects."""
    stack = [effect]
    while stack:
        match stack.pop():
            case Atom() | NumericEffect() as change:
                yield change
            case Not(operand):
                stack.append(operand)
            case And(operands):
                stack.extend(reversed(operands))
            case Forall(_, body) | When(_, body) | Timed(_, body):
                stack.append(body)
            case _:
                pass


def _without(binding: Mapping[str, str], variables: Iterable[TypedName]) -> Mapping[str, str]:
    hidden = {v.name for v in variables}
    if hidden.isdisjoint(binding):
        return binding
    return {k: v for k, v in binding.items() if k not in hidden}
