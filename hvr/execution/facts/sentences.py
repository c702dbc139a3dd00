"""Goals of worlds of facts in plain language: simple clauses, comparisons and requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import count, pairwise
from types import MappingProxyType

from hvr.base.printable import nearest
from hvr.errors import AmbiguousError, LanguageError
from hvr.execution.deviations import literal_clause
from hvr.execution.facts.comparisons import (
    COMPARISON_WORDS,
    ComparisonClause,
    function_patterns,
    parse_comparison,
)
from hvr.execution.facts.imperatives import (
    PLACING,
    Imperative,
    as_clauses,
    bare,
    exclusive,
    imperatives,
    stages_of,
    things_of,
)
from hvr.execution.facts.temporal import FactWords, all_in_words, own_words, since
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.language.paraphrase import in_order
from hvr.language.taxonomy import squeezed_type
from hvr.language.temporal import timed_request
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
    Imply,
    Not,
    Number,
    Or,
    Problem,
    Trajectory,
    TypedName,
    parse_constraint,
    parse_formula,
)
from hvr.pddl.formulas import atoms_of
from hvr.planning.search.constraints import with_stages
from hvr.worlds.facts.lexicon import WorldLexicon, object_phrases, plural, words_of

# Sentences ----------------------------------------------------------------------------------------
# Goals in simple sentences, made of the clauses in a world's wording.
#
#     goal    = clause, clause … and clause
#     clause  = a clause of the wording, such as "{0} is at {1}", with things in its places
#             | a numeric comparison, such as "the battery of r1 is at least 5"
#     thing   = an object: "truck1", "truck 1", or "the truck" if there is only one
#             | every TYPE, each TYPE, all TYPES | some TYPE, a TYPE | no TYPE
#
# Nothing is guessed: any other sentence is rejected with the list of known clauses.

_FEW = 3
"""Number of remarks in a refusal."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_ALL, _SOME, _NONE = "every", "some", "no"
_QUANTIFIERS = {
    "every": _ALL,
    "each": _ALL,
    "all": _ALL,
    "all the": _ALL,
    "both": _ALL,
    "both the": _ALL,
    "some": _SOME,
    "a": _SOME,
    "an": _SOME,
    "any": _SOME,
    "no": _NONE,
}


@dataclass(frozen=True)
class _Thing:
    """An argument of a clause: an object, or a type with its quantifier."""

    name: str
    quantifier: str = ""


@dataclass(frozen=True)
class _Amount:
    function: str = ""
    things: tuple[_Thing, ...] = ()
    number: Number | None = None

    def of(self, args: Sequence[str]) -> Number | FunctionTerm:
        return FunctionTerm(self.function, tuple(args)) if self.number is None else self.number


@dataclass(frozen=True)
class ParsedGoal:
    """A goal and its paraphrase."""

    formula: Formula
    said: str


def parse_goal(text: str, domain: Domain, problem: Problem, words: WorldLexicon) -> ParsedGoal:
    """Parse a goal: PDDL in parentheses, or a simple sentence.

    Raises:
        LanguageError: The sentence does not match the world's wording.
        PddlError: The PDDL is invalid.
    """
    return _stages(text, domain, problem, words, orders=False)[0]


def _stages(
    text: str, domain: Domain, problem: Problem, words: WorldLexicon, *, orders: bool
) -> tuple[ParsedGoal, ...]:
    if text.lstrip().startswith("("):
        stages = [parse_formula(text, domain, problem.objects, file="<goal>")]
    else:
        stages = _Reader(domain, problem, words).read(text, orders=orders)
    return tuple(ParsedGoal(formula, goal_text(formula, words)) for formula in stages)


def goal_text(formula: Expression, words: WorldLexicon) -> str:
    """Return a goal in words, or as PDDL where the wording has none."""
    match formula:
        case And(operands) if operands:
            return " and ".join(goal_text(one, words) for one in operands)
        case Forall((variable,), Not(body)):
            return _quantified(_NONE, variable, body, words) or str(formula)
        case Forall((variable,), body):
            return _quantified(_ALL, variable, body, words) or str(formula)
        case Exists((variable,), body):
            return _quantified(_SOME, variable, body, words) or str(formula)
        case Atom() | Not(Atom()) | Comparison() | Not(Comparison()):
            return literal_clause(formula, words.wording)
        case Or(operands) if operands:
            return f"either {' or '.join(goal_text(one, words) for one in operands)}"
        case Imply(left, right):
            return f"if {goal_text(left, words)}, {goal_text(right, words)}"
        case Not(operand):
            return f"it is not so that {goal_text(operand, words)}"
    return str(formula)


