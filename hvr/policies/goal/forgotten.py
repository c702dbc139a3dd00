"""Things that a request names and its goal does not: asked about once, since they may be means."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.knowledge.retrieval.selection import kinds_mentioned
from hvr.knowledge.roles import INSTRUMENT, PORTABLE
from hvr.policies.goal.answer import GoalAnswer
from hvr.policies.goal.words import GoalWords


def forgotten(request: str, answer: GoalAnswer, words: GoalWords) -> tuple[str, ...]:
    """Return the things that a request names and of which a goal does not speak.

    Only those that can be carried, and no instruments: requests often say what to cut with, and a
    place or an appliance may well be a means.

    Args:
        request: the request.
        answer: the goal, as the model wrote it.
        words: the words of goals here.
    """
    if answer.left_out:
        return ()  # by the model's own account
    inventory = words.inventory
    ontology, roles = inventory.ontology, words.taxonomy.roles
    literals = [*answer.always, *answer.once, *(x for stage in answer.stages for x in stage)]
    literals += [literal for thing in answer.things for literal in thing.where]
    spoken = {arg for literal in literals for arg in literal.args}
    kinds = [*spoken, *(k for thing in answer.things if thing.name in spoken for k in thing.kinds)]
    classes = {c for kind in kinds for c in words.classes_of(kind)}
    classes |= {inventory.classes[n] for n in spoken if n in inventory.classes}
    told = {c for known in classes for c in _related(known, words)}
    liquids = spoken & set(words.liquids)

    def means(kind: str) -> bool:
        carried = roles.plays(kind, PORTABLE) and not roles.plays(kind, INSTRUMENT)
        pours = ontology.annotation(kind, "defaultLiquid")
        return not carried or bool(liquids.intersection(map(str, pours)))

    return tuple(
        phrase for phrase, meant in kinds_mentioned(request, inventory)
        if told.isdisjoint(meant) and not any(map(means, meant))
    )  # fmt: skip


def _related(kind: str, words: GoalWords) -> Iterable[str]:
    """Yield a class, those above and below it, and what it is cut or cracked from."""
    ontology = words.inventory.ontology
    yield from ontology.superclasses(kind, reflexive=True)
    yield from ontology.subclasses(kind, reflexive=True)
    for other in ontology.object_types:
        if kind in map(str, ontology.annotation(other, "slicesInto")):
            yield other
