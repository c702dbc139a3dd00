"""The questions about classes that language needs, answered by the ontology."""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.roles import (
    CONTAINER,
    DIVIDED,
    GROUND,
    PIECE_OF,
    PLACE,
    PORTABLE,
    PRESENT,
    SLICE,
    SLICED,
    SLOT,
    SWITCHES,
    Roles,
    roles_of,
)
from hvr.language.literals import asks
from hvr.language.methods import Methods
from hvr.values import cached_property


class Taxonomy:
    """A view of the ontology for grammar and goals.

    Args:
        ontology: the ontology.
        any_place: take it that everything that fits the hand can be put everywhere.
    """

    def __init__(self, ontology: Ontology, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self.roles: Roles = roles_of(ontology)
        self.methods = Methods(ontology)
        self._any_place = any_place

    @cached_property
    def portable(self) -> tuple[str, ...]:
        """The object types that fit the hand, in order of name."""
        return tuple(sorted(c for c in self._types if self.plays(c, PORTABLE)))

    @cached_property
    def standing(self) -> tuple[str, ...]:
        """The receptacles that stay where they are and take several things, in order of name."""
        return tuple(sorted(c for c in self._roomy if not self.plays(c, PORTABLE, GROUND)))

    def is_a(self, object_class: str, ancestor: str) -> bool:
        """Return whether a class is, or lies below, another; False for unknown names."""
        return self.ontology.is_a(object_class, ancestor)

    def plays(self, object_class: str, *roles: str) -> bool:
        """Return whether a class has one of some roles, or lies below one that has."""
        return self.roles.plays(object_class, *roles)

    def wants(self, condition: str, role: str) -> bool:
        """Return whether a condition asks for a state with a role."""
        return any(asks(condition, predicate) for predicate in self.roles.predicates(role))

    def cuts(self, condition: str) -> bool:
        """Return whether a condition wants a thing in pieces, sliced or not."""
        return self.wants(condition, DIVIDED)

    def slices_it(self, condition: str) -> bool:
        """Return whether a condition wants a thing in slices."""
        return self.wants(condition, SLICED)

    def state(self, role: str) -> str:
        """Return the condition on `?x` of being in a state with a role.

        Raises:
            LanguageError: the world has no such state.
        """
        predicate = self.roles.predicate(role)
        if predicate is None:
            raise LanguageError(f"nothing can be {role} in this world")
        return f"({predicate} ?x)"

    @cached_property
    def there(self) -> str:
        """The condition on `?x` that asks for no more than that it is there."""
        predicate = self.roles.predicate(PRESENT)
        return f"({predicate} ?x)" if predicate else "(= ?x ?x)"

    def is_there(self, inventory: Inventory, name: str) -> bool:
        """Return whether an object is there at the start, rather than to be made."""
        predicate = self.roles.predicate(PRESENT)
        return predicate is None or inventory.true(predicate, name)

    @cached_property
    def piece_of(self) -> str:
        """The predicate of a piece and what it is cut from; empty if there is none."""
        return self.roles.predicate(PIECE_OF) or ""

    @cached_property
    def switched(self) -> frozenset[str]:
        """The classes of things that are switched by others, by controls of their own."""
        return frozenset(
            name for prop in self.roles.players(SWITCHES)
            if (name := self.ontology.range_of(prop))
        )  # fmt: skip

    def with_controls(self, classes: set[str]) -> set[str]:
        """Return classes with those that are on and off together with them."""
        ontology, more = self.ontology, set(classes)
        for prop in self.roles.players(SWITCHES):
            ends = set(filter(None, (ontology.domain_of(prop), ontology.range_of(prop))))
            more |= ends if ends & classes else set()
        return more

    def under(self, object_class: str) -> str:
        """Return the noun for where things are put under things of a class; empty if nowhere."""
        above = sorted(self.ontology.superclasses(object_class, reflexive=True))
        return next((str(w) for c in above for w in self.ontology.annotation(c, "under")), "")

    def example(self, of: str, before: str = "") -> str:
        """Return an example for a refusal, as ', for example …'; empty if the world gives none.

        Args:
            of: what is refused.
            before: words that the example goes on.
        """
        names = (name for name, refused in self.ontology.pairs("exampleOf") if refused == of)
        found = next(names, None)
        return f", for example '{before}{self.ontology.label(found)}'" if found else ""

    def label(self, object_class: str) -> str:
        """Return the everyday name of a class."""
        return self.ontology.label(object_class)

    def a_label(self, object_class: str) -> str:
        """Return the label with its article if it has one: 'an apple', 'bread'."""
        label = self.label(object_class)
        mass = self.ontology.annotation(object_class, "mass") == (True,)
        if mass or (label.endswith("s") and not label.endswith("ss")):
            return label
        return f"{'an' if label[0] in 'aeiou' else 'a'} {label}"

    def liquid(self, object_class: str) -> str | None:
        """Return the liquid in full things of a class if none is given, or None."""
        liquids = self.ontology.annotation(object_class, "defaultLiquid")
        return str(liquids[0]).removeprefix("k:") if liquids else None

    def preferred(self, context: str) -> tuple[str, ...]:
        """Return the classes in the order of the preferences for a context ('serving')."""
        ontology = self.ontology
        names = [n for n in ontology.instances("Preference")
                 if ontology.annotation(n, "context") == (context,)]  # fmt: skip
        names.sort(key=lambda n: (int(str(ontology.annotation(n, "rank")[0])), n))
        classes = [str(ontology.annotation(n, side)[0]).removeprefix("k:")
                 for n in names for side in ("prefers", "over")]  # fmt: skip
        return tuple(dict.fromkeys(classes))

    @cached_property
    def _types(self) -> frozenset[str]:
        return frozenset(self.ontology.object_types)

    def concrete(self, object_class: str) -> tuple[str, ...]:
        """Return the object types at or below a class, in order of name."""
        below = self.ontology.subclasses(object_class, reflexive=True)
        return tuple(sorted(below & self._types))

    def with_role(self, role: str) -> tuple[str, ...]:
        """Return the object types that have a role, in order of name."""
        return tuple(sorted(c for c in self._types if self.plays(c, role)))

    def class_of_type(self, name: str) -> str | None:
        """Return the class of a PDDL type name (`mug`), or None.

        Names of objects are made of letters, so that `storage-rack` is known as `storagerack`, too.
        """
        return self.ontology.class_of_pddl_type(name) or self._squeezed.get(name)

    @cached_property
    def _squeezed(self) -> dict[str, str]:
        return {squeezed_type(self.pddl_type(c)): c for c in sorted(self._types)}

    def pddl_type(self, object_class: str) -> str:
        """Return the PDDL type of an object type."""
        name = self.ontology.pddl_type(object_class)
        return name if name is not None else object_class.lower()

    def pieces(self, object_class: str) -> str | None:
        """Return the class of what slicing or cracking makes, or None."""
        classes = sorted(self.ontology.related("slicesInto", object_class))
        return classes[0] if classes else None

    def slices(self, object_class: str) -> tuple[str, ...]:
        """Return the slices of the object types at or below a class."""
        parts = map(self.pieces, self.concrete(object_class))
        return tuple(part for part in parts if part and self.plays(part, SLICE))

    def source(self, piece_class: str) -> str | None:
        """Return the class whose pieces these are, or None."""
        return self._sources.get(piece_class)

    @cached_property
    def _sources(self) -> dict[str, str]:
        return {p: c for c in sorted(self._types) if (p := self.pieces(c)) is not None}

    def more_exact(self, object_class: str) -> tuple[str, ...]:
        """Return the kinds whose name says more than that of a class: a butter knife is a knife."""
        label = f" {self.label(object_class)}"
        return tuple(c for c in self.portable if self.label(c).endswith(label))

    def usual_places(self, object_class: str) -> frozenset[str]:
        """Return the object types on or in which AI2-THOR lets things of a class be put."""
        return self.ontology.related("placeableIn", object_class)

    def places(self, object_class: str) -> frozenset[str]:
        """Return the object types on or in which things of a class may be put."""
        places = self.usual_places(object_class)
        if self._any_place and self.plays(object_class, PORTABLE):
            return places | (self._roomy - {object_class})
        return places

    @cached_property
    def _roomy(self) -> frozenset[str]:
        """The receptacles that take more than one thing at a time."""
        return frozenset(c for c in self.with_role(PLACE) if not self.plays(c, SLOT))

    def relation(self, receptacle_class: str) -> str:
        """Return the PDDL predicate for being at a receptacle: `in` for containers, else `on`."""
        return "in" if self.plays(receptacle_class, CONTAINER) else "on"


def squeezed_type(name: str) -> str:
    """Return the letters of the name of a type."""
    return "".join(filter(str.isalpha, name.lower()))
