"""The choice of classes in a scene for the entities of a request.

Two passes run over all entities. First, a condition that an object cannot satisfy as a whole is
moved to its pieces or its liquid (`_adapt`). Then each entity gets classes that exist in the scene
and fit the requested places (`_choose`). Whether a class fits depends on the classes of the other
entities, so the passes cannot be merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hvr.errors import ImpossibleGoalError, MissingObjectError
from hvr.knowledge.ontology import SLOT, VESSEL, Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.meaning import Condition, Entity, Meaning, SpatialRelation
from hvr.language.taxonomy import Taxonomy, asks, literals
from hvr.values import Value

# Remainder ----------------------------------------------------------------------------------------
# The rest of a cut object: 'toast a slice of bread and put the bread in the fridge'.


def with_remainders(
    meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory
) -> tuple[Entity, ...]:
    """Return the entities, with an object replaced by its remaining pieces if only these are meant.

    They are meant if the request puts other pieces of the object somewhere else.
    """
    entities = list(meaning.entities)
    for number, entity in enumerate(entities):
        pieces = _pieces_of(entity, entities, taxonomy, inventory)
        others = _elsewhere(number, pieces, meaning)
        if others and entity.besides != others:
            entities[number] = entity.replace(
                classes=pieces, count=0, every=True, besides=others, rest=True
            )
    return tuple(entities)


def _pieces_of(
    entity: Entity, entities: list[Entity], taxonomy: Taxonomy, inventory: Inventory
) -> tuple[str, ...]:
    if entity.group or entity.liquid or len(entity.classes) != 1:
        return ()
    kind = entity.classes[0]
    if taxonomy.source(kind) is not None:
        return (kind,) if entity.count == 0 and not entity.besides else ()
    pieces = taxonomy.pieces(kind)
    cut = any(pieces in other.classes for other in entities)
    own = any(taxonomy.cuts(c.template) for c in entity.conditions)
    single = len(inventory.of(kind)) == 1  # another whole may be meant
    return (pieces,) if pieces and cut and single and not own else ()


def _elsewhere(number: int, pieces: tuple[str, ...], meaning: Meaning) -> tuple[int, ...]:
    places = {r.outer for r in meaning.relations if r.inner == number}
    whole = not set(meaning.entities[number].classes) & set(pieces)
    placed = {r.inner: r.outer for r in meaning.relations}
    return tuple(
        n
        for n, other in enumerate(meaning.entities)
        if places
        and n != number
        and other.count > 0
        and set(other.classes) & set(pieces)
        and (
            placed[n] not in places
            if n in placed
            else bool(other.conditions) and (whole or n < number)
        )
    )


# --------------------------------------------------------------------------------------------------


class ClassChoice:
    """The entities of a request with the classes that they can have in a scene."""

    def __init__(self, meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory) -> None:
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.notes: list[str] = list(meaning.notes)
        self.relations: tuple[SpatialRelation, ...] = meaning.relations
        self.ordered = meaning.ordered
        self._asked = with_remainders(meaning, taxonomy, inventory)
        self.moves = meaning.moves
        self.entities = [self._adapt(n) for n in range(len(meaning.entities))]
        self.classes = [self._choose(n) for n in range(len(self.entities))]

    @property
    def numbers(self) -> list[int]:
        """Indices of the entities that have not been dropped or merged into others."""
        return [n for n, entity in enumerate(self.entities) if entity.classes]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # --- queries -------------------------------------------------------------------------

    def any_is(self, classes: Iterable[str], wanted: str) -> bool:
        return any(self.taxonomy.is_a(c, wanted) for c in classes)

    def label(self, number: int) -> str:
        classes = self.classes[number] or self.entities[number].classes
        return self.taxonomy.label(classes[0]) if classes else self.entities[number].text

    def fits(self, inner: str, outer: str) -> bool:
        return outer in self.taxonomy.places(inner)

    def is_piece(self, number: int) -> bool:
        return any(self.taxonomy.source(c) for c in self.classes[number])

    def available(self, number: int) -> tuple[str, ...]:
        """Return all objects that an entity can mean, preferred objects first."""
        return tuple(n for c in self.classes[number] for n in self.inventory.of(c))

    # --- classes -------------------------------------------------------------------------

    def _adapt(self, number: int) -> Entity:
        # Eggs are cooked after cracking and bread is toasted in slices. Hot water is warm, but its
        # cup is not.
        entity = self._asked[number]
        conditions = entity.conditions
        methods = self.taxonomy.methods
        if entity.liquid:
            # The condition applies to the vessel, since the domain has no liquid objects.
            conditions = tuple(
                c.replace(template=methods.of_contents(c.template)) for c in conditions
            )
            return entity.replace(conditions=conditions)
        classes = entity.classes
        needed = [c.requires for c in conditions if c.requires]
        needed += [
            affordance
            for predicate, affordance in methods.requirements.items()
            for c in conditions
            if asks(c.template, predicate)
        ]
        for affordance in needed:
            # In sequence: each affordance narrows the result of the previous one.
            able = tuple(c for c in classes if self.taxonomy.is_a(c, affordance))
            pieces = tuple(
                p
                for c in classes
                if (p := self.taxonomy.pieces(c)) and self.taxonomy.is_a(p, affordance)
            )
            if entity.group and able:
                continue  # for a group, `_fitting` drops the unsuitable classes
            classes = able or pieces or classes
        classes = self._more_exactly(number, self._loosely(number, classes))
        classes = self._for_places(number, classes)
        for condition in conditions:
            also = methods.also(condition.template)
            can = [c for p, c in methods.requirements.items() if asks(also, p)]
            if also and all(self.any_is(classes, c) for c in can):
                conditions = (*conditions, Condition(also, condition.clause, condition.word))
                break
        return entity.replace(classes=classes, conditions=conditions)

    def _loosely(self, number: int, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Return a similar class if only it fits the place ('a cup': a mug), else `classes`."""
        single = [
            self._asked[r.outer].classes
            for r in self.relations
            if r.inner == number and self.taxonomy.any_plays(self._asked[r.outer].classes, SLOT)
        ]
        if not single or any(self.fits(c, o) for c in classes for o in single[0]):
            return classes
        pairs = self.taxonomy.ontology.pairs("confusedWith")
        like = (b if a in classes else a for a, b in pairs if {a, b} & set(classes))
        others = tuple(c for c in like if any(self.fits(c, o) for o in single[0]))
        for other in others[:1]:
            self.note(
                f"read {self._asked[number].text!r} as {self.taxonomy.label(other)!r}, "
                f"since only that goes there"
            )
        return others[:1] or classes

    def _more_exactly(self, number: int, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Return more specific classes if only these fit a requested place, else `classes`."""
        # A butter knife is a knife, and only it goes into a cup. AI2-THOR's table of usual places
        # decides even if any placement is allowed.
        usual = self.taxonomy.usual_places
        for relation in self.relations:
            outers = set(self._asked[relation.outer].classes)
            if relation.inner != number or not outers or any(outers & usual(c) for c in classes):
                continue
            exact = tuple(
                e
                for c in classes
                for e in self.taxonomy.more_exact(c)
                if outers & usual(e) and self.inventory.of(e)
            )
            if exact:
                text, label = self._asked[number].text, self.taxonomy.label(exact[0])
                self.note(f"read {text!r} as {label!r}, since only that goes there")
                return exact
        return classes

    def _for_places(self, number: int, classes: tuple[str, ...]) -> tuple[str, ...]:
        """Replace `classes` by the classes of their pieces if only pieces fit the place."""
        for relation in self.relations:
            # `self.entities` is still under construction here.
            outers = self._asked[relation.outer].classes
            if relation.inner != number or not outers:
                continue
            pieces = tuple(p for c in classes if (p := self.taxonomy.pieces(c)))
            whole = any(self.fits(c, o) for c in classes for o in outers)
            if not whole and any(self.fits(p, o) for p in pieces for o in outers):
                classes = pieces
        return classes

    def _turns(self, condition: str, kind: str) -> bool:
        parts, true = literals(condition), self.inventory.true
        return any(
            true(p, name) != wanted for name in self.inventory.of(kind) for p, wanted in parts
        )

    def _choose(self, number: int) -> tuple[str, ...]:
        # A group ('a fruit') keeps all classes. In an order of preference ('a mug, else a cup') the
        # first class with enough objects wins.
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
        if not present and (others := self._carrying(fitting)):
            self._restrict(number, *others)
            return others[1]
        if not present and (kinds := self._kinds_of(fitting)):
            self.note(f"no {entity.text} here: using {self._listed(kinds)}")
            return kinds
        if not present and (kinds := self._otherwise(fitting)):
            self.note(f"no {entity.text} here: using {self._listed(kinds)}")
            return kinds
        if not present:
            text = entity.text
            if entity.unnamed:
                text = f"{self.taxonomy.label(fitting[0])} for {text!r}"
            raise MissingObjectError(self.inventory.scene, tuple(fitting), text)
        exact = any(self.taxonomy.label(c).endswith(entity.text) for c in present)
        if entity.turns and not (exact or any(self._turns(entity.turns, c) for c in present)):
            kinds = self._otherwise(fitting)  # 'turn off the light' means no lamp that is off
            if any(self._turns(entity.turns, c) for c in kinds):
                return kinds
        if entity.group:
            return tuple(present)
        enough = [c for c in present if len(self.inventory.of(c)) >= entity.count]
        if not enough and entity.unnamed:
            return tuple(present)  # two coffees: one in a mug, one in a cup
        best = (enough or present)[0]
        if not enough and entity.count > 1 and (kinds := self._also_called(best, entity.count)):
            return (best, *kinds)
        if len(entity.classes) > 1 and best != fitting[0]:
            missing = self.taxonomy.label(fitting[0])
            self.note(f"no {missing} here: using the {self.taxonomy.label(best)}")
        return (best,)

    def _carrying(self, classes: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        things = [t for c in classes for t in self.taxonomy.ontology.related("standsUnder", c)]
        parents = {self.inventory.parents.get(n) for t in things for n in self.inventory.of(t)}
        kinds = sorted({c for p in parents if (c := self.inventory.classes.get(p or ""))})
        return (tuple(things), tuple(kinds)) if kinds else None

    def _restrict(self, number: int, things: tuple[str, ...], kinds: tuple[str, ...]) -> None:
        entity = self.entities[number]
        self.note(f"no {entity.text} here: using the {self.taxonomy.label(kinds[0])} "
                  f"that the {self.taxonomy.label(things[0])} stands on")  # fmt: skip
        self.entities[number] = entity.replace(classes=kinds, holding=things)

    def _kinds_of(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the more specific classes in the scene: spray bottles for 'the bottle'."""
        exact = (e for c in classes for e in self.taxonomy.more_exact(c))
        return tuple(dict.fromkeys(e for e in exact if self.inventory.of(e)))

    def _otherwise(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the fallback classes (`k:otherwise`) of those classes that are in the scene."""
        others = (o for c in classes for o in self.taxonomy.ontology.related("otherwise", c))
        return tuple(dict.fromkeys(o for o in others if self.inventory.of(o)))

    def _listed(self, classes: Iterable[str]) -> str:
        return " and ".join(f"the {self.taxonomy.label(c)}" for c in classes)

    def _also_called(self, object_class: str, count: int) -> tuple[str, ...]:
        """Return more specific classes (butter knives for 'knives'), or () if still too few."""
        label = f" {self.taxonomy.label(object_class)}"
        here = dict.fromkeys(self.inventory.classes.values())
        kinds = tuple(
            c
            for c in here
            if self.taxonomy.label(c).endswith(label) and self.taxonomy.source(c) is None
        )
        if sum(len(self.inventory.of(c)) for c in (object_class, *kinds)) < count:
            return ()
        for kind in kinds:
            self.note(f"also counting the {self.taxonomy.label(kind)}")
        return kinds

    def _fitting(self, number: int) -> list[str]:
        # If none is suitable, all classes are returned, and `checks` explains why.
        entity = self.entities[number]
        classes = list(entity.classes)
        if entity.count != 0:
            return [c for c in classes if self._suits(number, c)] or classes
        able = [c for c in classes if self._able(number, c)]
        left_out = [
            self.taxonomy.label(c)
            for c in classes
            if able and c not in able and self.inventory.of(c)
        ]
        if left_out:
            self.note(f"left out as unsuitable: {', '.join(left_out)}")
        return able or classes

    def _able(self, number: int, object_class: str) -> bool:
        entity = self.entities[number]
        if entity.liquid and not self.taxonomy.plays(object_class, VESSEL):
            return False
        return all(
            self.taxonomy.is_a(object_class, c.requires) for c in entity.conditions if c.requires
        )

    def _suits(self, number: int, object_class: str) -> bool:
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


# Alternative meanings -----------------------------------------------------------------------------
# A condition that cannot apply literally becomes another one: `k:Instead` of the ontology.
#
# an apple cannot be cooked       'a cooked apple' is heated
# a potato never gets dirty       'a clean potato' has been washed
# nothing is cold here yet        'a cold mug' is chilled first
# all cups are clean already      'put a clean cup on the table' asks for washing


class Substitute(Value):
    """A replacement for a condition that some objects cannot satisfy.

    Args:
        condition: The part of a condition to replace.
        becomes: The replacement.
        requires: Affordance class that the objects must have.
        lacking: Affordance class that the objects must lack; empty if there is none.
        among: How many of the objects must already satisfy the condition: `all`, `some` or `none`;
            empty if this does not matter. `all` applies only to objects that are also put
            somewhere.
        note: Note for the user, which follows the name of the object; may be empty.
    """

    condition: str
    becomes: str
    requires: str
    lacking: str = ""
    among: str = ""
    note: str = ""


def substitutes(ontology: Ontology) -> tuple[Substitute, ...]:
    def one(name: str, prop: str) -> str:
        values = ontology.annotation(name, prop)
        return str(values[0]).removeprefix("k:") if values else ""

    return tuple(
        Substitute(
            one(name, "condition"),
            one(name, "becomes"),
            one(name, "requires"),
            one(name, "lacking"),
            one(name, "among"),
            one(name, "note"),
        )
        for name in sorted(ontology.instances("Instead"))
    )


def possible(
    entity: Entity, classes: Sequence[str], taxonomy: Taxonomy, among: Callable[[str], str]
) -> tuple[Entity, list[str]]:
    """Replace the conditions that an entity's classes cannot satisfy, as `instead` does.

    Conditions on liquids are kept. The notes explain the replacements.
    """
    if entity.liquid:
        return entity, []
    found = [instead(c, classes, taxonomy, among) for c in entity.conditions]
    return (
        entity.replace(conditions=tuple(condition for condition, _ in found)),
        [note for _, note in found if note],
    )


def instead(
    condition: Condition, classes: Sequence[str], taxonomy: Taxonomy, among: Callable[[str], str]
) -> tuple[Condition, str]:
    """Return a condition after applying the first suitable `Substitute`, and its note.

    If no substitute is suitable, the condition is unchanged and the note is empty.

    Args:
        classes: Classes of the objects that must satisfy the condition.
        among: Returns how many of the objects already satisfy a condition: `all`, `some` or `none`.
    """
    for other in substitutes(taxonomy.ontology):
        if other.condition not in condition.template:
            continue
        if other.condition in other.becomes and other.becomes in condition.template:
            continue  # the condition contains the replacement already
        if condition.requires not in {None, other.lacking, other.requires}:
            continue  # 'toast the mug' requires more than cooking
        if not all(taxonomy.is_a(c, other.requires) for c in classes):
            continue
        if other.lacking and any(taxonomy.is_a(c, other.lacking) for c in classes):
            continue
        if other.among and other.among != among(condition.template):
            continue
        if other.among == "all" and not condition.moved:
            continue
        template = condition.template.replace(other.condition, other.becomes)
        note = f"{taxonomy.label(classes[0])}: {other.note}" if other.note else ""
        return condition.replace(template=template, requires=other.requires), note
    return condition, ""