def _quantified(quantifier: str, variable: TypedName, body: Expression, words: WorldLexicon) -> str:
    inner = goal_text(body, words)
    if variable.name not in inner or inner.startswith("("):
        return ""
    names = words.types.get(variable.types[0], variable.types)
    return inner.replace(variable.name, f"{quantifier} {names[0]}")


class _Reader:
    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        self.domain = domain
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self._things = dict(self._phrases())
        self._patterns = list(self._clauses())
        self._functions = list(function_patterns(domain.functions))
        self._counter = count(1)
        orders = [(name, said.imperative) for name, said in words.wording.actions.items()]
        self._imperatives = list(imperatives(domain, orders))
        self._exclusive = exclusive(domain)
        self._spoken = ""  # the thing that 'it' refers to

    def read(self, text: str, *, orders: bool) -> list[Formula]:
        words = re.sub(r"\s+", " ", text.strip().rstrip(".!").lower())
        clauses = self._conjunction(words, self._single)
        if clauses is not None:
            return [_all_of(clauses)]
        if not orders:
            raise self._rejected(words)
        stages: list[list[Formula]] = []
        for part in stages_of(words):
            self._ordered = bool(stages)
            found = self._conjunction(part, self._order)
            if found is None:
                raise self._rejected(part)
            for number, order in enumerate(found):
                before = stages[-1] if stages else []
                kept = [f for f in before if not self._undoes(order, f)]
                if number and kept == before:
                    stages[-1].append(order)
                else:
                    stages.append([*kept, order])
        if not stages:
            raise self._rejected(words)
        return [_all_of(stage) for stage in stages]

    def _conjunction(
        self, text: str, read: Callable[[str], list[Formula] | None]
    ) -> list[Formula] | None:
        """Read clauses joined by "and" and commas; names may contain "and"."""
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

    def _undoes(self, later: Formula, earlier: Formula) -> bool:
        """Return whether two conditions on the same object exclude each other."""
        if later == earlier or isinstance(earlier, Not):
            return False
        one, other = (next((a for a in atoms_of(f) if a.args), None) for f in (later, earlier))
        if one is None or other is None or one.args[0] != other.args[0]:
            return False
        return (one.predicate, other.predicate) in self._exclusive

    def clauses(self, text: str) -> Formula | None:
        """See `ClauseReader`."""
        found = self._conjunction(text, self._single)
        return None if found is None else _all_of(found)

    def orders(self, text: str) -> Formula | None:
        """See `ClauseReader`."""
        self._ordered = False
        found = self._conjunction(text, self._order)
        return None if found is None else _all_of(found)

    def object_of(self, text: str) -> str | None:
        """See `ClauseReader`."""
        thing = self._things.get(text)
        return None if thing is None or thing.quantifier else thing.name

    def one_at_a_time(self, predicate: str) -> bool:
        """See `ClauseReader`."""
        return (predicate, predicate) in self._exclusive

    def _single(self, text: str) -> list[Formula] | None:
        clause = self._clause(text)
        return None if clause is None else [clause]

    def _order(self, text: str) -> list[Formula] | None:
        """Read an order: an imperative of an action, or 'put', 'bring' … and a clause."""
        text = re.sub(r"\b(it|them)\b", self._spoken or "it", bare(text))
        for form in self._imperatives:
            match = form.pattern.fullmatch(text)
            read = self._imperative(form, match) if match is not None else None
            if read is not None:
                self._ordered = True
                return read
        for clause in as_clauses(text, ordered=self._ordered):
            things, verb, rest = clause.partition(" is ")
            clauses = [self._clause(f"{thing}{verb}{rest}") for thing in things_of(things)]
            found = [one for one in clauses if one is not None]
            if found and len(found) == len(clauses):
                self._ordered, self._spoken = True, things
                return found
        return None

    def _imperative(self, form: Imperative, match: re.Match[str]) -> list[Formula] | None:
        said = {int(name[1:]): text for name, text in match.groupdict().items()}
        index = {p.name: i for i, p in enumerate(form.parameters)}
        first = index[form.atom.args[0]]
        found = []
        for one in things_of(said[first]):
            things = []
            for place, text in {**said, first: one}.items():
                thing = self._thing(text, form.parameters[place])
                if thing is None:
                    return None
                things.append((place, thing))
            known = dict(things)
            args = [
                known.get(index[a], _Thing(form.parameters[index[a]].types[0], _SOME))
                for a in form.atom.args
            ]
            if len({t.name for t in args if not t.quantifier}) < sum(
                not t.quantifier for t in args
            ):
                raise LanguageError(f"{one!r} cannot be put on or in itself: {match[0]!r}")
            make = partial(_atom, form.atom.predicate)
            denied = not form.positive and any(t.quantifier for t in args)
            formula = self._formula(make, form.positive or denied, args)
            found.append(Not(formula) if denied else formula)
        self._spoken = said[first]
        return found

    def _clause(self, text: str) -> Formula | None:
        for predicate, positive, pattern, places in self._patterns:
            match = pattern.fullmatch(text)
            if match is None:
                continue
            things = self._arguments(match, places, self.domain.predicates[predicate].parameters)
            if things is not None:
                return self._formula(partial(_atom, predicate), positive, things)
        comparison = parse_comparison(text)
        return None if comparison is None else self._comparison(comparison)

    def _arguments(
        self, match: re.Match[str], places: Sequence[int], parameters: Sequence[TypedName]
    ) -> list[_Thing] | None:
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
        # The first quantifier has the widest scope: "every truck is at some depot".
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
            # All objects of the type must fit; otherwise the sentence means another predicate.
            return thing if self.domain.fits(types, parameter.types) else None
        return thing if self.domain.has_type(types, parameter.types) else None

    def _phrases(self) -> Iterator[tuple[str, _Thing]]:
        for type_name, names in self.words.types.items():
            members = self.domain.members(self.objects, (type_name,))
            for noun in names:
                for word, quantifier in _QUANTIFIERS.items():
                    many = word.startswith(("all", "both")) or word == "no"
                    if word.startswith("both") and len(members) != 2:
                        continue
                    for form in (noun, plural(noun)) if many else (noun,):
                        yield f"{word} {form}", _Thing(type_name, quantifier)
                if len(members) == 1:
                    yield f"the {noun}", _Thing(next(iter(members)))
        for name, types in self.objects.items():
            nouns = [noun for t in types for noun in self.words.types.get(t, ())]
            for phrase in object_phrases(name):
                for form in (phrase, *(f"{phrase} {noun}" for noun in nouns)):
                    yield form, _Thing(name)
                    yield f"the {form}", _Thing(name)

    def _clauses(self) -> Iterator[tuple[str, bool, re.Pattern[str], tuple[int, ...]]]:
        for predicate, wording in self.words.wording.predicates.items():
            for positive, template in ((True, wording.true), (False, wording.false)):
                for text in _forms(template.text.lower()):
                    yield predicate, positive, *_pattern(text)

    def _rejected(self, text: str) -> LanguageError:
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
        texts = [*self._things, "and", "is", "are", "then", "it", "to", *PLACING]
        texts += [said.imperative.text for said in self.words.wording.actions.values()]
        if self.domain.functions:
            texts += [*COMPARISON_WORDS, "the", "of", *map(words_of, self.domain.functions)]
        texts += [t.text for p in self.words.wording.predicates.values() for t in (p.true, p.false)]
        return MappingProxyType({w: None for t in texts for w in re.findall(r"[\w-]+", t.lower())})


