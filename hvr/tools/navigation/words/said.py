"""Whether the words of a request say a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from hvr.tools.calling.origins import same
from hvr.tools.calling.values import Json
from hvr.tools.navigation.words.moods import Mood, RequestClause
from hvr.tools.navigation.words.values import ValueForm, ValueSpan, spans_of

_WHOLE = (ValueForm.EMAIL, ValueForm.DATE, ValueForm.TIME, ValueForm.PHONE, ValueForm.ID,
          ValueForm.NUMBER)  # fmt: skip
"""Forms of values whose parts say nothing by themselves: a 10 does not say a 1."""


def is_said(value: Json, text: str, given: Collection[Json] = ()) -> bool:
    """Return whether a text says a value, or it is given beside the text.

    Words never say a truth value, null, or an empty list or object as such.

    Args:
        value: The value; a list or object is said if each of its parts is.
        text: The text.
        given: Values that the user gives beside the text.
    """
    if any(same(value, one) for one in given):
        return True
    if isinstance(value, (list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return bool(value) and all(is_said(part, text, given) for part in parts)
    if value is None or isinstance(value, bool):
        return False
    spans = spans_of(text)
    if any(same(value, span.value) for span in spans):
        return True
    plain = str(value).strip()
    if isinstance(value, str):
        return bool(plain) and _stands_in(plain, text, spans)
    return any(span.text.lstrip("#@") == plain for span in spans)


def allowed_text(text: str, clauses: Sequence[RequestClause]) -> str:
    """Return a request without the clauses that say what is not to be done.

    Args:
        text: The request.
        clauses: Its clauses.
    """
    kept = text
    for clause in clauses:
        if clause.mood is Mood.FORBIDDEN:
            start, last = clause.tokens[0].start, clause.tokens[-1]
            end = last.start + len(last.text)
            kept = f"{kept[:start]}{' ' * (end - start)}{kept[end:]}"
    return kept


def _stands_in(plain: str, text: str, spans: Sequence[ValueSpan]) -> bool:
    """Return whether a text stands in another as a whole, and not as a part of a value."""
    for match in re.finditer(rf"(?<!\w){re.escape(plain)}(?!\w)", text, re.IGNORECASE):
        around = [span for span in spans if span.start <= match.start() and match.end() <= span.end]
        if not any(one.form in _WHOLE and one.text.lstrip("#@") != match[0] for one in around):
            return True
    return False
