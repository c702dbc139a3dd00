"""What users call a value: its meaning, or a parameter that has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hvr.errors import UsageError
from hvr.pddl.diagnostics import nearest
from hvr.tools.catalogue.schema import quoted

if TYPE_CHECKING:
    from hvr.tools.catalogue.merging import ParameterMeaning


def meaning_of(name: str, found: Sequence[ParameterMeaning]) -> str:
    """Return the meaning that has a name, or whose parameter has it (alone or as `TOOL.PARAMETER`).

    Raises:
        UsageError: nothing is called so, or what is called so has several meanings.
    """
    names = [meaning.name for meaning in found]
    if name in names:
        return name
    called = [
        meaning.name
        for meaning in found
        if any(name in (slot.name, f"{slot.tool}.{slot.name}") for slot in meaning.slots)
    ]
    if len(called) == 1:
        return called[0]
    if called:
        raise UsageError(f"{quoted(name)} can be {', '.join(called)}: say which")
    near = nearest(name, names)
    hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(names)}"
    raise UsageError(f"no parameter is called {quoted(name)}{hint}")
