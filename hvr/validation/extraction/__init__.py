"""Find plans in longer texts, such as the output of planners or answers of language models.

Each reader recognises one way of printing plans and returns every plan that it finds. hvr never
guesses: two different plans in one text are an error that names both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

from hvr.base.printable import short
from hvr.pddl import Diagnostic, Location
from hvr.pddl.plan import decimal_text
from hvr.pddl.reader import PddlTextSyntaxError
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.report import count
from hvr.values import Value


class SeveralPlansError(PddlTextSyntaxError):
    """A text contains several different plans."""


class Candidate(Value):
    """A plan found in text.

    Attributes:
        reader: The form in which the text gives the plan, for messages.
        steps: The steps in PDDL notation, with their 1-based line numbers.
        first: The number of the line on which the plan begins or is declared empty.
        ignored: The number of nonempty lines outside the plan.
        marked: Whether the text marks the steps as a plan, as planners' output does.
        until: The time until which the plan waits after its last step, if the text states it.
        cost: The cost of the plan, if the text states it.
        stray: Whether the steps lie outside the plan that the text marks.
        mentions: The numbers of ignored lines that mention steps.
        unparsed: A line that may be a step but cannot be parsed, in which case `steps` is empty.
    """

    reader: str
    steps: tuple[tuple[int, str], ...]
    first: int
    ignored: int
    marked: bool = True
    until: Fraction | None = None
    cost: Fraction | None = None
    stray: bool = False
    mentions: tuple[int, ...] = ()
    unparsed: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for plans with the same steps at the same times."""
        return (self.until, *(part for _, steps in self.steps for part in _normal(steps)))

    @property
    def text(self) -> str:
        lines = dict(self.steps)
        return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))

    @property
    def place(self) -> str:
        """The lines of the plan in words, for messages."""
        if not self.steps:
            return f"line {self.first} (no steps)"
        first, last = self.steps[0][0], self.steps[-1][0]
        return f"line {first}" if first == last else f"lines {first} to {last}"

    @property
    def note(self) -> str:
        others = "1 other line was" if self.ignored == 1 else f"{self.ignored} other lines were"
        ignored = f"; {others} ignored" if self.ignored else ""
        if self.mentions:
            some = ", ".join(map(str, self.mentions[:5])) + (", …" if self.mentions[5:] else "")
            lines = "lines" if self.mentions[1:] else "line"
            ignored += f", which mention steps in {lines} {some}"
        waits = "" if self.until is None else f"; the plan waits until {self.until}"
        return f"the steps in {self.place} were read as {self.reader}{waits}{ignored}"


def extract(
    text: str, file: str, known: KnownSymbols, *, unmarked: bool = False, number: int | None = None
) -> Candidate | None:
    """Return the plan in the text, or None if it contains no plan.

    Args:
        known: The names that distinguish steps from facts and sentences.
        unmarked: Whether to search for plans that are not marked as plans.
        number: The 1-based number of the plan to return if there are several, or 0 for the last.

    Raises:
        SeveralPlansError: The text has several different plans, and `number` is None.
        PddlSyntaxError: The text has fewer than `number` plans, or a line that may be a step cannot
            be parsed.
    """
    selected = _selected(text, known, unmarked=unmarked)
    whole = [plan for plan in selected if not plan.stray and not plan.unparsed]
    unparsed = [plan for plan in selected if plan.unparsed and (number is None or not plan.stray)]
    if unparsed:
        _refuse(unparsed[0], file)
    if number is not None and whole:
        index = number - 1 if number else len(whole) - 1
        if 0 <= index < len(whole):
            return whole[index]
        place = Location(file, whole[-1].first, 1)
        raise PddlTextSyntaxError(
            Diagnostic(place, f"no plan {number}: the text contains {count(len(whole), 'plan')}")
        )
    different = {plan.key: plan for plan in reversed(selected)}
    if len(different) > 1:
        one, two, *others = sorted(different.values(), key=lambda plan: plan.first)
        more = f" and {len(others)} more" if others else ""
        message = (
            f"the text contains {len(different)} plans: in {one.place} ({one.reader}), in "
            f"{two.place} ({two.reader}){more}"
        )
        place = Location(file, two.first, 1)
        raise SeveralPlansError(Diagnostic(place, message, expected=_which(whole)))
    return whole[0] if whole else None


def plans_in(text: str, file: str, known: KnownSymbols) -> tuple[Candidate, ...]:
    """Return all plans in an answer, in order; a malformed step raises a PddlSyntaxError."""
    plans = _selected(text, known, unmarked=True)
    for plan in plans:
        if plan.unparsed:
            _refuse(plan, file)
    return tuple(sorted(plans, key=lambda plan: plan.first))


def last_of(plans: Sequence[Candidate]) -> Candidate:
    """Return the last plan, ignoring single steps that repeat a part of a longer plan."""
    longer = {step for plan in plans if len(plan.steps) > 1 for _, step in plan.steps}
    distinct = [p for p in plans if len(p.steps) != 1 or p.steps[0][1] not in longer]
    return distinct[-1] if distinct else plans[-1]


def _selected(text: str, known: KnownSymbols, *, unmarked: bool) -> list[Candidate]:
    from hvr.validation.extraction.readers import candidates

    plans = candidates(text, known, unmarked=unmarked)
    return [plan for plan in plans if unmarked or plan.marked or not plan.ignored]


def _refuse(plan: Candidate, file: str) -> NoReturn:
    line = short(plan.unparsed)
    message = f"this line may be a step but cannot be parsed: {line}"
    expected = "steps such as (action object …), each on its own line"
    raise PddlTextSyntaxError(Diagnostic(Location(file, plan.first, 1), message, expected=expected))


def _which(plans: Sequence[Candidate]) -> str:
    costs = [plan.cost for plan in plans if plan.cost is not None]
    if len(plans) < 2:
        return "one plan without other steps"
    choice = f"one plan, or its number: --plan-number 1 to {len(plans)}"
    if len(costs) < len(plans):
        return f"{choice}; --plan-number 0 is the last"
    listed = ", ".join(map(decimal_text, costs[:8])) + (", …" if len(costs) > 8 else "")
    if costs[-1] == min(costs):
        return f"{choice}; --plan-number 0 is the last and the cheapest; costs: {listed}"
    best = costs.index(min(costs)) + 1
    return f"{choice}; --plan-number {best} is the cheapest; costs: {listed}"


_PARTS = re.compile(r"(?:([-+0-9./eE]+): )?\(([^()]*)\)(?: \[([-+0-9./eE]+)\])?")


def _normal(steps: str) -> Iterator[object]:
    for match in _PARTS.finditer(steps):
        stamp, inside, cost = match.groups()
        yield _number(stamp), tuple(inside.lower().split()), _number(cost)


def _number(text: str | None) -> object:
    try:
        return None if text is None else Fraction(text.rstrip("."))
    except (ValueError, ZeroDivisionError):
        return text
