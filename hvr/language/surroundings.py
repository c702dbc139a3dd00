"""The request inside a sentence, and the words around it that ask for nothing.

would it be too much trouble to | wash the mug         a frame that asks
i barely slept, so | make coffee                       a remark
put the bowl away | before my sister arrives           a circumstance
my boss told me to tell you to | wash the mug          a report: hvr asks whether it is meant

People use an open class of such words, so hvr looks for the request instead: a part that the
grammar reads whole. The words around it may be left out if the skeleton of their function words
asks for the request, or states something, and none of them names an object or denies, delays or
retracts the request. A note lists all that is left out. If the skeleton is unknown, hvr asks the
user; all other words stay, so that the request is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hvr.errors import LanguageError
from hvr.language.asides import complaint
from hvr.language.clauses import read_clauses
from hvr.language.cursor import PAUSES, Cursor, expand_idioms
from hvr.language.frames import (
    ADDRESS,
    ASKING,
    ASKS,
    AUXILIARIES,
    CLOSINGS,
    DESIRES,
    FINE,
    IDLE,
    IF,
    JOINTS,
    LIGHT_WORDS,
    LINKS,
    NEGATIONS,
    OPENINGS,
    OWNERS,
    PEOPLE,
    PERSONS,
    PRAISING,
    REASONS,
    RETRACTING,
    SAYING,
    TAILS,
    TIMES,
    TITLES,
    VALUED,
    WELCOME,
    YOU_IN,
    compiled,
    denies,
    is_convenient,
)
from hvr.language.lexicon import Adjective, Lexicon, Noun, Verb, tokenize
from hvr.language.spelling import base_verb, candidates, expanded, is_noise, is_past, plain_verbs
from hvr.values import Value

# Wishes -------------------------------------------------------------------------------------------


class Wish(Value):
    """A request stripped of the surrounding phrases.

    Args:
        tokens: The words of the request.
        asides: The phrases that were left out.
        sure: Whether the phrases left out certainly ask for nothing; if not, hvr asks the user.
    """

    tokens: tuple[str, ...]
    asides: tuple[str, ...]
    sure: bool


class _Part(Value):
    """A part of a sentence.

    Args:
        kept, asides: The words that are kept, and the phrases that are left out.
        sure: Whether the asides certainly ask for nothing.
        read: Whether the grammar reads the words kept.
        link: The conjunction or punctuation before the part.
    """

    words: tuple[str, ...]
    kept: tuple[str, ...]
    asides: tuple[str, ...] = ()
    sure: bool = True
    read: bool = True
    link: tuple[str, ...] = ()


_PAUSED = re.compile(r"\s*[:\u2013\u2014]\s+|\s-+\s|\.{2,}|\u2026|[()\"\u201c\u201d*]")


def wishes(
    request: str, lexicon: Lexicon, reads: Callable[[str], bool] | None = None
) -> tuple[tuple[Wish, ...], bool]:
    """Return the requests in a turn, certain ones first, and whether the turn denies a request.

    A very long text gives no request, and neither does one without words to leave out.

    Args:
        reads: Returns whether a text is a request; by default, whether the grammar reads it.
    """
    tokens = expanded(tokenize(_PAUSED.sub(", ", request)), lexicon)
    if len(tokens) > _MOST_WORDS:
        return (), False
    sentence = _Sentence(tokens, lexicon, reads)
    parts = tuple(sentence.parts())
    found: list[Wish] = []
    for sure in (True, False):
        wish = _joined([p if p.sure or not sure else _whole(p) for p in parts], sure)
        new = wish.tokens and wish.tokens != tokens and wish.tokens not in [w.tokens for w in found]
        if new and any(sentence.may_ask(p.kept) for p in parts if p.kept):
            found.append(wish)
    return tuple(found), sentence.denied


def _whole(part: _Part) -> _Part:
    return part.replace(kept=part.words, asides=())


def _joined(parts: Sequence[_Part], sure: bool) -> Wish:
    words: list[str] = []
    for part in parts:
        if part.kept:
            if words:
                words += part.link or (",",)
            elif part.link and part.link[-1] not in PAUSES and part.kept == part.words:
                words += [t for t in part.link if t not in PAUSES | JOINTS]
            words += part.kept
    asides = tuple(dict.fromkeys(a for part in parts for a in part.asides))
    return Wish(tuple(words), asides, sure)


_MOST_WORDS = 120
"""Number of words of the longest request in which a wish is looked for."""
_MOST_TRIES = 20
"""Largest number of readings of the parts of a phrase."""
_SHORT_REMARK = 5
"""Number of words from which an unknown remark is long."""


class _Sentence:
    """Separates the request in a sentence from the words around it."""

    def __init__(
        self, tokens: tuple[str, ...], lexicon: Lexicon, reads: Callable[[str], bool] | None
    ) -> None:
        self.tokens = tokens
        self._reads = reads
        self.lexicon = lexicon
        spelt = [_spelt(token, lexicon) for token in tokens]
        self.cursor = Cursor(" ".join(tokens), tuple(spelt), lexicon)
        self.begun = False
        self.denied = False
        self._tails: dict[tuple[int, int, bool], bool | None] = {}

    def parts(self) -> Iterator[_Part]:
        start, link = 0, tuple[str, ...]()
        result, there = False, False
        for at in range(len(self.tokens) + 1):
            if at == len(self.tokens) or self.tokens[at] in PAUSES:
                result = result or self.cursor.function("result", at=start) is not None
                placed, there = (
                    there,
                    self.cursor.word(at + 1) == "there"
                    and (self.cursor.function("prep", "unplaced", at=start) is not None),
                )
                # 'that way, everything will be in place', 'on the shelf, there is a bowl'
                if at > start and (result or there or placed):
                    words = self.tokens[start:at]
                    yield _Part(words, (), (" ".join(words),))
                elif at > start:
                    for part in self._phrase(start, at, link):
                        self.begun = self.begun or bool(part.kept)
                        yield part
                    link = ()
                link = self.tokens[at : at + 1]
                start = at + 1
                result = result and link[:1] == (",",)

    def _phrase(self, start: int, end: int, link: tuple[str, ...]) -> Iterator[_Part]:
        while start < end - 1 and self.tokens[start] in JOINTS:
            link = (*link, self.tokens[start])
            start += 1
        words = self.tokens[start:end]
        if self.reads(words):
            yield _Part(words, words, link=link)
            return
        found = self._framed(start, end)
        if found is None or not found.sure:
            pieces = list(self._pieces(start, end, link))
            if found is None or all(p.sure and (not p.kept or p.read) for p in pieces):
                yield from pieces
                return
        yield found.replace(link=link)

    def _pieces(self, start: int, end: int, link: tuple[str, ...]) -> Iterator[_Part]:
        at, begun = start, self.begun
        for stop in range(start + 1, end + 1):
            if stop == end or (stop > at and self._joins(stop)):
                piece = self.tokens[at:stop]
                part = _Part(piece, piece)
                if not self.reads(piece):
                    part = self._framed(at, stop) or self._remark(at, stop)
                self.begun = self.begun or bool(part.kept)
                yield part.replace(link=link)
                at, link = stop + 1, self.tokens[stop : stop + 1]
        self.begun = begun

    def _joins(self, at: int) -> bool:
        """Return whether a conjunction joins clauses: not 'wallet and keys', 'ever so much'."""
        joint = self.tokens[at] in JOINTS and self.tokens[at : at + 2] != ("so", "much")
        return joint and (self.tokens[at] != "and" or self.cursor.clause_starts(at + 1))

    # --- wishes ---------------------------------------------------------------------------

    def reads(self, words: tuple[str, ...], *, whole: bool = False) -> bool:
        """Return whether the grammar reads words as a request or, unless `whole`, as an object."""
        if self._reads is not None:
            return self._reads(" ".join(words))
        spelt = tuple(_spelt(word, self.lexicon) for word in words)
        plain = expand_idioms(plain_verbs(spelt, self.lexicon), self.lexicon)
        cursor = Cursor(" ".join(words), plain, self.lexicon)
        cursor.begun = True
        places = range(len(cursor.tokens))
        about = any(map(cursor.named, places)) or any(
            cursor.function("everything", *("pronoun", "rest") * self.begun, at=n) for n in places
        )
        if not (about and all(cursor.longest(n) or self._known(cursor.word(n)) for n in places)):
            return False
        if complaint(spelt, self.lexicon):
            return False
        try:
            clauses, bans = read_clauses(cursor)
        except LanguageError:
            return False
        said = bans or any(not c.bare for c in clauses) or (clauses and not whole)
        return bool(said) and not cursor.unread

    def may_ask(self, words: tuple[str, ...]) -> bool:
        cursor = Cursor(" ".join(words), words, self.lexicon)
        places = range(len(words))
        acts = any(cursor.kind(Verb, n) for n in places) and any(map(cursor.named, places))
        return acts or self.reads(words, whole=True)

    def _known(self, word: str) -> bool:
        return word in self.lexicon.parts or not word.isalpha()

    def _framed(self, start: int, end: int) -> _Part | None:
        """Return the request inside a phrase, with its other words as asides, or None."""
        tries = 0
        for at in range(start, end):
            desired = self._is_wanted(start, at)
            wish = ("i", "want") if desired else self._begins(start, at)
            if not wish:
                continue
            past = wish != self.tokens[at : at + 1]
            before = desired or self._asking(start, at, past=past)
            if before is None:
                if not self.denied and tries < _MOST_TRIES:
                    tries += 1
                    self.denied = self.reads((*wish, *self.tokens[at + 1 : end]))
                continue
            for stop in (end, *range(end - 1, at, -1)):
                praised = at == start and self.cursor.word(at).endswith("ing")
                key = stop, end, praised
                if key not in self._tails:
                    self._tails[key] = stop == end or self._tail(*key)
                after = self._tails[key]
                if after is None:
                    continue
                tries += 1
                words = (*wish, *self.tokens[at + 1 : stop])
                if self.reads(words, whole=at > start or not self.begun):
                    outer = (self.tokens[start:at], self.tokens[stop:end])
                    asides = tuple(" ".join(o) for o in outer if o and self._says(o))
                    return _Part(self.tokens[start:end], words, asides, before and after)
                if tries > _MOST_TRIES:
                    return None
        return None

    def _is_wanted(self, start: int, at: int) -> bool:
        """Return whether someone wants the words that follow: 'she'd like', 'mrs miller needs'."""
        cursor, word = self.cursor, self.cursor.word(at)
        would = cursor.word(at - 1) == "would" or cursor.word(at - 1).endswith("'d")
        if word not in {"wants", "needs", "requires"} | ({"like", "love"} if would else {"want"}):
            return False
        subject = cursor.tokens[start : at - (cursor.word(at - 1) == "would")]
        if not subject or not cursor.starts_thing(at + 1) or cursor.word(at + 1) in {"you", "me"}:
            return False
        if set(subject) & (LINKS | ASKS | NEGATIONS | {"you", "it"}) or IF.match(" ".join(subject)):
            return False
        person = subject[-1] in PEOPLE | ADDRESS or subject[0] in TITLES
        unknown = word == "wants" and not any(map(self._named, range(start, at)))
        return person or unknown

    def _lists(self, at: int) -> bool:
        return bool(self.cursor.function("then", at=at) or self.cursor.starts_thing(at))

    def _begins(self, start: int, at: int) -> tuple[str, ...]:
        """Return the base form of a word with which a request can begin, or ()."""
        word = self.cursor.word(at)
        gerund = word.endswith("ing") and self.cursor.kind(Verb, at)
        if gerund or self.cursor.verb(at) or self.cursor.split_verb(at):
            return (self.tokens[at],)
        if at == start and self.begun and self._lists(at):
            return (self.tokens[at],)
        if self.cursor.function("ensure", "forbid", "goal", "first", "with", "use", at=at):
            return (self.tokens[at],)
        if at and self.cursor.starts_exactly(at) and self.cursor.copular(at):
            return (self.tokens[at],)
        base = base_verb(word, self.lexicon)
        return (base,) if base else ()

    def _says(self, words: Sequence[str]) -> bool:
        cursor = Cursor(" ".join(words), tuple(words), self.lexicon)
        at = 0
        while at < len(words):
            match = cursor.function("filler", "courtesy", "and", "then", at=at)
            if match is None:
                return True
            at += match.length
        return False

    # --- frames ---------------------------------------------------------------------------

    def _asking(self, start: int, end: int, *, past: bool) -> bool | None:
        """Return True if words before a request ask for it, False if hvr must ask, else None.

        `past` says that the request begins with an inflected verb: 'i wish you washed the mug'.
        """
        words = self.cursor.tokens[start:end]
        text = " ".join(words) + " "
        if past and not re.search(r"\b(?:if|rather|time|wish|prefer)\b", text):
            return None
        if words[-1:] == ("you",) and self.cursor.word(end) in {"need", "want"}:
            return None  # 'you need a knife'
        if not self._says(words):
            return True
        if words[0] in LINKS and not IF.match(text):
            return None
        if IF.match(text):
            return True if is_convenient(re.sub(r" (?:then|please) $", " ", text)) else None
        open_words = set(words)
        said = bool(open_words & SAYING)
        for patterns, valued in ((ASKING, False), (VALUED, True)):
            for pattern in compiled(patterns):
                match = pattern.fullmatch(text)
                if match is None:
                    continue
                before = match[1].split()
                if not self._is_preface(start, start + len(before)):
                    continue
                if denies(words[len(before) :]):
                    return None
                if valued and "was" in open_words and "if" not in open_words:
                    return None  # 'it was kind of you to slice the apple'
                if valued and self.begun and "you" not in words:
                    return None
                if valued and not open_words & (WELCOME | (FINE if text[-4:] == " to " else set())):
                    return False
                if any(self._named(n) for n in range(start + len(before), end)):
                    return None
                return not said
        if denies(words) or any(map(self._named, range(start, end))):
            return None
        if words[-1] in JOINTS or words[0] in ASKS:
            return None
        if said or YOU_IN.search(text):
            return False if open_words & {"to", "you", "if", "that"} else None
        if words[-1] in PERSONS | AUXILIARIES | {"to", "that", "if", "who", "which"}:
            return None
        preposition = self.cursor.function("prep", "with", "for", "from", "circumstance", at=start)
        return preposition is not None

    def _is_preface(self, start: int, end: int) -> bool:
        """Return whether words before a request can be ignored: 'for the photos', 'excuse me'."""
        if start == end:
            return True
        words = self.cursor.tokens[start:end]
        if IF.match(" ".join(words)):
            return False
        if denies(words) or set(words) & (PERSONS | AUXILIARIES | ASKS | {"you"}):
            return False
        opened = self.cursor.function("for", "circumstance", "courtesy", "filler", at=start)
        return opened is not None or not any(self._named(n) for n in range(start, end))

    def _named(self, at: int) -> bool:
        cursor = self.cursor
        if cursor.function("filler", "goal", "ensure", "courtesy", "light", at=at):
            return False
        if cursor.is_name(at) or cursor.word(at).isdecimal():
            return True
        # A predicate without an article is no thing: 'be safe'.
        bare = at and cursor.function("be", at=at - 1) and not cursor.named(at + 1)
        counts = cursor.function("number", at=at) and cursor.starts_thing(at + 1)
        return bool((cursor.named(at) or counts) and not bare)

    def _tail(self, start: int, end: int, praised: bool) -> bool | None:
        """Return True if words after a request add nothing to it, False if hvr must ask, else None.

        `praised` says that the request is a gerund: 'putting the keys there helps us'.
        """
        words = self.cursor.tokens[start:end]
        if words[-1] in OWNERS | LINKS:
            return None  # the phrase breaks off
        text = " ".join(words) + " "
        if len(words) == 1 and is_noise(words[0], self.lexicon):
            return True  # 'wash the mug hihi'
        if praised and words[0] in PRAISING:  # 'putting the keys there helps us find them'
            return None if any(w in NEGATIONS or w.endswith("n't") for w in words) else True
        if not self._says(words):
            return True
        if IF.match(text):
            return True if is_convenient(text) else None
        named = any(map(self._named, range(start, end)))
        timed = any(self.cursor.function("number", "unit", at=n) for n in range(start, end))
        if words[0] not in LINKS and (named or timed or TIMES & set(words)):
            return None
        if words[0] not in REASONS and any(map(self.cursor.named, range(start, end))):
            return None
        if not any(re.fullmatch(tail, text) for tail in TAILS):
            return True if self._is_landmark(start, end) else None
        return words[-1] not in SAYING

    def _is_landmark(self, start: int, end: int) -> bool:
        """Return whether words after a place give an unknown landmark: 'next to the vault'."""
        near = self.cursor.function("unplaced", at=start)
        if near is None or start + near.length >= end or self.cursor.longest(end - 1):
            return False
        words = range(start + near.length, end - 1)
        return any(self.cursor.function("prep", at=n) for n in range(start)) and not any(
            self.cursor.function("prep", "and", "then", at=n) for n in words
        )

    # --- remarks --------------------------------------------------------------------------

    def _remark(self, start: int, end: int) -> _Part:
        words = self.tokens[start:end]
        verdict = self._is_remark(start, end)
        if verdict is None:
            return _Part(words, words, read=False)
        asides = (" ".join(words),) if self._says(words) else ()
        return _Part(words, (), asides, verdict)

    def _is_remark(self, start: int, end: int) -> bool | None:
        """Return True if a phrase asks for nothing, False if hvr must ask the user, else None."""
        cursor = self.cursor
        while start < end - 1 and cursor.word(start) in OPENINGS:
            start += 1
        while end - 1 > start and cursor.word(end - 1) in CLOSINGS:
            end -= 1
        words = cursor.tokens[start:end]
        text = " ".join(words) + " "
        if not self._says(words):
            return True
        if self._is_circumstance(start, end):
            return True
        if words[0] in REASONS or text.startswith(("instead of ", "rather than ")):
            return None
        if IF.match(text):
            return True if is_convenient(text) else None
        if self.begun and cursor.function("retract", at=start):
            return None
        retracts = set(re.sub(r"\bin mind ", "", text).split()) & (RETRACTING | SAYING)
        approved = words[-1] in FINE  # 'mum said it is fine'
        if (self.begun and retracts and not approved) or words[-1] in SAYING:
            return False
        return self._is_statement(start, end)

    def _is_circumstance(self, start: int, end: int) -> bool:
        """Return whether a phrase gives a reason or an earlier time, such as 'after a long day'."""
        words = self.cursor.tokens[start:end]
        known = any(map(self._named, range(start, end)))
        if self.cursor.function("stated", at=start):
            return True
        if words[0] in REASONS or words[:2] == ("even", "though"):
            return not (known and set(words) & DESIRES)
        if words[:2] in {("instead", "of"), ("rather", "than")}:
            return not known or (words[2:3] != () and words[2].endswith("ing"))
        if words[0] == "after" and words[1:2] and words[1] not in PERSONS:
            acts = any(self.cursor.kind(Verb, n) for n in range(start + 1, end))
            if words[1].endswith("ing"):  # 'after purchasing some produce'
                acts = any(self._orders(start, n, end) for n in range(start + 1, end))
                known = known and "your" not in words
            plain = not (known or acts or self._states(words[1:]))
            if words[1] in {"a", "an"} and "of" in words:  # 'after a day of tidying'
                plain = not (known or self._states(words[2:]))
            return plain or bool(set(words) & PEOPLE)
        purpose = words[0] == "to" or (words[0] == "for" and words[1:2] in (("a",), ("an",)))
        purpose = purpose or (self.begun and words[0] == "ready")
        during = words[0] == "during" or self._is_occupation(words)
        return not known and (during or (purpose and len(words) > 2))

    @staticmethod
    def _is_occupation(words: Sequence[str]) -> bool:
        """Return whether words say what someone does meanwhile: 'while tidying the room'."""
        doing = words[2:] if words[1:2] in {("you're",), ("we're",), ("i'm",)} else words[1:]
        started = words[0] in {"when", "while", "after", "before", "in", "by"}
        return started and len(doing) > 1 and doing[0].endswith("ing")

    def _is_statement(self, start: int, end: int) -> bool | None:
        cursor = self.cursor
        words = cursor.tokens[start:end]
        if complaint(words, self.lexicon):
            return True
        if len(words) == 1 and not cursor.longest(start) and candidates(words[0], self.lexicon):
            return None  # a misspelt order: 'lpen and close it'
        passed = ("det", "filler", "courtesy", "ignored")
        called = words[-1] in ADDRESS and all(
            cursor.function(*passed, at=n) or not cursor.longest(n) for n in range(start, end - 1)
        )
        if called and len(words) < _SHORT_REMARK:
            return True  # 'young man'
        if len(words) == 1 and is_noise(words[0], self.lexicon):
            return True
        if words[:2] in {("you", "know"), ("you", "see")}:
            return True  # 'you know that mug? wash it'
        if words[0] in {"thanks", "thank"} and not any(map(self._named, range(start, end))):
            return True
        states = self._states(words)
        orders = [n for n in range(start, end) if self._orders(start, n, end)]
        known = all(w in TIMES or cursor.longest(start + n) for n, w in enumerate(words))
        if orders[:1] > [start] and not self._says(cursor.tokens[start : orders[0]]):
            return None  # 'would you put a roll on it' is an order that hvr cannot read
        result = words[0].endswith("ing") and self.begun and not known
        light = any(verb.word in LIGHT_WORDS for _, verb in cursor.entries(Verb, start))
        if result and (light or start not in orders):
            return True  # ', making the cleaning straightforward'
        if words[0].endswith("ing") and self.begun and states and not set(words) & DESIRES:
            return True  # 'preparing a salad will be a breeze'
        dismissed = cursor.function("dismiss", at=start) is not None
        named = any(map(self._named, range(start, end)))
        if start in orders or (dismissed and (named or words[0] not in PEOPLE)):
            return None
        if named:
            return self._about_known(words, states)
        if dismissed or words[:2] == ("not", "to"):
            return True  # 'we don't want a fire', 'not to be rude'
        if words[0] in LIGHT_WORDS and not orders:
            idle = words[0] in IDLE or words[1:2] in (("me",), ("us",), ("your",), ("ready",))
            idle = idle or (words[0] in ASKS and words[1:2] != () and words[1] in PERSONS)
            return True if idle else None
        if cursor.function("forbid", "without", at=start):
            return self._denying(words, states)
        if known and not states and not (words[0] in LINKS and set(words[1:2]) & PERSONS):
            return None
        restricts = cursor.function("ensure", "needing", "det", "without", "except", at=start)
        if restricts and not states:
            return False if restricts.entry.role == "det" else None
        if set(words) & NEGATIONS or any(w.endswith("n't") for w in words):
            return self._denying(words, states)
        if (orders or any(cursor.kind(Adjective, n) for n in range(start, end))) and not states:
            return None
        if orders:
            return words[0] not in {"you", "you're", "you'd"}
        if states or cursor.function("courtesy", "reason", "circumstance", at=start):
            return True
        if not self.begun:
            return True
        return False if len(words) < _SHORT_REMARK else None

    def _states(self, words: Sequence[str]) -> bool:
        """Return whether words state or ask something: 'i'm late', 'the guests are here'."""
        first, rest = words[0], words[1:]
        if first in PERSONS or first in {"nobody", "nothing", "none", "its"}:
            return True
        if first in OWNERS and len(words) > 3 and not any(w in self.lexicon.words for w in words):
            return True
        if first in ASKS:
            return True
        finite = [
            n
            for n, w in enumerate(rest, 1)
            if w in AUXILIARIES
            or self._is_finite(words[n - 1], w)
            or (words[n - 1].endswith("'s") and (w.endswith("ing") or self._is_state(words, n)))
        ]
        return bool(finite) and not LINKS & set(words[: finite[0]])

    def _is_state(self, words: Sequence[str], at: int) -> bool:
        """Return whether an unknown word ends the first phrase: 'the baby's asleep'."""
        return not (self.begun or self.lexicon.lookup(words[at])) and at == len(words) - 1

    def _is_finite(self, before: str, word: str) -> bool:
        """Return whether an unknown word after `before` looks like a finite verb: 'arrives'."""
        unknown = word not in self.lexicon.parts
        if word in SAYING or is_past(word):
            return True
        plural = word.endswith("s") and not word.endswith("ss")
        apart = not self.lexicon.lookup(before) or before in PERSONS
        apart = apart or any(isinstance(e, Noun) for e in self.lexicon.lookup(before))
        return unknown and (word.endswith("ed") or (plural and apart))

    def _about_known(self, words: Sequence[str], states: bool) -> bool | None:
        if words[0] == "no" and not (self.begun or self._covers_all()):
            return True  # 'no coffee for me, just a glass of water'
        if not states:
            return None
        denied = [n for n, w in enumerate(words) if w in NEGATIONS or w.endswith("n't")]
        wishes = set(words) & DESIRES
        if (wishes - {"like", "want", "love"} if denied else wishes) or any(
            w.endswith("'d") for w in words
        ):  # but 'guests don't like wine, so …'
            return None if words[0] not in PEOPLE else False
        if denied:
            after = words[denied[0] + 1 :]
            unable = words[denied[0]] in {"can't", "cannot", "couldn't", "didn't", "haven't"}
            if not (self.begun or words[0] in {"you", "you're"} or self._covers_all()):
                return True  # 'knives don't belong here, put the knife in a drawer'
            return words[0] in PEOPLE and (
                unable or (bool(after) and not self.lexicon.lookup(after[0]))
            )
        past = not self.begun and bool(set(words) & {"was", "were", "had", "did"})
        return past or words[0] in PEOPLE or not all(map(self.lexicon.lookup, words))

    def _covers_all(self) -> bool:
        return any(
            self.cursor.function("everything", "rest", at=n)
            or ((det := self.cursor.function("det", at=n)) and det.entry.value == 0)
            for n in range(len(self.tokens))
        )

    def _denying(self, words: Sequence[str], states: bool) -> bool | None:
        if states and words[0] not in {"you", "you're"}:
            return True
        rest = [w for w in words if not (w in NEGATIONS or w.endswith("n't"))]
        unknown = [w for w in rest if not (self.lexicon.lookup(w) or w in TIMES)]
        if not unknown:
            return None
        if {"me", "us"} & set(rest) or (words[0] == "no" and not self.begun):
            return True
        return None if self.begun and words[0] != "no" else False

    def _orders(self, start: int, at: int, end: int) -> bool:
        cursor = self.cursor
        if at + 1 >= end:
            return False
        if cursor.kind(Verb, at) and not cursor.function("filler", "goal", "be", "have", at=at):
            return cursor.word(at) not in LIGHT_WORDS or cursor.word(at + 1) in {"it", "them"}
        word = cursor.word(at)
        unknown = at == start and not (
            cursor.longest(at) or word in PERSONS or word.endswith("ing")
        )
        return unknown and cursor.word(at + 1) in OWNERS | {"it", "them", "everything"}


def _spelt(token: str, lexicon: Lexicon) -> str:
    if token in lexicon.parts or not token.isalpha():
        return token
    near = candidates(token, lexicon)
    return near[0] if len(near) == 1 else token
