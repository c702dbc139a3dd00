"""Statements about a scene, and whether they hold.

A statement is true, false, or unknown if the robot has not looked at all relevant places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from hvr.errors import LanguageError
from hvr.knowledge.ontology import BASIN, CONTAINS, FILLED, PLACE, PORTABLE, VESSEL
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.grammar import Reader
from hvr.language.lexicon import Adjective
from hvr.language.meaning import Meaning, Nearness
from hvr.language.object_choice import ObjectChoice
from hvr.language.spatial import is_near, is_part
from hvr.language.syntax import PART_OF, Adjunct, NounPhrase, Predication
from hvr.language.taxonomy import literals
from hvr.values import Value

Truth: TypeAlias = bool | None
"""Whether a statement holds; None if the robot has not seen enough to tell."""


class SceneView(Value):
    """What the robot knows about a scene, and the places into which it has not looked."""

    inventory: Inventory
    unseen: frozenset[str] = frozenset()


class SceneStatement(Value):
    """A statement that a certain number of the objects meant have a property.

    Args:
        things: The objects that the statement can be about.
        predicate: The property, or None for a statement of mere existence.
        where: A property that the objects meant must have: 'the mugs in the sink are clean'.
        every: Whether the statement is about all objects meant, not about some.
        denied: Whether the statement is negated as a whole: 'no mug is clean'.
        positive: Whether the predicate is affirmed; False in 'the mug is not clean'.
        least, most: Limits for the number of objects unless `every`: 'two mugs are clean'.
        open: Whether the statement is about all objects, even those that have not been seen yet.
    """

    things: tuple[str, ...]
    predicate: Predication | None
    where: Predication | None = None
    every: bool = False
    denied: bool = False
    positive: bool = True
    least: int = 1
    most: int | None = None
    open: bool = False

    @property
    def parts(self) -> tuple[SceneStatement, ...]:
        return (self,)

    @property
    def mentioned(self) -> tuple[str, ...]:
        return self.things


class CompoundStatement(Value):
    """Several statements, all of which must hold or, if `either`, at least one."""

    statements: tuple[Statement, ...]
    either: bool = False

    @property
    def parts(self) -> tuple[SceneStatement, ...]:
        """The simple statements, in the order of the words."""
        return tuple(part for statement in self.statements for part in statement.parts)

    @property
    def mentioned(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.things))


Statement: TypeAlias = SceneStatement | CompoundStatement


class StatementJudge:
    def __init__(self, reader: Reader, view: SceneView) -> None:
        self.reader = reader
        self.view = view
        self.taxonomy = reader.taxonomy
        self.inventory = view.inventory
        empty = Meaning("", (), (), 0)
        self._holds = ObjectChoice(empty, self.taxonomy, self.inventory, reader.domain).holds

    def truth(self, statement: Statement) -> Truth:
        if isinstance(statement, CompoundStatement):
            values = [self.truth(part) for part in statement.statements]
            return _any(values) if statement.either else _all(values)
        found = self._truth(statement)
        return None if found is None else found is not statement.denied

    def _truth(self, statement: SceneStatement) -> Truth:
        meant = [self._is_meant(name, statement.where) for name in statement.things]
        values = [self.holds_for(name, statement) for name in statement.things]
        if statement.open and self._named_places(statement) & self.view.unseen:
            values = [value or None for value in values]
        if not statement.every:
            joined = [_all(pair) for pair in zip(meant, values, strict=True)]
            return _counted(statement.least, statement.most, joined)
        found = _all(_any((_not(m), v)) for m, v in zip(meant, values, strict=True))
        if found is True and True not in meant:
            return None if None in meant else False
        return found

    def _is_meant(self, name: str, where: Predication | None) -> Truth:
        return True if where is None else self.fits(name, where)

    def holds_for(self, name: str, statement: SceneStatement) -> Truth:
        """Return whether the predicate of a statement holds for one object."""
        if statement.predicate is None:
            return True
        fits = self.fits(name, statement.predicate)
        return fits if statement.positive else _not(fits)

    def fits(self, name: str, predicate: Predication) -> Truth:
        values = [self._adjective(name, adjective) for adjective in predicate.adjectives]
        values += [self._adjunct(name, adjunct) for adjunct in predicate.adjuncts]
        return _all(values)

    def looks(self, statement: Statement) -> tuple[str, ...]:
        """Return the unseen places that can decide a statement, starting with those it names."""
        unknown = [part for part in statement.parts if self.truth(part) is None]
        return tuple(dict.fromkeys(place for part in unknown for place in self._looks(part)))

    def _looks(self, statement: SceneStatement) -> tuple[str, ...]:
        unseen = self.view.unseen
        named = sorted(self._named_places(statement), key=list(self.inventory.classes).index)
        things = () if statement.open else statement.things
        names = [name for name in things if self._hides(name, statement)]
        inside = [p for n in names for p in self.above(n)]
        chosen = dict.fromkeys(n for n in (*named, *things, *inside) if n in unseen)
        if not chosen and any(name in self.inventory.unplaced for name in statement.things):
            chosen = dict.fromkeys(sorted(unseen))
        return tuple(chosen)

    def _named_places(self, statement: SceneStatement) -> frozenset[str]:
        said = [p for p in (statement.where, statement.predicate) if p is not None]
        places = [t for p in said for a in p.adjuncts if a.kind == "place" for t in a.things]
        return frozenset(name for thing in places for name in self.things(thing))

    def _hides(self, name: str, statement: SceneStatement) -> bool:
        unknown = (self._is_meant(name, statement.where), self.holds_for(name, statement))
        return None in unknown

    def things(self, thing: NounPhrase, *, anything: bool = False) -> tuple[str, ...]:
        """Return the objects that a noun phrase can mean; empty if none fits the description.

        Args:
            anything: Whether "anything" includes furniture: 'is anything open?'

        Raises:
            LanguageError: The phrase names a missing object or is not a noun phrase.
        """
        if thing.kind == "name":
            if thing.text not in self.inventory.classes:
                raise LanguageError(f"there is no {thing.text} here")
            return (thing.text,)
        if thing.kind == "everything":
            every = self.inventory.classes
            names = [n for n in every if anything or self.inventory.true("pickupable", n)]
        elif thing.kind == "slices" and thing.of is not None:
            classes = {p for c in thing.of.classes for p in self.taxonomy.slices(c)}
            names = [n for n, c in self.inventory.classes.items() if c in classes]
        elif thing.nouns:
            names = [n for c in thing.classes for n in self.inventory.of(c)]
            if not names:  # a light is switched by its switch
                kinds = set(self.taxonomy.concrete_of(thing.classes))
                controls = sorted(self.taxonomy.with_controls(kinds) - kinds)
                names = [n for c in controls for n in self.inventory.of(c)]
        else:
            raise LanguageError(f"it is not clear which thing {thing.text!r} is")
        there = [n for n in names if self.taxonomy.is_there(self.inventory, n)]
        for adjective in thing.adjectives:
            there = [n for n in there if self._adjective(n, adjective)]
        if thing.relative:
            there = [n for n in there if self.fits(n, thing.relative)]
        for near in thing.nearby:
            others = [name for other in near.things for name in self.things(other)]
            there = [n for n in there if self._is_beside(n, others, near.word)] or there
        return tuple(dict.fromkeys(there))

    def near(self, word: str, name: str) -> Nearness:
        """Return the condition that something is near an object: `next to` the alarm clock."""
        return Nearness(word, (self.inventory.classes[name],), name, name)

    def _is_beside(self, name: str, others: Sequence[str], word: str) -> bool:
        if word == PART_OF:
            return any(is_part(self.inventory, name, other) for other in others)
        return any(is_near(self.inventory, name, other, word) for other in others)

    def _adjective(self, name: str, adjective: Adjective) -> Truth:
        if adjective.requires and not self.taxonomy.is_a(
            self.inventory.classes[name], adjective.requires
        ):
            return False
        asked = literals(adjective.condition)
        if {p for p, _ in asked} == {self.taxonomy.roles.predicate(FILLED)}:
            return self._filled(name, next(iter(asked))[1])
        return None if self._is_hidden(name) else self._holds(adjective.condition, name)

    def _is_hidden(self, name: str) -> bool:
        unseen = self.view.unseen
        return name in self.inventory.unplaced or not unseen.isdisjoint(self.above(name))

    def _filled(self, name: str, wanted: bool) -> Truth:
        values: list[Truth] = []
        kind = self.inventory.classes[name]
        if self.taxonomy.plays(kind, VESSEL):
            values.append(self._holds(f"({self.taxonomy.roles.predicate(FILLED)} ?x)", name))
        if self.taxonomy.plays(kind, PLACE):
            values.append(self._has(name, lambda _: True))
        found = _any(values)
        return None if found is None else found is wanted

    def _has(self, place: str, suits: Callable[[str], bool]) -> Truth:
        if place in self.view.unseen:
            return None
        return any(suits(name) for name in self.inventory.contents.get(place, ()))

    def above(self, name: str) -> list[str]:
        chain: list[str] = []
        while (parent := self.inventory.parents.get(name)) is not None and parent not in chain:
            chain.append(parent)
            name = parent
        return chain

    def _adjunct(self, name: str, adjunct: Adjunct) -> Truth:
        if adjunct.kind == "hand":
            return name in self.inventory.held
        if adjunct.kind in {"place", "from"}:
            places = {p for thing in adjunct.things for p in self._places(thing)}
            found = places.intersection(self._holders(name))
            if found:
                return None if found & self.view.unseen else True
            return None if self._is_hidden(name) and places & self.view.unseen else False
        if adjunct.kind == "with":
            return _all(self._contains(name, thing) for thing in adjunct.things)
        if adjunct.kind == "unplaced":
            others = [n for thing in adjunct.things for n in self.things(thing) if n != name]
            return self._is_beside(name, others, adjunct.word)
        raise LanguageError(f"hvr cannot tell whether something is {adjunct.word!r}: name a place")

    def _holders(self, name: str) -> list[str]:
        """Return the places that hold an object; an object on the bed is not on the floor."""
        above, classes = self.above(name), self.inventory.classes
        fixed = next(
            (
                n
                for n, p in enumerate(above)
                if not self.taxonomy.any_plays((classes[p],), PORTABLE)
            ),
            0,
        )
        return above[: fixed + 1]

    def _places(self, thing: NounPhrase) -> tuple[str, ...]:
        named, classes = self.things(thing), self.inventory.classes
        if any(self.taxonomy.plays(classes[name], BASIN) for name in named):
            around = (n for c in self.taxonomy.with_role(BASIN) for n in self.inventory.of(c))
            return (*named, *around)  # what stands on the rim of a sink is in it, too
        return named

    def _contains(self, name: str, thing: NounPhrase) -> Truth:
        liquid = thing.dish.liquid if thing.dish else None
        liquid = liquid or next((x for c in thing.classes if (x := self.taxonomy.liquid(c))), None)
        if liquid:
            return self.inventory.true(CONTAINS, name, liquid)
        wanted = set(self.things(thing))
        found = self._has(name, lambda inner: inner in wanted)
        known = thing.kind != "everything" and not any(map(self._is_hidden, wanted))
        return False if found is None and known else found

    # --- words ---------------------------------------------------------------------------

    def called(self, name: str) -> str:
        """Return the phrase for an object: 'the fridge', or 'mug-1' if there are several mugs."""
        kind = self.inventory.classes[name]
        if sum(c == kind for c in self.inventory.classes.values()) == 1:
            return f"the {self.taxonomy.label(kind)}"
        return name

    def where(self, name: str) -> str:
        if name in self.inventory.held:
            return "in the hand"
        parent = self.inventory.parents.get(name)
        if parent is None:
            return "not seen yet" if name in self.inventory.unplaced else "standing on its own"
        relation = self.taxonomy.relation(self.inventory.classes[parent])
        return f"{relation} {self.called(parent)}"

    def described(self, name: str) -> str:
        """Return the phrase for an object with its place, to distinguish it from others."""
        if name not in self.inventory.held and not self.taxonomy.any_plays(
            (self.inventory.classes[name],), PORTABLE
        ):
            return self.called(name)
        return f"{self.called(name)}, {self.where(name)}"


def _all(values: Iterable[Truth]) -> Truth:
    found = list(values)
    return False if False in found else None if None in found else True


def _any(values: Iterable[Truth]) -> Truth:
    found = list(values)
    return True if True in found else None if None in found else False


def _not(value: Truth) -> Truth:
    return None if value is None else not value


def _counted(least: int, most: int | None, values: Sequence[Truth]) -> Truth:
    true, unknown = values.count(True), values.count(None)
    if true + unknown < least or (most is not None and true > most):
        return False
    sure = true >= least and (most is None or true + unknown <= most)
    return True if sure else None
