"""Containment: what 'with …' says to be on or in what, and what is only a tool.

a pan with a knife in it        the knife is in the pan, wherever the pan goes
slice the bread with a knife    the knife is a tool
boil the potato in the pot with water    the water is in the pot
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.knowledge.roles import INSTRUMENT, PLACE, TOOL, VESSEL, WORKTOP
from hvr.language.draft import MeaningDraft
from hvr.language.syntax import Adjunct, NounPhrase


def holder(
    draft: MeaningDraft,
    candidates: Sequence[int],
    adjunct: Adjunct,
    *,
    at_work: bool = False,
) -> int | None:
    """Return the entity on or in which the things of an adjunct are said to be; None if they are
    tools or companions.

    Args:
        draft: the meaning so far.
        candidates: entities that can be meant, the nearest to the adjunct first.
        adjunct: of kind `with`.
        at_work: the verb changes its object, so that a knife is its tool.
    """
    tools = (TOOL, INSTRUMENT) if at_work else (TOOL,)
    if not adjunct.inside and any(_is(draft, thing, tools) for thing in adjunct.things):
        table = next((n for n in candidates if draft.plays(n, WORKTOP)), None)
        if table is None or any(_is(draft, t, (TOOL,)) for t in adjunct.things):
            return None
    vessels = [n for n in candidates if draft.plays(n, PLACE, VESSEL)]
    able = [n for n in vessels if _fit(draft, n, adjunct.things)]
    placed = [n for n in able if adjunct.inside in _relations(draft, n)]
    # What is said to be inside and does not fit is refused later, with the reason.
    return next(iter(placed or able or (vessels if adjunct.inside else ())), None)


def stands_on(draft: MeaningDraft, place: int, things: Iterable[int], adjunct: Adjunct) -> bool:
    """Return whether an adjunct tells what stands on the surface where things are put, rather than
    what is in them: 'the pan on the table with the lettuce', 'to the counter with a loaf on it'.

    Args:
        draft: the meaning so far.
        place: where the things are put.
        things: what is put there.
        adjunct: of kind `with`.
    """
    if not draft.plays(place, WORKTOP):
        return False
    if not adjunct.inside:
        return all(thing.determiner.definite for thing in adjunct.things)
    fitting = [n for n in things if draft.plays(n, PLACE) and _fit(draft, n, adjunct.things)]
    return (
        not any(adjunct.inside in _relations(draft, n) for n in fitting)
        and adjunct.inside in _relations(draft, place)
        and _fit(draft, place, adjunct.things)
    )


def _is(draft: MeaningDraft, thing: NounPhrase, roles: Iterable[str]) -> bool:
    return any(draft.taxonomy.plays(noun.object_class, *roles) for noun in thing.nouns)


def _relations(draft: MeaningDraft, number: int) -> set[str]:
    return {draft.taxonomy.relation(c) for c in draft.entities[number].classes}


def _fit(draft: MeaningDraft, number: int, things: Iterable[NounPhrase]) -> bool:
    """Return whether things, or pieces of them, may be put on or in an entity."""
    classes = draft.entities[number].classes
    places = draft.taxonomy.places
    return not any(
        thing.nouns
        and thing.dish is None
        and not any(
            c in places(part)
            for noun in thing.nouns
            for concrete in draft.taxonomy.concrete(noun.object_class)
            for part in (concrete, draft.taxonomy.pieces(concrete) or concrete)
            for c in classes
        )
        for thing in things
    )
