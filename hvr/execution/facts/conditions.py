"""Conditions in requests to PDDL worlds, decided in the initial state.

'if ball1 is in the study, bring it to the hall, otherwise bring ball2'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, product

from hvr.base.texts import singular
from hvr.errors import LanguageError
from hvr.execution.facts.constraints import FactWords, own_words
from hvr.execution.facts.orders import FactOrders
from hvr.execution.facts.properties import all_of
from hvr.language.conditions import Conditional, Part, conditional_parts, is_idle, words_of_parts
from hvr.language.function_words import NUMBERS
from hvr.pddl import Domain, Formula, Not, Or, Problem
from hvr.pddl.task import holds_initially
from hvr.worlds.facts.lexicon import WorldLexicon

_SPELT = (
    (r"\b(is|are|was|were|does|do|has|have)n't\b", r"\1 not"),
    (r"\b(?:still|currently|already|yet|now)\b ?", ""),
    (r"\b(?:has|have) been\b", "is"),
    (r"\b(is|are) (?:both|all)\b", r"\1"),
    (r"^(is|are) (.+?) ((?:not |in |at |on |inside ).+|\S+)$", r"\2 \1 \3"),
    (r"\bthere (is|are) (.+?) ((?:in|at|on|inside) .+)", r"\2 \1 \3"),
    (
        r"^(.+?) (?:has|have|contains|holds) "
        r"((?:more than|fewer than|less than|at least|no|some) .+?)(?: in it| on it| in them)?$",
        r"\2 are at \1",
    ),
    (r"\bneither (?:of )?(.+?) nor (.+?) (is|are) (.+)", r"\1 \3 not \4 and \2 \3 not \4"),
)
"""Ways to state a fact, and their plain form."""

_MORE = re.compile(r"\b(?P<word>more than|fewer than|less than) (?P<number>\w+) ")
_PRONOUN = re.compile(r"\b(?P<one>it|this|that|her|him)\b|\b(?P<all>they|them|these|those|both)\b")
_ONE_OF = re.compile(r"\b(?:one|any) of (?:them|these|those)\b")
_THERE = re.compile(r"(?<=\w) (?:in |on )?there\b(?! (?:is|are)\b)")
_PLACE = re.compile(r"\b(?:in|at|on|inside|to) (?:the )?[\w-]+(?![\w-])")
_MOST = 200
"""Maximum number of pairs of objects that are tried for 'it' and 'there'."""

_SOME = re.compile(
    r"\b(?:(?:is )?there (?:is |are )?(?:an?|any|some)|an?|any|some) (?P<noun>[\w-]+) (?:is |are )?"
    r"(?P<rest>[^.]+)"
)
_EVERY = re.compile(r"\b(?:all the|every|each|all) (?P<noun>[\w-]+)")


class FactConditions(FactWords):
    """Reads conditions as formulas and decides them."""

    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        self.orders = FactOrders(domain, problem, words)
        super().__init__(self.orders, domain, problem)
        self._words = words
        self._types = words.types

    def starts(self, tokens: Sequence[str]) -> bool:
        return any(super(FactConditions, self).starts(t.split()) for t in self._named(tokens))

    def refusal(self, tokens: Sequence[str]) -> str:
        read = any(self.formula(text) is not None for text in self._named(tokens))
        return "" if read else "it is not a fact of this world"

    def _named(self, tokens: Sequence[str]) -> Iterator[str]:
        text = " ".join(tokens)
        names = [o.name for o in self.problem.objects]
        things = names if _PRONOUN.search(text) else [""]
        places = names if _THERE.search(text) else [""]
        for thing, place in islice(product(things, places), _MOST):
            yield _THERE.sub(f" at {place}", _PRONOUN.sub(thing, text))

    def formula(self, text: str) -> Formula | None:
        """Return the formula of a statement, or None if the text is not one."""
        return self._formula(text, {})

    def _formula(self, text: str, read: dict[str, Formula | None]) -> Formula | None:
        if text not in read:
            read[text] = self._joined(text, read)
        return read[text]

    def _joined(self, text: str, read: dict[str, Formula | None]) -> Formula | None:
        for said, plain in _SPELT:
            text = re.sub(said, plain, text)
        if (found := self._plain(text)) is not None:
            return found
        for joint in (" or ", " and ", ", "):
            for match in re.finditer(joint, text):
                first = self._formula(text[: match.start()], read)
                second = self._formula(text[match.end() :], read) if first is not None else None
                if first is not None and second is not None:
                    both = first, second
                    return Or(both) if joint == " or " else all_of(both)
        return None

    def _plain(self, text: str) -> Formula | None:
        more = _MORE.search(text)
        number = _number(more["number"]) if more is not None else None
        if more is None or number is None:
            return self.orders.clauses(text)
        least = number + (more["word"] == "more than")
        limit = self.orders.clauses(f"at least {least} {text[more.end() :]}")
        if limit is None and self.orders.clauses(f"at least 1 {text[more.end() :]}") is not None:
            limit = Or(())  # there are not as many
        if limit is None or more.start():
            return None
        return limit if more["word"] == "more than" else Not(limit)

    # --- requests ------------------------------------------------------------------------

    def decided(self, parts: Sequence[Part], about: str = "") -> Iterator[tuple[str, str]]:
        """Yield (clause to carry out, note on a decision) pairs, in each of which one is empty.

        Args:
            about: The preceding words, to which pronouns refer.
        """
        for part in parts:
            if isinstance(part, str):
                if not is_idle(part):
                    yield self._about(part, about), ""
                about = f"{part}. {about}"
                continue
            if (shared := self._shared_out(part)) is not None:
                yield shared, ""
                continue
            order = words_of_parts(part.then)
            condition = self._about(part.condition, f"{order}. {about}" if part.trailing else about)
            formula = self.formula(condition)
            if formula is None and about:
                formula = self.formula(self._about(part.condition, order))
            if formula is None:
                raise LanguageError(f"hvr does not understand the condition {condition!r}")
            holds = holds_initially(self.domain, self.problem, formula)
            chosen, left = (part.then, part.otherwise)[:: -1 if holds is part.denied else 1]
            note = f"{condition!r} {'holds' if holds else 'does not hold'} now"
            note += f", so hvr leaves out {words_of_parts(left)!r}" if left else ""
            yield "", note
            yield from self.decided(chosen, f"{condition}. {words_of_parts(part.then)}. {about}")

    def _about(self, text: str, about: str) -> str:
        """Replace the pronouns of a text by what the words before it name."""
        names = (*self._witnesses(about), *self._names(re.sub(r"[.?]", " ", about)))
        place = _PLACE.search(about)
        nouns = [noun for nouns in self._types.values() for noun in nouns]
        kind = next((n for n in nouns if re.search(rf"\b{n}s?\b", about)), "")
        text = _ONE_OF.sub(f"a {kind}", text) if kind else text
        if place is not None:
            text = _THERE.sub(f" {place[0].replace('to ', 'at ', 1)}", text)
        found = _PRONOUN.search(text)
        if found is None or not names:
            return text
        meant = _PRONOUN.sub(lambda m: names[0] if m["one"] else " and ".join(names), text)
        own = self._names(text[: found.start()])  # it may be what the text itself names
        versions = (text, meant) if own else (meant, text)
        return next((v for v in versions if self._is_understood(v)), meant)

    def _witnesses(self, about: str) -> Iterator[str]:
        """Yield the objects that a statement of existence means: 'there is a block on blue'."""
        found = _SOME.search(about)
        for name in self._of_type(found["noun"]) if found is not None else ():
            formula = self.formula(f"{name} is {found['rest']}") if found is not None else None
            if formula is not None and holds_initially(self.domain, self.problem, formula):
                yield name

    def _of_type(self, noun: str) -> list[str]:
        kinds = [t for t, nouns in self._types.items() if {noun, singular(noun)} & {*nouns}]
        objects = {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)}
        return sorted(self.domain.members(objects, tuple(kinds))) if kinds else []

    def _is_understood(self, text: str) -> bool:
        # A reader remembers what it has read, so each text gets a new one.
        orders = FactOrders(self.domain, self.problem, self._words)
        return self.formula(text) is not None or orders.reads(text)

    def _shared_out(self, part: Conditional) -> str | None:
        """Apply a condition to each object: 'move every ball there unless it is there'."""
        order = words_of_parts(part.then)
        every = _EVERY.search(order)
        if every is None or not (part.trailing and _PRONOUN.match(part.condition)):
            return None
        names = self._of_type(every["noun"])
        if not names:
            return None
        chosen = []
        for name in names:
            said = _PRONOUN.sub(name, part.condition, count=1)
            formula = self.formula(self._about(said, order))
            if formula is None:
                return None
            if holds_initially(self.domain, self.problem, formula) is not part.denied:
                chosen.append(name)
        if not chosen:
            return words_of_parts(part.otherwise)
        return f"{order[: every.start()]}{' and '.join(chosen)}{order[every.end() :]}"


def decided(
    text: str, domain: Domain, problem: Problem, words: WorldLexicon
) -> tuple[str, tuple[str, ...]] | None:
    """Return the rest of a request after its conditions are decided, and notes on the decisions.

    The result is None if the request has no conditions.

    Raises:
        LanguageError: A condition was not understood.
    """
    if text.lstrip().startswith("("):
        return None
    conditions = FactConditions(domain, problem, words)
    if own_words(text, conditions.orders.clauses) is not None:
        return None
    parts = conditional_parts(text.lower(), conditions)
    if parts is None:
        return None
    found = list(conditions.decided(parts))
    rest = ". ".join(clause for clause, _ in found if clause)
    return rest, tuple(note for _, note in found if note)


def _number(word: str) -> int | None:
    return int(word) if word.isdecimal() else NUMBERS.get(word)
