"""The words of goals in a scene: predicates that actions change, kinds, objects, liquids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.roles import (
    CONTAINER,
    CONTAINS,
    FILLED,
    FITS,
    LIQUID,
    PORTABLE,
    SURFACE,
    VESSEL,
)
from hvr.knowledge.wording import wording_of
from hvr.language.literals import literals
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import Domain
from hvr.pddl.diagnostics import nearest
from hvr.pddl.model import Atom, Predicate, changes_of
from hvr.planning.search.navigation import find_navigation
from hvr.values import cached_property

_PLACING = ("on", "in")


@dataclass(frozen=True)
class Meant:
    """What a name in a goal stands for.

    Args:
        name: the name.
        classes: the object types that it may be of, preferred first.
        objects: the objects that it may be, preferred first.
        every: all of them; else one.
        apart: it is none of the other things that are apart.
        named: it is an object's own name.
        liquid: it is a liquid.
    """

    name: str
    classes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    every: bool = False
    apart: bool = True
    named: bool = False
    liquid: bool = False


class GoalWords:
    """What words of a goal mean in a scene.

    Args:
        taxonomy: the classes.
        inventory: the objects of the scene.
        domain: the predicates.
    """

    def __init__(self, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> None:
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.domain = domain

    # Predicates -----------------------------------------------------------------------------

    @cached_property
    def predicates(self) -> dict[str, Predicate]:
        """The predicates that a goal may use: what actions change, in the order of the domain."""
        changed = {
            change.predicate
            for schema in self.domain.actions.values()
            for change in changes_of(schema.effect)
            if isinstance(change, Atom)
        }
        return {n: p for n, p in self.domain.predicates.items() if n in changed}

    @property
    def told(self) -> dict[str, Predicate]:
        """The predicates that a prompt tells of: those that say more than where the robot is."""
        navigation = find_navigation(self.domain)
        fleeting = navigation.predicates if navigation else frozenset()
        return {n: p for n, p in self.predicates.items() if n not in fleeting and p.parameters}

    def unknown_predicate(self, name: str) -> str:
        """Return what is wrong with a predicate that goals cannot use."""
        wording = wording_of(self.taxonomy.ontology).predicates
        plain = name.replace("_", " ")
        for known in self.predicates:
            words = wording.get(known)
            if words and plain in {text.replace("_", " ") for text in words.negation}:
                return (
                    f'there is no predicate {name!r}: write {known!r} with "holds": false instead'
                )
        meant = [k for k, w in wording.items() if k in self.predicates and plain in w.written]
        near = next(iter(meant), "") or nearest(name, self.predicates)
        if name in self.domain.predicates:
            return f"the predicate {name!r} never changes, so it can be no goal"
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(self.told)}"
        return f"there is no predicate {name!r}: {hint}"

    def liquid_at(self, predicate: str, place: int) -> bool:
        """Whether an argument of a predicate is a liquid, by its place from 0."""
        return self._liquid in self.predicates[predicate].parameters[place].types

    @property
    def liquids(self) -> tuple[str, ...]:
        """The names of the liquids."""
        return tuple(c.name for c in self.domain.constants if self._liquid in c.types)

    @property
    def _liquid(self) -> str | None:
        return self.taxonomy.roles.pddl_type(LIQUID)

    # Kinds and objects ----------------------------------------------------------------------

    @cached_property
    def present(self) -> frozenset[str]:
        """The object types of which the scene has something, or could have once it is cut."""
        return frozenset(self.inventory.classes.values())

    def classes_of(self, kind: str) -> tuple[str, ...]:
        """Return the object types of the scene that a kind stands for; empty for none."""
        classes = [c for c in self._known.get(_key(kind), ()) if c in self.present]
        return tuple(dict.fromkeys(classes))

    def unknown_kind(self, kind: str) -> str:
        """Return what is wrong with a kind of which the scene has nothing."""
        known = self._known.get(_key(kind), ())
        if known:
            label = self.taxonomy.label(known[0])
            return f"{self.inventory.scene} has no {label}"
        near = nearest(kind, self.present) or nearest(kind.title(), self.present)
        return f"there is no thing, kind or object {kind!r}" + (
            f": did you mean {near!r}?" if near else ""
        )

    def objects_of(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the objects of some types, preferred first: those that are there, or else the
        pieces that one thing would be cut into.
        """
        found: list[str] = []
        for object_class in classes:
            names = self.inventory.of(object_class)
            there = [n for n in names if self.taxonomy.is_there(self.inventory, n)]
            if not there and (source := self.taxonomy.source(object_class)) is not None:
                whole = next(iter(self.inventory.of(source)), None)
                there = [p for p, s in self.inventory.pairs(self.taxonomy.piece_of) if s == whole]
                there = [p for p in names if p in there]
            found += there
        return tuple(dict.fromkeys(found))

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        """The object types that names stand for: types, groups, labels, in this order."""
        ontology = self.taxonomy.ontology
        names: dict[str, list[str]] = {}
        types = list(ontology.object_types)
        groups = sorted(ontology.classes() - set(types))
        for object_class in (*types, *groups):
            concrete = self.taxonomy.concrete(object_class)
            for text in (object_class, *ontology.labels(object_class)):
                names.setdefault(_key(text), []).extend(concrete)
        for one, other in ontology.pairs("namedFor"):
            # Who writes "Sink" may mean its basin: what can be done there decides.
            names[_key(one)].append(other)
        return {name: tuple(classes) for name, classes in names.items()}

    # What can be true -----------------------------------------------------------------------

    @cached_property
    def requirements(self) -> dict[str, str]:
        """The affordance that a thing needs for a predicate, by what the verbs require."""
        ontology = self.taxonomy.ontology
        needs: dict[str, str] = {}
        verbs: list[tuple[list[str], str]] = []
        for verb in ontology.instances("Verb"):
            for text in ontology.annotation(verb, "condition"):
                wanted = [name for name, holds in literals(str(text)) if holds]
                required = [
                    str(c).removeprefix("k:") for c in ontology.annotation(verb, "requires")
                ]
                if required:
                    verbs.append((wanted, required[0]))
        # A verb that asks for one thing alone says most clearly what that takes.
        for wanted, affordance in sorted(verbs, key=lambda verb: len(verb[0])):
            for name in wanted:
                needs.setdefault(name, affordance)
        roles = self.taxonomy.roles
        held = [*roles.predicates(FILLED), *roles.predicates(CONTAINS)]
        held += [state_of for _, state_of in self.taxonomy.methods.contents]
        if vessel := roles.class_of(VESSEL):
            needs.update(dict.fromkeys(held, vessel))
        if portable := roles.class_of(PORTABLE):
            needs.update(dict.fromkeys(_PLACING, portable))
        return needs

    def can_be(self, predicate: str, object_class: str) -> bool:
        """Whether a predicate can be true of things of a type, as its first argument."""
        needed = self.requirements.get(predicate)
        return needed is None or self._has(object_class, needed)

    def _has(self, object_class: str, affordance: str) -> bool:
        return self.taxonomy.is_a(object_class, affordance) or affordance in {
            name.removeprefix("k:") for name in self.taxonomy.ontology.sometimes(object_class)
        }

    def fits(self, inner: str, outer: str) -> bool:
        """Whether things of one type may be put on or in things of another."""
        return (inner, outer) in self._fitting

    @cached_property
    def _fitting(self) -> frozenset[tuple[str, str]]:
        classes, true, roles = self.inventory.classes, self.inventory.true, self.taxonomy.roles
        takes = [*roles.predicates(SURFACE)[:1], *roles.predicates(CONTAINER)[:1]]
        # What fits a sink fits its basin as well, and only one of the two takes things.
        return frozenset(
            (classes[thing], classes[place])
            for predicate in roles.predicates(FITS)
            for thing, place in self.inventory.pairs(predicate)
            if any(true(name, place) for name in takes)
        )

    def relation(self, outer: str) -> str:
        """Return the predicate for being at a place: `in` for containers, else `on`."""
        return self.taxonomy.relation(outer)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()
