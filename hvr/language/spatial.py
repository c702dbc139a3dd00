"""Spatial relations ('next to', 'under', 'left of'), resolved by coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hvr.errors import ImpossibleGoalError, LanguageError
from hvr.knowledge.ontology import SLOT, STORAGE, WORKTOP, roles_of
from hvr.knowledge.retrieval.inventory import Inventory, Position
from hvr.knowledge.scene_graph import Extent
from hvr.language.meaning import Entity, Nearness
from hvr.language.syntax import PART_OF, Adjunct, Determiner, Nearby, NounGroup, NounPhrase
from hvr.language.taxonomy import Taxonomy

# Spatial relations --------------------------------------------------------------------------------
# the mug next to the sink                     the mug nearest to a sink
# put it on the counter next to the sink       the counter nearest to a sink
# put it next to the plate                     on the thing that the plate stands on
# put the mug under the coffee machine         at the slot of the machine

_PLACING = frozenset({"put", "set", "make", "serve", "drop", "discard"})
"""Frames of verbs after which 'next to' gives a destination."""

UNDER = frozenset({"under", "underneath", "below", "beneath"})


def settle_nearby(group: NounGroup, frame: str, taxonomy: Taxonomy, *, placed: bool) -> NounGroup:
    """Attach each 'next to …' in a group to an object or to a place.

    Args:
        frame: Frame of the verb; empty if there is no verb.
        placed: Whether a place follows later in the clause.
    """
    if not any(a.kind in {"unplaced", "beside"} for a in group.adjuncts):
        return group
    things, adjuncts = list(group.things), []
    placed = placed or any(a.kind == "place" for a in group.adjuncts)
    for adjunct in group.adjuncts:
        if adjunct.kind == "beside":
            things[-1] = _near(things[-1], adjunct)
        elif adjunct.kind != "unplaced" or (
            _is_under(adjunct) and _stand_for_places(taxonomy, adjunct)
        ):
            adjuncts.append(adjunct)
        elif _is_under(adjunct) and _are(taxonomy, adjunct, SLOT) and not placed:
            adjuncts.append(adjunct.replace(kind="place", word="on"))
        elif not placed and adjunct.word.startswith("on ") and _are(taxonomy, adjunct, WORKTOP):
            adjuncts.append(adjunct.replace(kind="place"))  # 'on the left side of'
            placed = True
        elif adjuncts and adjuncts[-1].kind in {"place", "from"}:
            last = adjuncts[-1]
            adjuncts[-1] = last.replace(things=(*last.things[:-1], _near(last.things[-1], adjunct)))
        elif not placed and (frame in _PLACING or not frame):
            adjuncts.append(Adjunct("place", "on", (_place_near(adjunct),)))
            placed = True
        else:
            things[-1] = _near(things[-1], adjunct)
    return group.replace(things=tuple(things), adjuncts=tuple(adjuncts))


def with_as_beside(group: NounGroup) -> NounGroup:
    """Read 'with' as a place if no other place is given: 'put the fork with the spoon'."""
    if any(a.kind in {"place", "origin", "unplaced", "hand"} or a.inside for a in group.adjuncts):
        return group
    return group.replace(
        adjuncts=tuple(
            a.replace(kind="unplaced", word="next to") if a.kind == "with" else a
            for a in group.adjuncts
        )
    )


def _is_under(adjunct: Adjunct) -> bool:
    return adjunct.word in UNDER


def _are(taxonomy: Taxonomy, adjunct: Adjunct, role: str) -> bool:
    return all(
        thing.nouns and all(taxonomy.plays(c, role) for c in thing.classes)
        for thing in adjunct.things
    )


def beside_named(groups: tuple[NounGroup, ...], taxonomy: Taxonomy) -> tuple[NounGroup, ...]:
    """Resolve 'it' to the preceding object: 'put the mug on the desk and the pen next to it'.

    In 'put the pan on the stove and the egg in it', 'it' is the first object that can hold the egg.
    """

    def holds(place: NounPhrase, group: NounGroup) -> bool:
        inner = taxonomy.concrete_of(c for t in group.things for c in t.classes)
        allowed = {p for c in inner for p in taxonomy.places(c)}
        return bool(allowed & set(taxonomy.concrete_of(place.classes)))

    resolved = list(groups[:1])
    for before, group in pairwise(groups):
        named = tuple(
            t.replace(determiner=Determiner(definite=True)) for t in before.things if t.nouns
        )
        held = [t for a in before.adjuncts if a.kind == "place" for t in a.things if t.nouns]
        holders = [t for t in (*named, *held) if holds(t, group)][:1]
        adjuncts = tuple(
            a.replace(things=tuple(found))
            if (found := {"unplaced": named, "place": holders}.get(a.kind))
            and [t.text for t in a.things] == ["it"]
            else a
            for a in group.adjuncts
        )
        resolved.append(group.replace(adjuncts=adjuncts))
    return tuple(resolved)


def _stand_for_places(taxonomy: Taxonomy, adjunct: Adjunct) -> bool:
    return all(thing.nouns and all(map(taxonomy.under, thing.classes)) for thing in adjunct.things)


def _near(thing: NounPhrase, adjunct: Adjunct) -> NounPhrase:
    return thing.replace(nearby=(*thing.nearby, Nearby(adjunct.word, adjunct.things)))


def _place_near(adjunct: Adjunct) -> NounPhrase:
    text = " and ".join(thing.text for thing in adjunct.things)
    if any(thing.kind == "everything" for thing in adjunct.things):
        raise LanguageError(f"{adjunct.word} {text!r} is not a place: say what the thing is near")
    return NounPhrase(
        "beside", f"{adjunct.word} {text}", nearby=(Nearby(adjunct.word, adjunct.things),)
    )


# Nearness -----------------------------------------------------------------------------------------

_SIDES = {"left": (-1, 0), "right": (1, 0), "front": (0, -1), "behind": (0, 1)}
"""Offsets (right, ahead) of each side, seen from the middle of the room."""

_HEIGHTS = {"above": 1, "over": 1, "under": -1, "underneath": -1, "below": -1, "beneath": -1}


def is_level(word: str) -> bool:
    return not ({*_SIDES, *_HEIGHTS} & {*word.split()})


_STOREY = 0.2
"""Minimum vertical distance in metres between furniture and a place under or above it."""

_NOT_FAR = 1.0
"""Maximum distance in metres for a plural with 'near': 'the plates near the sink'."""


def narrowed(
    inventory: Inventory, entity: Entity, chosen: tuple[str, ...]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the objects that satisfy an entity's conditions on nearby objects, and notes.

    A condition that no object satisfies is ignored, with a note.

    Raises:
        ImpossibleGoalError: The entity is a place that is given only by nearby objects, and no
            place matches.
    """
    notes = []
    for near in entity.near:
        if entity.somewhere:
            fitting = place_near(inventory, chosen, near)
        elif near.word == PART_OF:
            fitting = parts_of(inventory, chosen, near) or nearest(inventory, chosen, near, 1)
        elif near.word in _HEIGHTS and (
            level := _in_line(inventory, [c for c in chosen if c not in inventory.parents], near)
        ):
            fitting = nearest(inventory, level, near, entity.count) if entity.count > 0 else level
        else:
            fitting = nearest(inventory, chosen, near, max(entity.count, 0))
        if not fitting and entity.somewhere:
            raise ImpossibleGoalError(
                f"no place here is {near.word} {near.text!r}: say where to put it"
            )
        if not fitting:
            notes.append(f"nothing here is {near.word} {near.text!r}: ignored")
        elif len(fitting) < len(chosen):
            notes.append(f"found {near.word} {near.text!r}: {', '.join(fitting)}")
        chosen = fitting or chosen
    return chosen, notes


