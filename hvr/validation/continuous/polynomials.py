"""Polynomials in time with exact coefficients, and their real roots.

Sturm's theorem isolates the roots: the number of roots in an interval is the number of sign changes
that the Sturm sequence loses from one end to the other (Basu, Pollack & Roy, "Algorithms in Real
Algebraic Geometry", 2006, section 2.2). A rational root is found exactly. An irrational root is an
interval that can be refined without limit. The sign of any polynomial at a root is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import TYPE_CHECKING, TypeAlias

from hvr.errors import ContinuousChangeError
from hvr.pddl.state import Rational

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity, TimeFunction


Number: TypeAlias = "Rational | Polynomial"

SHOWN_BITS = 64


class Polynomial:
    """An immutable polynomial: coefficients by ascending powers, without trailing zeros."""

    __slots__ = ("coefficients",)

    coefficients: tuple[Rational, ...]

    def __init__(self, coefficients: Iterable[Rational]) -> None:
        kept = list(coefficients)
        while kept and not kept[-1]:
            kept.pop()
        self.coefficients = tuple(kept)

    @property
    def degree(self) -> int:
        """The degree, or -1 for the zero polynomial."""
        return len(self.coefficients) - 1

    @property
    def constant(self) -> Rational:
        return self.coefficients[0] if self.coefficients else 0

    def __call__(self, time: Rational) -> Rational:
        result: Rational = 0
        for coefficient in reversed(self.coefficients):
            result = result * time + coefficient
        return result

    def __add__(self, other: Number) -> Polynomial:
        if not isinstance(other, Polynomial | int | Fraction):
            return NotImplemented
        one, two = self.coefficients, _coefficients(other)
        if len(one) < len(two):
            one, two = two, one
        return Polynomial([c + (two[i] if i < len(two) else 0) for i, c in enumerate(one)])

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial([-c for c in self.coefficients])

    def __sub__(self, other: Number) -> Polynomial:
        if not isinstance(other, Polynomial | int | Fraction):
            return NotImplemented
        return self + (-other)

    def __rsub__(self, other: Rational) -> Polynomial:
        return -self + other

    def __mul__(self, other: Number) -> Polynomial:
        if not isinstance(other, Polynomial | int | Fraction):
            return NotImplemented
        one, two = self.coefficients, _coefficients(other)
        if not one or not two:
            return Polynomial(())
        result: list[Rational] = [0] * (len(one) + len(two) - 1)
        for i, a in enumerate(one):
            for j, b in enumerate(two):
                result[i + j] += a * b
        return Polynomial(result)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Quantity:
        if not isinstance(other, Polynomial | int | Fraction):
            return NotImplemented
        divisor = _coefficients(other)
        if len(divisor) == 1:
            return Polynomial([Fraction(c) / divisor[0] for c in self.coefficients])
        return self * _inverse(other)

    def __rtruediv__(self, other: Rational) -> Quantity:
        return other * _inverse(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial | int | Fraction):
            return self.coefficients == _coefficients(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.coefficients)

    def __repr__(self) -> str:
        return f"Polynomial({self.coefficients})"

    def derivative(self) -> Polynomial:
        return Polynomial([i * c for i, c in enumerate(self.coefficients)][1:])

    def integral(self, constant: Rational) -> Polynomial:
        """Return the antiderivative whose value at 0 is `constant`."""
        parts = [Fraction(c) / (i + 1) for i, c in enumerate(self.coefficients)]
        return Polynomial((constant, *parts))

    def remainder(self, divisor: Polynomial) -> Polynomial:
        rest, by = list(self.coefficients), divisor.coefficients
        while len(rest) >= len(by):
            factor = Fraction(rest[-1]) / by[-1]
            shift = len(rest) - len(by)
            for i, c in enumerate(by):
                rest[shift + i] -= factor * c
            rest.pop()
        return Polynomial(rest)

    def quotient(self, divisor: Polynomial) -> Polynomial:
        rest, by = list(self.coefficients), divisor.coefficients
        result: list[Rational] = [0] * max(len(rest) - len(by) + 1, 0)
        while len(rest) >= len(by):
            shift = len(rest) - len(by)
            factor = result[shift] = Fraction(rest[-1]) / by[-1]
            for i, c in enumerate(by):
                rest[shift + i] -= factor * c
            rest.pop()
        return Polynomial(result)

    def primitive(self) -> Polynomial:
        """Return the positive multiple whose coefficients are coprime integers."""
        exact = [Fraction(c) for c in self.coefficients]
        scale = lcm(*(c.denominator for c in exact)) if exact else 1
        whole = [int(c * scale) for c in exact]
        divisor = gcd(*whole) or 1
        return Polynomial([c // divisor for c in whole])


def _coefficients(number: Number) -> tuple[Rational, ...]:
    if isinstance(number, Polynomial):
        return number.coefficients
    return (number,) if number else ()


def _inverse(number: Number) -> Quantity:
    # Import lazily: only quotients by polynomials need functions beyond polynomials.
    from hvr.validation.continuous.functions import inverse_of

    return inverse_of(number)


def common_divisor(one: Polynomial, two: Polynomial) -> Polynomial:
    """Return a greatest common divisor, which is unique up to a constant factor."""
    while two.coefficients:
        # Coefficients would grow exponentially in Euclid's algorithm without this.
        one, two = two, one.remainder(two).primitive()
    return one


def square_free(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with the same roots, all of them simple."""
    polynomial = polynomial.primitive()
    if polynomial.degree < 2:
        return polynomial
    return polynomial.quotient(common_divisor(polynomial, polynomial.derivative())).primitive()


