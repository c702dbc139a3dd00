"""Pronouns of a clause, replaced by objects that other clauses mention.

    if the drawer contains a spoon, put it in the sink    put spoon-1 in the sink
    if the fridge is empty, put the apple in it           put the apple in fridge-1
    if two lamps are on, turn one of them off             turn lamp-1 off

Each pronoun can mean several objects. The candidates come in the order of their prominence, and the
reader of orders decides: the first clause that it can read is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from hvr.errors import HvrError
from hvr.knowledge.ontology import PLACE, PORTABLE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.phrases import PhraseReader
from hvr.language.truth import SceneView, StatementJudge
from hvr.values import Value

_MOST = 16
"""Maximum number of combinations of candidates for the pronouns of a clause."""

_Options: TypeAlias = list[tuple[str, ...]]

_SINGULAR = (("it",), ("that",), ("this",))
_SEVERAL = (
    *(("both", "of", them) for them in ("them", "these", "those")),
    *(("all", "of", them) for them in ("them", "these", "those")),
    *(("each", "of", them) for them in ("them", "these", "those")),
    *(("them", "both"), ("them", "all"), ("them",), ("they",), ("these",), ("those",), ("both",)),
)
_ONE = (
    *((one, "of", them) for one in ("one", "any", "either") for them in ("them", "these", "those")),
    ("the", "one"),
    ("one",),
)
_THERE = (("in", "there"), ("on", "there"), ("inside", "it"), ("there",), ("inside",), ("in",))
_PLACING = frozenset("in on into onto inside from of under at to off".split())
_ALSO_BEFORE_NOUNS = frozenset("in inside there these those that this both one".split())


class Antecedent(Value):
    """A noun phrase of an earlier clause.

    Args:
        names: The objects that the phrase can mean.
        several: Whether the phrase means all of them: 'the mugs'.
        whole: Whether even a singular pronoun means all of them: 'if there is anything in it'.
    """

    names: tuple[str, ...]
    several: bool = False
    whole: bool = False


def mentions(text: str, reader: Reader, inventory: Inventory) -> tuple[Antecedent, ...]:
    """Return the noun phrases in a text, in order; pronouns are left out."""
    if not text.strip():
        return ()
    judge = StatementJudge(reader, SceneView(inventory, inventory.unseen))
    found = []
    for span in PhraseReader(reader, inventory).spans(text)[1]:
        if not (span.thing.nouns or span.thing.kind == "name"):
            continue
        try:
            names = judge.things(span.thing)
        except HvrError:
            continue
        determiner = span.thing.determiner
        plural = any(noun.plural for noun in span.thing.nouns) and determiner.count != 1
        plural = plural or re.search(r"[^s]s$", span.thing.text) is not None  # 'the keys'
        if names:
            found.append(Antecedent(names, plural or determiner.count == 0))
    return tuple(found)


class Antecedents:
    """Replaces the pronouns of clauses.

    Args:
        near: Noun phrases of the condition that the clause depends on, most prominent first.
        before: Noun phrases of the preceding clauses, most prominent first.
        follows: Whether other clauses precede this one in the request, in which the reader can
            find what a pronoun means.
    """

    def __init__(
        self,
        reader: Reader,
        inventory: Inventory,
        near: Sequence[Antecedent],
        before: Sequence[Antecedent],
        *,
        follows: bool,
    ) -> None:
        self.reader = reader
        self.inventory = inventory
        self.near = near
        self.before = before
        self.follows = follows
        self._phrases = PhraseReader(reader, inventory)

    def versions(self, text: str) -> Iterator[str]:
        """Yield the clause with its pronouns replaced, most likely first."""
        said = tokenize(text)
        for tokens in dict.fromkeys(islice(self._replaced(said, 0), _MOST)):
            yield text if tokens == said else " ".join(tokens).replace(" ,", ",")

    def _replaced(self, tokens: tuple[str, ...], start: int) -> Iterator[tuple[str, ...]]:
        for at in range(start, len(tokens)):
            if (found := self._pronoun(tokens, at)) is None:
                continue
            length, options = found
            for option in dict.fromkeys(options):
                words = (*tokens[:at], *option, *tokens[at + length :])
                yield from self._replaced(words, at + len(option))
            return
        yield tokens

    def _pronoun(
        self, tokens: tuple[str, ...], at: int
    ) -> tuple[int, Iterator[tuple[str, ...]]] | None:
        """Return the length of the pronoun at a position, and its replacements, or None."""
        rest, placed = tokens[at:], at > 0 and tokens[at - 1] in _PLACING
        kinds: tuple[tuple[Iterable[tuple[str, ...]], Callable[..., _Options]], ...] = (
            (_THERE, self._there),
            (_SEVERAL, self._several),
            (_ONE if at else (), self._one),
            (_SINGULAR if at else (), self._single),
        )
        for phrases, options in kinds:
            said = next((p for p in phrases if rest[: len(p)] == p), ())
            if said and self._ends(rest, said):
                near = options(self.near, said, placed)
                before = options(self.before, said, placed)
                if self._named(tokens[:at]):  # it has an antecedent in its own clause
                    return len(said), iter((said, *near, *before))
                stays = (said,) if self.follows else ()
                return len(said), iter((*near, *stays, *before, said))
        return None

    def _named(self, tokens: tuple[str, ...]) -> bool:
        spans = self._phrases.spans(" ".join(tokens))[1] if tokens else ()
        return any(span.thing.nouns or span.thing.kind == "name" for span in spans)

    def _ends(self, rest: tuple[str, ...], pronoun: tuple[str, ...]) -> bool:
        """Return whether words are a pronoun, rather than a noun's determiner or preposition."""
        after = rest[len(pronoun) :]
        if not after or pronoun[-1] not in _ALSO_BEFORE_NOUNS:
            return True
        if pronoun == ("there",) and after[0] in {"is", "are"}:
            return False
        spans = self._phrases.spans(" ".join(after))[1]
        return not (spans and spans[0].start == 0) and after[0] not in {"of", "the"}

    # --- replacements --------------------------------------------------------------------

    def _there(self, mentions: Sequence[Antecedent], _: object, __: bool) -> _Options:
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        places = dict.fromkeys(n for m in mentions for n in m.names if self._plays(n, PLACE))
        return [(taxonomy.relation(classes[name]), name) for name in places]

    def _several(self, mentions: Sequence[Antecedent], _: object, __: bool) -> _Options:
        many = [m.names for m in mentions if m.several or m.whole]
        single = tuple(dict.fromkeys(m.names[0] for m in mentions if not m.several))
        carried = tuple(name for name in single if self._plays(name, PORTABLE))
        groups = [*many, carried if len(carried) > 1 else (), single[:2], single[:1]]
        return [tuple(" and ".join(group).split()) for group in groups if group]

    def _one(self, mentions: Sequence[Antecedent], said: tuple[str, ...], _: bool) -> _Options:
        taxonomy, classes = self.reader.taxonomy, self.inventory.classes
        found: _Options = []
        for mention in mentions:
            kinds = {classes[name] for name in mention.names}
            whole = len(kinds) == 1 and set(self.inventory.of(*kinds)) == {*mention.names}
            label = taxonomy.label(classes[mention.names[0]]).split()
            if said[0] == "the":
                found.append(("the", *label))
            elif whole and (len(mention.names) > 1 or said == ("one",)):
                found.append(("a", *label))
            else:
                found.append(mention.names[:1])
        return found

    def _single(self, mentions: Sequence[Antecedent], _: object, placed: bool) -> _Options:
        single = [m.names for m in mentions if not (m.several or m.whole)]
        found = [tuple(" and ".join(m.names).split()) for m in mentions if m.whole and m.names]
        names = dict.fromkeys((*(n[0] for n in single), *(n[1] for n in single if len(n) > 1)))
        role = PLACE if placed else PORTABLE
        ranked = sorted(names, key=lambda name: not self._plays(name, role))
        return [*(found if not placed else ()), *((name,) for name in ranked)]

    def _plays(self, name: str, role: str) -> bool:
        return self.reader.taxonomy.plays(self.inventory.classes[name], role)
