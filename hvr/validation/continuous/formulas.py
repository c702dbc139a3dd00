"""Functions of time as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from hvr.pddl.numeric import Rational
from hvr.validation.continuous.symbols import Exponent, Term
from hvr.validation.report import decimal_text


def sum_text(terms: Mapping[Term, Rational]) -> str:
    """Return a sum of terms as text: 2 - 3 e^(-0.5 t)."""
    parts: list[tuple[Rational, list[str]]] = []
    for (powers, exponent), coefficient in sorted(terms.items(), key=_place):
        factors = [
            f"{symbol}" if count == 1 else f"{symbol}^{count}"
            for symbol, count in sorted(powers, key=lambda item: str(item[0]))
        ]
        if exponent:
            factors.append(f"e^({_exponent_text(exponent)})")
        parts.append((coefficient, factors))
    return _signed(parts) or "0"


def _place(item: tuple[Term, Rational]) -> tuple[int, str, str]:
    powers, exponent = item[0]
    return (
        len(powers) + 2 * len(exponent),
        str(sorted(map(str, powers))),
        str(sorted(map(str, exponent))),
    )


def _exponent_text(exponent: Exponent) -> str:
    ordered = sorted(exponent, key=lambda item: (item[0] is None, str(item[0])))
    return _signed([(f, [] if symbol is None else [str(symbol)]) for symbol, f in ordered])


def _signed(parts: Iterable[tuple[Rational, list[str]]]) -> str:
    """Join products, each a coefficient and other factors, with their signs."""
    texts = []
    for coefficient, factors in parts:
        size = decimal_text(abs(Fraction(coefficient)))
        if size == "1" and factors:
            size = ""
        texts.append(("- " if coefficient < 0 else "+ ") + " ".join([size, *factors]).strip())
    text = " ".join(texts)
    return text[2:] if text.startswith("+") else text.replace("- ", "-", 1)
