"""What the ontology says of how states and liquids are brought about, for the choice of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from hvr.knowledge.ontology import Ontology
from hvr.knowledge.roles import APPARATUS, LIQUID, RUNS_INTO, SWITCHES, roles_of


@dataclass(frozen=True)
class Supply:
    """A means to a state or a liquid.

    Args:
        achieves: the PDDL predicate, or the name of the liquid.
        needs: the class that has to be at hand.
        reason: why it is chosen, as "to heat".
        goes_into: classes on or in one of which a thing is treated, the apparatus first.
        heats: it is an apparatus that changes what is put there.
        switched: it is switched by another thing.
        runs: a liquid runs from it into another thing.
        vessels: classes in which a liquid is treated with it, preferred first.
    """

    achieves: str
    needs: str
    reason: str
    goes_into: tuple[str, ...]
    heats: bool
    switched: bool
    runs: bool
    vessels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Supplies:
    """All means of an ontology.

    Args:
        by_achieved: means by what they achieve.
        heating: those with an apparatus, in order of `k:rank`.
        ended: means by the predicate that they make false.
        heated: predicates that every apparatus brings about.
        treated: those of them that it brings about only for what it treats.
        of_contents: predicates of a vessel that say that its contents are so heated.
        carriers: classes in which a liquid is carried to what cannot be, preferred first.
        put_down: classes of places where what is in the hand is put down, preferred first.
        liquid: what is heated in vessels.
    """

    by_achieved: Mapping[str, Supply]
    heating: tuple[Supply, ...]
    ended: Mapping[str, Supply]
    heated: frozenset[str]
    treated: frozenset[str]
    of_contents: frozenset[str]
    carriers: tuple[str, ...]
    put_down: tuple[str, ...]
    liquid: str


@lru_cache(maxsize=8)
def supplies_of(ontology: Ontology) -> Supplies:
    """Return what an ontology says of means."""
    roles = roles_of(ontology)
    switched = {ontology.range_of(prop) for prop in roles.players(SWITCHES)}
    running = {ontology.domain_of(prop) for prop in roles.players(RUNS_INTO)}

    def listed(name: str, prop: str) -> tuple[str, ...]:
        return tuple(w for v in ontology.annotation(name, prop) for w in str(v).split())

    def text(name: str, prop: str) -> str:
        return next(map(str, ontology.annotation(name, prop)), "")

    vessels = [
        (text(name, "condition"), text(name, "liquid"), listed(name, "vesselOrder"))
        for name in ontology.instances("VesselFor")
    ]
    found: dict[str, tuple[int, Supply, tuple[str, ...]]] = {}
    for name in ontology.instances("Means"):
        need, achieved = next(iter(listed(name, "needs")), ""), text(name, "achieves")
        supply = Supply(
            achieved,
            need,
            text(name, "because"),
            listed(name, "goesInto") or (need,),
            roles.plays(need, APPARATUS),
            need in switched,
            need in running,
            next((order for c, _, order in vessels if f"({achieved} " in c), ()),
        )
        rank = int(next(iter(listed(name, "rank")), 0))
        found[name] = rank, supply, listed(name, "ends")
    ranked = sorted(found.values(), key=lambda entry: entry[0])
    put_down = sorted((int(rank), name) for name, rank in ontology.pairs("putDownRank"))
    return Supplies(
        {supply.achieves: supply for _, supply, _ in found.values()},
        tuple(supply for _, supply, _ in ranked if supply.heats),
        {end: supply for _, supply, ends in found.values() for end in ends},
        frozenset(p for c in roles.players(APPARATUS) for p in listed(c, "makes")),
        frozenset(
            predicate
            for _, entailed in ontology.pairs("entails")
            for predicate in ontology.predicates(entailed)
        ),
        frozenset(
            predicate
            for _, state in ontology.pairs("ofContents")
            for predicate in ontology.predicates(state)
        ),
        tuple(c for of in roles.players(LIQUID) for c in listed(of, "carriedIn")),
        tuple(name for _, name in put_down),
        next((liquid for _, liquid, _ in vessels if liquid), LIQUID),
    )
