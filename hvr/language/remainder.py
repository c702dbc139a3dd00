"""The rest of a cut object: 'toast a slice of bread and put the bread in the fridge'."""

from __future__ import annotations

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.meaning import Entity, Meaning
from hvr.language.taxonomy import Taxonomy


def with_remainders(
    meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory
) -> tuple[Entity, ...]:
    """Return the entities of a request; the only whole of a kind that is cut means its pieces.

    Pieces that the request puts elsewhere are not part of it.
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
    """Return the classes of the pieces that an entity means, if it means all of them."""
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
    """Return the pieces that are requested individually, apart from the rest."""
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
