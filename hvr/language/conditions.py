"""Rewordings of conditions and limits, before a request is read."""

from __future__ import annotations

import re

_TRIGGER = re.compile(r"\b(?:if|unless|should there|never|ever|don't|do not)\b", re.IGNORECASE)

_CONDITIONS = tuple(
    (re.compile(said, re.IGNORECASE), plain)
    for said, plain in (
        (r"^(.*[,.;] )?should there be\b", r"\1if there is"),
        (
            r"\b(if|unless) you (?:can't|cannot|can not|don't|do not) (?:find|see)(?: any| the)?\b",
            r"\1 there is no",
        ),
        (
            r"\b(?:check|search|look (?:in|into|inside|through)) ([^,.;]+?) for ([^,.;]+?) and "
            r"([^,.;]+?) if (?:you find|there is) (?:one|it|any|some)\b",
            r"if there is \2 in \1, \3",
        ),
        (
            r"\b(?:look|check|peek) (?:in|into|inside|on) ([^,.;]+)[,.;] (?:and )?(if|unless) "
            r"it(?:'s| is)\b",
            r"\2 \1 is",
        ),
        (r"\b((?:there (?:is|are)|you (?:find|see))) at least\b", r"\1"),
        (r"\b(has|contains) ([^,.;]+?) (?:in|on|inside) it\b", r"\1 \2"),
        (r"\b(if|unless) ((?:the )?[\w -]+?) are all\b", r"\1 all \2 are"),
        (r"(?<=[^,.;])[,;]? (?:and|but) (?=(?:if|unless)\b(?! so\b| not\b))", ". "),
        (r"^((?:if|unless)\b[^.;]+), (?=(?:if|unless)\b(?! so\b| not\b))", r"\1. "),
    )
)
"""Ways to state a condition, and their plain form."""

_TOGETHER = r"(?:together|at once|at the same time|simultaneously)"
_BOTH = re.compile(
    rf"\b(?:never|do not(?: ever)?|don't(?: ever)?) (?P<have>have|leave|keep) "
    rf"(?:both )?(?P<things>[^,.;]+? and [^,.;]+?) (?P<state>\w+) {_TOGETHER}",
    re.IGNORECASE,
)
_EVER_HAVING = re.compile(r",? without ever (?P<have>hav|leav|keep)ing\b", re.IGNORECASE)


def plain_conditions(request: str) -> str:
    """Reword conditions ('should there be …') and limits ('never have A and B open together')."""
    if _TRIGGER.search(request) is None:
        return request
    for said, plain in _CONDITIONS:
        request = said.sub(plain, request)
    stems = {"hav": "have", "leav": "leave", "keep": "keep"}
    request = _EVER_HAVING.sub(lambda m: f". never {stems[m['have'].lower()]}", request)
    return _BOTH.sub(
        lambda m: f"never {m['have']} two of {m['things']} {m['state']} at once", request
    )
