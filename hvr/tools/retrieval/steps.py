"""Normalisation of step texts: number and name of the tool are removed.

    Step 2 Call train_ticket_booking to book a seat   ->   book a seat

Planners are asked for such sentences, so a retriever can simply copy the tool's name from them.
How well it understands steps shows only without the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hvr.tools.step_text import without_number

_CALL = r"(?:call|use|using|invoke|run)\s+(?:the\s+)?"
_JOINT = r"(?:\s+(?:tool|api|function))?\s*(?:,|:|\b(?:in\s+order\s+)?to\b|\bfor\b)?\s*"
_ANY_NAME = r"[\"'`]?[\w.\-]+[\"'`]?"


class ToolNameRemover:
    """Removal of the tool's name from steps: of "Call NAME to" in "Call NAME to …".

    Args:
        tools: ids recognised as NAME, with or without spaces; besides these, any single word
            between "Call" and "to".
    """

    def __init__(self, tools: Iterable[str] = ()) -> None:
        longest = sorted(tools, key=lambda t: (-len(t), t))
        known = "|".join(re.escape(t) for t in longest) or r"(?!)"
        quoted = rf"[\"'`]?(?:{known})[\"'`]?(?!\w)"
        self._call = re.compile(
            rf"^\s*{_CALL}(?:{quoted}{_JOINT}|{_ANY_NAME}\s+to\b\s*)", re.IGNORECASE
        )

    def __call__(self, step: str) -> str:
        """Return the step without number and name; with the name if nothing else is left."""
        text = without_number(step)
        return self._call.sub("", text, count=1).strip() or text


def cleaned(steps: Sequence[str], tools: Iterable[str], *, names: bool) -> tuple[str, ...]:
    """Return the steps as a retriever reads them.

    Args:
        steps: as in the plan.
        tools: ids of the tools.
        names: remove only the numbers and keep the names of tools.
    """
    clean = without_number if names else ToolNameRemover(tools)
    return tuple(clean(s) for s in steps)
