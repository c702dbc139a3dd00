"""Ways to state a predicate of a PDDL world, and the words of verb phrases.

A frame is a subject and a tail: "is parked {1}" gives the tail "parked {1}".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hvr.errors import LanguageError
from hvr.execution.facts.imperatives import PLACES
from hvr.pddl import Domain
from hvr.values import Value
from hvr.worlds.facts.lexicon import WorldLexicon, infinitive, words_of

_MOST_WORDS = 120
_MODAL = (
    r"should|must|shall|may|can|could|will|cannot|(?:has|have|had|needs?|ought|wants?|is|are) to|"
    r"(?:is|are) supposed to|to"
)
_BE = (
    r"is|are|be|was|were|been|being|stays?|remains?|ends? up|gets?|becomes?|stands?|sits?|"
    r"goes|belongs?|(?:has|have) been|left|kept"
)
_VERB_PHRASE = re.compile(
    rf"(?:(?:{_MODAL}) )?(?:(?:do|does) )?(?P<denied>not |never |no longer )?(?:(?:{_BE}) )*"
    r"(?P<late>not |no longer )?(?:(?:still|yet|now|already|again|all|both|also|only) )*"
    r"(?P<rest>.+)"
)
STARTS = frozenset(
    "is are be was were should must shall may can could will cannot has have had need needs ought "
    "want wants stay stays remain remains end ends does do stand stands sit sits goes belongs "
    "to".split()
)
"""First words of a predicate after its subject, apart from the world's verbs."""


class FactFrame(Value):
    """A subject and the words after it, which together state or deny a predicate.

    Args:
        subject: The parameter that the subject fills, or a fixed subject such as "the robot".
        tail: The words after the subject, without "is"; a number stands for a parameter.
    """

    predicate: str
    positive: bool
    subject: int | str
    tail: tuple[str | int, ...]

    @property
    def mark(self) -> str:
        """The last word before the only argument of a relation; empty for any other frame."""
        slots = [part for part in self.tail if isinstance(part, int)]
        if len(slots) != 1 or self.tail[-1] != slots[0] or not self.positive:
            return ""
        return str(self.tail[-2]) if len(self.tail) > 1 else "-"


def frames_of(domain: Domain, words: WorldLexicon) -> Iterator[FactFrame]:
    """Yield the frames from a world's wording, and from the names of its unary predicates."""
    for name, wording in words.wording.predicates.items():
        for positive, template in ((True, wording.true), (False, wording.false)):
            kinds = [p.types[0] for p in domain.predicates[name].parameters]
            yield from _frames(name, positive, template.text.lower(), kinds)
    for name, predicate in domain.predicates.items():
        last = words_of(name).lower().split()[-1]
        if len(predicate.parameters) == 1 and last not in PLACES:
            yield FactFrame(name, True, 0, tuple(words_of(name).lower().split()))


def _frames(name: str, positive: bool, text: str, kinds: Sequence[str]) -> Iterator[FactFrame]:
    parts: list[str | int] = [
        int(part[1:-1]) if part.startswith("{") else part
        for part in re.findall(r"\{\d+\}|[^\s{}]+", text)
    ]
    verbs = [n for n, p in enumerate(parts) if n and p in STARTS]
    verbs += [n for n, p in enumerate(parts) if n and re.fullmatch(r"[a-z]+[^aious]s", str(p))]
    start = verbs[0] if verbs else 0
    subject: int | str | None = None
    if parts and isinstance(parts[0], int):
        subject, start = parts[0], 1
    elif start and not any(isinstance(part, int) for part in parts[:start]):
        subject = " ".join(map(str, parts[:start])).removeprefix("the ")
    if subject is None:
        yield FactFrame(name, positive, "", tuple(parts))
        if len(parts) == 2 and parts[1] == 0 and str(parts[0]).endswith("ing"):
            yield FactFrame(name, positive, 0, (parts[0],))
        return
    rest = " ".join(str(p) if isinstance(p, str) else f"{{{p}}}" for p in parts[start:])
    denied, base = verb_phrase(rest)
    tail = tuple(int(w[1:-1]) if w.startswith("{") else w for w in base.split())
    yield FactFrame(name, positive is not denied, subject, tail)
    last = tail[-1] if tail else ""
    if isinstance(last, int) and last < len(kinds) and tail[-2:-1] == (kinds[last],):
        yield FactFrame(name, positive is not denied, subject, (*tail[:-2], last))  # "has key {1}"


def verb_phrase(text: str) -> tuple[bool, str]:
    """Return whether a verb phrase is denied, and its words without auxiliary and modal verbs."""
    match = _VERB_PHRASE.fullmatch(text)
    if match is None:
        return False, text
    denied = bool(match["denied"]) is not bool(match["late"]) or text.startswith("cannot ")
    word, _, rest = match["rest"].partition(" ")
    if re.fullmatch(r"[a-z]+[^aious]s", word) and len(word) > 3:
        word = infinitive(word)
    word = "have" if word == "has" else word
    return denied, f"{word} {rest}".strip()


def fills(tail: Sequence[str | int], words: Sequence[str]) -> Iterator[dict[int, str]]:
    """Yield each way to match words with a tail, as the text for each of its parameters."""
    if not tail:
        if not words:
            yield {}
        return
    first, *rest = tail
    if isinstance(first, int):
        # One more preposition may stand before an argument: 'parked in bay 1'.
        for size in range(1, len(words) - sum(isinstance(r, int) for r in rest) + 1):
            for found in fills(rest, words[size:]):
                yield {first: " ".join(words[:size]), **found}
    elif words:
        alike = words[0] == first or first in PLACES.get(words[0], ())
        if alike:
            yield from fills(rest, words[1:])
            bare = rest and isinstance(rest[0], int) and first not in PLACES
            if bare and len(words) > 2 and words[1] in PREPOSITIONS:
                yield from fills(rest, words[2:])
        elif words[0] in _ARTICLES and len(words) > 1:
            yield from fills(tail, words[1:])


_ARTICLES = frozenset({"the", "a", "an", "his", "her", "their", "its"})
PREPOSITIONS = frozenset(PLACES) | {"by", "with", "from", "of", "for", "near", "under", "over"}


def plain_text(text: str) -> str:
    """Return a request in lower case, with single spaces and without contractions.

    Raises:
        LanguageError: The request is too long.
    """
    text = re.sub(r"\s+", " ", text.strip().rstrip(".!? ").lower().replace("’", "'"))
    text = re.sub(r"\bcan't\b", "cannot", re.sub(r"\bwon't\b", "will not", text))
    text = re.sub(r"n't\b", " not", text)
    text = re.sub(r"\b(?:has|have) ((?:not|never) )?been\b", r"is \1", text)
    text = re.sub(r"  +", " ", re.sub(r" ?([,;]) ?", r"\1 ", text))
    if len(text.split()) > _MOST_WORDS:
        raise LanguageError(f"the request has more than {_MOST_WORDS} words: split it")
    return text


def base_of(word: str) -> str:
    return infinitive(word) if word.endswith("s") and len(word) > 3 else word
