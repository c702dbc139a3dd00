"""Interpretation of dialogue turns that depend on earlier ones.

Such a turn is rewritten as self-contained requests, with the names of the objects that it refers
to. The first one that the grammar reads is meant.

    wash the mug … and now the other one        wash mug-2
    put the apple in the fridge … put it back   put apple-1 on countertop-2
    slice the tomato … no, the lettuce          slice the lettuce
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from itertools import islice, product
from typing import TypeAlias

from hvr.errors import LanguageError
from hvr.knowledge.ontology import PLACE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.answers import ORDINALS, SPOKEN, DialogueQuestion, trimmed
from hvr.language.cursor import PAUSES, Cursor
from hvr.language.function_words import NUMBERS
from hvr.language.grammar import Reader
from hvr.language.lexicon import Adjective, Verb, plurals, tokenize
from hvr.language.noun_phrases import read_predicate
from hvr.language.phrases import (
    GOVERNORS,
    MANY,
    ONES,
    PRONOUNS,
    TOGETHER,
    DialogueMemory,
    PhraseReader,
    PhraseSpan,
)
from hvr.language.spatial import nearest
from hvr.language.spelling import with_object_names
from hvr.language.statements import is_question
from hvr.language.truth import SceneView, StatementJudge
from hvr.values import Value

# Requests -----------------------------------------------------------------------------------------


class Referred(Value):
    """The meaning of a phrase without a noun: names of objects, or a phrase with a noun.

    If `asks`, the robot must ask which of several objects is meant.
    """

    names: tuple[str, ...] = ()
    asks: bool = False


_NOT_BUT = re.compile(r"^not (.+?)(?:,| but)\s*(?:but )?(.+)$", re.IGNORECASE)
_APART = re.compile(
    r"(?:except|but not|not|apart from|other than)(?: for)? (?P<what>[^,]+), "
    r"(?P<rest>.*\b(?:it|that|them|those)\b.*)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|that|them|those)\b", re.IGNORECASE)
_IF_SO = re.compile(
    r"if (?:(?:it|they|that|there) (?:is|are)(?P<not> not|n't)?|so|(?:it|they|there) does?|not)"
    r"(?:, | then |,? then,? )(?P<rest>.+)",
    re.IGNORECASE,
)
_USED = re.compile(
    r"\bthe (?P<what>[\w ]+?) (?:(?:that|which) )?you (?:have )?(?:just )?"
    r"(?:used|took|picked up|(?!mention|need|want)[a-z]+ed)\b",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(r"\b(?:one more|an? different|some other|any other)\b", re.IGNORECASE)
_FIRST_OF = re.compile(rf"\b({'|'.join(ORDINALS)}) of (?:them|these|those)\b", re.IGNORECASE)
_OTHERS = frozenset({"other", "others", "another", "next", "remaining"})
_DESCRIBED = re.compile(
    r"(?:(?:that|which) (?:is|are) )?(?:(?:where|with|(?:that|which) has|holding) "
    r"(?P<thing>.+?)(?: (?:is|are|stands?|lies?|sits?))?(?: (?:on|in|inside)(?: (?:it|them|top))?)?"
    r"|(?P<rest>.+))"
)
_COUNTS = re.compile(r"(how many|which)(?: of them)? ((?:is|are|were|was|do|have|in|on)\b.*)")
_ONE_OF = re.compile(r"\bone of (?:them|these|those)\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?P<number>two|three|four|five|six) of (?:them|these|those|the (?:pieces|slices))\b",
    re.IGNORECASE,
)
_SWITCHED = re.compile(r"^(?:back )?(?P<state>on|off)(?: (?:again|back))?$", re.IGNORECASE)
_AFTER_PRONOUN = frozenset("one in on off back too again away down as please up out".split())
_LINKS = frozenset({"and", "but", "only", "just", "or", ",", "please", "instead", "back", "then"})
_PREFERRING = re.compile(
    r"^(?:use|take|try|choose|pick|make it|i(?:'d| would)? (?:want|like|prefer)) (?P<what>.+)$",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:and|what about|how about|same for)\b", re.IGNORECASE)
_ROUND = re.compile(r"(?:do it )?(?:the )?other way a?round", re.IGNORECASE)
_AFTER_HEAD = frozenset({"", "please", "where", "that", "which", "back", "again", "off", "too"})
_AGAIN = re.compile(
    r"^(?:do (?:it|that|this) again|again|once more|repeat(?: that| it)?|same again)$"
)
_MOST_TRIED = 3
"""Maximum number of other objects that are tried for 'another one'."""

_MOST_REFERENTS = 24
"""Maximum number of combinations of referents that are tried for one turn."""

Slot: TypeAlias = tuple[int, int, list[str]]
"""Range of the words of a pronoun, and what it can stand for, most likely first."""


class Rewriter(PhraseReader):
    """Rewrites requests that depend on earlier turns as self-contained ones."""

    def __init__(self, reader: Reader, inventory: Inventory, memory: DialogueMemory) -> None:
        super().__init__(reader, inventory, memory)
        self.base = memory.request or memory.asked
        """The request or question that a turn without a verb changes."""

    def requests(self, text: str) -> Iterator[str | DialogueQuestion]:
        """Yield the interpretations of a text, most likely first: requests or a question."""
        plain = self._unmarked(text)
        if (pair := _NOT_BUT.match(plain)) and self.only_names(pair[1]):
            plain = pair[2]
            if (taken := self.back(f"put {pair[1]} back")) and not self.has_verb(plain):
                for request in self._fragment(plain):
                    if isinstance(request, str):
                        yield f"{taken} and {request}"
        if (apart := _APART.fullmatch(plain)) is not None:  # 'except the spoon, put that back'
            plain = _PRONOUN.sub(apart["what"], apart["rest"], count=1)
        plain = _ONE_MORE.sub("another", self._standing_alone(plain))
        plain = _FIRST_OF.sub(lambda match: f"{match[1]} one", plain)
        rest = trimmed(plain)
        asks = text.rstrip().endswith("?")
        if self.memory.asked and (asks or _AND.match(plain)):
            self.base = self.memory.asked  # 'and the cup?'
        if self.memory.request and _AGAIN.match(rest):
            yield self.memory.request
        elif _ROUND.fullmatch(rest) and len(self.memory.used) > 1:
            yield f"swap {' and '.join(self.memory.used[-2:])}"
        elif self.memory.request and (back := self.back(plain) or self._brought(rest)):
            yield back
        elif not (yield from self._elliptic(rest, asks=asks)):
            yield from self._resolved(plain or text)

    def _unmarked(self, text: str) -> str:
        text = text.strip()
        while match := SPOKEN.match(text):
            rest = text[match.end() :]
            if match[0].rstrip().lower() == "no" and self.names_at(
                tokenize(rest) if rest else (), 0
            ):
                break  # 'no plate should be dirty'
            text = rest
        return text.strip(" ,")

    def _brought(self, rest: str) -> str:
        """Return the request for a turn without a verb: 'the cd back please'."""
        cursor = self.cursor(rest) if rest else None
        acts = cursor is None or cursor.verb(0) or cursor.split_verb(0)
        back = "" if acts else self.back(f"put {rest}")
        plain = rest.removesuffix(" back")
        if plain != rest and self.only_names(plain) and not back:
            raise LanguageError(f"{plain!r} was not moved")
        return back

    def _elliptic(self, rest: str, *, asks: bool) -> Generator[str | DialogueQuestion, None, bool]:
        """Yield the last request, changed by the phrases of a turn that has no verb.

        The generator returns whether the turn consists only of such changes.
        """
        if not self.base or not rest:
            return asks and self.only_names(rest)  # 'and the kettle?' is no order
        if switched := self._switched(rest):
            yield switched
        if (preferred := _PREFERRING.match(rest)) and not self.has_verb(preferred["what"]):
            (_, named), what = self.spans(preferred["what"]), preferred["what"]
            if self._head(tokenize(what)) or not all(self.is_portable(s.thing) for s in named):
                yield from self._fragment(what)
        if self.has_verb(rest):
            return False
        found = list(self._fragment(rest))
        for one in found:
            if isinstance(one, str):
                yield from [back] if (back := self.back(one)) else self._resolved(one)
            else:
                yield one
        return bool(found) or (asks and self.only_names(rest))

    def _standing_alone(self, text: str) -> str:
        if (asked := _IF_SO.match(text)) and self.memory.asked:
            (_, *words), spans = self.spans(self.memory.asked.rstrip("?"))
            if spans and words:
                end = spans[0].end - 1
                said = [*words[:end], "is", *words[end:]]
                said = ["there", "is", *words[1:]] if words[0] == "there" else said
                denied = asked["not"] or text.lower().startswith("if not")
                text = f"{'unless' if denied else 'if'} {' '.join(said)}, {asked['rest']}"

        def used(match: re.Match[str]) -> str:
            named = self.spans(match["what"])[1]
            kinds = {c for span in named for c in self.classes_of(span.thing)}
            names = (n for n in self.memory.acted if self.inventory.classes.get(n) in kinds)
            return next(names, match[0])

        return _USED.sub(used, text)

    def is_elliptic(self, text: str) -> bool:
        """Return whether a turn consists only of phrases, which change an earlier request."""
        tokens, spans = self.spans(rest := trimmed(text))
        covered = {n for span in spans for n in range(span.preposition, span.end)}
        rest_words = {w for n, w in enumerate(tokens) if n not in covered}
        headless = self._head(tokenize(rest)) is not None and not self.has_verb(rest)
        return rest_words <= _LINKS or headless

    # --- turns without a verb ------------------------------------------------------------

    def _switched(self, rest: str) -> str:
        match = _SWITCHED.match(rest)
        tokens = list(tokenize(self.memory.request or self.base)) if match else []
        at = [n for n, word in enumerate(tokens) if word in {"on", "off"}]
        if match is None or len(at) != 1:
            return ""
        tokens[at[0]] = match["state"].lower()
        return " ".join(tokens)

    def _fragment(self, rest: str) -> Iterator[str | DialogueQuestion]:
        """Yield the last request with a turn's phrases substituted: 'the bread on the table'."""
        words = tuple(tokenize(rest))
        base, spans = self.coordinated(self.base)
        head = self._head(words)
        if TOGETHER.fullmatch(rest) and len(self.memory.group) > 1:
            yield from self._replaced(base, spans, ("them",))
            return
        if TOGETHER.fullmatch(rest) or rest == "all":
            for span in self._choosable(spans, governed=False)[:1]:
                names = " and ".join(self.objects(self.classes_of(span.thing)))
                yield from self._replaced(base, spans, names.split(), (0, span))
            return
        for span in self.spans(rest)[1] if head is None else ():
            if span.thing.determiner.other and span.thing.nouns and span.thing.many:
                kinds = self.classes_of(span.thing)
                others = self._meant_by(("the", "others"), (), kinds).names
                words = (*words[: span.start], *" ".join(others).split(), *words[span.end :])
        if head is None:
            yield from self._replaced(base, spans, words)
            return
        start, end = head
        governed = any(
            self.cursor(rest).after(role, n) == start
            for n in range(start)
            for role in ("prep", "from")
        )
        parts = {*words[start:end]} & _OTHERS or {*words[start:end]} & {*ORDINALS}
        stops = [end, len(words)] if parts else [len(words)]
        for stop in dict.fromkeys(stops):  # without and with a description
            to = any(s.governed for s in self.spans(" ".join(words[stop:]))[1])
            for span in self._choosable(spans, governed=governed):
                if to and span.governed:
                    continue  # 'the other one in the fridge' is not another place
                kinds = self.classes_of(span.thing)
                about = (*self.memory.group, *self.memory.places)
                kinds = {c for n in about if (c := self.inventory.classes[n]) in kinds} or kinds
                meant = self._meant_by(words[start:end], words[end:stop], kinds)

                def said(names: str, span: PhraseSpan = span, stop: int = stop) -> list[str]:
                    new = (*words[:start], *names.split(), *words[stop:])
                    return list(self._replaced(base, spans, new, (start, span)))

                if found := list(self._offered(meant, said)):
                    yield from found
                    return
        last = [n for n in self.memory.things if n not in self.memory.group]
        if {*words[start:end]} & _OTHERS and last:  # the other of two unlike things
            new = (*words[:start], last[0], *words[end:])
            yield from self._replaced(base, spans, new)
            return
        raise LanguageError(f"it is not clear what {rest!r} refers to: name the thing")

    def _offered(
        self, meant: Referred, said: Callable[[str], list[str]]
    ) -> Iterator[str | DialogueQuestion]:
        ways = [said(names) for names in meant.names]
        texts = [found[0] for found in ways if found]
        if not meant.asks or len(texts) < 2:
            yield from (text for found in ways for text in found)
            return
        judge = StatementJudge(self.reader, SceneView(self.inventory))
        yield DialogueQuestion("Which one?", tuple(map(judge.described, meant.names)), tuple(texts))

    def _choosable(self, spans: Sequence[PhraseSpan], *, governed: bool) -> list[PhraseSpan]:
        fitting = [s for s in spans if s.governed or not governed]

        def key(span: PhraseSpan) -> tuple[bool, bool]:
            return len(self.objects(self.classes_of(span.thing))) < 2, span.governed

        return sorted(fitting, key=key)

    def _head(self, words: Sequence[str]) -> tuple[int, int] | None:
        """Return the range of a noun phrase without a noun: 'the other one', 'the second'."""
        cursor = Cursor("", tuple(words), self.reader.lexicon)
        for n, word in enumerate(words):
            after = cursor.word(n + 1)
            if word == "more" and n and words[n - 1] in NUMBERS:
                return n - 1, n + 1
            ends = after in PAUSES | _AFTER_HEAD or cursor.function(*GOVERNORS, at=n + 1)
            follows = after in ONES or not (ends or word in ONES) or cursor.named(n + 1)
            other = word in _OTHERS or word in ORDINALS
            if (
                follows
                or after == "of"
                or (word, after) == ("next", "to")
                or not (word in ONES or other)
            ):
                continue
            start = n
            while (
                start and not cursor.function("det", at=start) and self._modifies(cursor, start - 1)
            ):
                start -= 1
            if words[start] in {"this", "that", "these", "those"}:
                continue
            asked = n and words[n - 1] == "which"
            alone = word == "one" and n and (cursor.verb(n - 1) or cursor.particles(n - 1))
            if start < n or asked or alone or (other and n == 0):
                return start, n + 1
        return None

    def _modifies(self, cursor: Cursor, at: int) -> bool:
        word = cursor.word(at)
        known = cursor.function("det", "ignored", at=at) or cursor.kind(Adjective, at)
        return bool(known) or word in _OTHERS or word in ORDINALS

    def _meant_by(
        self, head: Sequence[str], description: Sequence[str], kinds: Collection[str]
    ) -> Referred:
        """Return the referents of 'the second one' (`head`) 'with the lamp' (`description`)."""
        objects, memory = self.objects(kinds), self.memory
        taken = {*memory.used, *memory.group}
        taken |= {p for n in memory.group if (p := self.inventory.parents.get(n))}
        several = head[-1] in {"ones", "others"}
        number = next((ORDINALS[w] for w in head if w in ORDINALS), 0)
        if head[-1] == "more":  # 'two more'
            more = [n for n in objects if n not in taken][: NUMBERS[head[0]]]
            return Referred((" and ".join(more),) if more else ())
        if description:
            objects = self._described(" ".join(description), objects)
            return Referred(tuple(objects), len(objects) > 1)
        listed = [n for n in memory.group if n in objects]
        if number and not (number == 2 and len(memory.used) == 1 and len(objects) == 2):
            listed = listed if len(listed) > 1 else objects
            at = number - 1 if number > 0 else len(listed) - 1
            return Referred(tuple(listed[at : at + 1]) if at < len(listed) else ())
        if number or {*head} & _OTHERS:
            others = tuple(n for n in objects if n not in taken)
            if several:
                return Referred((" and ".join(others),) if others else ())
            free = "another" in head or "next" in head
            return Referred(others[:_MOST_TRIED] if free else others, asks=not free)
        if (*head,) == ("one",) and listed:
            return Referred((listed[0],))
        cursor = Cursor("", tuple(head), self.reader.lexicon)
        vague = [w for n, w in enumerate(head) if cursor.function("ignored", at=n)]
        if vague:  # 'the left one', 'the red one'
            return Referred(tuple(listed if len(listed) > 1 else objects), asks=True)
        kind = next((c for c in kinds if self.inventory.of(c)), next(iter(kinds), ""))
        label = self.reader.taxonomy.label(kind) if kind else ""
        label = plurals(label)[0] if several and label else label
        article = () if head[0] not in ONES else ("a",)
        return Referred((" ".join((*article, *head[:-1], label)),) if label else ())

    def _described(self, text: str, names: Sequence[str]) -> list[str]:
        match = _DESCRIBED.fullmatch(text)
        said = f"with {match['thing']}" if match and match["thing"] else match and match["rest"]
        said = with_object_names(
            said or text, self.inventory, self.reader.taxonomy, self.reader.lexicon
        )  # 'on shelf 5'
        cursor = self.cursor(said)
        judge = StatementJudge(self.reader, SceneView(self.inventory))
        try:
            predicate = read_predicate(cursor)
            if not cursor.done or not predicate:
                return []
            near = [a for a in predicate.adjuncts if a.kind == "unplaced"]
            others = tuple(a for a in predicate.adjuncts if a not in near)
            found = [n for n in names if judge.fits(n, predicate.replace(adjuncts=others))]
            for adjunct in near:  # the nearest
                by = [n for thing in adjunct.things for n in judge.things(thing)][:1]
                for name in by:
                    found = [*nearest(self.inventory, found, judge.near(adjunct.word, name), 1)]
        except LanguageError:
            return []
        return found if len(found) < len(names) or len(names) == 1 else []

    def _replaced(
        self,
        base: Sequence[str],
        spans: Sequence[PhraseSpan],
        words: Sequence[str],
        head: tuple[int, PhraseSpan] | None = None,
    ) -> Iterator[str]:
        """Yield the last request with a similar phrase replaced by each phrase of the turn.

        Args:
            head: Start of a phrase among `words`, and the phrase that it replaces.
        """
        tokens, found = self.coordinated(" ".join(words))
        covered = {n for s in found for n in range(s.preposition, s.end)}
        if not found or any(w not in _LINKS for n, w in enumerate(tokens) if n not in covered):
            return
        options: list[list[PhraseSpan | None]] = []
        for new in found:
            if head is not None and new.start <= head[0] < new.end:
                options.append([head[1]])
                continue
            like: list[PhraseSpan | None] = [*self._like(new, spans, governed=new.governed)]
            if not like and not new.governed:
                return
            options.append([*like, None] if new.governed else like)
        for choice in islice(product(*options), _MOST_REFERENTS):
            places = [s for s in choice if s is not None]
            if len({s.start for s in places}) == len(places):
                yield self._spliced(base, spans, tokens, found, choice)

    def _spliced(
        self,
        base: Sequence[str],
        spans: Sequence[PhraseSpan],
        tokens: Sequence[str],
        found: Sequence[PhraseSpan],
        choice: Sequence[PhraseSpan | None],
    ) -> str:
        cuts: list[tuple[int, int, Sequence[str]]] = []
        for new, old in zip(found, choice, strict=True):
            own = tokens[new.preposition : new.end]
            if old is None:
                cuts.append((len(base), len(base), own))
            else:
                cuts.append((old.preposition if new.governed else old.start, old.end, own))
        if all(old is None or old.governed for old in choice) and self.base != self.memory.asked:
            for span in spans:  # 'no, in the sink' is about the same mug
                kinds = self.classes_of(span.thing)
                names = [n for n in self.memory.group if self.inventory.classes[n] in kinds]
                named = span.thing.kind == "name" or {"and", "or"} & {*base[span.start : span.end]}
                if names and not (span.governed or named):
                    cuts.append((span.start, span.end, " and ".join(names).split()))
        said = list(base)
        for start, end, own in sorted(cuts, key=lambda cut: cut[0], reverse=True):
            said[start:end] = own
        return " ".join(said)

    def _like(
        self, new: PhraseSpan, spans: Sequence[PhraseSpan], *, governed: bool
    ) -> list[PhraseSpan]:
        kind = self.is_portable(new.thing)
        fitting = [s for s in spans if s.governed is governed or not governed]
        return sorted(
            fitting, key=lambda s: (self.is_portable(s.thing) is not kind, s.governed, s.start)
        )

    # --- references in sentences ---------------------------------------------------------

    def _resolved(self, text: str) -> Iterator[str | DialogueQuestion]:
        for said in (*self._known(text), text):
            for request in self._referring(said):
                yield request
                if isinstance(request, str) and {",", "of"} & {*(words := request.split())}:
                    yield " ".join(map(self._noun_for, words))  # 'too loud, turn it off'

    def _referring(self, text: str, depth: int = 0) -> Iterator[str | DialogueQuestion]:
        """Yield requests in place of an elliptic one; at most two phrases like 'the other one'."""
        tokens = tuple(tokenize(self._counted(text))) if text.strip() else ()
        label = next(map(self._label, (*self.memory.group, *self.memory.things)), "")
        if (head := self._head(tokens)) is not None:
            start, end = head
            number = next((ORDINALS[w] for w in tokens[start:end] if w in ORDINALS), 0)
            group = max(self.memory.group, self.memory.used, key=len)
            if 0 < number <= len(group) > 1:
                yield " ".join((*tokens[:start], group[number - 1], *tokens[end:]))
            for kinds in self._kinds():

                def said(names: str) -> list[str]:
                    new = " ".join((*tokens[:start], *names.split(), *tokens[end:]))
                    found = self._referring(new, depth + 1) if depth < 2 else ()
                    return [t for t in found if isinstance(t, str)]

                yield from self._offered(self._meant_by(tokens[start:end], (), kinds), said)
        if " ".join(tokens) != " ".join(tokenize(text) if text.strip() else ()):
            yield " ".join(tokens)
        if label and (counts := _COUNTS.match(" ".join(tokens))):  # 'how many are open?'
            yield f"{counts[1]} {plurals(label)[0]} {counts[2]}"
        slots, within = self._slots(tokens)
        if within:
            yield text
        again = [s for s in slots[1:] if tokens[s[0]] == tokens[slots[0][0]]]
        for left in ([s for s in slots if s not in again], slots) if again else (slots,):
            for choice in islice(product(*(names for *_, names in left)), _MOST_REFERENTS):
                said_now = list(tokens)
                for (start, end, _), words in reversed(list(zip(left, choice, strict=True))):
                    said_now[start:end] = words.split()
                yield " ".join(said_now)
        if (slices := self._sliced(tokens)) is not None:
            yield slices
        if not within:
            yield text

    def _kinds(self) -> list[tuple[str, ...]]:
        """Return the sets of classes that 'one' can stand for, most likely first."""
        classes, spans = (
            self.inventory.classes,
            self.spans(self.memory.asked or self.memory.request)[1],
        )
        named = [tuple(sorted(self.classes_of(s.thing))) for s in spans]
        names = (*self.memory.group, *self.memory.things, *self.memory.places)
        kinds = dict.fromkeys(
            [*((classes[n],) for n in names if n in classes), *filter(None, named)]
        )
        return sorted(kinds, key=lambda k: len(self.objects(k)) < 2)

    def _slots(self, tokens: tuple[str, ...]) -> tuple[list[Slot], bool]:
        """Return the pronouns that can refer to earlier turns.

        The second value says whether the first pronoun may refer to an object of the same request.
        """
        joined = " ".join(tokens)
        slots: list[Slot] = []
        cursor = Cursor(joined, tokens, self.reader.lexicon)
        first = next((n for n in range(len(tokens)) if self.names_at(tokens, n)), len(tokens))
        together = TOGETHER.search(joined)
        if together is not None:
            start = len(joined[: together.start()].split())
            two = together["two"] is not None
            groups = self._groups(cursor, start, two=two, several=True)
            slots.append((start, start + len(together[0].split()), groups))
        for n, word in enumerate(tokens):
            if slots and n < slots[-1][1]:
                continue
            within = word in {"in", "inside"} and n > 1 and not is_question(joined)
            if within and not trimmed(" ".join(tokens[n + 1 :])):
                # 'put the keys in too'
                taxonomy, classes = self.reader.taxonomy, self.inventory.classes
                names = (*self.memory.group, *self.memory.places, *self.memory.things)
                holders = [p for p in names if taxonomy.plays(classes[p], PLACE)]
                inside = [f"in {p}" for p in holders if taxonomy.relation(classes[p]) == "in"]
                slots.append((n, n + 1, inside))
            elif word == "there" and n:
                start = n - (n > 1 and tokens[n - 1] in {"in", "on"})
                if places := [f"{relation} {place}" for place, relation in self._places()]:
                    slots.append((start, n + 1, places))
            elif self._refers(tokens, n):
                many = word in MANY
                found = self._groups(cursor, n) if many else self._single(cursor, n)
                if found and not any(start <= n for start, _, names in slots if many):
                    slots.append((n, n + 1, found))
        slots = [slot for slot in slots if slot[2]]
        pronouns = [s for s in slots if tokens[s[0]] != "there" and tokens[s[1] - 1] != "there"]
        within = bool(pronouns) and pronouns[0][0] > first and tokens[0] != "which"
        return slots, within

    def _single(self, cursor: Cursor, at: int) -> list[str]:
        memory, classes, taxonomy = self.memory, self.inventory.classes, self.reader.taxonomy
        names = list(dict.fromkeys((*memory.group, *memory.things, *memory.places)))
        if any(cursor.after(role, n) == at for n in range(at) for role in ("with", "unplaced")):
            return [n for n in names if n not in cursor.tokens] or names
        if any(cursor.after(role, n) == at for n in range(at) for role in ("prep", "from")):
            single = memory.group if len(memory.group) == 1 else ()
            names = list(dict.fromkeys((*single, *memory.places, *names)))
            holders = [n for n in names if taxonomy.plays(classes[n], PLACE)]
            said = [n for n in holders if taxonomy.relation(classes[n]) == cursor.word(at - 1)]
            return said or holders or names
        if cursor.word(at) in {"that", "this"}:
            names = list(dict.fromkeys((*memory.things, *names)))
        suited = self._suited(cursor, at, names)
        return suited[:1] if 0 < len(suited) < len(names) else names

    def _suited(self, cursor: Cursor, at: int, names: Sequence[str]) -> list[str]:
        """Return the objects that have the affordance that the verb before a position needs."""
        classes, taxonomy = self.inventory.classes, self.reader.taxonomy
        starts = [n for n in range(at) if cursor.verb(n) or cursor.split_verb(n)]
        if not starts:  # 'is it closed?'
            states = [
                a for n in range(at, len(cursor.tokens)) for _, a in cursor.entries(Adjective, n)
            ]
            kinds = {a.requires for a in states if a.requires}
            fitting = [n for n in names if all(taxonomy.is_a(classes[n], k) for k in kinds)]
            return [*dict.fromkeys(fitting or names)]
        particle = cursor.word(at + 1) if cursor.word(at + 2) in {"", *PAUSES, "again"} else ""
        verbs = [v for _, v in cursor.entries(Verb, starts[-1])]
        verbs += [v for key, v in cursor.particles(starts[-1]).items() if key == particle]
        needed = {verb.requires for verb in verbs}
        return [
            n
            for n in dict.fromkeys(names)
            if any(
                r is None or taxonomy.is_a(kind, r)
                for r in needed
                for kind in taxonomy.with_controls({classes[n]})
            )
        ]

    def _groups(
        self, cursor: Cursor, at: int, *, two: bool = False, several: bool = False
    ) -> list[str]:
        memory, classes = self.memory, self.inventory.classes
        able = tuple(self._suited(cursor, at, (*memory.things, *memory.places)))
        groups = dict.fromkeys((memory.group, memory.used, memory.things[:2], able[:2]))
        groups = {g: None for g in groups if g and {*g} <= {*able}} or groups
        fitting = (g for g in groups if (len(g) == 2 if two else len(g) > 1 or not several))
        plural = {
            noun.object_class
            for span in self.spans(memory.request)[1]
            for noun in span.thing.nouns
            if noun.plural or span.thing.text.endswith("s")
        }  # 'the keys' of a key chain
        ranked = sorted(fitting, key=lambda g: len(g) < 2 and not plural & {classes[n] for n in g})
        if several and not two:  # 'all of them'
            ranked.sort(key=len, reverse=True)
        return [" and ".join(group) for group in ranked if group]

    def _noun_for(self, name: str) -> str:
        kind = self.inventory.classes.get(name, "")
        return f"the {self._label(name)}" if kind and len(self.inventory.of(kind)) == 1 else name

    def _label(self, name: str) -> str:
        return self.reader.taxonomy.label(self.inventory.classes[name])

    def _known(self, text: str) -> Iterator[str]:
        """Yield the request with 'the drawer' replaced by the drawer mentioned last, if any."""
        tokens, spans = self.spans(text) if text.strip() else ((), [])
        about = (*self.memory.group, *self.memory.acted, *self.memory.places[:1])
        said = list(tokens)
        for span in reversed(spans):
            kinds, thing = self.classes_of(span.thing), span.thing
            several = sum(c in kinds for c in self.inventory.classes.values()) > 1
            plain = thing.determiner.definite and not (thing.adjectives or thing.relative)
            names = {n for n in about if self.inventory.classes.get(n) in kinds}
            single = thing.nouns and not thing.nouns[0].plural and thing.kind != "name"
            if several and plain and single and len(names) == 1 and len(thing.nouns) == 1:
                said[span.start : span.end] = names
        if said != list(tokens):
            yield " ".join(said)

    def _places(self) -> Iterator[tuple[str, str]]:
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        for name in self.memory.places:
            if taxonomy.plays(classes[name], PLACE):
                yield name, taxonomy.relation(classes[name])

    def _sliced(self, tokens: Sequence[str]) -> str | None:
        cursor = Cursor("", tuple(tokens), self.reader.lexicon)
        at = next((n for n in range(1, len(tokens)) if cursor.function("slice", at=n)), None)
        if at is None or tokens[at + 1 : at + 2] == ["of"]:
            return None
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        whole = next((n for n in self.memory.things if taxonomy.slices(classes[n])), None)
        if whole is None:
            return None
        return " ".join(
            (*tokens[: at + 1], "of", taxonomy.label(classes[whole]), *tokens[at + 1 :])
        )

    def _counted(self, text: str) -> str:
        def several(match: re.Match[str]) -> str:
            number, group = NUMBERS[match["number"].lower()], self.memory.group
            if len(group) >= number:
                return " and ".join(group[:number])
            taxonomy, classes = self.reader.taxonomy, self.inventory.classes
            whole = next((n for n in self.memory.things if taxonomy.slices(classes[n])), None)
            label = taxonomy.label(classes[whole]) if whole else ""
            return f"{match['number']} slices of {label}" if label else match[0]

        group = self.memory.group
        others = [n for n in group if n not in self.memory.used] or group[: len(group) > 1]
        text = _COUNTED.sub(several, text)
        return _ONE_OF.sub(others[0], text) if others else text

    def _refers(self, tokens: Sequence[str], at: int) -> bool:
        if tokens[at] in {"it", "them", "they"}:
            return not (tokens[at] == "it" and tokens[at + 1 : at + 2] == ["is"] and at == 0)
        last = at + 1 == len(tokens) or tokens[at + 1] in PAUSES | _AFTER_PRONOUN
        if tokens[at] == "some":  # 'pour some into the cup'
            return self.cursor(" ".join(tokens)).function(*GOVERNORS, at=at + 1) is not None
        return tokens[at] in PRONOUNS and last
