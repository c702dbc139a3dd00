"""Where a text states a value: as it is, as numbers and dates are written, or by its words."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from typing import Any

_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
            8: "eight", 9: "nine", 10: "ten", 20: "twenty", 50: "fifty", 100: "hundred",
            0.5: "half"}  # fmt: skip
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_LITTLE = frozenset({"the", "and", "for", "with"})
_LONGEST = 1e15
"""The largest number that is looked for without its decimals."""

Spans = list[tuple[int, int]]


def places(text: str, values: Sequence[Any]) -> Spans:
    """Return where a text states any of some values of one parameter; empty if nowhere.

    Args:
        text: a request.
        values: JSON; lists and objects are looked for by their parts, truth values not at all.

    Returns:
        First and end of each place, in order; places that touch are one.
    """
    exact = [
        match.span() for value in values for form in _forms(value)
        for match in re.finditer(rf"(?<![\w.]){re.escape(form)}(?!\w)", text, re.IGNORECASE)
    ]  # fmt: skip
    if exact:
        return _joined(exact)
    for value in values:
        found = _dates(text, value) or _words(text, value) if isinstance(value, str) else []
        if found:
            return _joined(found)
    return []


def _forms(value: Any) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield f"{value:g}" if abs(value) < _LONGEST else str(value)
        if abs(value) < _LONGEST and float(value).is_integer():
            yield str(int(value))
            yield f"{int(value):,}"
        if 0 < value < 1:
            yield f"{value * 100:g}%"
        if value in _NUMBERS:
            yield _NUMBERS[value]
    elif isinstance(value, str):
        if len(value.strip()) > 1 or value.strip().isdigit() or value.isupper():
            yield value
    else:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _forms(part)


def _dates(text: str, value: str) -> Spans:
    found = _DATE.fullmatch(value)
    if found is None or not 1 <= int(found[2]) <= 12:
        return []
    month, day = int(found[2]), int(found[3])
    name = month_name[month]
    forms = (rf"{name}\s+\d+\w*|\d+\w*\s+(?:of\s+)?{name}|\b0?{month}/0?{day}\b|"
             rf"\b{found[1]}\b")  # fmt: skip
    return [match.span() for match in re.finditer(forms, text, re.IGNORECASE)]


def _words(text: str, value: str) -> Spans:
    """Return where the words of a value stand, whatever their endings, if half of them do."""
    words = [w for w in re.findall(r"[A-Za-z]{3,}", value) if w.lower() not in _LITTLE]
    found = [
        [m.span() for m in re.finditer(rf"\b{w[: max(4, len(w) - 3)]}\w*", text, re.IGNORECASE)]
        for w in words
    ]
    seen = sum(map(bool, found))
    return [span for some in found for span in some] if words and 2 * seen >= len(words) else []


def _joined(spans: Spans) -> Spans:
    joined: Spans = []
    for first, end in sorted(set(spans)):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined
