"""Names that are valid and unique in both PDDL and unified-planning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from hvr.errors import HvrError
from hvr.pddl import OBJECT, Atom, FunctionTerm, TypedName

# Errors -------------------------------------------------------------------------------------------


class InteropError(HvrError):
    """A problem or plan uses a feature that the other library cannot express.

    Args:
        feature: The feature in its library's words, or a whole sentence if `where` is "".
        where: The action, fluent or other part that uses the feature, or "".
    """

    def __init__(self, feature: str, where: str = "") -> None:
        self.feature = feature
        self.where = where
        super().__init__(f"not supported in {where}: {feature}" if where else feature)


# Names --------------------------------------------------------------------------------------------

_WORDS = """
    after all always always-within and assign at-most-once at-start constraints decrease define
    domain either effect end exists forall goal hold-after hold-during imply increase init
    is-violated maximize metric minimize name not number object objects or parameters precondition
    preference problem scale-down scale-up sometime sometime-after sometime-before total-time when
    within
"""
RESERVED = frozenset(_WORDS.split())
"""Words of PDDL that some parsers reject as names."""

_WRONG = re.compile(r"[^a-z0-9_-]+")


class UnifiedNames:
    """A deterministic mapping between original names and similar valid names.

    `clean` makes a name valid; the names in `taken` are reserved.
    """

    def __init__(self, clean: Callable[[str], str] = str, taken: Iterable[str] = ()) -> None:
        self._clean = clean
        self._taken = set(taken)
        self._new: dict[tuple[str, str], str] = {}
        self._old: dict[tuple[str, str], str] = {}

    def add(self, kind: str, name: str) -> str:
        """Return the new name of an item of a kind, such as `object`, creating it on first use."""
        given = self._new.get((kind, name))
        if given is None:
            given = self.fresh(name)
            self._new[kind, name] = given
            self._old[kind, given] = name
        return given

    def fresh(self, proposal: str) -> str:
        """Reserve and return an unused name similar to `proposal`."""
        first = free = self._clean(proposal)
        number = 2
        while free in self._taken:
            free = f"{first}-{number}"
            number += 1
        self._taken.add(free)
        return free

    def new(self, kind: str, name: str) -> str:
        try:
            return self._new[kind, name]
        except KeyError:
            raise InteropError(f"the problem has no {kind} {name!r}") from None

    def old(self, kind: str, name: str) -> str:
        try:
            return self._old[kind, name]
        except KeyError:
            raise InteropError(f"the problem has no {kind} {name!r}") from None

    def local(self) -> UnifiedNames:
        """Return a new empty mapping for the parameters of an action."""
        return UnifiedNames(self._clean)


def number_name(value: Fraction) -> str:
    """Return the name of the object that represents a number, such as `n1-over-2`."""
    return "n" + str(value).replace("-", "minus-").replace("/", "-over-")


def pddl_name(name: str) -> str:
    """Convert any text to a PDDL name: lower-case letters, digits, `-` and `_`."""
    cleaned = _WRONG.sub("-", name.lower()).strip("-")
    return cleaned if cleaned[:1].isalpha() else f"x{cleaned}"


# Vocabulary ---------------------------------------------------------------------------------------
# The PDDL names of the types, objects and fluents of a unified-planning problem.
#
# Numbers and truth values that are used as arguments become objects with types of their own. A
# static function maps number objects to their values.

_MOST_NUMBERS = 10_000


class Vocabulary:
    """The names of one problem.

    Args:
        costs: Whether `total-cost` is needed for action costs.
        further: Numbers that plans use for unbounded parameters; None forbids such parameters.
    """

    def __init__(self, problem: Any, costs: bool, further: Iterable[Fraction] | None) -> None:
        self.problem = problem
        self.names = UnifiedNames(pddl_name, RESERVED | ({"total-cost"} if costs else set()))
        self._values: dict[Fraction, None] = {}
        self._further = None if further is None else tuple(further)
        self._number_types: dict[str, Any] = {}
        self._booleans = False
        users = problem.user_types
        roots = [t for t in users if t.father is None]
        self._root = roots[0] if len(roots) == 1 and roots[0].name == OBJECT else None
        for kind in users:
            if kind is not self._root:
                self.names.add("type", kind.name)
        for fluent in problem.fluents:
            self.names.add("fluent", fluent.name)
        for action in problem.actions:
            self.names.add("action", action.name)
        for thing in problem.all_objects:
            self.names.add("object", thing.name)
        explicit: dict[Any, int] = {}
        for expression in problem.explicit_initial_values:
            explicit[expression.fluent()] = explicit.get(expression.fluent(), 0) + 1
        self._unknown = {
            fluent
            for fluent in problem.fluents
            if not fluent.type.is_int_type()
            and not fluent.type.is_real_type()
            and fluent not in problem.fluents_defaults
            and explicit.get(fluent, 0) < sum(1 for _ in self.instances(fluent))
        }

    # Types and objects ----------------------------------------------------------------------

    def types(self, kind: Any) -> tuple[str, ...]:
        if kind is self._root:
            return (OBJECT,)
        if kind.is_user_type():
            return (self.names.new("type", kind.name),)
        if kind.is_bool_type():
            self._booleans = True
            self.names.add("object", "true")
            self.names.add("object", "false")
            return (self.names.add("type", "bool"),)
        if kind.is_int_type() or kind.is_real_type():
            return (self._number_type(kind),)
        raise InteropError(f"the type {kind} is not supported")

    def wide_types(self, kind: Any) -> tuple[str, ...]:
        """Return the type of a fluent's parameter; for numbers, it includes all numbers."""
        if kind.is_int_type() or kind.is_real_type():
            self._number_type(kind)
            return (self.names.add("type", "number-value"),)
        return self.types(kind)

    def number(self, value: Fraction | int) -> str:
        value = Fraction(value)
        self._values.setdefault(value)
        return self.names.add("object", number_name(value))

    def truth(self, value: bool) -> str:
        self._booleans = True
        self.names.add("type", "bool")
        self.names.add("object", "true")
        self.names.add("object", "false")
        return self.names.new("object", "true" if value else "false")

    def value_of(self, name: str) -> FunctionTerm:
        return FunctionTerm(self.names.add("fluent", "number-value"), (name,))

    def declared_types(self) -> dict[str, tuple[str, ...]]:
        result: dict[str, tuple[str, ...]] = {}
        for kind in self.problem.user_types:
            if kind is not self._root:
                father = (OBJECT,) if kind.father is None else self.types(kind.father)
                result[self.types(kind)[0]] = father
        if self._booleans:
            result[self.names.new("type", "bool")] = (OBJECT,)
        if self._values or self._number_types:
            general = self.names.add("type", "number-value")
            result[general] = (OBJECT,)
            for name in self._number_types:
                result[name] = (general,)
        return result

    def declared_objects(self) -> Iterator[TypedName]:
        """Yield the objects; objects that represent values come last."""
        for thing in self.problem.all_objects:
            yield TypedName(self.names.new("object", thing.name), self.types(thing.type))
        if self._booleans:
            kind = self.names.new("type", "bool")
            for value in ("true", "false"):
                yield TypedName(self.names.new("object", value), (kind,))
        for number in sorted(self._values):
            kinds = [n for n, kind in self._number_types.items() if _fits(kind, number)]
            if not kinds:
                kinds = [self.names.add("type", "number-value")]
            yield TypedName(self.number(number), tuple(kinds))

    def number_values(self) -> Iterator[tuple[FunctionTerm, Decimal]]:
        for value in sorted(self._values):
            yield self.value_of(self.number(value)), decimal(value)

    def _number_type(self, kind: Any) -> str:
        low, high = kind.lower_bound, kind.upper_bound
        whole = "integer" if kind.is_int_type() else "real"
        proposal = f"{whole}-{'' if low is None else low}-to-{'' if high is None else high}"
        name = self.names.add("number type", proposal)
        if name in self._number_types:
            return name
        self._number_types[name] = kind
        self.names.add("type", "number-value")
        self.names.add("fluent", "number-value")
        if kind.is_int_type() and low is not None and high is not None:
            if high - low >= _MOST_NUMBERS:
                raise InteropError(
                    f"a parameter of type {kind} has more than {_MOST_NUMBERS} possible values"
                )
            for whole_number in range(low, high + 1):
                self.number(whole_number)
        elif self._further is None:
            raise InteropError(f"a parameter of the type {kind} without bounds is not supported")
        else:
            for further in self._further:
                if _fits(kind, further):
                    self.number(further)
        return name

    # Fluents --------------------------------------------------------------------------------

    def fluent(self, fluent: Any) -> str:
        """Return the name of the predicate or function for a fluent."""
        return self.names.new("fluent", fluent.name)

    def instances(self, fluent: Any) -> Iterator[Any]:
        """Yield all ground instances of a fluent; an unbounded parameter raises an InteropError."""
        from unified_planning.exceptions import UPProblemDefinitionError
        from unified_planning.model.fluent import get_all_fluent_exp

        try:
            yield from get_all_fluent_exp(self.problem, fluent)
        except UPProblemDefinitionError as error:
            raise InteropError("a fluent with a parameter without bounds", fluent.name) from error

    @property
    def unknown_fluents(self) -> set[Any]:
        """The Boolean and object-valued fluents that may be undefined."""
        return self._unknown

    def unknown_atom(self, predicate: str, args: tuple[str, ...]) -> Atom:
        """Return the atom that marks a Boolean fluent as undefined."""
        return Atom(self.names.add("fluent", f"unknown {predicate}"), args)


def decimal(value: Fraction | int) -> Decimal:
    value = Fraction(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        raise InteropError(f"expected a finite decimal, found the number {value}")
    with localcontext() as context:
        context.prec = 4000
        return Decimal(value.numerator) / Decimal(value.denominator)


def _fits(kind: Any, value: Fraction) -> bool:
    if kind.is_int_type() and value.denominator != 1:
        return False
    low, high = kind.lower_bound, kind.upper_bound
    return (low is None or value >= low) and (high is None or value <= high)
