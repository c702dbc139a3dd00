"""What there is to choose objects from, in any domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from hvr.pddl import Domain
from hvr.pddl.model import Atom
from hvr.values import cached_property


@dataclass(frozen=True)
class Setting:
    """What there is to choose from.

    Args:
        domain: what can be done.
        objects: all objects with their types, those to be preferred first.
        facts: all atoms that hold.
        likings: by predicate, the place of objects in the order of preference where they serve it
            (0: preferred; 1: as all others; 2: only if nothing else is there).
        unknown: objects of which nobody knows where they are.
        avoided: objects that are not to be chosen for a variable.
        fixed_only: predicates over one object that say nothing about the object's situation.
    """

    domain: Domain
    objects: Mapping[str, tuple[str, ...]]
    facts: frozenset[Atom]
    likings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    avoided: frozenset[str] = frozenset()

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of every object in the order of preference."""
        return {name: number for number, name in enumerate(self.objects)}

    @cached_property
    def by_type(self) -> dict[tuple[str, ...], dict[str, None]]:
        """Objects by the types that they are asked for with, filled as these are asked for."""
        return {}

    def members(self, types: tuple[str, ...]) -> dict[str, None]:
        """Return the objects of one of some types, in order of preference."""
        known = self.by_type.get(types)
        if known is None:
            known = dict.fromkeys(self.domain.members(self.objects, types))
            self.by_type[types] = known
        return known

    def among(self, names: Collection[str]) -> Setting:
        """Return the setting with some of its objects alone."""
        objects = {n: types for n, types in self.objects.items() if n in names}
        facts = frozenset([a for a in self.facts if objects.keys() >= {*a.args}])
        return replace(self, objects=objects, facts=facts)

    @cached_property
    def about(self) -> dict[str, list[Atom]]:
        """The facts about every object."""
        about: dict[str, list[Atom]] = {name: [] for name in self.objects}
        for atom in self.facts:
            for arg in dict.fromkeys(atom.args):
                if arg in about:
                    about[arg].append(atom)
        return about