def place_near(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness
) -> tuple[str, ...]:
    """Return the places that 'put it near …' can mean.

    They are the receptacles of the reference object, or else the nearest surface; for 'above' and
    'below', the nearest cupboard or shelf that is above or below it.
    """
    holding = {
        h
        for c in nearness.classes
        for n in inventory.of(c)
        if nearness.name in {None, n}
        for h in _holders(inventory, n)
    }
    if nearness.word in {"between", "in between", "among"}:
        near = [n for c in nearness.classes for n in inventory.of(c) if nearness.name in {None, n}]
        holding = {h for h in holding if all(h in _holders(inventory, n) for n in near)}
    holders = tuple(c for c in candidates if c in holding)
    level = not any(word in _HEIGHTS for word in nearness.word.split())
    if level and holders:
        return holders
    role, roles = WORKTOP if level else STORAGE, roles_of(inventory.ontology)
    usual = [c for c in candidates if roles.plays(inventory.classes[c], role)]
    if not level and inventory.extents:
        usual = list(_in_line(inventory, usual, nearness, _STOREY))
    return nearest(inventory, usual, nearness, 1)


def parts_of(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness
) -> tuple[str, ...]:
    """Return the drawers, shelves and similar parts inside the outline of a piece of furniture."""
    wholes = [
        n
        for c in nearness.classes
        for n in inventory.of(c)
        if nearness.name in {None, n} and n in inventory.extents
    ]
    return tuple(
        c
        for c in candidates
        if c in inventory.positions
        and any(_within(inventory.positions[c], inventory.extents[w]) for w in wholes if w != c)
    )


