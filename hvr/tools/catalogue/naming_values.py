"""What users call a value: its meaning, or a parameter that has it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hvr.errors import UsageError
from hvr.tools.catalogue.schema import quoted

if TYPE_CHECKING:
    from hvr.tools.catalogue.merging import ParameterMeaning


MISSPELT = 0.8
"""How alike a name and that of a parameter are, by `difflib`, for a slip to be likely."""


def meaning_of(name: str, found: Sequence[ParameterMeaning], goals: Collection[str] = ()) -> str:
    """Return the meaning of a name: its own, or that of a parameter (`TOOL.PARAMETER`, or alone).

    A name that no schema has may be that of a property which only results have.

    Args:
        name: What the user calls it.
        found: The meanings of all parameters.
        goals: Tools that are wanted: of several parameters of this name theirs is meant.

    Raises:
        UsageError: The name has several meanings, or is nearly that of another.
    """
    names = [meaning.name for meaning in found]
    if name in names:
        return name
    called = [
        (meaning.name, slot.tool)
        for meaning in found
        for slot in meaning.slots
        if name in (slot.name, f"{slot.tool}.{slot.name}")
    ]
    several = sorted({meaning for meaning, tool in called if tool in goals}) or sorted(
        {meaning for meaning, _ in called}
    )
    if len(several) == 1:
        return several[0]
    if several:
        raise UsageError(f"{quoted(name)} can be {', '.join(several)}: say which")
    known = [*names, *(slot.name for meaning in found for slot in meaning.slots)]
    if near := get_close_matches(name, known, 1, MISSPELT):
        raise UsageError(f"no parameter is called {quoted(name)}; did you mean {near[0]!r}?")
    return name
