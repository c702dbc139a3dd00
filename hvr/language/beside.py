"""'Next to', 'under', 'left of': which thing or place is meant, told by what is near it.

the mug next to the sink                     of the mugs, the one nearest to a sink
put it on the counter next to the sink       of the counters, the one nearest to a sink
put it next to the plate                     on what the plate stands on
put the mug under the coffee machine         where such a machine takes a mug
"""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.knowledge.roles import SLOT, WORKTOP
from hvr.language.syntax import Adjunct, Nearby, NounGroup, NounPhrase
from hvr.language.taxonomy import Taxonomy

_PLACING = frozenset({"put", "set", "make", "serve", "drop", "discard"})
"""Frames of verbs after which 'next to' alone says where things go."""

UNDER = frozenset({"under", "underneath", "below", "beneath"})


def settle_nearby(group: NounGroup, frame: str, taxonomy: Taxonomy, *, placed: bool) -> NounGroup:
    """Return a group in which each 'next to …' belongs to a thing or a place.

    Args:
        group: as it was read.
        frame: of the verb; empty without a verb.
        taxonomy: the class hierarchy.
        placed: a place follows later in the clause.

    Raises:
        LanguageError: something can only be near itself.
    """
    if not any(a.kind == "unplaced" for a in group.adjuncts):
        return group
    things, adjuncts = list(group.things), []
    placed = placed or any(a.kind == "place" for a in group.adjuncts)
    for adjunct in group.adjuncts:
        if adjunct.kind != "unplaced" or (
            _is_under(adjunct) and _stand_for_places(taxonomy, adjunct)
        ):
            adjuncts.append(adjunct)
        elif _is_under(adjunct) and _are(taxonomy, adjunct, SLOT) and not placed:
            adjuncts.append(adjunct.replace(kind="place", word="on"))
        elif not placed and adjunct.word.startswith("on ") and _are(taxonomy, adjunct, WORKTOP):
            adjuncts.append(adjunct.replace(kind="place", word="on"))  # 'on the left side of'
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
    """Return a group in which 'with' says where, if nothing else does: 'put the fork with the
    spoon'.
    """
    if any(a.kind in {"place", "origin", "unplaced", "hand"} or a.inside for a in group.adjuncts):
        return group
    return group.replace(adjuncts=tuple(
        a.replace(kind="unplaced", word="next to") if a.kind == "with" else a
        for a in group.adjuncts
    ))  # fmt: skip


def _is_under(adjunct: Adjunct) -> bool:
    return adjunct.word in UNDER


def _are(taxonomy: Taxonomy, adjunct: Adjunct, role: str) -> bool:
    return all(
        thing.nouns and all(taxonomy.plays(noun.object_class, role) for noun in thing.nouns)
        for thing in adjunct.things
    )


def _stand_for_places(taxonomy: Taxonomy, adjunct: Adjunct) -> bool:
    """Return whether under each of some things is a place: under a tap, the sink."""
    return all(
        thing.nouns and all(taxonomy.under(noun.object_class) for noun in thing.nouns)
        for thing in adjunct.things
    )


def _near(thing: NounPhrase, adjunct: Adjunct) -> NounPhrase:
    return thing.replace(nearby=(*thing.nearby, Nearby(adjunct.word, adjunct.things)))


def _place_near(adjunct: Adjunct) -> NounPhrase:
    text = " and ".join(thing.text for thing in adjunct.things)
    if any(thing.kind == "everything" for thing in adjunct.things):
        raise LanguageError(f"{adjunct.word} {text!r} is no place: say what the thing is near")
    return NounPhrase(
        "beside", f"{adjunct.word} {text}", nearby=(Nearby(adjunct.word, adjunct.things),)
    )
