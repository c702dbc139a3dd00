"""A generator of misspelt requests."""

from __future__ import annotations

import random

from hvr.language.lexicon import FunctionWord, Lexicon
from hvr.language.spelling import _beside


def misspelt(text: str, lexicon: Lexicon, rng: random.Random) -> str | None:
    """Return a request with one likely mistake in one word that names something.

    The result of the mistake is not itself a known word. None if no word can be misspelt.
    """
    words = text.split()
    named = [n for n, w in enumerate(words) if len(w) >= 4 and w.isalpha() and _names(w, lexicon)]
    if not named:
        return None
    at = rng.choice(named)
    for _ in range(20):
        word = _mistake(words[at].lower(), rng)
        if word not in lexicon.parts and word != words[at].lower():
            return " ".join([*words[:at], word, *words[at + 1 :]])
    return None


def _names(word: str, lexicon: Lexicon) -> bool:
    entries = lexicon.lookup(word.lower())
    return bool(entries) and not any(isinstance(entry, FunctionWord) for entry in entries)


def _mistake(word: str, rng: random.Random) -> str:
    at = rng.randrange(len(word) - 1)
    match rng.randrange(4):
        case 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case 1:
            return word[:at] + word[at] + word[at:]
        case 2:
            return word[: at + 1] + word[at + 2 :]
        case _:
            return word[:at] + rng.choice(sorted(_beside(word[at]))) + word[at + 1 :]
