"""Exceptions: 'all but one', 'everything in the sink except the mug'."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.errors import LanguageError
from hvr.language.draft import MeaningDraft
from hvr.language.referents import ReferentReading, Referents
from hvr.language.syntax import Determiner, NounPhrase

_SPOKEN_OF = frozenset({"it", "them", "these", "those"})
"""Pronouns for things that were named; others only count: 'all but one'."""


def leave_out(
    referents: Referents, things: Iterable[int], exceptions: Iterable[NounPhrase]
) -> None:
    """Mean all of some things but a few.

    Raises:
        LanguageError: there is nothing that they could be left out of.
    """
    draft = referents.draft
    all_of = [n for n in draft.live(things) if draft.entities[n].count == 0]
    if not all_of:
        raise LanguageError(
            "hvr understands 'except' only after all of something"
            f"{draft.taxonomy.example('exception')}"
        )
    for exception in exceptions:
        count = exception.determiner.count
        if exception.kind == "pronoun" and exception.text not in _SPOKEN_OF and count:
            for number in all_of:
                draft.change(number, spare=count)
            continue
        own = exception.kind == "noun" and count is None
        # Not a known thing, since that would be what it is left out of.
        alone = exception.replace(determiner=Determiner(0)) if own else exception
        others = referents.of(alone, ReferentReading(wanted=False))
        for number in all_of:
            _without(draft, number, [n for n in others if n != number])


def _without(draft: MeaningDraft, number: int, others: list[int]) -> None:
    """Leave the objects of other entities out of one."""
    entity = draft.entities[number]
    for other in others:
        left_out = draft.entities[other]
        told = left_out.selectors or left_out.place_from or left_out.name or left_out.near
        classes = tuple(c for c in entity.classes if c not in left_out.classes)
        if classes and not told:
            entity = entity.replace(classes=classes)
        else:
            entity = entity.replace(besides=(*entity.besides, other))
    draft.entities[number] = entity
