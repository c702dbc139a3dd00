"""Clauses of goals in PDDL worlds.

A goal consists of clauses in the world's wording:

    clause  = a template of the wording, such as "{0} is at {1}", filled with things
            | comparison, such as "the battery of r1 is at least 5"
    thing   = a noun phrase (`hvr.execution.facts.things`)

    comparison = function COMPARED number | function COMPARED function
    function   = [the] NAME [of THING [and THING …]] | THING's NAME
    COMPARED   = is [not] [at least | at most | more than | less than | …] | >= | <= | > | < | =

Nothing is guessed: for any other sentence, the error lists the most similar known clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import combinations, count
from math import comb
from types import MappingProxyType

from hvr.base.printable import nearest
from hvr.errors import LanguageError
from hvr.execution.deviations import literal_clause
from hvr.execution.facts.imperatives import PLACES, PLACING, WHERE, effects_of, exclusive
from hvr.execution.facts.things import NONE, SOME, Thing, ThingReader
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Domain,
    Exists,
    Forall,
    Formula,
    FunctionTerm,
    Not,
    Number,
    Or,
    Problem,
    TypedName,
)
from hvr.pddl.model import Function
from hvr.pddl.task import holds_initially
from hvr.values import cached_property
from hvr.worlds.facts.lexicon import WorldLexicon, words_of

# Comparisons --------------------------------------------------------------------------------------

_OPERATORS = {
    "at least": ">=",
    "no less than": ">=",
    "at most": "<=",
    "no more than": "<=",
    "more than": ">",
    "greater than": ">",
    "above": ">",
    "over": ">",
    "less than": "<",
    "fewer than": "<",
    "below": "<",
    "under": "<",
    "exactly": "=",
    "equal to": "=",
    "": "=",
}
_SYMBOLS = (">=", "<=", ">", "<", "=")
COMPARISON_WORDS = tuple(
    dict.fromkeys(word for text in ("is not", *_OPERATORS) for word in text.split())
)
"""The words of comparisons, other than the names of functions and objects."""

_OPERATOR = "|".join(f"{text} " if text else "" for text in _OPERATORS)
_COMPARED = re.compile(
    rf"(?P<left>.+?) (?:(?:is|are) (?P<denied>not )?(?P<word>{_OPERATOR})"
    rf"|(?:is |are )?(?P<symbol>{'|'.join(_SYMBOLS)}) ?)(?P<right>\S.*)"
)

_HAVING = re.compile(
    rf"(?P<left>.+?) (?:has|have) (?P<word>{_OPERATOR})(?P<right>[0-9.]+) "
    r"(?:units? of )?(?P<function>.+)"
)


@dataclass(frozen=True)
class ComparisonClause:
    """A clause that compares two numbers; `positive` is False if it contains "not"."""

    left: str
    operator: str
    right: str
    positive: bool = True


_THERE = re.compile(
    rf"there (?:is|are) (?P<word>{_OPERATOR})(?P<right>[0-9.]+) (?:units? of )?(?P<function>.+?) "
    r"(?:in|on|at) (?P<left>.+)"
)


def parse_comparison(text: str) -> ComparisonClause | None:
    """Parse a clause as a comparison; return None if it is not one."""
    if (having := _HAVING.fullmatch(text) or _THERE.fullmatch(text)) is not None:
        operator = _OPERATORS[(having["word"] or "").strip()]
        return ComparisonClause(
            f"the {having['function']} of {having['left']}", operator, having["right"]
        )
    match = _COMPARED.fullmatch(text)
    if match is None:
        return None
    operator = match["symbol"] or _OPERATORS[match["word"].strip()]
    return ComparisonClause(match["left"], operator, match["right"], positive=not match["denied"])


def function_patterns(
    functions: Mapping[str, Function],
) -> Iterator[tuple[str, re.Pattern[str], tuple[int, ...]]]:
    """Yield each function with a pattern and its argument positions, once per way to name it."""
    for function in functions.values():
        name = re.escape(words_of(function.name).lower())
        places = tuple(range(len(function.parameters)))
        args = " and ".join(f"(?P<p{place}>.+?)" for place in places)
        of = f" of {args}" if places else ""
        yield function.name, re.compile(f"(?:the )?{name}{of}"), places
        if len(places) == 1:
            yield function.name, re.compile(rf"(?P<p0>.+?)(?:'s|s'|') {name}"), places


# Clauses ------------------------------------------------------------------------------------------

_FEW = 3
"""Maximum number of hints in an error message."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_MOST_COMBINATIONS = 200
RELATED = re.compile(rf"(?P<thing>.+?) (?:is|are)(?P<denied> not)? (?P<mark>{WHERE}) (?P<place>.+)")
"""A clause about the place of a thing."""

_LONGEST = re.compile(RELATED.pattern.replace(".+?", ".+"))


@dataclass(frozen=True)
class _Amount:
    function: str = ""
    things: tuple[Thing, ...] = ()
    number: Number | None = None

    def of(self, args: Sequence[str]) -> Number | FunctionTerm:
        return FunctionTerm(self.function, tuple(args)) if self.number is None else self.number