def _all_of(formulas: Sequence[Formula]) -> Formula:
    return formulas[0] if len(formulas) == 1 else And(tuple(formulas))


def _atom(predicate: str, args: Sequence[str]) -> Formula:
    return Atom(predicate, tuple(args))


def _forms(text: str) -> Iterator[str]:
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


# Requests -----------------------------------------------------------------------------------------
# Requests with verbs, such as "freeze two tubes and put them in the rack".
#
# They need an ontology that says which objects are portable and what verbs bring about; it enables
# the grammar of `hvr.language`. docs/reference/language.md lists the effect of each annotation.

_NAME = re.compile(r"(?<![\w?-])[a-z]+-\d+(?![\w-])")
"""An object name in the grammar's form: letters and a number."""


@dataclass(frozen=True)
class RequestedProblem:
    """A problem with a goal in words; its domain may be extended to remember reached stages."""

    domain: Domain
    problem: Problem
    said: str
    notes: tuple[str, ...] = ()


def supports_requests(ontology: Ontology | None) -> bool:
    """Return whether an ontology defines verbs, which the grammar of requests needs."""
    return ontology is not None and bool(ontology.instances("Verb"))


def problem_for(
    text: str,
    domain: Domain,
    problem: Problem,
    words: WorldLexicon,
    ontology: Ontology | None = None,
) -> RequestedProblem:
    """Return a problem with a new goal: PDDL in parentheses, a simple sentence, or a request.

    Args:
        ontology: Ontology of the world; None if it is derived from the domain alone.

    Raises:
        LanguageError: The sentence was not understood.
        AmbiguousError: The sentence has readings with different outcomes.
        ImpossibleGoalError: The sentence requests a missing object or an impossible state.
        PddlError: The PDDL is invalid.
    """
    verbs = supports_requests(ontology)
    if not verbs and (timed := _over_time(text, domain, problem, words)) is not None:
        return timed
    try:
        read = _stages(text, domain, problem, words, orders=not verbs)
    except LanguageError:
        if ontology is None or not verbs:
            raise
        return _Requests(domain, problem, ontology).apply(text)
    said = in_order([stage.said for stage in read])
    domain, problem = _in_stages(domain, problem, [stage.formula for stage in read])
    return RequestedProblem(domain, problem, said)


