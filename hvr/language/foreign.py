"""Recognise requests in other languages than English, by their script or their function words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "Dutch": "de het een en van op naar voor met niet dat die mij uit aan bij is zet doe maak",
        "French": "le la les un une des du et dans sur est pas je moi vous plaît au aux avec pour "
        "mets fais s'il mon ma",
        "German": "der die das den dem ein eine einen einem und ist nicht mir ich bitte auf zu mit "
        "für aus im ins stell mach leg",
        "Italian": "il lo la gli le un una di e in su per con non mi del della nel nella sul metti "
        "fai favore",
        "Portuguese": "o a os as um uma de e em no na do da para por com não me coloque faça",
        "Spanish": "el la los las un una de y en del al para por con no me pon haz favor mi",
    }.items()
}
"""Frequent function words by language."""

_SCRIPTS = {
    "CYRILLIC": "a language in Cyrillic letters",
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "ARABIC": "a language in Arabic letters",
    "HEBREW": "Hebrew",
    "GREEK": "Greek",
    "DEVANAGARI": "a language in Devanagari letters",
    "THAI": "Thai",
}


def language_of(tokens: Sequence[str], unknown: Sequence[str]) -> str:
    """Return the likely language of a request, or '' for English.

    Args:
        unknown: The words that are not English words of the lexicon.

    Examples:
        >>> language_of(("mach", "mir", "einen", "kaffee"), ("mach", "mir", "einen", "kaffee"))
        'German'
        >>> language_of(("wash", "the", "teapot"), ("teapot",))
        ''
    """
    for token in tokens:
        script = unicodedata.name(token[0], "").split(" ")[0]
        if script in _SCRIPTS:
            return _SCRIPTS[script]
    if 2 * len(unknown) < len(tokens) or len(tokens) < 2:
        return ""
    found = {name: sum(t in words for t in tokens) for name, words in _WORDS.items()}
    most = max(found.values())
    names = [name for name, count in found.items() if count == most]
    return " or ".join(names) if 3 * most >= len(tokens) else ""
