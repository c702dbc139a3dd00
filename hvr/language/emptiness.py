"""Emptiness: of a cup that it holds no liquid, of a fridge that nothing is in it."""

from __future__ import annotations

from hvr.language.draft import MeaningDraft
from hvr.language.literals import literals


def asks_empty(condition: str) -> bool:
    """Return whether a condition is that of 'empty': not filled."""
    return literals(condition) == {("filled", False)}


def emptied(draft: MeaningDraft, number: int, condition: str) -> str:
    """Return the condition of an empty thing: what holds liquids and things holds neither.

    Args:
        draft: the meaning so far.
        number: the entity.
        condition: that it holds no liquid.
    """
    if not draft.is_a(number, "Receptacle"):
        return condition
    relations = {draft.taxonomy.relation(c) for c in draft.entities[number].classes}
    nothing = [f"(not (exists (?inside - item) ({r} ?inside ?x)))" for r in sorted(relations)]
    if draft.is_a(number, "Fillable"):
        nothing.insert(0, condition)
    return nothing[0] if len(nothing) == 1 else f"(and {' '.join(nothing)})"
