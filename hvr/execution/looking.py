"""The search for objects whose place is unknown: the places to look at, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.pddl.formulas import Atom
from hvr.worlds.scenes import PlaceCounts


def missing_objects(needed: Iterable[str], inventory: Inventory) -> tuple[str, ...]:
    """Return the needed objects without a known place, if no object of their class has one."""
    lost = inventory.unplaced
    return tuple(
        name
        for name in dict.fromkeys(needed)
        if name in lost and lost.issuperset(inventory.of(inventory.classes[name]))
    )


def place_chances(
    thing: str, places: Collection[str], inventory: Inventory, counts: PlaceCounts
) -> Mapping[str, float]:
    """Return the probability that each place holds an object; places too small are left out.

    Classes of places are estimated by Laplace's rule of succession from frequencies elsewhere
    (`counts`) and in this scene. For uncounted objects, the classes in the ontology's annotation
    `keptIn` share half of the probability. The places of a class are equally likely.
    """
    classes = inventory.classes
    fitting = [p for p in places if Atom("fits", (thing, p)) in inventory.facts]
    sizes = Counter(classes[p] for p in fitting)
    counted = counts.get(classes[thing], {})
    weights = {c: 1.0 + counted.get(c, 0) for c in sizes}
    for other in inventory.of(classes[thing]):
        place = inventory.parents.get(other)
        if place is not None and classes[place] in weights:
            weights[classes[place]] += 1.0
    if not counted:
        kept = _usual_classes(thing, inventory) & sizes.keys()
        elsewhere = sum(weight for c, weight in weights.items() if c not in kept)
        weights |= {c: max(weights[c], elsewhere / len(kept)) for c in kept}
    total = sum(weights.values())
    return {p: weights[classes[p]] / sizes[classes[p]] / total for p in fitting}


def _usual_classes(thing: str, inventory: Inventory) -> frozenset[str]:
    ontology = inventory.ontology
    return frozenset(
        str(kind).removeprefix("k:")
        for above in ontology.superclasses(inventory.classes[thing], reflexive=True)
        for kind in ontology.annotation(above, "keptIn")
    )


def search_order(
    objects: Sequence[str],
    spots: Mapping[str, Sequence[str]],
    left: Collection[str],
    chances: Callable[[str], Mapping[str, float]],
    cost: Callable[[str], float],
    beside: Callable[[str], Iterable[str]],
) -> tuple[str, ...]:
    """Return the spots at which to search for any of some objects, best first.

    The best one has the highest probability per cost, which makes the expected cost of a search
    with independent costs minimal.

    Args:
        spots: The objects to approach for a view of each place, with equal probabilities;
            includes searched places.
        left: The spots that have not been searched.
        chances: Probability of each place to hold a thing.
        cost: Cost of going to a spot and looking there.
        beside: The spots that are also seen from there.
    """
    own: dict[str, float] = {}
    for thing in objects:
        for place, chance in chances(thing).items():
            for spot in spots[place]:
                if spot in left:
                    own[spot] = own.get(spot, 0.0) + chance / len(spots[place])
    worth = {spot: sum(own.get(s, 0.0) for s in {spot, *beside(spot)}) for spot in own}
    return tuple(sorted(worth, key=lambda spot: (-worth[spot] / cost(spot), spot)))