# Roots --------------------------------------------------------------------------------------


class Root:
    """A real root of a polynomial: a rational number, or an interval with one root inside.

    Attributes:
        polynomial: A square-free polynomial with this root. If the root is irrational, the
            polynomial has no rational roots.
        low, high: The ends of the interval, which are not roots. Both are the root itself if it is
            rational.
    """

    __slots__ = ("_whole", "high", "low", "polynomial")

    algebraic = True
    """Whether the number is the root of a polynomial with rational coefficients."""

    depth = 0
    """Length of the longest chain of irrational times that the root depends on."""

    def __init__(self, polynomial: Polynomial, low: Rational, high: Rational) -> None:
        self.polynomial = polynomial
        self.low = low
        self.high = high
        self._whole: tuple[int, ...] = ()

    @property
    def rational(self) -> bool:
        return self.low == self.high

    def refine(self) -> None:
        self._halve(Fraction(self.high - self.low) / 2)

    def _halve(self, wanted: Rational) -> None:
        low, high = Fraction(self.low), Fraction(self.high)
        under = lcm(low.denominator, high.denominator)
        a, b = int(low * under), int(high * under)
        most = Fraction(wanted)
        above = self._sign(b, under) > 0
        while (b - a) * most.denominator > most.numerator * under:
            middle = a + b
            a, b, under = 2 * a, 2 * b, 2 * under
            if (self._sign(middle, under) > 0) == above:
                b = middle
            else:
                a = middle
        self.low, self.high = Fraction(a, under), Fraction(b, under)

    def _sign(self, over: int, under: int) -> int:
        if not self._whole:
            self._whole = tuple(map(int, self.polynomial.primitive().coefficients))
        result, power = self._whole[-1], 1
        for coefficient in reversed(self._whole[:-1]):
            power *= under
            result = result * over + coefficient * power
        return _sign(result)

    def enclosure(self, bits: int) -> tuple[Rational, Rational]:
        """Return the ends of an interval no longer than `2**-bits`."""
        if self.high - self.low > Fraction(1, 1 << bits):
            self._halve(Fraction(1, 1 << bits))
        return self.low, self.high

    def approximation(self) -> Rational:
        if self.rational:
            return self.low
        low, high = self.enclosure(SHOWN_BITS)
        return Fraction(low + high) / 2

    def same(self, other: Root) -> bool:
        """Return whether two irrational roots with overlapping intervals are the same number."""
        if self.rational or other.rational or not other.algebraic:
            return False
        shared = common_divisor(self.polynomial, other.polynomial)
        if shared.degree < 1:
            return False
        # A common root is a root of the common divisor, which has at most one root in each
        # interval. So the roots are the same if it changes sign where the intervals overlap.
        low, high = max(self.low, other.low), min(self.high, other.high)
        return low < high and _sign(shared(low)) != _sign(shared(high))

    def reduce(self, number: TimeFunction | Polynomial) -> Quantity:
        """Return the remainder modulo `polynomial`, which has the value of `number` at the root."""
        if isinstance(number, Polynomial):
            return number.remainder(self.polynomial)
        from hvr.validation.continuous.functions import remainder

        return remainder(number, self.polynomial)

    def __repr__(self) -> str:
        return f"Root({float(self.low)}, {float(self.high)})"


