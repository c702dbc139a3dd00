"""Where things were at the start: 'wash the mug and put it back'."""

from __future__ import annotations

from hvr.errors import ImpossibleGoalError
from hvr.language.choice import ObjectChoice


def at_origin(choice: ObjectChoice, number: int) -> str:
    """Return the condition on `?x` that an entity is where it was; pieces go where the whole was.

    Raises:
        ImpossibleGoalError: it was nowhere, as what is in the hand is.
    """
    inventory = choice.inventory
    sources = dict(inventory.pairs(choice.taxonomy.piece_of))
    places: dict[str, list[str]] = {}
    for name in choice.pool(number):
        place = inventory.parents.get(name) or inventory.parents.get(sources.get(name, ""))
        if place is None:
            raise ImpossibleGoalError(
                f"it is not known where the {choice.label(number)} was: say where to put it"
            )
        relation = choice.taxonomy.relation(inventory.classes[place])
        places.setdefault(f"({relation} ?x {place})", []).append(name)
    if len(places) == 1:
        return next(iter(places))
    each = [f"(and (= ?x {name}) {at})" for at, names in places.items() for name in names]
    return f"(or {' '.join(each)})"