class FactClauses:
    """Reads the clauses of a PDDL world."""

    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        self.domain = domain
        self.problem = problem
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self._things = ThingReader(domain, problem, words, self._clause)
        self._patterns = list(self._clauses())
        self._functions = list(function_patterns(domain.functions))
        self._counter = count(1)
        self._failure: LanguageError | None = None
        self._exclusive = exclusive(domain)

    def _conjunction(
        self, text: str, read: Callable[[str], list[Formula] | None]
    ) -> list[Formula] | None:
        clause = read(text)
        if clause is not None:
            return clause
        for joint in re.finditer(r",? and then |, and |, | and ", text):
            first = read(text[: joint.start()])
            if first is not None:
                rest = self._conjunction(text[joint.end() :], read)
                if rest is not None:
                    return [*first, *rest]
        return None

    def clauses(self, text: str) -> Formula | None:
        found = self._conjunction(text, self._single)
        return None if found is None else all_of(found)

    def object_of(self, text: str) -> str | None:
        thing = self._things.plain(text)
        return None if thing is None or thing.quantifier else thing.name

    def one_at_a_time(self, predicate: str) -> bool:
        return (predicate, predicate) in self._exclusive

    def _single(self, text: str) -> list[Formula] | None:
        clause = self._clause(text)
        if clause is None:
            return self._either(text, self._single)
        return [clause]

    def _either(
        self, text: str, read: Callable[[str], list[Formula] | None]
    ) -> list[Formula] | None:
        """Parse 'bring parcel1 to the depot or the harbour' as a choice, or return None."""
        text = text.replace("either ", "")
        before, choice, after = text.partition(" or ")
        if not choice:
            return None
        left, right = before.split(), after.split()
        phrases = self._things.phrases
        for start in range(len(left)):
            one = " ".join(left[start:])
            if one not in phrases:
                continue
            for end in range(len(right), 0, -1):
                other = " ".join(right[:end])
                if other not in phrases:
                    continue
                found = [read(" ".join((*left[:start], o, *right[end:]))) for o in (one, other)]
                known = [f[0] for f in found if f is not None and len(f) == 1]
                if len(known) == len(found):
                    return [Or(tuple(known))]
        return None

    def _clause(self, text: str) -> Formula | None:
        worded = self._worded(text)
        return self._placed(text) if worded is None else worded

    def _worded(self, text: str) -> Formula | None:
        for predicate, positive, pattern, places in self._patterns:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            things = self._arguments(match, places, self.domain.predicates[predicate].parameters)
            if things is not None:
                return self._formula(partial(atom_of, predicate), positive, things)
        comparison = parse_comparison(text)
        return None if comparison is None else self._comparison(comparison)

    def _placed(self, text: str) -> Formula | None:
        """Parse 'x is at y' as the best relation between objects of their types, or return None."""
        for pattern in (RELATED, _LONGEST):
            match = pattern.fullmatch(text)
            ranked: list[tuple[tuple[bool, bool, bool], str, tuple[Thing, Thing]]] = []
            for name, mark, thing, place in self._relations if match else ():
                assert match is not None
                alike = mark in PLACES[match["mark"]]
                rank = (alike, self.one_at_a_time(name), name in self._changing)
                one = self._thing(match["thing"], thing) if any(rank) else None
                other = self._thing(match["place"], place) if one is not None else None
                if one is not None and other is not None:
                    ranked.append((rank, name, (one, other)))
            best = [one for one in ranked if one[0] == max(ranked)[0]]
            if len(best) == 1:
                (_, name, things) = best[0]
                assert match is not None
                return self._formula(partial(atom_of, name), not match["denied"], things)
        return None

    @cached_property
    def _relations(self) -> tuple[tuple[str, str, TypedName, TypedName], ...]:
        """The binary predicates, each with the last word between its arguments in a clause."""
        return tuple(
            (name, said.true.text.lower().split(" {1}")[0].split()[-1], *predicate.parameters)
            for name, predicate in self.domain.predicates.items()
            if len(predicate.parameters) == 2 and (said := self.words.wording.predicates.get(name))
        )

    @cached_property
    def _changing(self) -> Set[str]:
        return {*effects_of(self.domain)}

    @cached_property
    def _predicate_words(self) -> Set[str]:
        return {word for name in self.domain.predicates for word in words_of(name).split()}

    def _arguments(
        self, match: re.Match[str], places: Sequence[int], parameters: Sequence[TypedName]
    ) -> list[Thing] | None:
        things = [self._thing(match[f"p{place}"], parameters[place]) for place in sorted(places)]
        known = [thing for thing in things if thing is not None]
        return known if len(known) == len(things) else None

    def _comparison(self, said: ComparisonClause) -> Formula | None:
        left, right = self._amount(said.left), self._amount(said.right)
        if left is None or right is None or not (left.function or right.function):
            return None

        def compare(args: Sequence[str]) -> Formula:
            split = len(left.things)
            return Comparison(said.operator, left.of(args[:split]), right.of(args[split:]))

        return self._formula(compare, said.positive, (*left.things, *right.things))

    def _amount(self, text: str) -> _Amount | None:
        if _NUMBER.fullmatch(text):
            return _Amount(number=Number(Decimal(text)))
        for function, pattern, places in self._functions:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            things = self._arguments(match, places, self.domain.functions[function].parameters)
            if things is not None:
                return _Amount(function, tuple(things))
        return None

    def _formula(
        self, make: Callable[[Sequence[str]], Formula], positive: bool, things: Sequence[Thing]
    ) -> Formula:
        at = next((n for n, thing in enumerate(things) if thing.members is not None), None)
        if at is not None:
            return self._of_members(make, positive, things, at)
        variables: list[tuple[str, TypedName]] = []
        args = []
        for thing in things:
            if thing.quantifier:
                variable = TypedName(f"?x{next(self._counter)}", (thing.name,))
                variables.append((thing.quantifier, variable))
                args.append(variable.name)
            else:
                args.append(thing.name)
        asserted = make(args)
        formula: Formula = asserted if positive else Not(asserted)
        # The first quantifier has the widest scope: "every truck is at some depot".
        for quantifier, variable in reversed(variables):
            if quantifier == SOME:
                formula = Exists((variable,), formula)
            else:
                formula = Forall((variable,), Not(formula) if quantifier == NONE else formula)
        return formula

    def _of_members(
        self,
        make: Callable[[Sequence[str]], Formula],
        positive: bool,
        things: Sequence[Thing],
        at: int,
    ) -> Formula:
        thing = things[at]
        assert thing.members is not None
        positive = positive is not (thing.quantifier == NONE)
        ones = [
            self._formula(make, positive, [*things[:at], Thing(member), *things[at + 1 :]])
            for member in thing.members
        ]
        if thing.quantifier != SOME:
            return all_of(ones)
        if not thing.count_all:  # 'put two blocks on the table' means two more
            new = [one for one in ones if not self._holds(one)]
            ones = new if len(new) >= thing.least else ones
        if comb(len(ones), thing.least) > _MOST_COMBINATIONS:
            raise LanguageError(
                f"there are too many ways to choose {thing.least} of {len(ones)} objects: name them"
            )
        choices = [all_of(chosen) for chosen in combinations(ones, thing.least)]
        return choices[0] if len(choices) == 1 else Or(tuple(choices))

    def _holds(self, formula: Formula) -> bool:
        return holds_initially(self.domain, self.problem, formula)

    def _thing(self, text: str, parameter: TypedName) -> Thing | None:
        try:
            return self._things.read(text, parameter)
        except LanguageError as error:  # another reading may do without the description
            self._failure = self._failure or error
            return None

    def _clauses(self) -> Iterator[tuple[str, bool, re.Pattern[str], tuple[int, ...]]]:
        for predicate, wording in self.words.wording.predicates.items():
            for positive, template in ((True, wording.true), (False, wording.false)):
                for text in _forms(template.text.lower()):
                    pattern, places = _pattern(text)
                    yield predicate, positive, pattern, places
                    if len(places) > 1:  # 'the truck that is at the depot is at the harbour'
                        longest = re.compile(pattern.pattern.replace(".+?", ".+"))
                        yield predicate, positive, longest, places

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
        texts = [*self._things.phrases, "and", "is", "are", "then", "it", "to", *PLACING]
        texts += [said.imperative.text for said in self.words.wording.actions.values()]
        if self.domain.functions:
            texts += [*COMPARISON_WORDS, "the", "of", *map(words_of, self.domain.functions)]
        texts += [t.text for p in self.words.wording.predicates.values() for t in (p.true, p.false)]
        return MappingProxyType({w: None for t in texts for w in re.findall(r"[\w-]+", t.lower())})


def all_of(formulas: Sequence[Formula]) -> Formula:
    return formulas[0] if len(formulas) == 1 else And(tuple(formulas))


def atom_of(predicate: str, args: Sequence[str]) -> Formula:
    return Atom(predicate, tuple(args))


def _forms(text: str) -> Iterator[str]:
    yield text
    if (doing := re.fullmatch(r"(not )?(\w+ing) \{0\}", text)) is not None:
        yield f"{{0}} is {doing[1] or ''}{doing[2]}"
        yield f"{{0}} are {doing[1] or ''}{doing[2]}"
    for singular, several in ((" is ", " are "), (" has ", " have ")):
        if singular in text:
            yield text.replace(singular, several, 1)


def _pattern(text: str) -> tuple[re.Pattern[str], tuple[int, ...]]:
    places = tuple(int(number) for number in re.findall(r"\{(\d+)\}", text))
    parts = re.split(r"\{(\d+)\}", text)
    pattern = "".join(
        f"(?P<p{part}>.+?)" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    )
    return re.compile(pattern), places
