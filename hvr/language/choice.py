"""The objects of a scene that the entities of a request can be.

In three passes, each over all entities before the next one begins: what is asked moves to the
pieces or the liquid that it can be true of (`_adapt`), each entity gets the classes that the
scene has and that go where they are asked to go (`_choose`), and descriptions such as 'the dirty
one in the sink' leave only some of the objects (`_select`). Whether a class suits depends on
the classes of the other entities, which is why the passes are not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from hvr.errors import ImpossibleGoalError, MissingObjectError
from hvr.language.instead import possible
from hvr.language.literals import asks, in_words
from hvr.language.meaning import PORTION, Condition, Entity, Meaning, SpatialRelation
from hvr.language.nearness import narrowed
from hvr.language.singling import single_out, stands_at
from hvr.language.taxonomy import Taxonomy
from hvr.pddl.model import Domain, TypedName
from hvr.pddl.parser import parse_formula
from hvr.retrieval.inventory import PLACEHOLDER, Inventory

MANY = 15
"""Most things that one request moves: each is a goal of its own for the planner, whose time grows
with every one."""

_HOT = re.compile(r"\(or \(hot \?x\) \(warm_liquid \?x\)\)|\(hot \?x\)")


class ObjectChoice:
    """The entities of a request with the classes and objects that they can be in a scene.

    Args:
        meaning: the request.
        taxonomy: the class hierarchy.
        inventory: what there is.
        domain: the predicates.

    Raises:
        ImpossibleGoalError: the scene lacks something.
    """

    def __init__(
        self, meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain
    ) -> None:
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.domain = domain
        self.notes: list[str] = list(meaning.notes)
        self.relations: tuple[SpatialRelation, ...] = meaning.relations
        self.ordered = meaning.ordered
        self._asked = meaning.entities
        self.entities = [self._adapt(n) for n in range(len(meaning.entities))]
        self.classes = [self._choose(n) for n in range(len(self.entities))]
        for number in self.numbers:
            entity, pool = self.entities[number], self.available(number)
            among = partial(self._among, pool)
            self.entities[number], told = possible(
                entity, self.classes[number], self.taxonomy, among
            )
            list(map(self.note, told))
        self._names: dict[int, tuple[str, ...]] = {}
        for number in sorted(self.numbers, key=lambda n: bool(self.entities[n].besides)):
            self._names[number] = self._select(number)
            self._bind_source(number)

    @property
    def numbers(self) -> list[int]:
        """The entities that have not been merged into others or dropped."""
        return [n for n, entity in enumerate(self.entities) if entity.classes]

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    # --- asking --------------------------------------------------------------------------

    def any_is(self, classes: Iterable[str], wanted: str) -> bool:
        """Return whether any of some classes is, or lies below, another."""
        return any(self.taxonomy.is_a(c, wanted) for c in classes)

    def label(self, number: int) -> str:
        """Return the everyday name of an entity."""
        classes = self.classes[number] or self.entities[number].classes
        return self.taxonomy.label(classes[0]) if classes else self.entities[number].text

    def fits(self, inner: str, outer: str) -> bool:
        """Return whether things of one class may be put on or in things of another."""
        return outer in self.taxonomy.places(inner)

    def is_piece(self, number: int) -> bool:
        """Return whether an entity results from slicing or cracking."""
        return any(self.taxonomy.source(c) for c in self.classes[number])

    def available(self, number: int) -> tuple[str, ...]:
        """Return all objects of the classes of an entity, preferred first."""
        return tuple(n for c in self.classes[number] for n in self.inventory.of(c))

    def names(self, number: int) -> tuple[str, ...]:
        """Return the objects an entity is narrowed down to; empty if any of its classes will do."""
        return self._names.get(number, ())

    def pool(self, number: int) -> tuple[str, ...]:
        """Return the objects an entity can be, preferred first."""
        return self.names(number) or self.available(number)

    def copies(self, number: int) -> int:
        """Return how many of an entity are wanted; all that can be meant for 0.

        Raises:
            ImpossibleGoalError: there are fewer.
        """
        wanted, every = self.entities[number].count, len(self.pool(number))
        if self.entities[number].apart:
            wanted = sum(self.copies(n) for n in self.inside(number)) or wanted
        if wanted == 0:
            return every
        if wanted < 0:  # 'some': two are the fewest that make a plural
            return min(2, every)
        places = [len(self.pool(r.outer)) for r in self.relations
                  if r.inner == number and self.entities[r.outer].each]  # fmt: skip
        count = wanted * max(places, default=1)  # 'a fork in each drawer'
        here = len(self.available(number))
        if count > here:
            labels = " or ".join(self.taxonomy.label(c) for c in self.classes[number])
            raise ImpossibleGoalError(
                f"{self.inventory.scene} has only {here} {labels}, not {count}"
            )
        return count

    def inside(self, number: int) -> list[int]:
        """Return the entities that shall be on or in another, in the order of the request."""
        inner = (r.inner for r in self.relations if r.outer == number)
        return [n for n in dict.fromkeys(inner) if self.entities[n].classes]

    # --- classes -------------------------------------------------------------------------

    def _adapt(self, number: int) -> Entity:
        """Ask of pieces what the whole cannot be, and of liquids what vessels cannot.

        Eggs are cooked cracked, bread is toasted in slices; hot water is warm, its cup is not.
        """
        entity = self._asked[number]
        conditions = entity.conditions
        if entity.liquid:
            # The condition is on the vessel, the only object the domain has for the liquid.
            conditions = tuple(
                replace(c, template=_HOT.sub("(warm_liquid ?x)", c.template)) for c in conditions
            )
            return replace(entity, conditions=conditions)
        classes = entity.classes
        needed = [c.requires for c in conditions if c.requires]
        needed += ["Cookable" for c in conditions if asks(c.template, "cooked")]
        needed += ["Toastable" for c in conditions if asks(c.template, "toasted")]
        for affordance in needed:
            # One after the other: each affordance narrows what the one before has left.
            able = tuple(c for c in classes if self.taxonomy.is_a(c, affordance))
            pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c))
                           and self.taxonomy.is_a(p, affordance))  # fmt: skip
            if entity.group and able:
                continue  # of a group, `_fitting` leaves out what cannot be meant
            classes = able or pieces or classes
        classes = self._for_places(number, self._loosely(number, classes))
        boiled = [c for c in conditions if c.word in {"boil", "be boiled"}]
        if boiled and self.any_is(classes, "Cookable"):
            conditions = (*conditions, Condition("(cooked ?x)", boiled[0].clause, "boil"))
        return replace(entity, classes=classes, conditions=conditions)

    def _loosely(self, number: int, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Return what people confuse a thing with, if only that goes where it is to be: 'a cup' in
        a coffee machine is a mug.
        """
        single = [self._asked[r.outer].classes for r in self.relations if r.inner == number
                  and self.any_is(self._asked[r.outer].classes, "SingleSlot")]  # fmt: skip
        if not single or any(self.fits(c, o) for c in classes for o in single[0]):
            return classes
        pairs = self.taxonomy.ontology.pairs("confusedWith")
        like = (b if a in classes else a for a, b in pairs if {a, b} & set(classes))
        others = tuple(c for c in like if any(self.fits(c, o) for o in single[0]))
        for other in others[:1]:
            self.note(f"read {self._asked[number].text!r} as {self.taxonomy.label(other)!r}, "
                      f"since only that goes there")  # fmt: skip
        return others[:1] or classes

    def _for_places(self, number: int, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the pieces if only they go where the whole is to be: bread in a toaster."""
        for relation in self.relations:
            # Not `self.entities`, which is being made just now.
            outers = self._asked[relation.outer].classes
            if relation.inner != number or not outers:
                continue
            pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
            whole = any(self.fits(c, o) for c in classes for o in outers)
            if not whole and any(self.fits(p, o) for p in pieces for o in outers):
                classes = pieces
        return classes

    def _choose(self, number: int) -> tuple[str, ...]:
        """Return the classes an entity is taken from in this scene.

        A group ('a fruit') keeps all of them; of classes in order of preference ('a mug, else a
        cup') the first is taken of which the scene has enough.

        Raises:
            ImpossibleGoalError: the scene has nothing that the entity can be.
        """
        entity = self.entities[number]
        if not entity.classes:
            return ()
        if entity.name and entity.name not in self.inventory.classes:
            known = self.inventory.of(self._asked[number].classes[0])
            raise ImpossibleGoalError(
                f"{self.inventory.scene} has no {entity.name}"
                + (f"; it has {', '.join(known)}" if known else "")
            )
        fitting = self._fitting(number)
        present = [c for c in fitting if self.inventory.of(c)]
        if not present:
            text = entity.text
            if entity.unnamed:
                text = f"{self.taxonomy.label(fitting[0])} for {text!r}"
            raise MissingObjectError(self.inventory.scene, tuple(fitting), text)
        if entity.group:
            return tuple(present)
        enough = [c for c in present if len(self.inventory.of(c)) >= entity.count]
        if not enough and entity.unnamed:
            return tuple(present)  # two coffees: one in a mug, one in a cup
        best = (enough or present)[0]
        if not enough and entity.count > 1 and (kinds := self._also_called(best)):
            return (best, *kinds)
        if len(entity.classes) > 1 and best != fitting[0]:
            missing = self.taxonomy.label(fitting[0])
            self.note(f"no {missing} here: using the {self.taxonomy.label(best)}")
        return (best,)

    def _also_called(self, object_class: str) -> tuple[str, ...]:
        """Return the classes here whose names end in that of a class: butter knives are knives."""
        label = f" {self.taxonomy.label(object_class)}"
        here = dict.fromkeys(self.inventory.classes.values())
        kinds = tuple(c for c in here if self.taxonomy.label(c).endswith(label))
        for kind in kinds:
            self.note(f"counting the {self.taxonomy.label(kind)}, too")
        return kinds

    def _fitting(self, number: int) -> list[str]:
        """Return the classes that can be what is asked; where all are meant, note those that
        cannot.

        All classes if none can: `checks` then says why, which is more than that none is here.
        """
        entity = self.entities[number]
        classes = list(entity.classes)
        if entity.count != 0:
            return [c for c in classes if self._suits(number, c)] or classes
        able = [c for c in classes if self._able(number, c)]
        left_out = [self.taxonomy.label(c) for c in classes
                    if able and c not in able and self.inventory.of(c)]  # fmt: skip
        if left_out:
            self.note(f"left out, since it does not go with them: {', '.join(left_out)}")
        return able or classes

    def _able(self, number: int, object_class: str) -> bool:
        """Return whether things of a class have the affordances that the conditions ask for."""
        entity = self.entities[number]
        if entity.liquid and not self.taxonomy.is_a(object_class, "Fillable"):
            return False
        return all(
            self.taxonomy.is_a(object_class, c.requires) for c in entity.conditions if c.requires
        )

    def _suits(self, number: int, object_class: str) -> bool:
        """Return whether things of a class can be, and can be put, as asked."""
        places = all(
            any(self.fits(object_class, outer) for outer in self.entities[r.outer].classes)
            for r in self.relations
            if r.inner == number and self.entities[r.outer].classes
        )
        contents = all(
            any(self.fits(inner, object_class) for inner in self.entities[r.inner].classes)
            for r in self.relations
            if r.outer == number and self.entities[r.inner].classes
        )
        return places and contents and self._able(number, object_class)

    # --- objects -------------------------------------------------------------------------

    def _select(self, number: int) -> tuple[str, ...]:
        """Return the objects that a description fits; empty if it fits all.

        A description that fits nothing is given up with a note rather than refused: 'the dirty
        mug' where all are clean still means a mug.

        Raises:
            ImpossibleGoalError: more things than one request moves are meant.
        """
        entity = self.entities[number]
        everything = self.available(number)
        chosen = self._own_name(number) or self._pieces(number) or everything
        every = entity.count == 0
        if every and entity.cut_from is None and (entity.group or not self.is_piece(number)):
            chosen = tuple(n for n in chosen if self.inventory.true("present", n))
        for template in entity.selectors:
            fitting = tuple(n for n in chosen if self.holds(template, n))
            if not fitting and every and chosen:
                self.note(f"none of the {entity.text} here is {in_words(template)}")
                self.entities[number] = replace(entity, classes=())
                return ()
            if not fitting:
                what = entity.text if entity.group else self.label(number)
                self.note(f"no {what} here is {in_words(template)}: taking any")
            chosen = fitting or chosen
        if entity.holding:
            chosen = tuple(n for n in chosen if self._holds_one_of(n, entity.holding)) or chosen
        if entity.place_from:
            fitting = tuple(n for n in chosen if stands_at(self.inventory, n, entity))
            if not fitting and entity.group and entity.count == 0:
                place = entity.from_name or self.taxonomy.label(entity.place_from[0])
                self.note(f"nothing to be moved is on or in the {place}")
                self.entities[number] = replace(entity, classes=())
                return ()
            if not fitting:
                self.note(self._elsewhere(number, chosen))
            chosen = fitting or chosen
        if entity.near:
            chosen, told = narrowed(self.inventory, entity, chosen)
            list(map(self.note, told))
            kinds = {self.inventory.classes[name] for name in chosen}
            self.classes[number] = tuple(c for c in self.classes[number] if c in kinds)
        chosen = self._left(number, chosen)
        chosen = single_out(entity, chosen, self.inventory, self.holds)
        if entity.returns is not None and entity.count > 0:
            chosen = chosen[: entity.count]  # where it was depends on which it is
        if every and entity.group and self._asked_of(number):
            changing = self._changing(number, chosen)
            if changing > MANY:
                raise ImpossibleGoalError(
                    f"{entity.text!r} are {changing} things here: name fewer than {MANY + 1}"
                )
        if every:
            chosen = self._portion(number, chosen)
            self.classes[number] = tuple(
                c for c in self.classes[number] if set(self.inventory.of(c)) & set(chosen)
            )
            return chosen
        return () if chosen == everything else chosen

    def _holds_one_of(self, place: str, classes: tuple[str, ...]) -> bool:
        """Return whether something of some classes is on or in a place at the start."""
        return any(self.inventory.parents.get(n) == place
                   for c in classes for n in self.inventory.of(c))  # fmt: skip

    def _left(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """Return the objects that are left of some when those of other entities are taken out.

        Raises:
            ImpossibleGoalError: none is left.
        """
        entity = self.entities[number]
        taken: set[str] = set()
        if entity.distinct and not self._alike_before(number):
            # 'to the other table': not where it stands
            taken.update(filter(None, (self.inventory.parents.get(n) for i in self.inside(number)
                                       for n in self.pool(i)[: self.copies(i)])))  # fmt: skip
        for other in entity.besides:
            names = self.pool(other)
            if entity.rest and self.entities[other].classes:
                near = tuple(n for n in names if n in chosen) or names
                names = self._names[other] = near[: self.copies(other)]
            taken.update(names)
        left = tuple(n for n in chosen if n not in taken)
        left = left[: len(left) - entity.spare] if entity.spare else left
        if not left and (taken or entity.spare):
            raise ImpossibleGoalError(f"{self.inventory.scene} has no other {self.label(number)}")
        return left

    def _changing(self, number: int, names: Iterable[str]) -> int:
        """Return of how many objects something is asked that does not hold of them yet."""
        conditions = self.entities[number].conditions
        if any(number in (r.inner, r.outer) for r in self.relations):
            return len(tuple(names))
        return sum(not all(self.holds(c.template, n) for c in conditions) for n in names)

    def _alike_before(self, number: int) -> bool:
        """Return whether a thing of the same kind was named before."""
        kinds = set(self.classes[number])
        return any(kinds & set(self.classes[n]) for n in self.numbers if n < number)

    def _asked_of(self, number: int) -> bool:
        """Return whether anything is asked of an entity: pieces may only be spoken of later."""
        related = any(number in (r.inner, r.outer) for r in self.relations)
        return related or bool(self.entities[number].conditions)

    def _portion(self, number: int, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """Return no more pieces than fit on a dish, if they are to be put on one."""
        on_dish = any(
            r.inner == number and self.any_is(self.entities[r.outer].classes, "PortableReceptacle")
            for r in self.relations
        )
        if not (on_dish and self.is_piece(number)) or len(chosen) <= PORTION:
            return chosen
        self.note(f"a dish takes {PORTION} of the {len(chosen)} pieces: {self.label(number)}")
        return chosen[:PORTION]

    def _own_name(self, number: int) -> tuple[str, ...]:
        """Return the object named, or its pieces if only they can be what is asked."""
        entity = self.entities[number]
        if entity.name is None:
            return ()
        # `_adapt` has changed the classes exactly if it is the pieces that are meant.
        if entity.classes == self._asked[number].classes:
            return (entity.name,)
        return tuple(p for p, s in self.inventory.pairs("piece_of") if s == entity.name)

    def _pieces(self, number: int) -> tuple[str, ...]:
        """Return the pieces that can be meant; for all slices, those that are there or else those
        that the nearest source gives.
        """
        entity = self.entities[number]
        if (entity.group and entity.cut_from is None) or not self.is_piece(number):
            return ()
        pairs = [(p, s) for p, s in self.inventory.pairs("piece_of")
                 if self.inventory.classes[p] in self.classes[number]]  # fmt: skip
        pairs.sort(key=lambda pair: int(pair[0].rsplit("-", 1)[1]))
        if entity.cut_from is not None:
            sources = self.pool(entity.cut_from)
            if entity.count == 0:  # 'slice a tomato and fry the slices': those of one tomato
                sources = sources[: self.copies(entity.cut_from)]
            return tuple(p for p, s in pairs if s in sources)
        if entity.count != 0:
            return ()
        present = tuple(p for p, _ in pairs if self.inventory.true("present", p))
        if present:
            return present
        owners = {s for _, s in pairs}
        nearest = next((s for c in sorted({self.inventory.classes[s] for s in owners})
                        for s in self.inventory.of(c) if s in owners), None)  # fmt: skip
        return tuple(p for p, s in pairs if s == nearest)

    def _bind_source(self, number: int) -> None:
        """Fix the object that is cut if all its slices are meant.

        The slices were chosen from the first of the pool; without this the planner could cut
        another one, whose slices nobody asked for.
        """
        entity = self.entities[number]
        if (
            entity.cut_from is not None
            and entity.count == 0
            and len(self.pool(entity.cut_from)) > 1
        ):
            sources = self.pool(entity.cut_from)[: self.copies(entity.cut_from)]
            self._names[entity.cut_from] = sources

    def _among(self, names: Iterable[str], template: str) -> str:
        """Return of how many of some objects a condition holds: `all`, `some` or `none`."""
        held = {self.holds(template, name) for name in names}
        return "some" if len(held) > 1 else "all" if held == {True} else "none"

    def holds(self, template: str, name: str) -> bool:
        """Return whether a condition on `?x` holds of an object at the start."""
        formula = parse_formula(
            template.replace("?x", PLACEHOLDER), self.domain, [TypedName(PLACEHOLDER, ("item",))]
        )
        return self.inventory.holds(formula, name)

    def _elsewhere(self, number: int, chosen: tuple[str, ...]) -> str:
        entity = self.entities[number]
        place = entity.from_name or self.taxonomy.a_label(entity.place_from[0])
        where = self.inventory.parents.get(chosen[0], "elsewhere")
        return f"no {self.label(number)} is on or in {place}: {chosen[0]} is at {where}"