def roots(polynomial: Polynomial, end: Rational) -> list[Root]:
    """Return the roots in (0, `end`], in order.

    The zero polynomial counts as having no roots, because its sign never changes.
    """
    if polynomial.degree < 1 or end <= 0:
        return []
    if polynomial.degree == 1:
        constant, slope = polynomial.coefficients
        time = Fraction(-constant) / slope
        return [Root(polynomial, time, time)] if 0 < time <= end else []
    # Roots at 0 are outside the interval: divide them out.
    leading = next(i for i, c in enumerate(polynomial.coefficients) if c)
    polynomial = Polynomial(polynomial.coefficients[leading:])
    if polynomial.degree < 1:
        return []
    if polynomial.degree == 1:
        return roots(polynomial, end)
    found = _by_formula(polynomial) if polynomial.degree == 2 else None
    if found is None:
        return _isolated(square_free(polynomial), end)
    return [Root(polynomial, r, r) for r in sorted(set(found)) if 0 < r <= end]


def _by_formula(polynomial: Polynomial) -> list[Rational] | None:
    c, b, a = polynomial.coefficients
    discriminant = Fraction(b * b - 4 * a * c)
    if discriminant < 0:
        return []
    over, under = discriminant.numerator, discriminant.denominator
    if isqrt(over) ** 2 != over or isqrt(under) ** 2 != under:
        return None
    root = Fraction(isqrt(over), isqrt(under))
    return [(-b - root) / (2 * a), (-b + root) / (2 * a)]


def _isolated(polynomial: Polynomial, end: Rational) -> list[Root]:
    whole: list[Root] = []
    if polynomial(end) == 0:
        whole.append(Root(polynomial, end, end))
        polynomial = polynomial.quotient(Polynomial((-end, 1))).primitive()
    sequence = _sturm(polynomial)
    found: list[Root] = []
    open_: list[tuple[Rational, Rational, int, int]] = [
        (0, end, _changes(sequence, 0), _changes(sequence, end))
    ]
    while open_:
        low, high, changes_low, changes_high = open_.pop()
        if changes_low - changes_high == 1:
            found.append(_rational_or_not(Root(polynomial, low, high)))
        elif changes_low > changes_high:
            middle = Fraction(low + high) / 2
            while polynomial(middle) == 0:
                # Sturm's theorem needs ends that are not roots, and any inner point will do.
                middle = Fraction(low + middle) / 2
            changes = _changes(sequence, middle)
            open_ += (low, middle, changes_low, changes), (middle, high, changes, changes_high)
    rational = [root.low for root in found if root.rational]
    for number in rational:
        # A lower degree makes the sign of other polynomials at the irrational roots cheaper.
        polynomial = polynomial.quotient(Polynomial((-number, 1)))
    for root in found:
        if not root.rational:
            root.polynomial, root._whole = polynomial, ()
    return sorted(found + whole, key=lambda root: root.low)


def _rational_or_not(root: Root) -> Root:
    # By the rational root theorem, the denominator divides the leading coefficient. A short
    # interval contains at most one multiple of `1 / leading`, which is the only candidate.
    leading = abs(int(root.polynomial.coefficients[-1]))
    while (root.high - root.low) * leading > Fraction(1, 2):
        root.refine()
        if root.polynomial(root.high) == 0:
            return Root(root.polynomial, root.high, root.high)
        if root.polynomial(root.low) == 0:
            return Root(root.polynomial, root.low, root.low)
    candidate = Fraction(round(Fraction(root.low + root.high) / 2 * leading), leading)
    if root.low <= candidate <= root.high and root.polynomial(candidate) == 0:
        return Root(root.polynomial, candidate, candidate)
    return root


def _sturm(polynomial: Polynomial) -> list[Polynomial]:
    sequence = [polynomial, polynomial.derivative()]
    while sequence[-1].degree > 0:
        sequence.append(-sequence[-2].remainder(sequence[-1]).primitive())
    return sequence


def _changes(sequence: Sequence[Polynomial], time: Rational) -> int:
    changes, last = 0, 0
    for polynomial in sequence:
        sign = _sign(polynomial(time))
        if sign:
            changes += last == -sign
            last = sign
    return changes


def _sign(number: Rational) -> int:
    return (number > 0) - (number < 0)