def _over_time(
    text: str, domain: Domain, problem: Problem, words: WorldLexicon
) -> RequestedProblem | None:
    """Return the problem of a request with conditions over time; None for other texts."""
    if text.lstrip().startswith("("):
        return None
    reader = _Reader(domain, problem, words)
    if (own := own_words(text, reader.clauses)) is not None:
        return _posed(domain, problem, words, *own)
    timed = timed_request(text, FactWords(reader, domain, problem))
    if timed is None:
        return None
    if not (timed.main or timed.first or timed.due):
        raise LanguageError(
            "hvr carries out a request once and does not wait for events: say what to do meanwhile"
        )
    stages = [parse_formula(f, domain, problem.objects, file="<goal>") for f in timed.first]
    stages = [_all_of(stages)] if stages else []
    rest = ". ".join(part for part, end in timed.parts if not end)
    if rest or timed.main:
        read = _stages(rest or timed.main, domain, problem, words, orders=True)
        stages += [stage.formula for stage in read]
    # What ends a condition need not last: another part may undo it.
    ends = [f"(sometime {end})" for _, end in timed.parts if end and rest]
    kept, lasting = (
        [parse_constraint(t, domain, problem.objects) for t in texts]
        for texts in (timed.constraints, (*timed.lasting, *ends))
    )
    whole = [] if timed.first and len(stages) > 1 else lasting
    later = lasting if not whole else []
    return _posed(domain, problem, words, stages or [And(())], [*kept, *whole], later)


def _posed(
    domain: Domain,
    problem: Problem,
    words: WorldLexicon,
    stages: Sequence[Formula],
    kept: Sequence[Expression],
    later: Sequence[Expression],
) -> RequestedProblem:
    """Return a problem with stages and constraints; `later` ones hold once stage 1 is reached."""
    said = []
    for number, stage in enumerate(stages):
        also = [] if number == 0 else later
        parts = (
            goal_text(stage, words),
            all_in_words((*kept, *also), partial(goal_text, words=words)),
        )
        said.append("; ".join(filter(None, parts)))
    mark = Atom("stage-1-reached", ())
    marked = [since(mark, one) for one in later if isinstance(one, Trajectory)]
    constraints = And((problem.constraints, *kept, *marked))
    domain, problem = _in_stages(domain, problem, stages)
    return RequestedProblem(domain, problem.replace(constraints=constraints), in_order(said))


def _in_stages(
    domain: Domain, problem: Problem, stages: Sequence[Formula]
) -> tuple[Domain, Problem]:
    """Return a problem whose goal is reached in stages."""
    # Each stage holds at some time before the next one does.
    problem = problem.replace(goal=stages[-1])
    earlier = [And((one, Not(later))) for one, later in pairwise(stages)]
    if not earlier:
        return domain, problem
    return with_stages(*_with_constants(domain, problem, map(str, stages)), earlier)


