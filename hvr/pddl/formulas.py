"""Formulas, numeric expressions and effects as immutable values, and functions over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Literal, TypeAlias

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl.reader import Location
from hvr.values import Compact, Value, set_field

# Formulas -----------------------------------------------------------------------------------------
# Formulas, numeric expressions and effects as immutable values.
#
# Formulas and effects share classes where PDDL shares syntax. An effect is an `Atom` (add), a
# `Not` of an atom (delete), an `And`, a `Forall`, a `When` or a `NumericEffect`; durative actions
# wrap their effects in `Timed`. `str` prints any expression as PDDL. A `location` records where
# something was read and is ignored by comparisons.

OBJECT = "object"


class TypedName(Compact):
    """A name or ?variable with its type; several types mean `(either …)`."""

    __slots__ = ("name", "types")

    name: str
    types: tuple[str, ...]

    def __init__(self, name: str, types: tuple[str, ...] = (OBJECT,)) -> None:
        set_field(self, "name", name)
        set_field(self, "types", types)

    def __str__(self) -> str:
        return f"{self.name} - {_type_text(self.types)}"


# --- formulas ---------------------------------------------------------------------------------


class Atom(Compact):
    """A predicate applied to names and ?variables; an atom without variables is ground."""

    __slots__ = ("args", "location", "predicate")

    predicate: str
    args: tuple[str, ...]
    location: Location | None

    def __init__(
        self, predicate: str, args: tuple[str, ...] = (), location: Location | None = None
    ) -> None:
        set_field(self, "predicate", predicate)
        set_field(self, "args", args)
        set_field(self, "location", location)

    def __str__(self) -> str:
        return call_text(self.predicate, self.args)


class Equal(Value):
    """The condition that two names or ?variables denote the same object."""

    left: str
    right: str
    location: Location | None = None

    def __str__(self) -> str:
        return f"(= {self.left} {self.right})"


class Compound(Value):
    """An expression that contains expressions, nested to any depth.

    It is printed, compared and hashed without recursion.
    """

    __slots__ = ()

    def pieces(self) -> tuple[object, ...]:
        """Return the parts of the printed text; inner expressions are left unprinted."""
        raise NotImplementedError

    def __str__(self) -> str:
        written: list[str] = []
        stack: list[object] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, Compound):
                stack.extend(reversed(item.pieces()))
            else:
                written.append(str(item))
        return "".join(written)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        stack: list[tuple[object, object]] = [(self, other)]
        while stack:
            one, two = stack.pop()
            if one is two:
                continue
            if isinstance(one, tuple) and isinstance(two, tuple):
                if len(one) != len(two):
                    return False
                stack.extend(zip(one, two, strict=True))
            elif not isinstance(one, Compound):
                if one != two:
                    return False
            elif type(one) is not type(two):
                return False
            else:
                # A key is one field, or a tuple of several.
                stack.append((type(one)._key(one), type(one)._key(two)))
        return True

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            # Innermost first, so that every hash finds the hashes of its parts cached.
            order: list[Compound] = []
            stack: list[Compound] = [self]
            while stack:
                item = stack.pop()
                order.append(item)
                stack += [p for p in item.pieces() if isinstance(p, Compound)]
            for item in reversed(order):
                if "_hash" not in item.__dict__:
                    item.__dict__["_hash"] = hash(type(item)._key(item))
            known = self.__dict__["_hash"]
        return int(known)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __getstate__(self) -> dict[str, object]:
        # Hashes of strings differ between processes.
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}


class Not(Compound):
    """A negation or, as an effect, the deletion of an atom."""

    operand: Expression
    location: Location | None = None

    def __init__(self, operand: Expression, location: Location | None = None) -> None:
        # Bypasses `Value.__init__`: domains contain thousands of negations.
        fields = self.__dict__
        fields["operand"] = operand
        fields["location"] = location

    def pieces(self) -> tuple[object, ...]:
        return "(not ", self.operand, ")"


class And(Compound):
    """A conjunction, which is true (or the empty effect) without operands."""

    operands: tuple[Expression, ...] = ()

    def __init__(self, operands: tuple[Expression, ...] = ()) -> None:
        self.__dict__["operands"] = operands

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces("and", self.operands)


class Or(Compound):
    """A disjunction, which is false without operands."""

    operands: tuple[Expression, ...] = ()
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces("or", self.operands)


class Imply(Compound):
    """A material implication."""

    left: Expression
    right: Expression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces("imply", (self.left, self.right))


class Forall(Compound):
    """Universal quantification of a formula (true over an empty type) or of an effect."""

    variables: tuple[TypedName, ...]
    body: Expression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return f"(forall ({typed_list(self.variables)}) ", self.body, ")"


class Exists(Compound):
    """Existential quantification, which is false over an empty type."""

    variables: tuple[TypedName, ...]
    body: Expression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return f"(exists ({typed_list(self.variables)}) ", self.body, ")"


class Comparison(Compound):
    """A numeric condition; the operator is `<`, `<=`, `=`, `>=` or `>`."""

    operator: str
    left: NumericExpression
    right: NumericExpression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces(self.operator, (self.left, self.right))


class Timed(Compound):
    """A condition, effect or duration constraint of a durative action with its time."""

    when: TimeSpecifier
    body: Expression

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces(self.when, (self.body,))


class Preference(Compound):
    """A soft condition; the name of an unnamed preference is ""."""

    name: str
    body: Expression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces("preference", (self.name, self.body) if self.name else (self.body,))


class Trajectory(Compound):
    """A modal operator of PDDL 3 over the sequence of states of a plan.

    Attributes:
        operator: `always`, `sometime`, `at end`, `within`, `at-most-once`, `sometime-after`,
            `sometime-before`, `always-within`, `hold-during` or `hold-after`.
    """

    operator: str
    times: tuple[Decimal, ...]
    formulas: tuple[Expression, ...]
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces(self.operator, (*(format(t, "f") for t in self.times), *self.formulas))


# --- numbers ----------------------------------------------------------------------------------


class Number(Value):
    """A numeric constant."""

    value: Decimal

    def __str__(self) -> str:
        return format(self.value, "f")


class FunctionTerm(Compact):
    """A numeric function applied to names and ?variables, such as `(total-cost)`."""

    __slots__ = ("args", "function")

    function: str
    args: tuple[str, ...]

    def __init__(self, function: str, args: tuple[str, ...] = ()) -> None:
        set_field(self, "function", function)
        set_field(self, "args", args)

    def __str__(self) -> str:
        return call_text(self.function, self.args)


class Arithmetic(Compound):
    """`+`, `-`, `*` or `/` of numeric expressions."""

    operator: str
    operands: tuple[NumericExpression, ...]

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces(self.operator, self.operands)


class Duration(Value):
    """The variable `?duration` of the enclosing durative action."""

    def __str__(self) -> str:
        return "?duration"


class IsViolated(Value):
    """The number of violated instances of a preference, in a metric."""

    preference: str

    def __str__(self) -> str:
        return f"(is-violated {self.preference})"


# --- effects ----------------------------------------------------------------------------------


class When(Compound):
    """A conditional effect; its condition is evaluated in the state before the action."""

    condition: Expression
    effect: Expression

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces("when", (self.condition, self.effect))


class NumericEffect(Compound):
    """A change of a numeric fluent.

    The operator is `assign`, `increase`, `decrease`, `scale-up` or `scale-down`. The amount is
    evaluated in the state before the action.
    """

    operator: str
    fluent: FunctionTerm
    amount: NumericExpression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return _call_pieces(self.operator, (self.fluent, self.amount))


class ContinuousEffect(NumericEffect):
    """A change of a numeric fluent while a process or a durative action is running.

    The operator is `increase` or `decrease`. The amount is the rate of change, the factor of
    `#t`, and may itself change over time.
    """

    operator: str
    fluent: FunctionTerm
    amount: NumericExpression
    location: Location | None = None

    def pieces(self) -> tuple[object, ...]:
        return f"({self.operator} {self.fluent} (* #t ", self.amount, "))"


TimeSpecifier: TypeAlias = Literal["at start", "over all", "at end"]
NumericExpression: TypeAlias = Number | FunctionTerm | Arithmetic | Duration | IsViolated
Formula: TypeAlias = (
    Atom
    | Equal
    | Comparison
    | Not
    | And
    | Or
    | Imply
    | Forall
    | Exists
    | Timed
    | Preference
    | Trajectory
)
Effect: TypeAlias = Atom | Not | And | Forall | When | NumericEffect | Timed
Expression: TypeAlias = Formula | When | NumericEffect

TRUE = And(())


# --- text -------------------------------------------------------------------------------------


def is_variable(name: str) -> bool:
    return name.startswith("?")


def typed_list(names: Iterable[TypedName]) -> str:
    """Format a typed list, omitting the types if all are `object`."""
    names = tuple(names)
    if all(n.types == (OBJECT,) for n in names):
        return " ".join(n.name for n in names)
    # Consecutive names of the same type share it, as people write them.
    parts: list[str] = []
    for index, item in enumerate(names):
        parts.append(item.name)
        if index + 1 == len(names) or names[index + 1].types != item.types:
            parts.append(f"- {_type_text(item.types)}")
    return " ".join(parts)


def _type_text(types: tuple[str, ...]) -> str:
    return types[0] if len(types) == 1 else f"(either {' '.join(types)})"


def call_text(head: str, args: Iterable[object]) -> str:
    return f"({' '.join([head, *map(str, args)])})"


def _call_pieces(head: str, args: Iterable[object]) -> tuple[object, ...]:
    pieces: list[object] = [f"({head}"]
    for arg in args:
        pieces += " ", arg
    return (*pieces, ")")


# Traversal ----------------------------------------------------------------------------------------
# Functions over expressions: subexpressions, substitution, variables and polarity.


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
    """Apply a function to the constants, fluents and variables of a numeric expression."""
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
    """Return the direct subexpressions in order, with conditions of effects but without numbers."""
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
    """Return an expression with its parts replaced, in the order of `parts_of`."""
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
    """Yield an expression and its subexpressions, except numeric ones, in text order."""
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

    The polarity is `positive`, and its opposite under an odd number of negations. The left side of
    an implication counts as negated.
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
    """Yield the preferences in a formula, also in its `and`, `forall` and timed parts."""
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
