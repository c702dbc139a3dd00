"""The lexicon of a world, from its ontology or derived from the names in its domain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.wording import ActionWording, PredicateWording, Template, Wording, wording_of
from hvr.pddl import ActionSchema, Domain, Predicate

_VERB = re.compile(r"(has|knows|needs|owns|(?!is|has|was|this|bus|gas|glass)[a-z]+[^aious]s)")
"""First words of predicate names that are verbs, such as `contains`."""
_PLACES = frozenset({"at", "in", "on", "near"})
"""Last words of predicate names that state a place, such as `at` in `(robot-at ?room)`."""
_WHERE = _PLACES | {"above", "behind", "below", "beside", "inside", "outside", "under"}
_PLACE = re.compile(r"\{(\d+)\}")
_INNER_VERBS = frozenset({"has", "holds", "knows", "needs", "owns"})
_GRASP_VERBS = frozenset({"holding", "carrying", "grasping", "gripping"})
_WITH_TO = frozenset({"adjacent", "attached", "connected", "linked"})
_STATE = re.compile(
    r"[a-z]+(?:ed|[^n]en|able|ible|ful|less)|active|armed|asleep|awake|big|broken|busy|clean|clear"
    r"|closed?|complete|dark|done|down|dry|empty|free|full|high|home|idle|lit|locked"
    r"|lost|low|off|on|online|offline|open|over|ready|shut|up|warm|wet|working"
)
"""Last words of predicate names that describe a state, such as `low` in `battery-low`."""


@dataclass(frozen=True)
class WorldLexicon:
    """The words of a domain; for each type, the preferred noun comes first."""

    wording: Wording
    types: Mapping[str, tuple[str, ...]]


def lexicon_for(domain: Domain, ontology: Ontology | None = None) -> WorldLexicon:
    """Return the lexicon of a domain; words missing from the ontology are derived from names.

    Raises:
        DataFileError: A wording in the ontology is malformed, or two predicates share a wording.
    """
    given = wording_of(ontology) if ontology is not None else None
    predicates: dict[str, PredicateWording] = {}
    actions = {name: _imperative(a) for name, a in domain.actions.items()}
    clauses = Clauses(domain)
    if given is not None:
        for name, said in given.predicates.items():
            if said.true and said.false and name in domain.predicates:
                _add_given(clauses, name, (said.true.text, said.false.text))
                predicates[name] = said
        told = {n: a for n, a in given.actions.items() if a.imperative}
        actions.update({n: a for n, a in told.items() if n in actions})
    for name, predicate in domain.predicates.items():
        if name not in predicates:
            clauses.derive(name)
            predicates[name] = _derived(predicate, clauses.said[name])
    types = {name: _nouns(name, ontology) for name in ("object", *domain.types)}
    wording = Wording(
        MappingProxyType(actions),
        MappingProxyType(predicates),
        MappingProxyType(types),
        MappingProxyType({}),
        MappingProxyType({}),
        frozenset(),
        MappingProxyType({}),
        MappingProxyType({}),
        frozenset(),
    )
    return WorldLexicon(wording, MappingProxyType(types))


def _add_given(clauses: Clauses, name: str, said: tuple[str, str]) -> None:
    clash = clauses.clash(name, said)
    if clash is not None:
        raise DataFileError(
            f"the predicates {clash[0]!r} and {name!r} share the wording {clash[1]!r}, so "
            "goals would be ambiguous: change the wording of one of them"
        )
    clauses.add(name, said)


def _nouns(type_name: str, ontology: Ontology | None) -> tuple[str, ...]:
    plain = words_of(type_name)
    known = ontology.class_of_pddl_type(type_name) if ontology is not None else None
    if ontology is None or known is None:
        return (plain,)
    return tuple(dict.fromkeys((*(label.lower() for label in ontology.labels(known)), plain)))


def words_of(name: str) -> str:
    """Return a name as words, such as "fuel level" for `fuel-level`."""
    return " ".join(re.split(r"[-_\s]+", name.strip("-_"))) or name


def derived_clauses(predicate: Predicate) -> tuple[str, str]:
    """Return a clause that states a predicate and one that denies it, derived from its name.

    Examples are "{0} is full" and "{0} is not full", in which {0} is the first argument.
    """
    words = words_of(predicate.name)
    places = [f"{{{number}}}" for number in range(len(predicate.parameters))]
    if not places:
        return _clauses_without_arguments(words.split(" "))
    first, *others = places
    kind, _, place = words.rpartition(" ")
    if len(others) == 1 and place in _PLACES and kind in predicate.parameters[0].types:
        return f"{first} is {place} {others[0]}", f"{first} is not {place} {others[0]}"
    if not others and words.endswith("ing"):
        return _participle_clauses(words, first)
    after = f" {' and '.join(others)}" if others else ""
    verb, _, rest = words.partition(" ")
    thing, _, last = words.rpartition(" ")
    if not others and thing and last in _PLACES:
        return f"the {thing} is {last} {first}", f"the {thing} is not {last} {first}"
    if verb in ("is", "can") and rest:
        no = "is not" if verb == "is" else "cannot"
        return f"{first} {verb} {rest}{after}", f"{first} {no} {rest}{after}"
    if _VERB.fullmatch(verb):
        doing = f"{infinitive(verb)}{words[len(verb) :]}"
        return f"{first} {words}{after}", f"{first} does not {doing}{after}"
    to = " to" if len(others) == 1 and last in _WITH_TO else ""
    return f"{first} is {words}{to}{after}", f"{first} is not {words}{to}{after}"


def _clauses_without_arguments(words: list[str]) -> tuple[str, str]:
    first, *others = words
    whole = " ".join(words)
    if others and first == "is":
        rest = " ".join(others)
        return f"it is {rest}", f"it is not {rest}"
    if others and first.endswith("ing"):
        return whole, f"not {whole}"
    for place in range(1, len(words) - 1):
        thing, word, rest = " ".join(words[:place]), words[place], " ".join(words[place + 1 :])
        if word in _INNER_VERBS:
            return f"the {thing} {word} {rest}", f"the {thing} does not {infinitive(word)} {rest}"
        if word == "is" or word in _WHERE:
            how = rest if word == "is" else f"{word} {rest}"
            return f"the {thing} is {how}", f"the {thing} is not {how}"
    thing, last = " ".join(words[:-1]), words[-1]
    if thing and first not in (*_WHERE, "not") and "not" not in words and _STATE.fullmatch(last):
        return f"the {thing} is {last}", f"the {thing} is not {last}"
    return f"{whole} holds", f"{whole} does not hold"


def _participle_clauses(words: str, thing: str) -> tuple[str, str]:
    who, _, what = words.rpartition(" ")
    if who and what in _GRASP_VERBS:
        return f"the {who} is {what} {thing}", f"the {who} is not {what} {thing}"
    if who == "is":
        return f"{thing} is {what}", f"{thing} is not {what}"
    return f"{words} {thing}", f"not {words} {thing}"


def infinitive(verb: str) -> str:
    """Return the infinitive of a verb in the third person, such as "carry" for `carries`."""
    if verb == "has":
        return "have"
    if verb.endswith("ies"):
        return f"{verb[:-3]}y" if len(verb) > 4 else verb[:-1]
    return verb[:-2] if re.search(r"(ch|sh|ss|x|zz|o)es$", verb) else verb[:-1]


class Clauses:
    """Clauses for the predicates of a domain, no two of which can be confused."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self.said: dict[str, tuple[str, str]] = {}
        self._by_form: dict[str, list[tuple[str, str]]] = {}

    def add(self, name: str, clauses: tuple[str, str]) -> None:
        self.said[name] = clauses
        for clause in clauses:
            self._by_form.setdefault(_form(clause), []).append((name, clause))

    def clash(self, name: str, clauses: tuple[str, str]) -> tuple[str, str] | None:
        """Find a clause of `clauses` that could be confused with a clause of another predicate.

        Returns:
            The other predicate and the clause of `clauses`; None if no clause can be confused.
        """
        for clause in clauses:
            for other, taken in self._by_form.get(_form(clause), ()):
                pairs = zip(_places(clause), _places(taken), strict=True)
                if all(self._overlap(name, one, other, two) for one, two in pairs):
                    return other, clause
        return None

    def derive(self, name: str) -> None:
        """Add clauses derived from a predicate's name, or `NAME holds …` if those are ambiguous."""
        predicate = self._domain.predicates[name]
        clauses = derived_clauses(predicate)
        if self.clash(name, clauses) is not None:
            places = " and ".join(f"{{{n}}}" for n in range(len(predicate.parameters)))
            of = f" for {places}" if places else ""
            clauses = f"{name} holds{of}", f"{name} does not hold{of}"
        self.add(name, clauses)

    def _overlap(self, name: str, place: int, other: str, other_place: int) -> bool:
        domain = self._domain
        one = domain.predicates[name].parameters[place].types
        two = domain.predicates[other].parameters[other_place].types
        return domain.has_type(one, two) or domain.has_type(two, one)


