"""Reader of several blocks in one answer: each below the number of its macro action."""

from __future__ import annotations

import re

from hvr.policies.llm.answers.text import clean

_HEADING = re.compile(
    r"^[ \t>#*_\d.)-]{0,12}(?:macro[ _-]?action|macro|block|sub-?task)[ \t*_#:-]{0,6}"
    r"(?P<number>\d{1,3})\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN = re.compile(r"^[#*_ \t]{0,6}(?P<number>\d{1,3})[.):][ \t*]*(?=[A-Z])[^\n(]*$", re.MULTILINE)


def read_blocks(text: str, count: int) -> tuple[str | None, ...]:
    """Return the part of an answer for each of some macro actions; None for what is not there.

    A heading is `Macro action 2: …`, or, where there is none, a numbered sentence. Where a number
    occurs twice, the later one counts, since corrections come last.

    Args:
        text: the answer.
        count: how many macro actions there are.
    """
    text = clean(text)
    headings = list(_HEADING.finditer(text)) or list(_PLAIN.finditer(text))
    parts: list[str | None] = [None] * count
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=bool(headings)):
        number = int(heading["number"])
        if 1 <= number <= count:
            parts[number - 1] = text[heading.end() : end].strip("\n")
    return tuple(parts)
