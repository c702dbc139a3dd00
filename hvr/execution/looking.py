"""Looking for things behind closed doors: what is missing, and which door to open next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.pddl import Atom


def missing(needed: Iterable[str], inventory: Inventory) -> tuple[str, ...]:
    """Return the needed things without which there is none of their kind.

    Args:
        needed: names of the things that a plan would use.
        inventory: what there is, as far as it is known.
    """
    lost = inventory.unplaced
    return tuple(
        name for name in dict.fromkeys(needed)
        if name in lost and lost.issuperset(inventory.of(inventory.classes[name]))
    )  # fmt: skip


def likeliest(sought: Collection[str], places: Sequence[str], inventory: Inventory) -> str | None:
    """Return the place to look into next, or None where none could have any of the things.

    Where things of their kind are kept comes first, then where most of them would fit.

    Args:
        sought: names of the things.
        places: closed places, nearest first.
        inventory: what there is, as far as it is known.
    """
    ontology = inventory.ontology

    def kept(thing: str) -> frozenset[str]:
        above = ontology.superclasses(inventory.classes[thing], reflexive=True)
        return frozenset(
            str(kind).removeprefix("k:") for c in above for kind in ontology.annotation(c, "keptIn")
        )

    usual = {thing: kept(thing) for thing in sought}
    ranked = []
    for rank, place in enumerate(places):
        fitting = [t for t in sought if Atom("fits", (t, place)) in inventory.facts]
        if fitting:
            here = sum(inventory.classes[place] in usual[t] for t in fitting)
            ranked.append((-here, -len(fitting), rank, place))
    return min(ranked)[-1] if ranked else None
