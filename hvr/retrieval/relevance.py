"""The objects of a scene that a goal needs: only they enter the planning problem.

How they are chosen follows from the domain (`hvr.retrieval.choosing`). This module says what an
inventory is for that: its objects, the nearest first, and the preferences of its ontology.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hvr.knowledge.mapping import predicate_rules
from hvr.pddl import Domain
from hvr.pddl.model import Expression
from hvr.retrieval.achievers import lifted_actions
from hvr.retrieval.choosing import Chooser, Spoken
from hvr.retrieval.constraints import spared, spoken_of
from hvr.retrieval.inventory import Inventory
from hvr.retrieval.setting import Setting


@dataclass(frozen=True)
class Relevant:
    """The chosen objects, and the reason for each.

    Args:
        reasons: object name to the reason, in the order of choice.
    """

    reasons: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The objects, in order of name."""
        return tuple(sorted(self.reasons))


def relevant_objects(
    goals: Iterable[Expression],
    inventory: Inventory,
    domain: Domain,
    constraints: Iterable[Expression] = (),
) -> Relevant:
    """Choose the objects for some goals.

    Args:
        goals: what is wanted, without conditions on how things are left.
        inventory: what there is.
        domain: what can be done.
        constraints: what is to be kept on the way. What they speak of is chosen, too, and what the
            goals need where the things that must not be used are not there.
    """
    goals, constraints = tuple(goals), tuple(constraints)
    changing = frozenset(domain.predicates) - lifted_actions(domain).fixed
    kept = [name for one in constraints for name in spoken_of(one, inventory, changing)]
    reasons = _chosen(goals, inventory, domain, kept)
    unusable = frozenset(name for one in constraints for name in spared(one, inventory))
    named = {name for goal in goals for name in Spoken.of(goal).names}
    if unusable - named:
        others = _chosen(goals, inventory.without(unusable - named), domain, ())
        reasons = {**others, **reasons}
    return Relevant(reasons)


def _chosen(
    goals: Iterable[Expression], inventory: Inventory, domain: Domain, kept: Iterable[str]
) -> dict[str, str]:
    chooser = Chooser(setting_of(inventory, domain))
    for goal in goals:
        chooser.choose(goal)
    for name in kept:
        chooser.add(name, "a constraint speaks of it")
    for name in inventory.held:
        chooser.add(name, "in the hand")
    chooser.complete()
    return chooser.reasons


def setting_of(inventory: Inventory, domain: Domain) -> Setting:
    """Return what there is to choose from, with the nearest first."""
    ontology = inventory.ontology
    types = {c: ontology.pddl_type(c) for c in set(inventory.classes.values())}
    objects: dict[str, tuple[str, ...]] = {
        name: (kind,)
        for name in sorted(inventory.classes, key=inventory.rank)
        if (kind := types[inventory.classes[name]]) is not None and kind in domain.types
    }
    objects |= {c.name: c.types for c in domain.constants}
    facts = frozenset([a for a in inventory.facts if a.predicate in domain.predicates])
    return Setting(
        domain, objects, facts, likings(inventory), inventory.unplaced, inventory.avoided
    )


def likings(inventory: Inventory) -> Mapping[str, Mapping[str, int]]:
    """Return the places of objects where they serve a predicate, from preferences (`k:serves`)."""
    ontology = inventory.ontology
    predicates = {rule.term: name for name, rule in predicate_rules(ontology).items()}
    found: dict[str, dict[str, int]] = {}
    for preference in ontology.subjects("serves"):
        for term in ontology.annotation(preference, "serves"):
            places = found.setdefault(predicates[str(term)], {})
            for side, step in (("prefers", -1), ("over", 1)):
                kinds = {str(kind) for kind in ontology.annotation(preference, side)}
                for name, own in inventory.classes.items():
                    if any(ontology.is_a(own, kind) for kind in kinds):
                        places[name] = places.get(name, 1) + step
    return found
