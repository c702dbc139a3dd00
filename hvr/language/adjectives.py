"""The meaning of adjectives: 'the dirty mug' selects one, 'a hot coffee' requests a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from hvr.errors import LanguageError
from hvr.knowledge.roles import FILLED, PLACE, VESSEL
from hvr.language.lexicon import Adjective
from hvr.language.meaning import MeaningDraft
from hvr.language.taxonomy import Taxonomy, literals
from hvr.values import Value

# Emptiness ----------------------------------------------------------------------------------------
# An empty cup contains no liquid; nothing is in an empty fridge.


def asks_empty(condition: str, taxonomy: Taxonomy) -> bool:
    """Return whether a condition is the meaning of 'empty': not filled."""
    return literals(condition) == {(taxonomy.roles.predicate(FILLED), False)}


def emptied(draft: MeaningDraft, number: int, condition: str) -> str:
    """Return the condition of an empty thing; a vessel that is also a place holds neither."""
    if not draft.plays(number, PLACE):
        return condition
    nothing = nothing_at(draft, number)
    return f"(and {condition} {nothing})" if draft.plays(number, VESSEL) else nothing


def nothing_at(draft: MeaningDraft, number: int, kinds: Sequence[str] = ()) -> str:
    """Return the condition that nothing, or nothing of some kinds, is on or in an entity."""
    relations = sorted({draft.taxonomy.relation(c) for c in draft.entities[number].classes})
    types = [draft.taxonomy.pddl_type(c) for c in kinds] or [draft.taxonomy.roles.thing_type]
    kind = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
    nothing = [f"(not (exists (?inside - {kind}) ({r} ?inside ?x)))" for r in relations]
    return nothing[0] if len(nothing) == 1 else f"(and {' '.join(nothing)})"


# Adjectives ---------------------------------------------------------------------------------------


class AdjectiveUse(Value):
    """The use of the adjectives before a noun.

    Args:
        condition: Condition that the verb achieves. In 'open the closed fridge' the verb ends the
            state of the adjective, so the adjective only describes.
        definite: Whether the noun has 'the': 'the open drawer' prefers an open one.
        moved: Whether the thing is also put somewhere.
        every: Whether all such things are meant: 'put all clean dishes away' selects clean ones.
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
    """Apply the adjectives before a noun: they select things or request states."""
    use = use or AdjectiveUse()
    adjectives = tuple(adjectives)
    check_compatible(draft.taxonomy, adjectives)
    for adjective in adjectives:
        if draft.taxonomy.slices_it(adjective.condition):
            continue  # the noun already means the slices, if there are any
        methods = draft.taxonomy.methods
        contrary = use.condition and methods.opposed(adjective.condition, use.condition)
        if adjective.selects or contrary or (use.every and use.moved):
            draft.select(number, adjective.condition)
            continue
        if use.definite:
            likely = (*draft.entities[number].likely, adjective.condition)
            draft.change(number, likely=likely)
        apply_adjective(draft, number, adjective, moved=use.moved)


def check_compatible(taxonomy: Taxonomy, adjectives: Sequence[Adjective]) -> None:
    """Refuse adjectives that exclude each other.

    Raises:
        LanguageError: Nothing can be both.
    """
    for one, other in combinations(adjectives, 2):
        if taxonomy.methods.opposed(one.condition, other.condition):
            raise LanguageError(f"nothing can be both {one.word} and {other.word}")


def apply_adjective(
    draft: MeaningDraft, number: int, adjective: Adjective, *, moved: bool = False
) -> None:
    """Request the state of an adjective, or select by it if it only describes."""
    if adjective.selects:
        draft.select(number, adjective.condition)
        return
    condition = adjective.condition
    if asks_empty(condition, draft.taxonomy):
        condition = emptied(draft, number, condition)
    draft.demand(number, condition, f"be {adjective.word}", adjective.requires, moved=moved)
    heat_vessel(draft, number, adjective.condition)


def heat_vessel(draft: MeaningDraft, number: int, condition: str) -> None:
    """Choose the implied vessel in which a liquid is treated, such as a kettle for hot water."""
    entity = draft.entities[number]
    vessels = draft.taxonomy.methods.vessels_for(entity.liquid, condition)
    if entity.liquid and entity.unnamed and vessels:
        draft.change(number, classes=vessels)
