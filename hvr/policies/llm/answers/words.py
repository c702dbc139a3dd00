"""English around actions: the words that begin an order, and those without meaning in it."""

from __future__ import annotations

import re

from hvr.knowledge.wording import load_wording


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


PARTICLES = words("""up on off away down out to onto into in inside over at toward towards""")
"""Words that belong to the verb right before them."""

ARTICLES = words(
    """the a an some your its my this that these those any one robot's available same"""
)
PREPOSITIONS = words(
    """on onto upon in into inside to at toward towards under near by over next beside off up down
    away out -> => within"""
)
ENDS = words(
    """with using for while because since until where which who so before after if when as via from
    without again order make ensure making allowing to_"""
)
"""Words after which no object of the action follows."""

_LEADING = re.compile(
    r"^(?:(?:and|then|next|now|first|firstly|second|third|finally|lastly|afterwards|also|please"
    r"|carefully|gently|so|after that|once there|again)\b,?\s+"
    r"|(?:the\s+)?(?:robot|agent|arm)(?:'s)?\s+(?:should|must|can|will|has to|needs to)?\s*"
    r"|(?:i|you|we)(?:'ll| will| would| should| must| can| need to| have to| then)?\s+"
    r"|(?:i'll|we'll|let's)\s+|use the robot(?: arm)? to\s+)",
    re.IGNORECASE,
)


def without_leading(text: str) -> str:
    """Take `Then`, `The robot should` and the like from the beginning of an order."""
    for _ in range(4):
        shorter = _LEADING.sub("", text, count=1)
        if shorter == text:
            break
        text = shorter
    return text


def stem(word: str) -> str:
    """Return the verb of an inflected form that may begin an order, else the word in lower case.

    So `picks` and `picking` become `pick`.
    """
    verbs = load_wording().order_verbs
    word = word.lower().strip("'\".,;:!()[]")
    if word in verbs:
        return word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e")):
        if word.endswith(ending) and (base := word[: -len(ending)] + instead) in verbs:
            return base
    if word.endswith("ing") and len(word) > 5 and word[-4] == word[-5] and word[:-4] in verbs:
        return word[:-4]
    return word


def is_verb(word: str) -> bool:
    """Return whether an order may begin with a word, in any of its forms."""
    return stem(word) in load_wording().order_verbs


def starts_with_verb(text: str) -> bool:
    """Return whether a text begins like an order."""
    words = without_leading(text.strip()).split(maxsplit=1)
    return bool(words) and is_verb(words[0].split("-")[0])


def split_name(name: str) -> list[str]:
    """Return the words of an identifier: `PickupObject` and `pick_up-object` in lower case."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.findall(r"[^\W_]+", name.lower())
