"""Names split into words: `StoveBurner-1` and "stove burners" share two."""

from __future__ import annotations

import re

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> tuple[str, ...]:
    """Return the lower-case words of a name: `StoveBurner-1` gives stove, burner, 1."""
    return tuple(p.lower() for p in _PARTS.findall(text))


def squeezed(text: str) -> str:
    """Return the words of a name joined in lower case: `stoveburner1`."""
    return "".join(words(text))


def singular(word: str) -> str:
    """Return the singular of a noun: mugs, knives, tomatoes, dishes, berries."""
    for ending, instead in (
        ("nives", "nife"),
        ("leaves", "leaf"),
        ("loaves", "loaf"),
        ("helves", "helf"),
        ("ies", "y"),
        ("oes", "o"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("sses", "ss"),
        ("xes", "x"),
    ):
        if word.endswith(ending) and len(word) > len(ending) - len(instead) + 2:
            return word[: -len(ending)] + instead
    if word.endswith("s") and len(word) > 3 and word[-2] not in "su":
        return word[:-1]
    return word