def sign_at(polynomial: Polynomial, time: Rational | Root) -> int:
    """Return the sign of a polynomial at a time: -1, 0 or 1."""
    if not isinstance(time, Root):
        return _sign(polynomial(time))
    if time.rational or polynomial.degree < 1:
        return _sign(polynomial(time.low))
    if polynomial.degree >= time.polynomial.degree:
        polynomial = polynomial.remainder(time.polynomial)
    if polynomial.degree < 1:
        return _sign(polynomial.constant)
    if polynomial.degree == 1:
        # The root is irrational, so it differs from the rational zero, and refining parts them.
        constant, slope = polynomial.coefficients
        zero = Fraction(-constant) / slope
        while time.low <= zero <= time.high:
            time.refine()
        return _sign(slope) if zero < time.low else -_sign(slope)
    if _shared(polynomial, time):
        return 0
    # The polynomial is not 0 at the root: refine until its Sturm sequence shows no root nearby.
    sequence = _sturm(square_free(polynomial))
    while _sign(polynomial(time.low)) == 0 or _changes(sequence, time.low) != _changes(
        sequence, time.high
    ):
        time.refine()
    return _sign(polynomial(time.low))


def _shared(polynomial: Polynomial, root: Root) -> bool:
    shared = common_divisor(root.polynomial, polynomial)
    return shared.degree > 0 and _sign(shared(root.low)) != _sign(shared(root.high))


# Moments ------------------------------------------------------------------------------------------
# The order of moments, which are times since the origin of a motion.

Moment: TypeAlias = "Rational | Root"
"""A time since the origin of a motion."""

_SAME = 256
"""Binary places after which the order of two times counts as undecided."""


def compare(one: Moment, two: Moment) -> int:
    """Return -1, 0 or 1 if the first moment is before, at or after the second.

    Raises:
        ContinuousChangeError: The moments are too close to distinguish.
    """
    return compare_roots(as_root(one), as_root(two))


def as_root(moment: Moment) -> Root:
    return moment if isinstance(moment, Root) else Root(Polynomial(()), moment, moment)


def compare_roots(one: Root, two: Root) -> int:
    """Return -1, 0 or 1 if the first root is smaller than, equal to or larger than the second.

    Raises:
        ContinuousChangeError: The roots are too close to distinguish.
    """
    if one.rational and two.rational:
        return (one.low > two.low) - (one.low < two.low)
    if one is two:
        return 0
    if not _apart(one, two) and one.same(two):
        return 0
    algebraic = one.algebraic and two.algebraic
    while not _apart(one, two):
        width = max(one.high - one.low, two.high - two.low)
        if not algebraic and width < Fraction(1, 1 << _SAME):
            raise ContinuousChangeError(
                f"the order of two events, {float(one.low):.9g} after the last happening, is "
                f"undecided: their times agree to {_SAME} binary places"
            )
        try:
            for root in (one, two):
                if not root.rational:
                    root.refine()
        except ContinuousChangeError:
            raise ContinuousChangeError(
                f"the order of two events is undecided: both happen between "
                f"{float(one.low):.17g} and {float(one.high):.17g} after the last happening"
            ) from None
    return -1 if one.high < two.low else 1


def _apart(one: Root, two: Root) -> bool:
    return one.high < two.low or two.high < one.low


def in_order(sources: Iterable[Iterable[Root | Rational]]) -> Iterator[Root]:
    """Merge ordered sources of roots, without repetitions.

    A source is read only when its next root is needed, because this root may be undecided. A
    rational number in a source is a time up to which the source has been searched.

    Raises:
        ContinuousChangeError: Two roots are too close to distinguish.
    """
    waiting = [_Source(iter(source)) for source in sources]
    while True:
        best: Root | None = None
        for source in waiting:
            if source.head is not None and (best is None or compare_roots(source.head, best) < 0):
                best = source.head
        behind = [
            source
            for source in waiting
            if source.head is None
            and not source.done
            and (best is None or source.reached is None or source.reached < best.high)
        ]
        if behind:
            min(behind, key=_Source.place).advance()
        elif best is None:
            return
        else:
            yield best
            for source in waiting:
                if source.head is not None and compare_roots(source.head, best) == 0:
                    source.head = None


class _Source:
    """An iterator over roots with a lookahead of one, and the time up to which it has searched."""

    def __init__(self, items: Iterator[Root | Rational]) -> None:
        self._items = items
        self.head: Root | None = None
        self.reached: Rational | None = None
        self.done = False

    def place(self) -> Fraction:
        return Fraction(-1 if self.reached is None else self.reached)

    def advance(self) -> None:
        item = next(self._items, None)
        if item is None:
            self.done = True
        elif isinstance(item, Root):
            self.head, self.reached = item, item.low
        else:
            self.reached = item
