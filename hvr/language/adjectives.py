"""The meaning of adjectives: 'the dirty mug' picks one out, 'a hot coffee' asks for a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.knowledge.roles import FILLED, PLACE, VESSEL
from hvr.language.lexicon import Adjective
from hvr.language.meaning import MeaningDraft
from hvr.language.taxonomy import Taxonomy, literals
from hvr.values import Value

# Emptiness ----------------------------------------------------------------------------------------
# Emptiness: of a cup that it holds no liquid, of a fridge that nothing is in it.


def asks_empty(condition: str, taxonomy: Taxonomy) -> bool:
    """Return whether a condition is that of 'empty': not filled."""
    return literals(condition) == {(taxonomy.roles.predicate(FILLED), False)}


def emptied(draft: MeaningDraft, number: int, condition: str) -> str:
    """Return the condition of an empty thing: what holds liquids and things holds neither."""
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


# --------------------------------------------------------------------------------------------------


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