def distinct_clauses(domain: Domain) -> Mapping[str, tuple[str, str]]:
    clauses = Clauses(domain)
    for name in domain.predicates:
        clauses.derive(name)
    return clauses.said


def _form(clause: str) -> str:
    return _PLACE.sub("{}", clause.lower())


def _places(clause: str) -> list[int]:
    return [int(number) for number in _PLACE.findall(clause)]


def _derived(predicate: Predicate, clauses: tuple[str, str]) -> PredicateWording:
    arity = len(predicate.parameters)
    true, false = (Template(text, arity) for text in clauses)
    return PredicateWording(true, false, true, (), (), ())


def imperative_of(action: ActionSchema) -> str:
    """Return an imperative derived from an action: "drive {0}, {1}" for `(drive ?truck ?place)`."""
    places = ", ".join(f"{{{number}}}" for number in range(len(action.parameters)))
    return f"{words_of(action.name)} {places}".strip()


def _imperative(action: ActionSchema) -> ActionWording:
    order = Template(imperative_of(action), len(action.parameters))
    return ActionWording(order, order, order, "", ())


def object_phrases(name: str) -> tuple[str, ...]:
    """Return the phrases for an object: `truck1` is also called "truck 1"."""
    plain = words_of(name)
    spaced = re.sub(r"(?<=[a-z])(?=[0-9])", " ", plain)
    return tuple(dict.fromkeys((name, plain, spaced)))
