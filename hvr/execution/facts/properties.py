"""Properties of the objects of PDDL worlds, as requests state them.

A property is any of

    the rest of a template of the wording: "is parked {1}", "lies in {1}", "has a label"
    a preposition and a place: "at the depot", for the relation of the world that fits best
    an adjective: the name of a fact about one object, with "not" or "un-", or its opposite
    "where it is", "back where it was", "empty", and properties joined by "and" and "or"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import combinations, count
from math import comb
from typing import cast

from hvr.errors import LanguageError
from hvr.execution.facts.comparisons import function_patterns
from hvr.execution.facts.frames import PREPOSITIONS, FactFrame, fills, frames_of, verb_phrase
from hvr.execution.facts.imperatives import PLACES, WHERE, exclusive, literals_of, place_predicates
from hvr.execution.facts.inferred_types import with_inferred_types
from hvr.execution.facts.things import ALL, NONE, SOME, Property, Thing, ThingReader
from hvr.language.function_words import OPPOSITES
from hvr.pddl import And, Atom, Domain, Exists, Forall, Formula, Not, Or, Problem, TypedName
from hvr.pddl.formulas import atoms_of
from hvr.pddl.task import holds_initially
from hvr.values import cached_property
from hvr.worlds.facts.lexicon import WorldLexicon

_MOST_COMBINATIONS = 200
_MOST_WORDS = 25
"""Maximum number of words of a property."""

_OWNING = frozenset({"have", "hold", "carry", "own"})
_OTHERS = frozenset({"other", "others", "rest", "remaining", "else"})
_JOINTS = re.compile(r", and |, or |, | and | or ")
_HERE = re.compile(
    r"(?:right |exactly |just )?where (?:it|they|he|she) (?:is|are|was|were)(?: now)?"
)
_BACK = re.compile(r"(?:back )?(?:where (?:it|they|he|she) (?:was|were|came from)|in place)|back")
_ELSEWHERE = re.compile(r"(?:anywhere|somewhere) (?:else )?(?:but|except|other than) (?P<place>.+)")
_MARKED = re.compile(rf"(?P<mark>{WHERE}) (?P<place>.+)")
_UNDER = re.compile(r"(?P<mark>under|underneath|beneath|below) (?P<place>.+)")


class NamedTwiceError(LanguageError):
    """A fact would relate an object to itself."""


class FactProperties:
    """Reads properties, and applies them to the objects of a PDDL world."""

    def __init__(self, domain: Domain, problem: Problem, words: WorldLexicon) -> None:
        self._kinds = sorted(("object", *domain.types), key=lambda kind: kind == "object")
        self.original = domain, problem
        domain, problem, words = with_inferred_types(domain, problem, words)
        self.domain = domain
        self.problem = problem
        self.words = words
        self.objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self.frames = tuple(dict.fromkeys(frames_of(domain, words)))
        self._things = ThingReader(domain, problem, words, self._holds, self.property, self._linked)
        self._verbs = {
            str(frame.tail[0])
            for frame in self.frames
            if frame.tail and isinstance(frame.tail[0], str) and frame.subject != ""
        }
        self._subjects = {frame.subject for frame in self.frames if isinstance(frame.subject, str)}
        self._functions = list(function_patterns(domain.functions))
        self._counter = count(1)
        self._failure: LanguageError | None = None
        self._exclusive = exclusive(domain)
        self._places = place_predicates(domain)
        self._properties: dict[str, Property | None] = {}

    def one_at_a_time(self, predicate: str) -> bool:
        return (predicate, predicate) in self._exclusive

    def objects_of(self, text: str) -> tuple[str, ...]:
        """Return the objects to which a definite phrase refers; none for any other phrase."""
        thing = self._thing(text)
        vague = thing is None or thing.parts or thing.loose or thing.said
        if thing is None or vague or thing.quantifier not in ("", ALL):
            return ()
        return thing.members

    def stated(self, subject: str, said: Property, *, deed: bool = False) -> Formula | None:
        """Apply a property to a subject; return None if it cannot apply.

        Args:
            deed: Whether the property is to be brought about, in which case "a block" lacks it now.
        """
        fixed = subject.removeprefix("the ")
        if fixed in self._subjects:
            return said(fixed, (f"={fixed}",))
        thing = self._thing(subject)
        self._things.mentioned += self.objects_of(subject)
        return None if thing is None else self._of_all(thing, said, deed=deed)

    def _of_all(self, thing: Thing, said: Property, *, deed: bool) -> Formula | None:
        try:
            return self.about(thing, said, deed=deed)
        except NamedTwiceError as error:
            self._failure = self._failure or error
            return None

    # --- quantifiers ---------------------------------------------------------------------

    def about(self, thing: Thing, said: Property, *, deed: bool = False) -> Formula | None:
        """Return the formula that all, some or no members of a phrase have a property, or None."""
        if thing.parts:
            parts = [self.about(part, said, deed=deed) for part in thing.parts]
            known = [part for part in parts if part is not None]
            return all_of(known) if len(known) == len(parts) else None
        if thing.persons:
            some = thing.replace(members=thing.persons, persons=())
            return self.about(some, said, deed=deed) or self.about(
                thing.replace(persons=()), said, deed=deed
            )
        values, twice = {}, []
        for member in thing.members:
            try:
                values[member] = said(member, self.objects[member])
            except NamedTwiceError:  # 'put every block on red' leaves out red
                if not thing.quantifier or (thing.quantifier == ALL and thing.least > 1):
                    raise
                twice.append(member)
            except LanguageError:
                if not thing.said:
                    raise
        ones = {m: f for m, f in values.items() if f is not None}
        if thing.loose:
            ones = {m: f for m, f in ones.items() if self._may_change(f)}
        if not ones or (len(ones) < len(values) and not (thing.loose or thing.said)):
            return None
        least, most = thing.least, thing.most
        kind = "" if thing.quantifier == ALL and len(ones) < len(thing.members) else thing.kind
        if deed and thing.fresh:
            left = {m: f for m, f in ones.items() if not self._holds(f)}
            if len(left) >= least and len(left) < len(ones):
                ones, kind = left, ""
        if not thing.quantifier:
            # 'take the wheel off the fiat' is about the wheel that is on it.
            open_ = [f for f in ones.values() if not self._holds(f)] if deed else []
            if len(ones) > 1 and len(open_) != 1:
                raise LanguageError(
                    f"{thing.said!r} can mean {' or '.join(ones)}: name one of them"
                )
            return open_[0] if len(ones) > 1 else next(iter(ones.values()))
        if kind and (formula := self._quantified(thing.quantifier, kind, said)) is not None:
            return formula
        if thing.loose and thing.quantifier in (ALL, NONE):
            return all_of(list(self._by_kinds(thing.quantifier, dict(ones), twice, said)))
        if thing.quantifier == ALL:
            return all_of(list(ones.values()))
        if thing.quantifier == NONE:
            return all_of([negation(one) for one in ones.values()])
        return all_of(list(_counted(list(ones.values()), least, most)))

    def _by_kinds(
        self, quantifier: str, ones: dict[str, Formula], twice: Sequence[str], said: Property
    ) -> Iterator[Formula]:
        """Yield formulas that all or none of some objects have a property, one per whole type."""
        for kind in self._kinds:
            members = self._members(kind)
            if members and {*members} <= {*ones, *(twice if quantifier == NONE else ())}:
                formula = self._quantified(quantifier, kind, said)
                if formula is not None:
                    yield formula
                    ones = {m: f for m, f in ones.items() if m not in members}
        yield from (negation(f) if quantifier == NONE else f for f in ones.values())

    def _may_change(self, formula: Formula) -> bool:
        return any(a.predicate in self._changing for a in atoms_of(formula)) or not any(
            True for _ in atoms_of(formula)
        )

    def _kind_of(self, members: tuple[str, ...]) -> str:
        kinds = (k for k in self._kinds if set(self._members(k)) == {*members})
        return next(kinds, "")

    def _members(self, *kinds: str) -> Sequence[str]:
        return tuple(self.domain.members(self.objects, kinds))

    def _quantified(self, quantifier: str, kind: str, said: Property) -> Formula | None:
        variable = TypedName(f"?x{next(self._counter)}", (kind,))
        formula = said(variable.name, variable.types) if kind in self._kinds else None
        if formula is None:
            return None
        if quantifier == SOME:
            return Exists((variable,), formula)
        return Forall((variable,), negation(formula) if quantifier == NONE else formula)

    def nested(
        self, args: Sequence[Thing | str], make: Callable[[Sequence[str]], Formula | None]
    ) -> Formula | None:
        """Return a formula over arguments; the first quantifier has the widest scope."""
        at = next((n for n, arg in enumerate(args) if isinstance(arg, Thing)), None)
        if at is None:
            return make([str(arg) for arg in args])
        thing = args[at]
        assert isinstance(thing, Thing)
        if thing.other and len(thing.members) > 1:
            others = {m: self.nested([*args[:at], m, *args[at + 1 :]], make) for m in thing.members}
            left = tuple(m for m, f in others.items() if f is not None and not self._holds(f))
            return others[left[0]] if len(left) == 1 else None

        def said(name: str, _: tuple[str, ...]) -> Formula | None:
            return self.nested([*args[:at], name, *args[at + 1 :]], make)

        return self.about(thing, said)

    def _holds(self, formula: Formula) -> bool:
        return holds_initially(self.domain, self.problem, formula)

    def _thing(self, text: str, parameter: TypedName | None = None) -> Thing | None:
        try:
            thing = self._things.read(text)
        except LanguageError as error:  # another reading may do without the description
            self._failure = self._failure or error
            return None
        return thing if thing is None or parameter is None else self._fitting(thing, parameter)

    def _fitting(self, thing: Thing, parameter: TypedName) -> Thing | None:
        if thing.parts:
            parts = tuple(self._fitting(part, parameter) for part in thing.parts)
            known = tuple(part for part in parts if part is not None)
            return thing.replace(parts=known) if len(known) == len(parts) else None
        fit = [m for m in thing.members if self.domain.has_type(self.objects[m], parameter.types)]
        if thing.loose and fit:
            persons = tuple(m for m in thing.persons if m in fit)
            kind = self._kind_of(tuple(fit))
            return thing.replace(members=tuple(fit), kind=kind, loose=False, persons=persons)
        return thing if len(fit) == len(thing.members) else None

    # --- properties ----------------------------------------------------------------------

    def property(self, text: str) -> Property | None:
        """Parse the predicate of a subject, such as "is at the depot" or "not lit"."""
        words = text.split()
        if len(words) > _MOST_WORDS:
            return None
        if _OTHERS & {*words}:  # depends on what was mentioned
            return self._property(text)
        if text not in self._properties:
            self._properties[text] = None  # a property does not contain itself
            self._properties[text] = self._property(text)
        return self._properties[text]

    def _property(self, text: str) -> Property | None:
        is_denied, base = verb_phrase(text)
        forms = dict.fromkeys((base, text, base.removeprefix("have ")))  # "should have paid"
        ways = [said(way) for said in (self._simple, self._inner) for way in forms]
        found = first_of([way for way in ways if way is not None])
        return _denied(found) if is_denied and found is not None else found

    def _inner(self, text: str) -> Property | None:
        for part, opposite in OPPOSITES:
            for one, other in ((part, opposite), (opposite, part)):
                found = self._framed(other) if text == one else None
                if found is not None:
                    return _denied(found)
        if text in ("empty", "clear"):
            return self._vacant
        if text.startswith("un") and (found := self._framed(text[2:])) is not None:
            return _denied(found)
        return self._joined(text)

    def _joined(self, text: str) -> Property | None:
        neither = text.startswith("neither ")
        text = re.sub(r"^(?:both|either|neither) ", "", text).replace(" nor ", " or ")
        for joint in _JOINTS.finditer(text):
            one = self.property(text[: joint.start()])
            other = self.property(text[joint.end() :]) if one is not None else None
            if one is not None and other is not None:
                either = "or" in joint[0] and not neither
                pair = (_denied(one), _denied(other)) if neither else (one, other)
                return _pair(*pair, either=either)
        return None

    def _simple(self, text: str) -> Property | None:
        ways = [self._framed(text)]
        for pattern, related in ((_MARKED, self._related), (_UNDER, self._beneath)):
            match = pattern.fullmatch(text)
            place = self._thing(match["place"]) if match is not None else None
            if match is not None and place is not None:
                ways.append(related(match["mark"], place))
        if (elsewhere := _ELSEWHERE.fullmatch(text)) is not None:
            words = elsewhere["place"].split()
            place = self._thing(" ".join(words[words[0] in PREPOSITIONS :]))
            others = tuple(m for m in self.objects if place and m not in place.members)
            ways.append(self._elsewhere(others, place) if place else None)
        if _HERE.fullmatch(text) or _BACK.fullmatch(text):
            ways.append(self._in_place)
        ways.append(self._participle(text))
        return first_of([way for way in ways if way is not None])

    def _participle(self, text: str) -> Property | None:
        """Parse the participle of an action, such as "washed"; `FactOrders` knows the actions."""
        del text
        return None

    def _framed(self, text: str) -> Property | None:
        words = text.split()
        ways: list[tuple[FactFrame, dict[int, Thing]]] = []
        for frame in self.frames:
            if frame.subject == "" or not frame.tail or len(frame.tail) > len(words):
                continue
            for texts in fills(frame.tail, words):
                things = self._filled(texts)
                if things is not None:
                    ways.append((frame, things))
        return first_of([partial(self._of_frame, f, things) for f, things in ways])

    def _filled(self, texts: Mapping[int, str]) -> dict[int, Thing] | None:
        things = {number: self._thing(text) for number, text in texts.items()}
        known = {number: thing for number, thing in things.items() if thing is not None}
        return known if len(known) == len(things) else None

    def _of_frame(
        self,
        frame: FactFrame,
        things: Mapping[int, Thing] | None,
        name: str = "",
        types: tuple[str, ...] = (),
    ) -> Formula | None:
        """Return the fact that a frame states about a subject of some types and other objects."""
        parameters = self.domain.predicates[frame.predicate].parameters
        if things is None or (
            types and isinstance(frame.subject, str) and types[0] != f"={frame.subject}"
        ):
            return None
        args: list[Thing | str] = []
        for number, parameter in enumerate(parameters):
            if types and number == frame.subject:
                if not self._is_a(types, parameter):
                    return None
                args.append(name)
                continue
            thing = self._fitting(things[number], parameter) if number in things else None
            if thing is None:
                return None
            args.append(thing)

        def make(names: Sequence[str]) -> Formula | None:
            if len({*names}) < len(names):
                raise NamedTwiceError(
                    f"{frame.predicate!r} names {names[0]!r} twice: name two things"
                )
            atom = Atom(frame.predicate, tuple(names))
            return atom if frame.positive else Not(atom)

        return self.nested(args, make)

    def _is_a(self, types: tuple[str, ...], parameter: TypedName) -> bool:
        return not types[0].startswith("=") and self.domain.has_type(types, parameter.types)

    def _related(self, mark: str, place: Thing) -> Property:
        """Return the property of being at a place, using the relation that fits best.

        Relations with the same preposition are preferred, then relations with one place per object,
        then those that actions change.
        """

        def said(name: str, types: tuple[str, ...]) -> Formula | None:
            ranked: dict[str, tuple[tuple[bool, bool, bool], Formula]] = {}
            for frame in self._relations:
                relation = frame.predicate
                alike = frame.mark in PLACES[mark]
                rank = (alike, self.one_at_a_time(relation), relation in self._changing)
                better = relation not in ranked or rank > ranked[relation][0]
                if any(rank) and (found := self._of_relation(frame, name, types, place)) and better:
                    ranked[relation] = rank, found
            best = [f for rank, f in ranked.values() if rank == max(r for r, _ in ranked.values())]
            return best[0] if len(best) == 1 else None

        return said

    def _of_relation(
        self, frame: FactFrame, name: str, types: tuple[str, ...], place: Thing
    ) -> Formula | None:
        slot = frame.tail[-1]
        assert isinstance(slot, int)
        if place.loose and name in place.members:
            place = place.replace(members=tuple(m for m in place.members if m != name))
        if isinstance(frame.subject, int) and types[0].startswith("="):
            return None
        return self._of_frame(frame, {slot: place}, name, types)

    @cached_property
    def _relations(self) -> tuple[FactFrame, ...]:
        return tuple(f for f in self.frames if f.mark and f.subject != "")

    @cached_property
    def _changing(self) -> Set[str]:
        actions = self.domain.actions.values()
        return {atom.predicate for action in actions for atom, _ in literals_of(action.effect)}

    def _linked(self, thing: Thing) -> Property:
        """Return the property of being related to an object in either direction: 'of the fiat'."""

        def said(name: str, types: tuple[str, ...]) -> Formula | None:
            found = []
            for frame in self._relations:
                if isinstance(frame.subject, int):
                    found.append(self._of_relation(frame, name, types, thing))
                    slot = frame.tail[-1]
                    parameters = self.domain.predicates[frame.predicate].parameters
                    other = self._fitting(thing, parameters[frame.subject])
                    if name in self.objects and self._is_a(types, parameters[int(slot)]) and other:
                        found.append(
                            self._of_frame(frame, {int(slot): Thing((name,)), frame.subject: other})
                        )
            known = list(dict.fromkeys(one for one in found if one is not None))
            return None if not known else known[0] if len(known) == 1 else Or(tuple(known))

        return said

    def _elsewhere(self, others: tuple[str, ...], place: Thing) -> Property:
        """Return the property of being somewhere else, even at a place that is not an object."""

        def said(name: str, types: tuple[str, ...]) -> Formula | None:
            unary = (self.domain.predicates[n].parameters for n in self._places)
            if any(len(p) == 1 and self._is_a(types, p[0]) for p in unary):
                here = self._related("at", place)(name, types)
                return None if here is None else Not(here)
            return self._related("at", Thing(others, SOME, loose=True))(name, types)

        return said

    def _received(self, who: Thing) -> Property:
        def said(name: str, _: tuple[str, ...]) -> Formula | None:
            for frame in self.frames if name in self.objects else ():
                owns = frame.positive and isinstance(frame.subject, int) and len(frame.tail) > 1
                slot = frame.tail[-1] if frame.tail else ""
                if owns and frame.tail[0] in _OWNING and isinstance(slot, int):
                    things = {slot: Thing((name,)), int(frame.subject): who}
                    if (found := self._of_frame(frame, things)) is not None:
                        return found
            return None

        return said

    def _beneath(self, _: str, thing: Thing) -> Property:
        def said(name: str, _: tuple[str, ...]) -> Formula | None:
            for frame in self._relations if name in self.objects else ():
                slot, subject = frame.tail[-1], frame.subject
                if frame.mark == "on" and isinstance(slot, int) and isinstance(subject, int):
                    return self._of_frame(frame, {slot: Thing((name,)), subject: thing})
            return None

        return said

    def _vacant(self, name: str, types: tuple[str, ...]) -> Formula | None:
        if name not in self.objects:
            return None
        found = []
        for frame in self._relations:
            slot, subject = int(frame.tail[-1]), frame.subject
            parameters = self.domain.predicates[frame.predicate].parameters
            changes = frame.predicate in self._changing and frame.predicate in self._places
            if changes and isinstance(subject, int) and self._is_a(types, parameters[slot]):
                kind = parameters[subject].types[0]
                every = Thing(tuple(self._members(kind)), NONE, kind)
                args = [name if n == slot else every for n in range(len(parameters))]
                none = self.nested(args, lambda a, p=frame.predicate: Atom(p, tuple(a)))  # type: ignore[misc]
                found += [none] if none is not None else []
        return all_of(list(dict.fromkeys(found))) if found else None

    def places_now(self, name: str) -> list[Atom]:
        """Return the facts that say where an object is now."""
        found = [
            atom
            for atom in sorted(self.problem.init, key=str)
            if atom.args[:1] == (name,) and atom.predicate in self._places
        ]
        return [atom for atom in found if len(atom.args) > 1] or found

    def _in_place(self, name: str, _: tuple[str, ...]) -> Formula | None:
        found = self.places_now(name)
        return all_of(found) if found else None


def all_of(formulas: Sequence[Formula]) -> Formula:
    return formulas[0] if len(formulas) == 1 else And(tuple(formulas))


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    return cast("tuple[Formula, ...]", formula.operands) if isinstance(formula, And) else (formula,)


def negation(formula: Formula) -> Formula:
    return cast(Formula, formula.operand) if isinstance(formula, Not) else Not(formula)


def _denied(said: Property) -> Property:
    def opposite(name: str, types: tuple[str, ...]) -> Formula | None:
        formula = said(name, types)
        return None if formula is None else negation(formula)

    return opposite


def first_of(ways: Sequence[Property]) -> Property | None:
    """Return a property that means, for each subject, the first applicable one of `ways`."""

    def said(name: str, types: tuple[str, ...]) -> Formula | None:
        found = (way(name, types) for way in ways)
        return next((formula for formula in found if formula is not None), None)

    return said if ways else None


def _pair(one: Property, other: Property, *, either: bool) -> Property:
    def said(name: str, types: tuple[str, ...]) -> Formula | None:
        pair = (one(name, types), other(name, types))
        known = tuple(formula for formula in pair if formula is not None)
        return None if len(known) < 2 else Or(known) if either else And(known)

    return said


def _counted(ones: Sequence[Formula], least: int, most: int | None) -> Iterator[Formula]:
    """Yield the conditions that at least `least` and at most `most` of some formulas hold."""
    for size in (least, len(ones) if most is None else most + 1):
        if comb(len(ones), min(size, len(ones))) > _MOST_COMBINATIONS:
            raise LanguageError(
                f"there are too many ways to choose {size} of {len(ones)} objects: name them"
            )
    if least > 0:
        choices = [all_of(chosen) for chosen in combinations(ones, least)]
        yield choices[0] if len(choices) == 1 else Or(tuple(choices))
    if most is not None and most < len(ones):
        for chosen in combinations(ones, most + 1):
            yield Not(all_of(chosen))
