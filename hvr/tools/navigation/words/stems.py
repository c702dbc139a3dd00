"""Stems of English words, so that "cancellation", "cancels" and "cancelled" meet."""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = {
    form: base
    for base, forms in {
        "send": "sent", "pay": "paid", "buy": "bought", "sell": "sold", "make": "made",
        "find": "found", "get": "got gotten", "give": "gave given", "take": "took taken",
        "write": "wrote written", "lend": "lent", "bring": "brought", "tell": "told",
        "say": "said", "show": "shown", "see": "saw seen", "read": "read", "run": "ran",
        "go": "went gone", "put": "put", "set": "set", "begin": "began begun", "say ": "says",
        "child": "children", "person": "people", "box": "boxes", "hide": "hidden",
        "choose": "chose chosen", "keep": "kept", "leave": "left", "lose": "lost", "meet": "met",
        "directory": "dir dirs folder folders", "message": "msg", "repository": "repo repos",
        "delivery": "delivered deliver", "number": "num", "photograph": "photo",
        "temperature": "temp", "information": "info", "address": "addr",
    }.items()
    for form in forms.split()
}  # fmt: skip

_ENDINGS = re.compile(
    r"(?:ations?|ating|ated|ates?|ators?|ings?|ed|ions?|ments?|ers?|ors?|ies|y|es|e|s|ly|als?)$"
)


_PARTICIPLES = frozenset(
    """sent paid bought sold made found gotten given taken written lent brought told said shown seen
    gone begun chosen kept left lost met""".split()  # noqa: SIM905
)


def is_participle(word: str) -> bool:
    """Return whether a word in small letters is an irregular past form and no imperative."""
    return word in _PARTICIPLES


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a word in small letters."""
    plain = word.lower().removesuffix("'s").strip("'").replace("e-mail", "email")
    plain = _IRREGULAR.get(plain, plain)
    if len(plain) <= 3:
        return plain.removesuffix("s") if len(plain) == 3 and plain not in ("bus", "gas") else plain
    if plain.endswith(("sses", "ss")):
        return plain.removesuffix("es")
    for _ in range(2):
        cut = _ENDINGS.sub("", plain)
        if cut == plain or len(cut) < 3 or not re.search("[aeiouy]", cut):
            break
        plain = cut
        if len(plain) > 3 and plain[-1] == plain[-2] and plain[-1] not in "sz":
            plain = plain[:-1]
    return plain


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text; names in snake_case or camelCase are split."""
    return frozenset(stem(word) for word in words_in(text))


def words_in(text: str) -> list[str]:
    """Return the words of a text in small letters; names in snake_case or camelCase are split."""
    text = re.sub(r"\b([Ee])-(?=mail)", r"\1", text)
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+(?:'[a-z]+)?", text)
    return [word.lower() for word in found]
