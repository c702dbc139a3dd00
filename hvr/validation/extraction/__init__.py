"""Plans in texts that are more than a plan: what planners print, and what models answer.

A reader knows one way of printing plans and gives every plan that it finds. Nothing is guessed:
where a text has two different plans, that is an error that names both.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from hvr.pddl import Diagnostic, Location
from hvr.pddl.diagnostics import PddlTextSyntaxError
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
    """

    reader: str
    steps: tuple[tuple[int, str], ...]
    first: int
    ignored: int
    marked: bool = True
    until: Fraction | None = None

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
        waits = "" if self.until is None else f"; the plan waits until {self.until}"
        return f"the steps in {self.place} were read as {self.reader}{waits}{ignored}"


def extract(
    text: str,
    file: str,
    *,
    actions: Collection[str] = (),
    asked: bool = False,
    number: int | None = None,
) -> Candidate | None:
    """Return the plan in a text; None if there is none.

    Args:
        text: the text.
        file: what messages call it.
        actions: the names of actions; a line that speaks of one and is no part of the plan makes a
            plan that nothing marks as such doubtful.
        asked: whether to look for a plan that nothing marks as such.
        number: which of several plans is meant, from 1; 0 is the last.

    Raises:
        PddlSyntaxError: there are several different plans, or fewer than `number`.
    """
    from hvr.validation.extraction.readers import candidates

    plans = candidates(text, actions, asked=asked)
    wanted = [plan for plan in plans if asked or plan.marked or not plan.ignored]
    different = {(plan.until, *(step for _, step in plan.steps)): plan for plan in wanted}
    if number is not None and wanted:
        index = number - 1 if number else len(wanted) - 1
        if 0 <= index < len(wanted):
            return wanted[index]
        place = Location(file, wanted[-1].first, 1)
        raise PddlTextSyntaxError(
            Diagnostic(place, f"there is no plan {number}: there are {len(wanted)}")
        )
    if len(different) > 1:
        shown = [f"{plan.place} ({plan.reader})" for plan in different.values()]
        more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""
        message = f"there are {len(shown)} plans: in {shown[0]}, in {shown[1]}{more}"
        expected = "one plan, or the number of the one that is meant"
        raise PddlTextSyntaxError(
            Diagnostic(Location(file, wanted[1].first, 1), message, expected=expected)
        )
    return wanted[0] if wanted else None
