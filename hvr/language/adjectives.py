"""The meaning of adjectives: 'the dirty mug' picks one out, 'a hot coffee' asks for a state."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.language.draft import MeaningDraft
from hvr.language.emptiness import asks_empty, emptied
from hvr.language.lexicon import Adjective
from hvr.values import Value


class AdjectiveUse(Value):
    """The use of the adjectives before a noun.

    Args:
        condition: what the verb will make true. In 'open the closed fridge' the adjective is what
            the verb ends, so it can only describe.
        definite: 'the open drawer' is one that is open, if any is.
        moved: the thing is put somewhere, so that 'clean' asks for more than that it is.
        every: all of them are spoken of: 'put all clean dishes away' is about those that are clean.
    """

    condition: str = ""
    definite: bool = False
    moved: bool = False
    every: bool = False


def qualify(
    draft: MeaningDraft,
    number: int,
    adjectives: Iterable[Adjective],
    use: AdjectiveUse | None = None,
) -> None:
    """Take in the adjectives before a noun: they pick things out, or are to become true.

    Args:
        draft: the meaning so far.
        number: the entity.
        adjectives: in order.
        use: what they stand for in their clause.
    """
    use = use or AdjectiveUse()
    for adjective in adjectives:
        if draft.taxonomy.slices_it(adjective.condition):
            continue  # the noun has become its slices, where it has any
        methods = draft.taxonomy.methods
        contrary = use.condition and methods.opposed(adjective.condition, use.condition)
        if adjective.selects or contrary or (use.every and use.moved):
            draft.select(number, adjective.condition)
            continue
        if use.definite:
            likely = (*draft.entities[number].likely, adjective.condition)
            draft.change(number, likely=likely)
        apply_adjective(draft, number, adjective, moved=use.moved)


def apply_adjective(
    draft: MeaningDraft, number: int, adjective: Adjective, *, moved: bool = False
) -> None:
    """Ask for what an adjective says, or pick out by it if it only describes."""
    if adjective.selects:
        draft.select(number, adjective.condition)
        return
    condition = adjective.condition
    if asks_empty(condition, draft.taxonomy):
        condition = emptied(draft, number, condition)
    draft.demand(number, condition, f"be {adjective.word}", adjective.requires, moved=moved)
    heat_vessel(draft, number, adjective.condition)


def heat_vessel(draft: MeaningDraft, number: int, condition: str) -> None:
    """Take a vessel that a liquid can be treated in, such as a kettle for water that is to be hot,
    unless one was named.
    """
    entity = draft.entities[number]
    vessels = draft.taxonomy.methods.vessels_for(entity.liquid, condition)
    if entity.liquid and entity.unnamed and vessels:
        draft.change(number, classes=vessels)
