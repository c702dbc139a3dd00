"""Step texts without the traces of their tool: numbers, tool names, "Call … to"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_NUMBER = re.compile(
    r"^\s*(?:step\s*\d+\s*[:.)\-]*|step\s*[:.)\-]+|\d+(?:\.\d+)*\s*[:.)\-]+)\s*", re.IGNORECASE
)


def without_number(step: str) -> str:
    """Return a step without a leading "Step 2:" or "2."."""
    return _NUMBER.sub("", step, count=1).strip()


def without_tool(step: str, tools: Iterable[str]) -> str:
    """Return a step without the names of these tools and without a leading "Call … to".

    Args:
        step: its text.
        tools: ids whose mentions are removed.

    Returns:
        The remaining text; if it is empty, the step without its number.
    """
    text = without_number(step)
    for tool in tools:
        if tool in text:
            text = _mention(tool).sub(" ", text)
    text = re.sub(
        r"^\s*(?:call|use|using|invoke|run)\b\s*(?:the\s+)?(?:(?:tool|api)\s+)?(?:(?:to|for|and)\s+)?",
        "",
        text,
        count=1,
        flags=re.IGNORECASE,
    )
    text = " ".join(text.split())
    return text or without_number(step)


@lru_cache(maxsize=4096)
def _mention(tool: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(tool)}(?![A-Za-z0-9_])")
