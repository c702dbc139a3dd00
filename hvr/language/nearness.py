"""Which of several things are near another, by the coordinates of the scene."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.retrieval.inventory import Inventory, Position
from hvr.knowledge.roles import STORAGE, WORKTOP, roles_of
from hvr.language.meaning import Entity, Nearness

_SIDES = {
    "left": (-1, 0), "right": (1, 0), "front": (0, -1), "behind": (0, 1),
}  # fmt: skip
"""Right of and behind a thing, for someone who looks at it from the middle of the room."""

_HEIGHTS = {
    "above": 1, "over": 1, "under": -1, "underneath": -1, "below": -1, "beneath": -1,
}  # fmt: skip


_NOT_FAR = 1.0
"""Metres within which all things are meant by 'the plates near the sink'."""


def narrowed(
    inventory: Inventory, entity: Entity, chosen: tuple[str, ...]
) -> tuple[tuple[str, ...], list[str]]:
    """Return those of some objects that are near what an entity is said to be near to, and notes
    on what that is in this scene. Where there is nothing to be near to, all objects stay.
    """
    notes = []
    for near in entity.near:
        if entity.somewhere:
            fitting = place_near(inventory, chosen, near)
        else:
            fitting = nearest(inventory, chosen, near, max(entity.count, 0))
        if not fitting and entity.somewhere:
            raise ImpossibleGoalError(
                f"no place here is {near.word} {near.text!r}: say where to put it"
            )
        if not fitting:
            notes.append(f"nothing here to be {near.word} {near.text!r}: that is not heeded")
        elif len(fitting) < len(chosen):
            notes.append(f"{near.word} {near.text!r} is here: {', '.join(fitting)}")
        chosen = fitting or chosen
    return chosen, notes


def place_near(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness
) -> tuple[str, ...]:
    """Return the places that are meant by 'put it near …'.

    That is where the other thing stands; near what stands nowhere, the nearest surface; below or
    above it, the nearest cupboard or shelf.

    Args:
        inventory: the scene.
        candidates: names of places.
        nearness: near what.
    """
    holding = {h for c in nearness.classes for n in inventory.of(c)
               if nearness.name in {None, n} for h in _holders(inventory, n)}  # fmt: skip
    holders = tuple(c for c in candidates if c in holding)
    level = not any(word in _HEIGHTS for word in nearness.word.split())
    if level and holders:
        return holders
    role, roles = WORKTOP if level else STORAGE, roles_of(inventory.ontology)
    usual = [c for c in candidates if roles.plays(inventory.classes[c], role)]
    return nearest(inventory, usual, nearness, 1)


def _holders(inventory: Inventory, name: str) -> Iterator[str]:
    """Yield what a thing stands on or in, from the inside."""
    holder = inventory.parents.get(name)
    while holder is not None:
        yield holder
        holder = inventory.parents.get(holder)


def nearest(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness, count: int
) -> tuple[str, ...]:
    """Return the candidates that are meant by 'near …', the nearest first.

    What holds the other thing is nearest to it. A side that no candidate is on counts for nothing.

    Args:
        inventory: the scene.
        candidates: names of objects.
        nearness: near what, and on which side of it.
        count: how many are meant; 0 for all that are not far.

    Returns:
        `count` of them, or more if they are equally near; none if there is nothing to be near to.
    """
    others = [n for c in nearness.classes for n in inventory.of(c)
              if nearness.name in {None, n} and n in inventory.positions]  # fmt: skip
    known = [c for c in candidates if c in inventory.positions]
    pairs = [(c, o) for c in known for o in others if c != o]
    if not pairs:
        return ()
    sided = [(c, o) for c, o in pairs if _on_side(inventory, c, o, nearness.word)]
    apart: dict[str, float] = {}
    for candidate, other in sided or pairs:
        distance = _distance(inventory, candidate, other)
        apart[candidate] = min(distance, apart.get(candidate, math.inf))
    ranked = sorted(apart, key=lambda name: (apart[name], name))
    limit = apart[ranked[min(count or 1, len(ranked)) - 1]]
    if not count:
        limit = max(limit, _NOT_FAR)
    return tuple(name for name in ranked if apart[name] <= limit)


def _distance(inventory: Inventory, one: str, other: str) -> float:
    """Return metres on the floor plan, rounded; none to what a thing stands on or in."""
    if one in _holders(inventory, other):
        return 0.0
    x, _, z = _between(inventory.positions[one], inventory.positions[other])
    return round(math.hypot(x, z), 2)


def _on_side(inventory: Inventory, candidate: str, other: str, word: str) -> bool:
    """Return whether a candidate is on the side of another thing that a preposition names."""
    x, y, z = _between(inventory.positions[other], inventory.positions[candidate])
    height = next((sign for name, sign in _HEIGHTS.items() if name in word.split()), 0)
    if height:
        return y * height > 0
    side = next((sign for name, sign in _SIDES.items() if name in word.split()), None)
    if side is None:
        return True
    middle = _middle(inventory)
    ahead_x, _, ahead_z = _between(middle, inventory.positions[other])
    right = x * ahead_z - z * ahead_x
    ahead = x * ahead_x + z * ahead_z
    # Within 60 degrees of the side: what is more before a thing than beside it is not left of it.
    return 2 * (right * side[0] + ahead * side[1]) > math.hypot(right, ahead)


def _between(start: Position, end: Position) -> Position:
    return end[0] - start[0], end[1] - start[1], end[2] - start[2]


def _middle(inventory: Inventory) -> Position:
    places = list(inventory.positions.values())
    x, y, z = (math.fsum(place[axis] for place in places) / len(places) for axis in range(3))
    return x, y, z
