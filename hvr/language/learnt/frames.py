"""Frames: what the learnt reader can say of a request, and their meaning for the grammar's rooms.

A frame becomes a `Meaning`, as the grammar makes them, and takes the same way to a goal from
there. So a frame that no scene or affordance allows is refused where the grammar's would be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hvr.language.lexicon import Lexicon, verb_of
from hvr.language.meaning import Condition, Entity, Meaning, SpatialRelation
from hvr.language.taxonomy import Taxonomy

OTHER = "other"
"""The kind of all requests that no frame can say."""

VERBS: Mapping[str, str | None] = MappingProxyType({
    "place": None, "two": None, "stack": None, "hold": "take",
    "clean": "wash", "heat": "microwave", "cool": "chill", "slice": "slice",
})  # fmt: skip
"""The kinds of frames, and the verb of the lexicon that says what becomes of the thing."""

KINDS = (*VERBS, OTHER)

PLACING = frozenset({"place", "two", "stack", "clean", "heat", "cool"})
"""Kinds whose thing may be put somewhere."""

ONLY_PLACING = frozenset({"place", "two", "stack"})
"""Kinds whose thing must be put somewhere."""

_MARKS = MappingProxyType({"cool": "(chilled ?x)"})
"""What it was done with, where the verb alone does not say it."""


@dataclass(frozen=True)
class Frame:
    """What a request wants, in classes of the ontology.

    Args:
        kind: one of `KINDS`.
        thing: class of what it is about.
        place: class of where it shall be; None where no place is wanted.
        carrier: class of the dish that shall hold it there, for "stack".
        sliced: pieces of the thing are meant.
    """

    kind: str
    thing: str
    place: str | None = None
    carrier: str | None = None
    sliced: bool = False


def meaning_of(frame: Frame, text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> Meaning:
    """Return the meaning of a frame.

    Args:
        frame: what is wanted; not of the kind `OTHER`.
        text: the request.
        lexicon: knows what the verbs bring about.
        taxonomy: knows the classes of pieces.
    """
    pieces = taxonomy.pieces(frame.thing) if frame.sliced else None
    thing = pieces or frame.thing
    verb = VERBS[frame.kind]
    conditions = []
    if verb is not None:
        known = verb_of(lexicon, verb)
        template = known.condition or "(holding ?x)"
        conditions.append(Condition(template, 0, verb, known.requires))
        mark = _MARKS.get(frame.kind)
        if mark and mark not in template:
            conditions.append(Condition(mark, 0, verb))
    entities = [
        Entity((thing,), taxonomy.label(thing), count=2 if frame.kind == "two" else 1,
               conditions=tuple(conditions))
    ]  # fmt: skip
    relations = []
    for place in filter(None, (frame.carrier, frame.place)):
        entities.append(Entity((place,), taxonomy.label(place)))
        inner = len(entities) - 2
        relations.append(SpatialRelation(inner, inner + 1, 0, taxonomy.relation(place)))
    return Meaning(text, tuple(entities), tuple(relations), 1)
