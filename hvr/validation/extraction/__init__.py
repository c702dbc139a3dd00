"""Plans in texts that are more than a plan: what planners print, and what models answer.

A reader knows one way of printing plans and gives every plan that it finds. Nothing is guessed:
where a text has two different plans, that is an error that names both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

from hvr.base.printable import short
from hvr.pddl import Diagnostic, Location
from hvr.pddl.diagnostics import PddlTextSyntaxError
from hvr.pddl.plan import decimal_text
from hvr.values import Value


class Candidate(Value):
    """A plan in a text.

    Attributes:
        reader: who prints plans so.
        steps: the numbers of lines, from 1, with the steps in them as PDDL plan files have them.
        first: the number of the line in which the plan begins, or is said to be empty.
        ignored: how many other lines say something.
        marked: whether the text says that this is a plan, so that it is one without being asked.
        until: the time to which the plan waits after its last step; None if it does not say.
        cost: Cost that the planner reports, if any.
        stray: Whether these are steps beside the plan that the text marks.
        mentions: Numbers of ignored lines that mention steps.
        doubt: Instead of steps, a line that may be a step and cannot be read.
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
    doubt: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Value that is the same for two candidates with the same steps at the same times."""
        return (self.until, *(part for _, steps in self.steps for part in _normal(steps)))

    @property
    def text(self) -> str:
        """The steps in the lines in which they stand in the text."""
        lines = dict(self.steps)
        return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))

    @property
    def place(self) -> str:
        """The lines, in words."""
        if not self.steps:
            return f"line {self.first} (no steps)"
        first, last = self.steps[0][0], self.steps[-1][0]
        return f"line {first}" if first == last else f"lines {first} to {last}"

    @property
    def note(self) -> str:
        """How the text was read, in a sentence."""
        others = "1 other line was" if self.ignored == 1 else f"{self.ignored} other lines were"
        ignored = f"; {others} ignored" if self.ignored else ""
        if self.mentions:
            some = ", ".join(map(str, self.mentions[:5])) + (", …" if self.mentions[5:] else "")
            lines = "lines" if self.mentions[1:] else "line"
            ignored += f", which mention steps in {lines} {some}"
        waits = "" if self.until is None else f"; the plan waits until {self.until}"
        return f"the steps in {self.place} were read as {self.reader}{waits}{ignored}"


def extract(
    text: str,
    file: str,
    *,
    actions: Collection[str] = (),
    predicates: Collection[str] = (),
    objects: Collection[str] | None = None,
    asked: bool = False,
    number: int | None = None,
) -> Candidate | None:
    """Return the plan in a text; None if there is none.

    Args:
        text: the text.
        file: what messages call it.
        actions: Names of actions.
        predicates: Names of predicates; a line that is a fact is not taken for a step.
        objects: Names of objects, if they are known: they tell steps from sentences.
        asked: whether to look for a plan that nothing marks as such.
        number: which of several plans is meant, from 1; 0 is the last.

    Raises:
        PddlSyntaxError: there are several different plans, or fewer than `number`; or a line may
            be a step and cannot be read.
    """
    wanted = _wanted(text, actions, predicates, objects, asked=asked)
    whole = [plan for plan in wanted if not plan.stray and not plan.doubt]
    doubts = [plan for plan in wanted if plan.doubt and (number is None or not plan.stray)]
    if doubts:
        _refuse(doubts[0], file)
    if number is not None and whole:
        index = number - 1 if number else len(whole) - 1
        if 0 <= index < len(whole):
            return whole[index]
        place = Location(file, whole[-1].first, 1)
        raise PddlTextSyntaxError(
            Diagnostic(place, f"there is no plan {number}: there are {len(whole)}")
        )
    different = {plan.key: plan for plan in reversed(wanted)}
    if len(different) > 1:
        one, two, *others = sorted(different.values(), key=lambda plan: plan.first)
        more = f" and {len(others)} more" if others else ""
        message = (
            f"there are {len(different)} plans: in {one.place} ({one.reader}), in {two.place} "
            f"({two.reader}){more}"
        )
        place = Location(file, two.first, 1)
        raise PddlTextSyntaxError(Diagnostic(place, message, expected=_which(whole)))
    return whole[0] if whole else None


def plans_in(
    text: str,
    file: str,
    *,
    actions: Collection[str] = (),
    predicates: Collection[str] = (),
    objects: Collection[str] | None = None,
) -> tuple[Candidate, ...]:
    """Return all plans in an answer, in its order.

    Args:
        text: The text.
        file: The name that messages give it.
        actions: Names of actions.
        predicates: Names of predicates; a line that is a fact is not taken for a step.
        objects: Names of objects, if they are known.

    Raises:
        PddlSyntaxError: A line may be a step and cannot be read.
    """
    plans = _wanted(text, actions, predicates, objects, asked=True)
    for plan in plans:
        if plan.doubt:
            _refuse(plan, file)
    return tuple(sorted(plans, key=lambda plan: plan.first))


def last_of(plans: Sequence[Candidate]) -> Candidate:
    """Return the last plan in an answer; a single step of a plan before it only explains that."""
    longer = {step for plan in plans if len(plan.steps) > 1 for _, step in plan.steps}
    told = [p for p in plans if len(p.steps) != 1 or p.steps[0][1] not in longer]
    return told[-1] if told else plans[-1]


def _wanted(
    text: str,
    actions: Collection[str],
    predicates: Collection[str],
    objects: Collection[str] | None,
    *,
    asked: bool,
) -> list[Candidate]:
    from hvr.validation.extraction.lines import KnownSymbols
    from hvr.validation.extraction.readers import candidates

    plans = candidates(text, KnownSymbols(actions, predicates, objects), asked=asked)
    return [plan for plan in plans if asked or plan.marked or not plan.ignored]


def _refuse(plan: Candidate, file: str) -> NoReturn:
    line = short(plan.doubt)
    message = f"this line may be a step and cannot be read: {line}"
    expected = "steps such as (action object …), each in a line of its own"
    raise PddlTextSyntaxError(Diagnostic(Location(file, plan.first, 1), message, expected=expected))


def _which(plans: Sequence[Candidate]) -> str:
    """Say how to name one of several plans, and which of them costs least."""
    costs = [plan.cost for plan in plans if plan.cost is not None]
    if len(plans) < 2:
        return "one plan without steps beside it"
    choice = f"one plan, or the number of the one that is meant: --plan-number 1 to {len(plans)}"
    if len(costs) < len(plans):
        return f"{choice}; --plan-number 0 is the last"
    listed = ", ".join(map(decimal_text, costs[:8])) + (", …" if len(costs) > 8 else "")
    if costs[-1] == min(costs):
        return f"{choice}; --plan-number 0 is the last and best of these, by their costs: {listed}"
    best = costs.index(min(costs)) + 1
    return f"{choice}; --plan-number {best} is the best of these, by their costs: {listed}"


_PARTS = re.compile(r"(?:([0-9./]+): )?\(([^()]*)\)(?: \[([0-9.]+)\])?")


def _normal(steps: str) -> Iterator[object]:
    for match in _PARTS.finditer(steps):
        stamp, inside, cost = match.groups()
        yield _number(stamp), tuple(inside.lower().split()), _number(cost)


def _number(text: str | None) -> object:
    try:
        return None if text is None else Fraction(text.rstrip("."))
    except (ValueError, ZeroDivisionError):
        return text
