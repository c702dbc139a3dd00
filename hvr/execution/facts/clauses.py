"""Clauses about the facts of PDDL worlds.

A clause is a noun phrase and a property (`FactProperties.property`), or a comparison of numbers:

    comparison = function COMPARED number | function COMPARED function
    function   = [the] NAME [of THING [and THING …]] | THING's NAME
    COMPARED   = is [not] [at least | at most | more than | less than | …] | >= | <= | > | < | =

hvr does not guess: for any other sentence, the error lists the most similar known clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from hvr.base.printable import nearest
from hvr.errors import LanguageError
from hvr.execution.deviations import literal_clause
from hvr.execution.facts.comparisons import COMPARISON_WORDS, ComparisonClause, parse_comparison
from hvr.execution.facts.frames import STARTS, base_of, fills, plain_text
from hvr.execution.facts.imperatives import PLACES, PLACING
from hvr.execution.facts.occurrences import read_occurrence
from hvr.execution.facts.properties import FactProperties, all_of
from hvr.execution.facts.things import Thing
from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.lexicon import plurals
from hvr.pddl import Atom, Comparison, Formula, FunctionTerm, Not, Number, Or
from hvr.pddl.formulas import atoms_of
from hvr.worlds.facts.lexicon import words_of

_FEW = 3
"""Maximum number of hints in an error message."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_CHOICE = re.compile(r",? or ")


@dataclass(frozen=True)
class _Amount:
    function: str = ""
    things: tuple[Thing, ...] = ()
    number: Number | None = None

    def of(self, args: Sequence[str]) -> Number | FunctionTerm:
        return FunctionTerm(self.function, tuple(args)) if self.number is None else self.number


_JOINT = re.compile(
    r",? and then |, and |, but |, | and |(?<!\ball)(?<!\beveryone)(?<!\beverything) but |,? with "
)


class FactClauses(FactProperties):
    """Reads the clauses of a PDDL world."""

    def _conjunction(
        self, text: str, read: Callable[[str], list[Formula] | None]
    ) -> list[Formula] | None:
        clause = read(text)
        if clause is not None:
            return clause
        for joint in _JOINT.finditer(text):
            first = read(text[: joint.start()])
            if first is not None:
                rest = self._conjunction(text[joint.end() :], read)
                if rest is not None:
                    return [*first, *rest]
        return None

    def clauses(self, text: str) -> Formula | None:
        found = self._conjunction(plain_text(text), self._single)
        return None if found is None else all_of(found)

    def object_of(self, text: str) -> str | None:
        return self._things.plain(text)

    def _single(self, text: str) -> list[Formula] | None:
        clause = self._clause(text)
        if clause is None and " or " in text:
            parts = [self._clause(p) for p in _CHOICE.split(text.removeprefix("either "))]
            known = tuple(part for part in parts if part is not None)
            clause = Or(known) if len(known) == len(parts) else None
        return None if clause is None else [clause]

    def _clause(self, text: str) -> Formula | None:
        """Parse a clause with its verb; return None if the text is not one."""
        words = text.split()
        done = read_occurrence(text, self.domain)
        if done is not None and all({*a.args} <= {*self.objects} for a in atoms_of(done)):
            return done
        for frame in self.frames:
            if frame.subject == "":
                for found in fills(frame.tail, words):
                    formula = self._of_frame(frame, self._filled(found))
                    if formula is not None:
                        return formula
        for at in range(1, len(words)):
            if words[at] in STARTS or {words[at], base_of(words[at])} & self._verbs:
                said = self.property(" ".join(words[at:]))
                formula = self.stated(" ".join(words[:at]), said) if said is not None else None
                if formula is not None:
                    return formula
        comparison = parse_comparison(text)
        return None if comparison is None else self._comparison(comparison)

    # --- numbers -------------------------------------------------------------------------

    def _comparison(self, said: ComparisonClause) -> Formula | None:
        left, right = self._amount(said.left), self._amount(said.right)
        if left is None or right is None or not (left.function or right.function):
            return None

        def compare(args: Sequence[str]) -> Formula:
            split = len(left.things)
            made = Comparison(said.operator, left.of(args[:split]), right.of(args[split:]))
            return made if said.positive else Not(made)

        return self.nested((*left.things, *right.things), compare)

    def _amount(self, text: str) -> _Amount | None:
        if _NUMBER.fullmatch(text):
            return _Amount(number=Number(Decimal(text)))
        for function, pattern, places in self._functions:
            match = pattern.fullmatch(text)
            parameters = self.domain.functions[function].parameters
            texts = [match[f"p{place}"] for place in places] if match is not None else []
            things = [self._thing(t, p) for t, p in zip(texts, parameters, strict=False)]
            known = [thing for thing in things if thing is not None]
            if match is not None and len(known) == len(things):
                return _Amount(function, tuple(known))
        return None

    # --- refusals ------------------------------------------------------------------------

    def _rejected(self, text: str) -> LanguageError:
        if self._failure is not None:
            return self._failure
        known = [self._example(name) for name in self.words.wording.predicates]
        known += [self._compared(name) for name in self.domain.functions]
        known += [
            said.imperative.fill([p.name.strip("?").upper() for p in action.parameters])
            for name, said in self.words.wording.actions.items()
            if (action := self.domain.actions.get(name)) is not None
        ]
        words = re.findall(r"[\w-]+", text)
        unknown = [w for w in words if w not in self._vocabulary() and not _NUMBER.fullmatch(w)]
        things = [name for name in self.objects if name in words]
        told = [f"understood: {', '.join(things)}"] if things else []
        for word in dict.fromkeys(unknown):
            near = nearest(word, self._vocabulary())
            told.append(f"unknown word {word!r}" + (f" (did you mean {near!r}?)" if near else ""))
        alike = sorted(
            filter(None, known), key=lambda one: -len(set(one.lower().split()) & set(words))
        )
        return LanguageError(
            f"hvr does not understand {text!r}; {'; '.join([*told[:_FEW], ''])}"
            f"it can read for example {' or '.join(map(repr, alike[:2]))}"
        )

    def _example(self, predicate: str) -> str:
        parameters = self.domain.predicates[predicate].parameters
        names = tuple(parameter.name.strip("?").upper() for parameter in parameters)
        return literal_clause(Atom(predicate, names), self.words.wording)

    def _compared(self, function: str) -> str:
        parameters = self.domain.functions[function].parameters
        names = tuple(parameter.name.strip("?").upper() for parameter in parameters)
        zero = Comparison(">=", FunctionTerm(function, names), Number(Decimal(0)))
        return f"{literal_clause(zero)[:-1]}N"

    def _vocabulary(self) -> Mapping[str, None]:
        texts = [*self._things.phrases, *STARTS, *PLACES, *PLACING, "and", "not"]
        texts += [w for role in _KNOWN_ROLES for w in FUNCTION_WORDS[role]]
        texts += [p for nouns in self.words.types.values() for n in nouns for p in plurals(n)]
        texts += [said.imperative.text for said in self.words.wording.actions.values()]
        if self.domain.functions:
            texts += [*COMPARISON_WORDS, "the", "of", *map(words_of, self.domain.functions)]
        texts += [t.text for p in self.words.wording.predicates.values() for t in (p.true, p.false)]
        return MappingProxyType({w: None for t in texts for w in re.findall(r"[\w-]+", t.lower())})


_KNOWN_ROLES = ("det", "number", "pronoun", "then", "before", "after", "except", "first")
