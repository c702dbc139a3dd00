"""The meaning of adjectives: 'the dirty mug' picks one out, 'a hot coffee' asks for a state."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.language.draft import MeaningDraft
from hvr.language.lexicon import Adjective
from hvr.language.literals import asks, opposed

_STOVE_VESSELS = ("Kettle", "Pot")
_HOT_VESSELS = ("Kettle", "Mug", "Cup", "Pot")
"""The vessels that water is heated in if none is named, most preferred first."""


def qualify(
    draft: MeaningDraft, number: int, adjectives: Iterable[Adjective], condition: str = ""
) -> None:
    """Take in the adjectives before a noun: they pick things out, or are to become true.

    Args:
        draft: the meaning so far.
        number: the entity.
        adjectives: in order.
        condition: what the verb will make true. In 'open the closed fridge' the adjective is
            what the verb ends, so it can only describe.
    """
    for adjective in adjectives:
        if asks(adjective.condition, "sliced"):
            continue  # the noun has become its slices, where it has any
        contrary = condition and opposed(adjective.condition, condition)
        if adjective.selects or contrary:
            draft.select(number, adjective.condition)
        else:
            apply_adjective(draft, number, adjective)


def apply_adjective(draft: MeaningDraft, number: int, adjective: Adjective) -> None:
    """Ask for what an adjective says, or pick out by it if it only describes."""
    if adjective.selects:
        draft.select(number, adjective.condition)
        return
    draft.demand(number, adjective.condition, adjective.word, adjective.requires)
    heat_vessel(draft, number, adjective.condition)


def heat_vessel(draft: MeaningDraft, number: int, condition: str) -> None:
    """Take a vessel that can be heated for water that is to be hot, unless one was named."""
    entity = draft.entities[number]
    if entity.liquid == "water" and entity.unnamed and asks(condition, "hot"):
        stove = asks(condition, "stove_heated")
        draft.change(number, classes=_STOVE_VESSELS if stove else _HOT_VESSELS)
