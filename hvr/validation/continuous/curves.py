"""The numeric fluents of a plan over time: pieces of polynomials, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hvr.pddl.numeric import Rational
from hvr.validation.continuous.polynomials import Number, Polynomial
from hvr.validation.report import decimal_text, number_to_json
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl import Task


class Stretch(Value):
    """All numbers from a time to another: constants, or polynomials in the time since `origin`."""

    start: Fraction
    end: Fraction
    origin: Fraction
    numbers: Sequence[Number | None]


class Piece(Value):
    """A numeric fluent from one time to another.

    Attributes:
        start, end: when; equal for the value after the last happening.
        coefficients: those of the powers 0, 1, 2 and so on of the time since `start`.
    """

    start: Fraction
    end: Fraction
    coefficients: tuple[Rational, ...]

    def __str__(self) -> str:
        first, last = decimal_text(self.at(self.start)), decimal_text(self.at(self.end))
        if self.start == self.end:
            return f"at {decimal_text(self.start)}: {first}"
        span = f"{decimal_text(self.start)} to {decimal_text(self.end)}"
        if len(self.coefficients) < 2:
            return f"{span}: {first}"
        return f"{span}: from {first} to {last}, {_formula(self.coefficients)}"

    def at(self, time: Rational) -> Fraction:
        """Return the value at a time."""
        return Fraction(Polynomial(self.coefficients)(time - self.start))

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "from": number_to_json(self.start),
            "to": number_to_json(self.end),
            "first": number_to_json(self.at(self.start)),
            "last": number_to_json(self.at(self.end)),
            "coefficients": [number_to_json(Fraction(c)) for c in self.coefficients] or [0],
        }


class Curve(Value):
    """A numeric fluent over the time of a plan; where it has no value there is no piece."""

    fluent: str
    pieces: tuple[Piece, ...]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"fluent": self.fluent, "pieces": [piece.to_json() for piece in self.pieces]}


def curves_of(task: Task, stretches: Iterable[Stretch], final: Stretch) -> tuple[Curve, ...]:
    """Return the numeric fluents in the order of their names.

    Args:
        task: the task, for the names.
        stretches: from the beginning to the last happening, in order.
        final: the numbers after it, which has no length.
    """
    pieces: dict[int, list[Piece]] = {}
    for stretch in (*stretches, final):
        if stretch.start == stretch.end and stretch is not final:
            continue
        for index, number in enumerate(stretch.numbers):
            if number is not None:
                _append(pieces.setdefault(index, []), stretch, number)
    named = [Curve(str(task.term(index)), tuple(found)) for index, found in pieces.items()]
    return tuple(sorted(named, key=lambda curve: curve.fluent))


def _formula(coefficients: tuple[Rational, ...]) -> str:
    """Return a polynomial as text, in the time t since its beginning."""
    parts = []
    for power, coefficient in enumerate(coefficients):
        if coefficient:
            factor = "" if power == 0 else "t" if power == 1 else f"t^{power}"
            size = (
                "" if power and abs(coefficient) == 1 else decimal_text(abs(Fraction(coefficient)))
            )
            parts.append(("- " if coefficient < 0 else "+ ") + f"{size} {factor}".strip())
    text = " ".join(parts)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)


def _append(pieces: list[Piece], stretch: Stretch, number: Number) -> None:
    """Add a piece, or lengthen the last one where it simply goes on."""
    polynomial = _since(number, stretch.start - stretch.origin)
    if pieces and pieces[-1].end == stretch.start:
        last = pieces[-1]
        going_on = _since(Polynomial(last.coefficients), stretch.start - last.start)
        if going_on == polynomial or (
            stretch.start == stretch.end and going_on.constant == polynomial.constant
        ):
            pieces[-1] = last.replace(end=stretch.end)
            return
    pieces.append(Piece(stretch.start, stretch.end, polynomial.coefficients))


def _since(number: Number, later: Rational) -> Polynomial:
    """Return a polynomial in the time since a later origin."""
    if not isinstance(number, Polynomial):
        return Polynomial((number,))
    result = Polynomial(())
    for coefficient in reversed(number.coefficients):
        result = result * Polynomial((later, 1)) + coefficient
    return result
