"""Correction of misspelt words, expansion of chat abbreviations, and names such as 'drawer 9'.

An unknown word is read as the known word from which it differs by likely mistakes: a doubled,
missing or swapped letter, or a neighbouring key. Ordinary English words are not corrected: 'cake'
is not a misspelt 'make'. If several known words are about equally likely, all are returned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import product

from hvr.errors import LanguageError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.function_words import CHAT_WORDS, FUNCTION_WORDS
from hvr.language.lexicon import (
    SHORTEST_MISSPELT,
    Adjective,
    FunctionWord,
    Lexicon,
    Noun,
    Verb,
    plurals,
    stem,
)
from hvr.language.taxonomy import Taxonomy
from hvr.values import Value

_LIKELY = 0.75
"""Cost of a likely mistake: swapped or doubled letters, or a neighbouring key."""

_FIRST = 0.5
"""Additional cost of a different first letter, which people rarely mistype."""

_PER_LETTER = 0.25
"""Allowed cost per letter of a word, up to two mistakes in total."""

_CLOSE = 0.5
"""Maximum difference in cost between two known words that count as equally likely."""

_LONG = 7
"""Number of letters of a long function word, in which any one mistake is corrected."""

_MOST = 12
"""Maximum number of combinations of corrections that are read."""

_DRAWN_OUT = re.compile(r"([a-z])\1+$")
"""The drawn-out end of a word: 'plzzz'."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class Corrected(Value):
    """A request with corrected words, and one note per correction."""

    tokens: tuple[str, ...]
    notes: tuple[str, ...] = ()


def corrections(tokens: Sequence[str], lexicon: Lexicon) -> tuple[Corrected, ...]:
    """Return the request with corrected words, once for each combination of candidates.

    Raises:
        LanguageError: There are too many combinations.
    """
    tokens = expanded(tokens, lexicon)
    options = [
        candidates(t, lexicon) or (t,)
        if not _known(t, lexicon)
        else (_plural(t, "".join(tokens[n + 1 : n + 2]), lexicon),)
        for n, t in enumerate(tokens)
    ]
    count = 1
    for option in options:
        count *= len(option)
    if count > _MOST:
        unclear = [t for t, option in zip(tokens, options, strict=True) if len(option) > 1]
        raise LanguageError(f"too many words are misspelt: correct {', '.join(map(repr, unclear))}")
    return tuple(
        Corrected(
            words,
            tuple(
                dict.fromkeys(
                    f"read {token!r} as {word!r}"
                    for token, word in zip(tokens, words, strict=True)
                    if token != word
                )
            ),
        )
        for words in product(*options)
    )


