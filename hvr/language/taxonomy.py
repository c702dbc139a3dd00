"""The questions about classes that language needs, answered by the ontology."""

from __future__ import annotations

from hvr.knowledge.ontology import Ontology
from hvr.values import cached_property


class Taxonomy:
    """A view of the ontology for grammar and goals.

    Args:
        ontology: the ontology.
        any_place: take it that everything that fits the hand can be put everywhere.
    """

    def __init__(self, ontology: Ontology, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self._any_place = any_place

    @cached_property
    def portable(self) -> tuple[str, ...]:
        """The object types that fit the hand, in order of name."""
        return tuple(sorted(c for c in self._types if self.is_a(c, "Pickupable")))

    @cached_property
    def standing(self) -> tuple[str, ...]:
        """The receptacles that stay where they are and take several things, in order of name."""
        return tuple(
            sorted(c for c in self._roomy if not self.is_a(c, "Pickupable") and c != "Floor")
        )

    def is_a(self, object_class: str, ancestor: str) -> bool:
        """Return whether a class is, or lies below, another; False for unknown names."""
        return self.ontology.is_a(object_class, ancestor)

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

    def class_of_type(self, name: str) -> str | None:
        """Return the class of a PDDL type name (`mug`), or None."""
        return self.ontology.class_of_pddl_type(name)

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
        return tuple(part for part in parts if part and self.is_a(part, "Slice"))

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
        if self._any_place and self.is_a(object_class, "Pickupable"):
            return places | (self._roomy - {object_class})
        return places

    @cached_property
    def _roomy(self) -> frozenset[str]:
        """The receptacles that take more than one thing at a time."""
        return frozenset(c for c in self.concrete("Receptacle") if not self.is_a(c, "SingleSlot"))

    def relation(self, receptacle_class: str) -> str:
        """Return the PDDL predicate for being at a receptacle: `in` for containers, else `on`."""
        return "in" if self.is_a(receptacle_class, "ContainerReceptacle") else "on"
