"""Sentences of a plan without what is no part of their meaning: number and name of the tool.

    Step 2 Call train_ticket_booking to book a seat   ->   book a seat

Planners are asked for such sentences, so a retriever that reads them can copy the name of a tool.
How well it understands steps shows only without the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hvr.tools.step_text import without_number

_CALL = r"(?:call|use|using|invoke|run)\s+(?:the\s+)?"
_JOINT = r"(?:\s+(?:tool|api|function))?\s*(?:,|:|\b(?:in\s+order\s+)?to\b|\bfor\b)?\s*"
_ANY_NAME = r"[\"'`]?[\w.\-]+[\"'`]?"


class Unnamed:
    """Takes the name of the tool out of steps: what comes before "to" in "Call NAME to …".

    Args:
        tools: ids that can stand there, with spaces or without; besides these, any one word
            does that follows "Call" and is followed by "to".
    """

    def __init__(self, tools: Iterable[str] = ()) -> None:
        longest = sorted(tools, key=lambda t: (-len(t), t))
        known = "|".join(re.escape(t) for t in longest) or r"(?!)"
        quoted = rf"[\"'`]?(?:{known})[\"'`]?(?!\w)"
        self._call = re.compile(
            rf"^\s*{_CALL}(?:{quoted}{_JOINT}|{_ANY_NAME}\s+to\b\s*)", re.IGNORECASE
        )

    def __call__(self, step: str) -> str:
        """Return the step without number and name; as it is without the number if nothing
        is left.
        """
        text = without_number(step)
        return self._call.sub("", text, count=1).strip() or text


def cleaned(steps: Sequence[str], tools: Iterable[str], *, names: bool) -> tuple[str, ...]:
    """Return steps as a retriever reads them.

    Args:
        steps: as the plan has them.
        tools: ids of the tools.
        names: leave the names of tools in; only the numbers go.
    """
    clean = without_number if names else Unnamed(tools)
    return tuple(clean(s) for s in steps)