def expanded(tokens: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Expand chat abbreviations, and split or join compounds as the lexicon does."""
    return _rejoined(_from_chat(tokens, lexicon), lexicon)


def _from_chat(tokens: Sequence[str], lexicon: Lexicon) -> Iterator[str]:
    for token in tokens:
        word = token if token in CHAT_WORDS else _DRAWN_OUT.sub(r"\1", token)
        known = token in lexicon.parts or word not in CHAT_WORDS
        yield from (token,) if known else CHAT_WORDS[word].split()


def _rejoined(tokens: Iterator[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Split or join compounds as in the lexicon: 'sauce pan' becomes 'saucepan'."""
    words: list[str] = []
    for token in tokens:
        joined = words[-1] + token if words else ""
        halves = [(token[:i], token[i:]) for i in range(3, len(token) - 2)]
        apart = next((pair for pair in halves if pair in lexicon.entries), None)
        if (joined,) in lexicon.entries and not (
            words[-1] in lexicon.parts and _known(token, lexicon)
        ):
            words[-1] = joined
        elif apart and not _known(token, lexicon):
            words += apart
        else:
            words.append(token)
    return tuple(words)


def _known(token: str, lexicon: Lexicon) -> bool:
    return not token.isalpha() or token in lexicon.parts or token in lexicon.idiomatic


def _plural(token: str, after: str, lexicon: Lexicon) -> str:
    """Correct a known noun's plural with an apostrophe ("two tomato's"); keep other words."""
    base = token.removesuffix("'s")
    owner = not _known(after, lexicon) or any(
        not isinstance(entry, FunctionWord) for entry in lexicon.entries.get((after,), ())
    )  # 'the cupboard's shelf'
    if base == token or token in lexicon.parts or (after and owner):
        return token
    return next((form for form in plurals(base) if (form,) in lexicon.entries), token)


def candidates(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the known words that a misspelt word can mean, most likely first.

    Examples:
        >>> from hvr.knowledge.ontology import load_ontology
        >>> from hvr.language.lexicon import load_lexicon
        >>> lexicon = load_lexicon(load_ontology())
        >>> candidates("tomatoe", lexicon), candidates("cake", lexicon)
        (('tomato',), ())
    """
    if len(word) < SHORTEST_MISSPELT or not _ordinary_words().isdisjoint((word, *bases(word))):
        return ()
    if stem(word) in lexicon.descriptive:
        return ()
    letters = set(word)
    near: dict[str, float] = {}
    for other, content in lexicon.spellable.items():
        most = 2.0 if content else 1.0 if len(other) >= _LONG else _LIKELY
        allowed = min(max(len(word), len(other)) * _PER_LETTER, most)
        edits = int(allowed / _LIKELY)
        if abs(len(other) - len(word)) > edits or len(letters ^ set(other)) > 2 * edits:
            continue
        if (cost := likelihood(word, other)) <= allowed:
            near[other] = cost
    best = min(near.values(), default=0.0)
    close = [other for other in near if near[other] < best + _CLOSE]
    plural = word.endswith("s")
    # Singular, plural and variants of a noun are no choice for a person: keep the form that agrees.
    close.sort(key=lambda one: (one.endswith("s") != plural, near[one], len(one), one))
    forms = {_meaning(one, lexicon): one for one in reversed(close)}
    return tuple(sorted(forms.values(), key=lambda one: (near[one], one)))


def beside(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the known words that differ from a word by one likely mistake, likeliest first.

    Unlike `candidates`, it also corrects ordinary English words.
    """
    near = {w: likelihood(word, w) for w in lexicon.spellable if abs(len(w) - len(word)) < 2}
    return tuple(sorted((w for w, cost in near.items() if cost <= _LIKELY), key=near.__getitem__))


def bases(word: str) -> Iterator[str]:
    """Yield the possible base forms of an inflected word: 'scour' for 'scouring'."""
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + SHORTEST_MISSPELT:
            base = word.removesuffix(ending)
            yield from (base, f"{base}e", base[:-1] if base[-1] == base[-2] else base)


_PAST = {
    "put": "put", "took": "take", "threw": "throw", "brought": "bring", "gave": "give",
    "cut": "cut", "set": "set", "made": "make", "left": "leave", "got": "get", "shut": "shut",
    "hid": "hide", "held": "hold", "laid": "lay", "stuck": "stick", "swept": "sweep",
    "fed": "feed", "froze": "freeze", "hung": "hang", "kept": "keep", "lit": "light",
    "bound": "bind", "fetched": "fetch", "stood": "stand", "dug": "dig", "found": "find",
    "taken": "take", "thrown": "throw", "given": "give", "hidden": "hide",
}  # fmt: skip
"""Irregular past forms of verbs."""


def base_verb(word: str, lexicon: Lexicon) -> str:
    """Return the base form of an inflected verb in the lexicon; empty for any other word."""
    for base in (*bases(word), *filter(None, (_PAST.get(word),))):
        entries = lexicon.entries.get((base,), ())
        if base in lexicon.separable or any(isinstance(e, Verb) for e in entries):
            return base
    return ""


def is_past(word: str) -> bool:
    return word in _PAST


def plain_verbs(tokens: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Replace a verb after 'after you' or 'once you have' by its base form."""
    words = list(tokens)
    for at, word in enumerate(tokens[:-2]):
        if word in {"after", "once", "before"} and tokens[at + 1] == "you":
            words[at + 2] = base_verb(tokens[at + 2], lexicon) or words[at + 2]
    return tuple(words)


def is_noise(word: str, lexicon: Lexicon) -> bool:
    """Return whether a word is neither an English word nor a misspelt one: 'brb', 'hihi'."""
    return not (_known(word, lexicon) or word in _ordinary_words() or candidates(word, lexicon))


def _meaning(word: str, lexicon: Lexicon) -> frozenset[object]:
    entries = lexicon.entries.get((word,), ())
    return frozenset(getattr(entry, "object_class", entry) for entry in entries) or frozenset(
        (word,)
    )


def likelihood(typed: str, meant: str) -> float:
    """Return the cost of the mistakes between two words; likely ones cost less.

    Examples:
        >>> likelihood("tabel", "table"), likelihood("spple", "apple"), likelihood("mub", "mug")
        (0.75, 0.75, 0.75)
    """
    row = [float(n) for n in range(len(meant) + 1)]
    before: list[float] = []
    for i, a in enumerate(typed, 1):
        before, above, row = row, before, [float(i)]
        for j, b in enumerate(meant, 1):
            doubled = i > 1 and typed[i - 2] == a
            lost = j > 1 and meant[j - 2] == b
            cost = 0.0 if a == b else _LIKELY if b in _beside(a) else 1.0
            least = min(
                before[j] + (_LIKELY if doubled else 1.0),
                row[j - 1] + (_LIKELY if lost else 1.0),
                before[j - 1] + cost,
            )
            if i > 1 and j > 1 and a != b and a == meant[j - 2] and typed[i - 2] == b:
                least = min(least, above[j - 2] + _LIKELY)
            row.append(least)
    first = typed[0] == meant[0] or typed[:2] == meant[1::-1] or meant[0] in _beside(typed[0])
    return row[-1] + (0.0 if first else _FIRST)


@lru_cache(maxsize=32)
def _beside(letter: str) -> frozenset[str]:
    found: set[str] = set()
    for number, row in enumerate(_ROWS):
        at = row.find(letter)
        if at < 0:
            continue
        found.update(row[max(0, at - 1) : at + 2])
        if number > 0:
            found.update(_ROWS[number - 1][at : at + 2])
        if number + 1 < len(_ROWS):
            found.update(_ROWS[number + 1][max(0, at - 1) : at + 1])
    return frozenset(found - {letter})


@lru_cache(maxsize=1)
def _ordinary_words() -> frozenset[str]:
    text = resources.files("hvr.language").joinpath("ordinary_words.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())


# Foreign ------------------------------------------------------------------------------------------
# Recognise requests in other languages than English, by their script or their function words.

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
    """Return the likely language of a request with unknown words; '' if it may be English.

    Examples:
        >>> language_of(("mach", "mir", "einen", "kaffee"), ("mach", "mir", "einen", "kaffee"))
        'German'
        >>> language_of(("sing", "a", "song"), ("sing", "song"))
        ''
    """
    for token in tokens:
        script = unicodedata.name(token[0], "").split(" ")[0]
        if script in _SCRIPTS:
            return _SCRIPTS[script]
    if 2 * len(unknown) < len(tokens) or len(tokens) < 2:
        return ""
    found = {
        name: sum(t in words for t in tokens) if words & set(unknown) else 0
        for name, words in _WORDS.items()
    }
    most = max(found.values())
    names = [name for name, count in found.items() if count == most]
    return " or ".join(names) if most and 3 * most >= len(tokens) else ""


# Object names -------------------------------------------------------------------------------------
# People write a space in object names: 'drawer 9' and 'drawer number 9' are drawer-9.

_SPACED = re.compile(
    r"(?P<noun>[a-z]+(?: [a-z]+)?) (?:number |no\.? |# ?)?(?P<number>\d+)(?![\w-]|\.\d)"
    r"(?= ?(?P<next>[a-z]*))",
    re.IGNORECASE,
)
_MEASURES = frozenset({*FUNCTION_WORDS["unit"], "times", "percent", "degrees", "more", "of"})


def with_object_names(text: str, inventory: Inventory, taxonomy: Taxonomy, lexicon: Lexicon) -> str:
    """Replace each noun with a number by the name of an object, if the scene has this object.

    A number before a noun or unit is not changed: 'put in the drawer 2 forks'.
    """

    def named(match: re.Match[str]) -> str:
        after = match["next"].lower()
        counts = any(isinstance(e, Noun | Adjective) for e in lexicon.lookup(after))
        words = match["noun"].split()
        for start in () if counts or after in _MEASURES else range(len(words)):
            found = lexicon.lookup(" ".join(words[start:]).lower())
            kinds = taxonomy.concrete_of(e.object_class for e in found if isinstance(e, Noun))
            for kind in kinds:
                for name in inventory.of(kind):
                    if name.rpartition("-")[2] == match["number"]:
                        return " ".join((*words[:start], name))
        return match[0]

    return _SPACED.sub(named, text)