def _in_line(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness, apart: float = 0.0
) -> tuple[str, ...]:
    """Return furniture directly below or above another piece, at least `apart` metres away."""
    known = [c for c in candidates if c in inventory.extents]
    others = [
        n
        for c in nearness.classes
        for n in inventory.of(c)
        if nearness.name in {None, n} and n in inventory.extents
    ]
    return tuple(
        c
        for c in known
        if any(
            _overlap(inventory.extents[c], inventory.extents[o])
            and _on_side(inventory, c, o, nearness.word)
            and abs(_between(inventory.positions[c], inventory.positions[o])[1]) >= apart
            for o in others
            if o != c
        )
    )


def _overlap(one: Extent, other: Extent) -> bool:
    return all(
        one[axis] < other[axis + 3] + _MARGIN and other[axis] < one[axis + 3] + _MARGIN
        for axis in (0, 2)
    )


def is_part(inventory: Inventory, part: str, whole: str) -> bool:
    inner, outer = inventory.extents.get(part), inventory.extents.get(whole)
    if inner is None or outer is None or part == whole:
        return False
    return all(
        outer[axis] - _MARGIN <= inner[axis] and inner[axis + 3] <= outer[axis + 3] + _MARGIN
        for axis in range(3)
    )


_MARGIN = 0.1
"""Distance in metres by which a part may extend beyond its furniture, like an open drawer."""


def _within(position: Position, extent: Extent) -> bool:
    return all(
        extent[axis] - _MARGIN <= position[axis] <= extent[axis + 3] + _MARGIN for axis in (0, 2)
    )


def _holders(inventory: Inventory, name: str) -> Iterator[str]:
    holder = inventory.parents.get(name)
    while holder is not None:
        yield holder
        holder = inventory.parents.get(holder)


def nearest(
    inventory: Inventory, candidates: Sequence[str], nearness: Nearness, count: int
) -> tuple[str, ...]:
    """Return the candidates that 'near …' can mean, nearest first.

    A receptacle is at distance 0 from its contents. For relations such as 'left of', all candidates
    count if none is on that side.

    Args:
        count: Number of objects meant; 0 for all within reach.

    Returns:
        `count` candidates, or more in case of ties; none if positions are unknown.
    """
    others = [
        n
        for c in nearness.classes
        for n in inventory.of(c)
        if nearness.name in {None, n} and n in inventory.positions
    ]
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


def is_near(inventory: Inventory, name: str, other: str, word: str) -> bool:
    """Return whether an object is near another, and on the side of it that a preposition gives."""
    if name in _holders(inventory, other) or other in _holders(inventory, name):
        slot = roles_of(inventory.ontology).plays(inventory.classes[other], SLOT)
        return slot or is_level(word)
    if not {name, other} <= inventory.positions.keys():
        return False
    near = _distance(inventory, name, other) <= _NOT_FAR
    return near and _on_side(inventory, name, other, word)


def _distance(inventory: Inventory, one: str, other: str) -> float:
    if one in _holders(inventory, other):
        return 0.0
    x, _, z = _between(inventory.positions[one], inventory.positions[other])
    return round(math.hypot(x, z), 2)


def _on_side(inventory: Inventory, candidate: str, other: str, word: str) -> bool:
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
    # Within 60 degrees: a thing that is more in front than beside is not 'left of'.
    return 2 * (right * side[0] + ahead * side[1]) > math.hypot(right, ahead)


def _between(start: Position, end: Position) -> Position:
    return end[0] - start[0], end[1] - start[1], end[2] - start[2]


def _middle(inventory: Inventory) -> Position:
    places = list(inventory.positions.values())
    x, y, z = (math.fsum(place[axis] for place in places) / len(places) for axis in range(3))
    return x, y, z
