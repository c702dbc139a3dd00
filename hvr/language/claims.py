"""Checks whether a goal accounts for the words of its request.

The grammar consumes every word by a rule. The learnt reader reads a sentence as a whole, so each
content word is compared with its frame:

    slice the apple pie            the head of a compound is unknown       no reading
    forget it, slice the potato    a thing or a state is missing           no reading
    the pot near the stove         a descriptive place is missing          named as ignored
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from hvr.knowledge.ontology import INSTRUMENT, OPEN, PLACE, RUNNING
from hvr.language.adjuncts import STATIC
from hvr.language.class_choice import substitutes
from hvr.language.cursor import PAUSES, is_name
from hvr.language.lexicon import (
    PARTICLES,
    Adjective,
    Dish,
    Entry,
    FunctionWord,
    Lexicon,
    Noun,
    Verb,
)
from hvr.language.taxonomy import Taxonomy, literals
from hvr.values import Value

_ON_THE_WAY = frozenset({"put", "hold", "set", "discard", "drop"})
"""Frames of verbs that every request to put or take an object may contain."""

_PLACING = _ON_THE_WAY - {"hold"}
"""Frames of verbs that put their object somewhere."""

_DESCRIBES = frozenset({"from", "unplaced"})
"""Roles of prepositions whose complement only identifies the object."""


class Coverage(Value):
    """The words of a request that a goal does not account for.

    Args:
        against: Words that contradict the goal and rule it out.
        ignored: Words that only describe an object.
        unsaid: Whether no verb or adjective names the states of the goal.
        baseless: Whether, in addition, no object named in the request brings these states about.
    """

    against: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    unsaid: bool = False
    baseless: bool = False


class Gate:
    """Compares the words of a request with the classes and states of a goal."""

    def __init__(self, lexicon: Lexicon, taxonomy: Taxonomy) -> None:
        self.lexicon = lexicon
        self.taxonomy = taxonomy
        roles = (taxonomy.roles.predicate(role) for role in (OPEN, RUNNING))
        self._passing = frozenset(filter(None, roles))
        self._confused: dict[str, set[str]] = {}
        for one, other in taxonomy.ontology.pairs("confusedWith"):
            self._confused.setdefault(one, set()).add(other)
            self._confused.setdefault(other, set()).add(one)

    def coverage(
        self,
        tokens: tuple[str, ...],
        classes: Collection[str],
        predicates: Collection[str],
        count: int,
    ) -> Coverage:
        """Return the words of a request that a goal does not account for.

        Args:
            tokens: The words of the request.
            classes, predicates: Classes of the objects and predicates in the goal.
            count: Maximum number of objects of one class in the goal.
        """
        against, ignored, places = list[str](), list[str](), list[str]()
        means = self._means(predicates)
        spans = list(self._spans(tokens))
        named = {c for *_, entries in spans for c in self._classes(entries)}
        known = self._known_as(classes, named)
        for index, (at, length, entries) in enumerate(spans):
            text = " ".join(tokens[at : at + length])
            if not entries:
                if text.isdecimal():
                    against += [text] if int(text) not in {count, 1} else []
                elif not (is_name(text) or text in PAUSES or text in PARTICLES):
                    # Only a modifier of a known thing may be ignored: 'a shabby mug'.
                    (ignored if self._modifies(spans, index) else against).append(text)
            elif self._names(entries):
                heads = self._classes(entries)
                # 'Move a knife and an apple to …' moves the knife: it is more than a means.
                named_aside = self._is_listed(spans, index, known) or self._is_moved(
                    tokens, spans, index
                )
                if known & set(heads) or (means & set(heads) and not named_aside):
                    places.clear()
                    continue
                role = self._governor(spans, index)
                if role in _DESCRIBES:
                    ignored.append(text)
                elif role == "prep" and self.taxonomy.any_plays(heads, PLACE):
                    places.append(text)  # ruled out unless a place of the goal follows
                    ignored.append(text)
                elif not self._other_word(entries):
                    against.append(text)
            elif (number := _number(entries)) > 1:
                counts_pieces = index + 1 < len(spans) and _has_role(spans[index + 1][2], "slice")
                against += [text] if number != count and not counts_pieces else []
            elif all(isinstance(e, Adjective) and e.selects for e in entries):
                ignored.append(text)
            elif self._is_place(spans, index) or not self._is_reached(entries, predicates):
                against.append(text)
        said = any(self._states(entries) & set(predicates) for *_, entries in spans)
        made = self._means({p for p in predicates if not self.taxonomy.cuts(f"({p} ?x)")})
        return Coverage(
            tuple(dict.fromkeys([*against, *places])),
            tuple(dict.fromkeys(ignored)),
            bool(predicates) and not said,
            bool(made) and not (said or made & named),
        )

    def _is_place(self, spans: Sequence[tuple[int, int, tuple[Entry, ...]]], index: int) -> bool:
        before = [entries for _, _, entries in spans[max(0, index - 2) : index]]
        return (
            len(before) == 2
            and _has_role(before[0], "prep", "from")
            and _has_role(before[1], "det")
            and all(isinstance(entry, Verb) for entry in spans[index][2])
            and not any(self._names(entries) for _, _, entries in spans[index + 1 : index + 2])
        )

    def _is_listed(
        self, spans: Sequence[tuple[int, int, tuple[Entry, ...]]], index: int, known: set[str]
    ) -> bool:
        """Return whether 'and' joins the noun at `index` to a noun of a class in `known`."""
        for side in (spans[index + 1 :], spans[:index][::-1]):
            joined = False
            for _, _, entries in side:
                if any(isinstance(e, Verb) for e in entries):  # 'and slice the lettuce'
                    break
                if self._names(entries):
                    if joined and known & set(self._classes(entries)):
                        return True
                    break
                joined = joined or _has_role(entries, "and")
                if not _has_role(entries, "and", "det", "number") and not (
                    entries and all(isinstance(e, Adjective) for e in entries)
                ):
                    break
        return False

    def _is_moved(
        self,
        tokens: tuple[str, ...],
        spans: Sequence[tuple[int, int, tuple[Entry, ...]]],
        index: int,
    ) -> bool:
        """Return whether a verb gives the noun at `index` a place: 'put the knife in the sink'."""
        goes = False
        for at, length, entries in spans[index + 1 : index + 2]:
            goes = _has_role(entries, "prep") and " ".join(tokens[at : at + length]) not in STATIC
        for _, _, entries in reversed(spans[:index]):
            frames = {e.frame for e in entries if isinstance(e, Verb)}
            if frames and not self._names(entries):
                return bool(frames & _PLACING) or (goes and "hold" in frames)
            if not _has_role(entries, "det", "number", "and", "ignored", "filler") and not any(
                isinstance(e, Adjective | Noun) for e in entries
            ):
                return False
        return False

    def _modifies(self, spans: Sequence[tuple[int, int, tuple[Entry, ...]]], index: int) -> bool:
        if index and self._names(spans[index - 1][2]):
            return False
        after = spans[index + 1][2] if index + 1 < len(spans) else ()
        return self._names(after) or any(isinstance(e, Adjective) for e in after)

    def _spans(self, tokens: tuple[str, ...]) -> Iterator[tuple[int, int, tuple[Entry, ...]]]:
        at = 0
        while at < len(tokens):
            matches = [*self.lexicon.matches(tokens, at), (1, ())]
            # 'On the side table' does not contain the phrase 'on the side'.
            length, entries = next(m for m in matches if not self._cuts(tokens, at, m[0]))
            yield at, length, entries
            at += length

    def _cuts(self, tokens: tuple[str, ...], at: int, length: int) -> bool:
        return any(
            start + longer > at + length and self._names(entries)
            for start in range(at + 1, at + length)
            for longer, entries in self.lexicon.matches(tokens, start)
        )

    def _classes(self, entries: Sequence[Entry]) -> tuple[str, ...]:
        return self.taxonomy.concrete_of(e.object_class for e in entries if isinstance(e, Noun))

    def _known_as(self, classes: Collection[str], named: set[str]) -> set[str]:
        taxonomy = self.taxonomy
        known = set(classes)
        known |= {s for c in classes if (s := taxonomy.source(c))}
        known |= {p for c in tuple(known) if (p := taxonomy.pieces(c))}
        # 'Cup' can mean a mug, unless the request also mentions a mug.
        others = (self._confused.get(c, set()) for c in known - named)
        known = known.union(*others)
        known |= {c for c in taxonomy.portable if known & set(taxonomy.more_exact(c))}
        return taxonomy.with_controls(known)

    def _means(self, predicates: Collection[str]) -> set[str]:
        taxonomy = self.taxonomy
        found: set[str] = set()
        for means in taxonomy.methods.means:
            if {name for name, _ in literals(means.mark)} & set(predicates) or (
                means.achieves in predicates
            ):
                found |= {*means.asked_by, *means.needs, *means.goes_into}
        divided = {p for p in predicates if taxonomy.cuts(f"({p} ?x)")}
        found |= set(taxonomy.with_role(INSTRUMENT)) if divided else set()
        return taxonomy.with_controls(set(taxonomy.concrete_of(found)))

    def _names(self, entries: Sequence[Entry]) -> bool:
        return any(isinstance(entry, Noun | Dish) for entry in entries)

    def _other_word(self, entries: Sequence[Entry]) -> bool:
        return any(isinstance(entry, FunctionWord | Verb | Adjective) for entry in entries)

    def _governor(self, spans: Sequence[tuple[int, int, tuple[Entry, ...]]], index: int) -> str:
        for _, _, entries in reversed(spans[:index]):
            roles = {e.role for e in entries if isinstance(e, FunctionWord)}
            for role in ("unplaced", "from", "prep"):
                if role in roles:
                    return role
            modifier = roles & {"det", "number", "ignored", "filler", "part", "of"}
            if not (modifier or any(isinstance(e, Adjective | Noun) for e in entries)):
                return ""
        return ""

    def _is_reached(self, entries: Sequence[Entry], predicates: Collection[str]) -> bool:
        if not any(isinstance(e, Verb | Adjective) for e in entries):
            return True
        for entry in entries:
            if isinstance(entry, FunctionWord):
                return True
            if isinstance(entry, Verb) and entry.frame in _ON_THE_WAY:
                return True
        return bool(self._states(entries) & {*predicates, *self._passing})

    def _states(self, entries: Sequence[Entry]) -> set[str]:
        conditions = [e.condition or "" for e in entries if isinstance(e, Verb | Adjective)]
        ways = [*conditions, *(other for c in conditions for other in self._instead(c))]
        return {name for way in ways for name, _ in literals(way)}

    def _instead(self, condition: str) -> Iterator[str]:
        for other in substitutes(self.taxonomy.ontology):
            if other.condition in condition:
                yield other.becomes


def _number(entries: Sequence[Entry]) -> int:
    numbers = (e.value for e in entries if isinstance(e, FunctionWord) and e.role == "number")
    return max(map(int, numbers), default=0)


def _has_role(entries: Sequence[Entry], *roles: str) -> bool:
    return any(isinstance(e, FunctionWord) and e.role in roles for e in entries)
