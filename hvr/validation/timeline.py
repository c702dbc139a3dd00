"""A plan over time as plain values, for charts: steps, events, processes and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from hvr.pddl import Step, TimedAction
from hvr.pddl.state import Rational, exact
from hvr.validation.continuous.polynomials import Number, Polynomial
from hvr.validation.report import decimal_text
from hvr.values import Value, number_to_json

if TYPE_CHECKING:
    from hvr.pddl import Task
    from hvr.validation.continuous.functions import Quantity, TimeFunction
    from hvr.validation.findings import HappeningText
    from hvr.validation.report import ValidationReport


# Timeline -----------------------------------------------------------------------------------------


class TimelineStep(Value):
    """A step of the plan.

    Attributes:
        start, end: Times of the start and end, which are equal for an instantaneous action in a
            timed plan.
    """

    number: int
    name: str
    args: tuple[str, ...]
    start: Fraction
    end: Fraction

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


class TimelineMark(Value):
    """An event or a timed initial literal, with its time."""

    time: Fraction
    text: str


class ProcessSpan(Value):
    """An interval in which a process was active.

    Attributes:
        name: The ground process.
        start: The time at which it started.
        end: The time at which it ended.
    """

    name: str
    start: Fraction
    end: Fraction

    json_shape = "*"


class TimelineFailure(Value):
    """A failure: its time, the number of its step (None if no step fails), and its message."""

    time: Fraction
    step: int | None
    text: str


class Timeline(Value):
    """A plan over time.

    Attributes:
        judged_until: Time of the failing step that stopped the execution, or None if none did.
        has_times: Whether the plan has times. If not, each step takes one unit.
    """

    steps: tuple[TimelineStep, ...]
    marks: tuple[TimelineMark, ...]
    processes: tuple[ProcessSpan, ...]
    failures: tuple[TimelineFailure, ...]
    judged_until: Fraction | None
    end: Fraction
    has_times: bool


def timeline_of(
    plan: Sequence[Step],
    happenings: Sequence[HappeningText],
    processes: Sequence[ProcessSpan],
    report: ValidationReport,
    *,
    continued: bool,
) -> Timeline:
    """Return the timeline of a judged plan.

    `continued` says whether the plan was executed beyond its first failure.
    """
    has_times = any(isinstance(step, TimedAction) for step in plan)
    steps = tuple([_step(number, step) for number, step in enumerate(plan, 1)])
    marks = tuple([TimelineMark(h.time or Fraction(0), str(h)) for h in happenings if not h.step])
    ends = [step.end for step in steps] + [span.end for span in processes]
    ends += [mark.time for mark in marks]
    end = max(ends, default=Fraction(0))
    failures = []
    for failure in report.failures:
        time = failure.time
        if time is None:
            time = end if failure.step is None else steps[failure.step - 1].start
        failures.append(TimelineFailure(time, failure.step, failure.message))
    stops = failures[0] if failures and not continued and failures[0].step is not None else None
    return Timeline(
        steps,
        marks,
        tuple(processes),
        tuple(failures),
        stops.time if stops else None,
        max([end, *(failure.time for failure in failures)]),
        has_times,
    )


def _step(number: int, step: Step) -> TimelineStep:
    if isinstance(step, TimedAction):
        end = step.start + (step.duration or 0)
        return TimelineStep(number, step.action.name, step.action.args, step.start, end)
    return TimelineStep(number, step.name, step.args, Fraction(number - 1), Fraction(number))


# Curves -------------------------------------------------------------------------------------------
# The numeric fluents of a plan as piecewise functions of time.

_SAMPLES = 32


class Phase(Value):
    """All numeric fluents between two times, as functions of the time since `origin`."""

    start: Fraction
    end: Fraction
    origin: Fraction
    numbers: Sequence[Quantity | None]


class CurvePiece(Value):
    """The course of a numeric fluent between two times.

    JSON: `from` and `to`, the `first` and the `last` value, and either the `coefficients` of a
    polynomial, or a `formula` and `bounds` at sample times.

    Attributes:
        start, end: The two times, which are equal for the value after the last happening.
        coefficients: The coefficients of the powers 0, 1, 2 and so on of the time since `start`, if
            the fluent is a polynomial.
        formula: Any other function of the time since `start`, with rounded constants (empty for a
            polynomial or an integrated fluent).
        samples: Triples of a time and the bounds of the value at it (empty for a polynomial).
    """

    start: Fraction
    end: Fraction
    coefficients: tuple[Rational, ...]
    formula: str = ""
    samples: tuple[tuple[Fraction, Fraction, Fraction], ...] = ()

    def __str__(self) -> str:
        first, last = self._text(self.start), self._text(self.end)
        if self.start == self.end:
            return f"at {decimal_text(self.start)}: {first}"
        span = f"{decimal_text(self.start)} to {decimal_text(self.end)}"
        if self.samples:
            if len(self.samples) <= 2:
                return f"{span}: {first}"
            return f"{span}: from {first} to {last}, {self.formula or 'integrated'}"
        if len(self.coefficients) < 2:
            return f"{span}: {first}"
        return f"{span}: from {first} to {last}, {_formula(self.coefficients)}"

    def at(self, time: Rational) -> Fraction:
        """Return the value at a time, or the middle of the nearest sample's bounds."""
        if self.samples:
            _, low, high = self._nearest(time)
            return (low + high) / 2
        return Fraction(Polynomial(self.coefficients)(time - self.start))

    def _nearest(self, time: Rational) -> tuple[Fraction, Fraction, Fraction]:
        return min(self.samples, key=lambda sample: abs(sample[0] - time))

    def _text(self, time: Fraction) -> str:
        if not self.samples:
            return decimal_text(self.at(time))
        _, low, high = self._nearest(time)
        texts = decimal_text(low), decimal_text(high)
        # Show one bound if both have the same digits.
        return texts[0] if texts[0] == texts[1] else f"between {texts[0]} and {texts[1]}"

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "from": number_to_json(self.start),
            "to": number_to_json(self.end),
            "first": number_to_json(self.at(self.start)),
            "last": number_to_json(self.at(self.end)),
        }
        if not self.samples:
            coefficients = [number_to_json(Fraction(c)) for c in self.coefficients]
            return {**data, "coefficients": coefficients or [0]}
        bounds = [
            [number_to_json(time), *_floats_around(low, high)] for time, low, high in self.samples
        ]
        return {**data, "formula": self.formula or None, "bounds": bounds}