class _Requests:
    """Parses requests about objects with arbitrary names.

    The grammar knows names such as `tube-1`, so each object gets one while it is parsed.
    """

    def __init__(self, domain: Domain, problem: Problem, ontology: Ontology) -> None:
        self.domain = domain
        self.problem = problem
        self.reader = Reader(ontology, domain)
        self._classes: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name, object_class in self._known(ontology):
            kind = squeezed_type(self.reader.taxonomy.pddl_type(object_class))
            number = 1 + sum(c == object_class for c in self._classes.values())
            plain = name if re.fullmatch(rf"{kind}-\d+", name) else f"{kind}-{number}"
            while plain in self._own:
                number += 1
                plain = f"{kind}-{number}"
            self._own[plain] = name
            self._classes[plain] = object_class

    def _known(self, ontology: Ontology) -> Iterator[tuple[str, str]]:
        """Yield the objects whose class the ontology knows, names like `tube-1` first."""
        objects = {o.name: o.types for o in (*self.domain.constants, *self.problem.objects)}
        for name in sorted(objects, key=lambda n: _NAME.fullmatch(n) is None):
            known = (ontology.class_of_pddl_type(t) for t in objects[name])
            object_class = next((c for c in known if c), None)
            if object_class is not None:
                yield name, object_class

    @property
    def inventory(self) -> Inventory:
        """The objects and facts, under the names that the grammar knows."""
        grammar = {own: plain for plain, own in self._own.items()}
        facts = frozenset(
            Atom(a.predicate, tuple(grammar.get(n, n) for n in a.args)) for a in self.problem.init
        )
        return Inventory(self.problem.name, self.reader.ontology, self._classes, facts, {})

    def apply(self, text: str) -> RequestedProblem:
        try:
            goal = self.reader.goal(self._with_grammar_names(text), self.inventory)
        except AmbiguousError as error:
            raise AmbiguousError(tuple(map(self._with_own_names, error.readings))) from error
        except LanguageError as error:
            raise LanguageError(self._with_own_names(str(error))) from error
        return self._with_goal(goal)

    def _with_goal(self, goal: Goal) -> RequestedProblem:
        objects = self.problem.objects
        texts = [self._with_own_names(stage.wanted) for stage in goal.stages]
        stages = [parse_formula(wanted, self.domain, objects, file="<goal>") for wanted in texts]
        # Each stage holds at some time before the next one does.
        earlier = [And((one, Not(later))) for one, later in pairwise(stages)]
        last = self._with_own_names(goal.stages[-1].text)
        wanted = parse_formula(last, self.domain, objects, file="<goal>")
        kept = dict.fromkeys(text for stage in goal.stages for text in stage.constraints)
        constraints = [
            parse_constraint(self._with_own_names(t), self.domain, objects) for t in kept
        ]
        problem = self.problem.replace(goal=wanted)
        if constraints:
            problem = problem.replace(constraints=And((problem.constraints, *constraints)))
        domain = self.domain
        if earlier:
            domain, problem = with_stages(*_with_constants(domain, problem, texts), earlier)
        said = self._with_own_names(in_order(goal.paraphrase))
        return RequestedProblem(domain, problem, said, tuple(map(self._with_own_names, goal.notes)))

    def _with_grammar_names(self, text: str) -> str:
        called: Mapping[str, str] = {
            phrase.lower(): plain
            for plain, own in self._own.items()
            for phrase in object_phrases(own)
            if not self.reader.lexicon.lookup(phrase.lower())
        }
        if not called:
            return text
        longest = sorted(called, key=lambda phrase: (-len(phrase), phrase))
        any_of = "|".join(map(re.escape, longest))
        pattern = re.compile(rf"(?<![\w-])(?:the )?({any_of})(?![\w-])", re.IGNORECASE)
        return pattern.sub(lambda match: called[match[1].lower()], text)

    def _with_own_names(self, text: str) -> str:
        return _NAME.sub(lambda match: self._own.get(match[0], match[0]), text)


def _with_constants(
    domain: Domain, problem: Problem, texts: Iterable[str]
) -> tuple[Domain, Problem]:
    """Move the objects that some conditions name from the problem to the domain."""
    # Actions can then refer to them.
    named = {name for text in texts for name in re.findall(r"[^\s()]+", text)}
    constants = tuple(o for o in problem.objects if o.name in named)
    objects = tuple(o for o in problem.objects if o not in constants)
    return (
        domain.replace(constants=(*domain.constants, *constants)),
        problem.replace(objects=objects),
    )
