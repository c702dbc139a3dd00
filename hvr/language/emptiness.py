"""Emptiness: of a cup that it holds no liquid, of a fridge that nothing is in it."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.knowledge.roles import FILLED, PLACE, VESSEL
from hvr.language.draft import MeaningDraft
from hvr.language.literals import literals
from hvr.language.taxonomy import Taxonomy


def asks_empty(condition: str, taxonomy: Taxonomy) -> bool:
    """Return whether a condition is that of 'empty': not filled."""
    return literals(condition) == {(taxonomy.roles.predicate(FILLED), False)}


def emptied(draft: MeaningDraft, number: int, condition: str) -> str:
    """Return the condition of an empty thing: what holds liquids and things holds neither.

    Args:
        draft: the meaning so far.
        number: the entity.
        condition: that it holds no liquid.
    """
    if not draft.plays(number, PLACE):
        return condition
    nothing = nothing_at(draft, number)
    return f"(and {condition} {nothing})" if draft.plays(number, VESSEL) else nothing


def nothing_at(draft: MeaningDraft, number: int, kinds: Sequence[str] = ()) -> str:
    """Return the condition that nothing is on or in an entity.

    Args:
        draft: the meaning so far.
        number: the entity.
        kinds: classes of which nothing shall be there; empty for all.
    """
    relations = sorted({draft.taxonomy.relation(c) for c in draft.entities[number].classes})
    types = [draft.taxonomy.pddl_type(c) for c in kinds] or [draft.taxonomy.roles.thing_type]
    kind = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
    nothing = [f"(not (exists (?inside - {kind}) ({r} ?inside ?x)))" for r in relations]
    return nothing[0] if len(nothing) == 1 else f"(and {' '.join(nothing)})"
