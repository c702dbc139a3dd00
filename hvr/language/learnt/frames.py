"""Frames: what the learnt reader can say of a request, and their meaning for the grammar's rooms.

A frame becomes a `Meaning`, as the grammar makes them, and takes the same way to a goal from
there. So a frame that no scene or affordance allows is refused where the grammar's would be.
"""

from __future__ import annotations

from dataclasses import dataclass

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import Ontology
from hvr.language.literals import literals
from hvr.language.meaning import Condition, Entity, Meaning, SpatialRelation
from hvr.language.taxonomy import Taxonomy
from hvr.language.vocabulary import learnt_verb

OTHER = "other"
"""The kind of all requests that no frame can say."""

KINDS = ("place", "two", "stack", "hold", "clean", "heat", "cool", "slice", OTHER)
"""The kinds of frames. What becomes of the thing is said by the verb that the ontology calls learnt
as this kind (`k:learntAs`)."""

PLACING = frozenset({"place", "two", "stack", "clean", "heat", "cool"})
"""Kinds whose thing may be put somewhere."""

ONLY_PLACING = frozenset({"place", "two", "stack"})
"""Kinds whose thing must be put somewhere."""


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


def meaning_of(frame: Frame, text: str, taxonomy: Taxonomy) -> Meaning:
    """Return the meaning of a frame.

    Args:
        frame: what is wanted; not of the kind `OTHER`.
        text: the request.
        taxonomy: knows the classes of pieces, and what verbs bring about.

    Raises:
        ImpossibleGoalError: the world has no verb for what is wanted.
    """
    pieces = taxonomy.pieces(frame.thing) if frame.sliced else None
    thing = pieces or frame.thing
    conditions = []
    if frame.kind not in ONLY_PLACING:
        verb = learnt_verb(taxonomy.ontology, frame.kind)
        if verb is None or verb.condition is None:
            raise ImpossibleGoalError(f"nothing brings about here what is to {frame.kind}")
        conditions.append(Condition(verb.condition, 0, verb.word, verb.requires))
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


def states_of(ontology: Ontology) -> frozenset[str]:
    """Return the predicates, but for places, of which frames speak that put things somewhere."""
    verbs = (learnt_verb(ontology, kind) for kind in sorted(PLACING - ONLY_PLACING))
    return frozenset(name for verb in verbs if verb is not None and verb.condition
                     for name, _ in literals(verb.condition))  # fmt: skip
