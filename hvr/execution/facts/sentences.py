"""Goals in simple sentences: the clauses that a world's words can say, read back.

    goal    = clause, clause … and clause
    clause  = a clause of the wording, such as "{0} is at {1}", with things in its places
            | a comparison of a number, such as "the battery of r1 is at least 5"
    thing   = an object: "truck1", "truck 1", "the truck" where there is one
            | every TYPE, each TYPE, all TYPES | some TYPE, a TYPE | no TYPE

Nothing is guessed: what is not such a clause is refused, with those that the world knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import count
from types import MappingProxyType

from hvr.errors import LanguageError
from hvr.execution.words import say
from hvr.pddl import (
    And,
    Atom,
    Comparison,
    Domain,
    Exists,
    Expression,
    Forall,
    Formula,
    FunctionTerm,
    Not,
    Number,
    Problem,
    TypedName,
    parse_formula,
)
from hvr.pddl.diagnostics import nearest
from hvr.worlds.facts.amounts import WORDS, Compared, compared, function_patterns
from hvr.worlds.facts.words import WorldWords, object_words, plural, words_of

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_ALL, _SOME, _NONE = "every", "some", "no"
_QUANTIFIERS = {"every": _ALL, "each": _ALL, "all": _ALL, "all the": _ALL, "some": _SOME,
                "a": _SOME, "an": _SOME, "any": _SOME, "no": _NONE}  # fmt: skip


@dataclass(frozen=True)
class _Thing:
    """What stands in a place of a clause: an object, or a type with its quantifier."""

    name: str
    quantifier: str = ""


@dataclass(frozen=True)
class _Amount:
    """A number that was said: a constant, or a function of things."""

    function: str = ""
    things: tuple[_Thing, ...] = ()
    number: Number | None = None

    def of(self, args: Sequence[str]) -> Number | FunctionTerm:
        return FunctionTerm(self.function, tuple(args)) if self.number is None else self.number


@dataclass(frozen=True)
class ReadGoal:
    """A goal that was read.

    Args:
        formula: as PDDL.
        said: the same in words.
    """

    formula: Formula
    said: str


def read_goal(text: str, domain: Domain, problem: Problem, words: WorldWords) -> ReadGoal:
    """Read a goal: PDDL in parentheses, or a simple sentence.

    Raises:
        LanguageError: the sentence says nothing that the world has words for.
        PddlError: the PDDL cannot be used.
    """
    if text.lstrip().startswith("("):
        formula = parse_formula(text, domain, problem.objects, file="<goal>")
    else:
        formula = _Reader(domain, problem, words).read(text)
    return ReadGoal(formula, say_goal(formula, words))


def say_goal(formula: Expression, words: WorldWords) -> str:
    """Return a goal in words; as PDDL what has none."""
    match formula:
        case And(operands) if operands:
            return " and ".join(say_goal(one, words) for one in operands)
        case Forall((variable,), Not(body)):
            return _quantified(_NONE, variable, body, words) or str(formula)
        case Forall((variable,), body):
            return _quantified(_ALL, variable, body, words) or str(formula)
        case Exists((variable,), body):
            return _quantified(_SOME, variable, body, words) or str(formula)
        case Atom() | Not(Atom()) | Comparison() | Not(Comparison()):
            return say(formula, words.wording)
    return str(formula)


def _quantified(quantifier: str, variable: TypedName, body: Expression, words: WorldWords) -> str:
    inner = say_goal(body, words)
    if variable.name not in inner or inner.startswith("("):
        return ""
    names = words.types.get(variable.types[0], variable.types)
    return inner.replace(variable.name, f"{quantifier} {names[0]}")


class _Reader:
    def __init__(self, domain: Domain, problem: Problem, words: WorldWords) -> None:
        self.domain = domain
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self._things = dict(self._phrases())
        self._patterns = list(self._clauses())
        self._functions = list(function_patterns(domain.functions))
        self._counter = count(1)

    def read(self, text: str) -> Formula:
        words = re.sub(r"\s+", " ", text.strip().rstrip(".!").lower())
        parts = self._conjunction(words)
        if parts is None:
            raise self._refused(words)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _conjunction(self, text: str) -> list[Formula] | None:
        """Read clauses joined by "and" and commas; a name may have an "and" in it."""
        clause = self._clause(text)
        if clause is not None:
            return [clause]
        for joint in re.finditer(r", and |, | and ", text):
            first = self._clause(text[: joint.start()])
            if first is not None:
                rest = self._conjunction(text[joint.end() :])
                if rest is not None:
                    return [first, *rest]
        return None

    def _clause(self, text: str) -> Formula | None:
        for predicate, positive, pattern, places in self._patterns:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            things = self._arguments(match, places, self.domain.predicates[predicate].parameters)
            if things is not None:
                return self._formula(partial(_atom, predicate), positive, things)
        comparison = compared(text)
        return None if comparison is None else self._comparison(comparison)

    def _arguments(
        self, match: re.Match[str], places: Sequence[int], parameters: Sequence[TypedName]
    ) -> list[_Thing] | None:
        """Return the things in the places of a pattern, in their order; None if one is none."""
        things = [self._thing(match[f"p{place}"], parameters[place]) for place in sorted(places)]
        known = [thing for thing in things if thing is not None]
        return known if len(known) == len(things) else None

    def _comparison(self, said: Compared) -> Formula | None:
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
        self, make: Callable[[Sequence[str]], Formula], positive: bool, things: Sequence[_Thing]
    ) -> Formula:
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
        # The first one said binds most widely: "every truck is at some depot".
        for quantifier, variable in reversed(variables):
            if quantifier == _SOME:
                formula = Exists((variable,), formula)
            else:
                formula = Forall((variable,), Not(formula) if quantifier == _NONE else formula)
        return formula

    def _thing(self, text: str, parameter: TypedName) -> _Thing | None:
        thing = self._things.get(text)
        if thing is None:
            return None
        types = (thing.name,) if thing.quantifier else self.objects[thing.name]
        if thing.quantifier:
            # Of the objects of the type, all must fit: else the sentence means another predicate.
            return thing if self.domain.fits(types, parameter.types) else None
        return thing if self.domain.has_type(types, parameter.types) else None

    def _phrases(self) -> Iterator[tuple[str, _Thing]]:
        for type_name, names in self.words.types.items():
            members = self.domain.members(self.objects, (type_name,))
            for noun in names:
                for word, quantifier in _QUANTIFIERS.items():
                    many = word.startswith("all") or word == "no"
                    for form in (noun, plural(noun)) if many else (noun,):
                        yield f"{word} {form}", _Thing(type_name, quantifier)
                if len(members) == 1:
                    yield f"the {noun}", _Thing(next(iter(members)))
        for name in self.objects:
            for phrase in object_words(name):
                yield phrase, _Thing(name)
                yield f"the {phrase}", _Thing(name)

    def _clauses(self) -> Iterator[tuple[str, bool, re.Pattern[str], tuple[int, ...]]]:
        for predicate, wording in self.words.wording.predicates.items():
            for positive, template in ((True, wording.true), (False, wording.false)):
                for text in _forms(template.text.lower()):
                    yield predicate, positive, *_pattern(text)

    def _refused(self, text: str) -> LanguageError:
        known = [self._example(name) for name in self.words.wording.predicates]
        known += [self._compared(name) for name in self.domain.functions]
        unknown = [
            word for word in re.findall(r"[\w-]+", text)
            if word not in self._vocabulary() and not _NUMBER.fullmatch(word)
        ]  # fmt: skip
        hint = ""
        if unknown:
            near = nearest(unknown[0], self._vocabulary())
            hint = f" {unknown[0]!r} is not known here" + (f"; {near!r} is." if near else ".")
        return LanguageError(
            f"{text!r} is no goal that this world has words for.{hint} It can say: "
            f"{'; '.join(known)}; joined by 'and', with objects or 'every', 'some', 'no' and a type"
        )

    def _example(self, predicate: str) -> str:
        parameters = self.domain.predicates[predicate].parameters
        names = tuple(parameter.name.strip("?").upper() for parameter in parameters)
        return say(Atom(predicate, names), self.words.wording)

    def _compared(self, function: str) -> str:
        parameters = self.domain.functions[function].parameters
        names = tuple(parameter.name.strip("?").upper() for parameter in parameters)
        return f"{say(Comparison('>=', FunctionTerm(function, names), Number(Decimal(0))))[:-1]}N"

    def _vocabulary(self) -> Mapping[str, None]:
        texts = [*self._things, "and"]
        if self.domain.functions:
            texts += [*WORDS, "the", "of", *map(words_of, self.domain.functions)]
        texts += [t.text for p in self.words.wording.predicates.values() for t in (p.true, p.false)]
        return MappingProxyType({w: None for t in texts for w in re.findall(r"[\w-]+", t.lower())})


def _atom(predicate: str, args: Sequence[str]) -> Formula:
    return Atom(predicate, tuple(args))


def _forms(text: str) -> Iterator[str]:
    """Yield a clause as it is written, and with "are" for "all trucks are"."""
    yield text
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