def _floats_around(low: Fraction, high: Fraction) -> tuple[float, float]:
    return nextafter(float(low), -inf), nextafter(float(high), inf)


class Curve(Value):
    """The course of a numeric fluent during a plan, with no piece where it is undefined.

    Attributes:
        fluent: The ground function term, such as `(fuel t1)`.
        pieces: The pieces in order of time.
    """

    fluent: str
    pieces: tuple[CurvePiece, ...]

    json_shape = "*"


def curves_of(task: Task, stretches: Iterable[Phase], final: Phase) -> tuple[Curve, ...]:
    """Return the curves of the numeric fluents, sorted by name.

    `final` is the phase of length 0 after the last happening.
    """
    pieces: dict[int, list[CurvePiece]] = {}
    for stretch in (*stretches, final):
        if stretch.start == stretch.end and stretch is not final:
            continue
        for index, number in enumerate(stretch.numbers):
            if number is None:
                continue
            if not isinstance(number, int | Fraction | Polynomial):
                _append_function(pieces.setdefault(index, []), stretch, number)
            else:
                _append(pieces.setdefault(index, []), stretch, number)
    named = [Curve(str(task.term(index)), tuple(found)) for index, found in pieces.items()]
    return tuple(sorted(named, key=lambda curve: curve.fluent))


def _formula(coefficients: tuple[Rational, ...]) -> str:
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


def _append(pieces: list[CurvePiece], stretch: Phase, number: Number) -> None:
    polynomial = _since(number, stretch.start - stretch.origin)
    last = pieces[-1] if pieces else None
    if last is not None and last.end == stretch.start and not last.samples:
        extended = _since(Polynomial(last.coefficients), stretch.start - last.start)
        if extended == polynomial or (
            stretch.start == stretch.end and extended.constant == polynomial.constant
        ):
            pieces[-1] = last.replace(end=stretch.end)
            return
    pieces.append(CurvePiece(stretch.start, stretch.end, polynomial.coefficients))


def _append_function(pieces: list[CurvePiece], stretch: Phase, function: TimeFunction) -> None:
    from hvr.validation.continuous.functions import value_at

    def bounds(time: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        value = value_at(function, exact(time - stretch.origin))
        if isinstance(value, int | Fraction):
            return time, Fraction(value), Fraction(value)
        assert not isinstance(value, Polynomial)
        low, high, bits = value.bounds()
        return time, Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    formula = _closed_form(function, stretch.start - stretch.origin)
    count = 1 if function.constant or stretch.start == stretch.end else _SAMPLES
    length = stretch.end - stretch.start
    samples = [bounds(stretch.start + length * k / count) for k in range(count + 1)]
    last = pieces[-1] if pieces else None
    continued = last is not None and last.end == stretch.start and last.formula == formula
    if last is not None and continued and function.constant and len(last.samples) == 2:
        pieces[-1] = last.replace(end=stretch.end, samples=(last.samples[0], samples[-1]))
        return
    if last is not None and last.samples and stretch.start == stretch.end == last.end:
        # Omit the value after the last happening unless it must differ from the value before it.
        _, low, high = last.samples[-1]
        if low <= samples[0][2] and samples[0][1] <= high:
            return
    pieces.append(CurvePiece(stretch.start, stretch.end, (), formula, tuple(samples)))


def _closed_form(function: TimeFunction, later: Rational) -> str:
    # Empty if the function has no closed form.
    from hvr.validation.continuous.functions import TimeFunction, simple, terms_of
    from hvr.validation.continuous.symbols import TIME, Inverse, StateVariable, Term, sum_text

    if any(isinstance(symbol, StateVariable | Inverse) for symbol in function.symbols()):
        return ""
    moved = function.replace(lambda symbol: Polynomial((later, 1)) if symbol is TIME else None)
    sums: dict[Term, Quantity] = {}
    for (powers, exponent), coefficient in terms_of(moved).items():
        time = frozenset(item for item in powers if item[0] is TIME)
        growth = frozenset(item for item in exponent if item[0] is TIME)
        constant = simple({(powers - time, exponent - growth): coefficient})
        sums[time, growth] = sums.get((time, growth), 0) + constant
    rounded = {
        term: number.approximation() if isinstance(number, TimeFunction) else number
        for term, number in sums.items()
    }
    return sum_text(terms_of(simple(rounded)))  # type: ignore[arg-type]


def _since(number: Number, later: Rational) -> Polynomial:
    if not isinstance(number, Polynomial):
        return Polynomial((number,))
    result = Polynomial(())
    for coefficient in reversed(number.coefficients):
        result = result * Polynomial((later, 1)) + coefficient
    return result
