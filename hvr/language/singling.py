"""Which of several things of a kind is meant.

close the cabinet          the one that is open: closing another would change nothing
put the fork in the open drawer    the one that is open, if any is
wash the mug               the dirty one, if they differ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.literals import literals
from hvr.language.meaning import Entity


def single_out(
    entity: Entity,
    things: Sequence[str],
    inventory: Inventory,
    holds: Callable[[str, str], bool],
) -> tuple[str, ...]:
    """Return the things that an entity can mean without being named; all if none stands out.

    Args:
        entity: what is spoken of.
        things: the objects that it can be.
        inventory: the state of the scene.
        holds: whether a condition holds of an object.
    """
    chosen = tuple(things)
    for template in entity.likely:
        chosen = tuple(n for n in chosen if holds(template, n)) or chosen
    if entity.turns and entity.count > 0:
        chosen = _most(chosen, lambda name: _unmet(entity.turns, name, inventory, holds))
    return chosen


def _most(things: tuple[str, ...], rank: Callable[[str], int]) -> tuple[str, ...]:
    most = max(map(rank, things), default=0)
    return tuple(n for n in things if rank(n) == most)


def _unmet(
    template: str, name: str, inventory: Inventory, holds: Callable[[str, str], bool]
) -> int:
    """Return how much of a condition is still to be brought about."""
    parts = literals(template)
    if not parts:
        return int(not holds(template, name))
    return sum(inventory.true(predicate, name) != wanted for predicate, wanted in parts)


def stands_at(inventory: Inventory, name: str, entity: Entity, piece_of: str) -> bool:
    """Return whether an object stands where an entity is said to be at the start.

    Args:
        inventory: the state of the scene.
        name: the object.
        entity: has the place.
        piece_of: the predicate of a piece and what it is cut from.
    """
    parent = inventory.parents.get(name)
    while parent is not None:
        if entity.from_name == parent or (
            entity.from_name is None and inventory.classes.get(parent) in entity.place_from
        ):
            return True
        if entity.group and entity.count == 0:
            # 'everything on the table' are the dishes; what they hold goes with them.
            return False
        parent = inventory.parents.get(parent)
    source = next((b for a, b in inventory.pairs(piece_of) if a == name), None)
    return source is not None and stands_at(inventory, source, entity, piece_of)
