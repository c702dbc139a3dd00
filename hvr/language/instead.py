"""What a word asks of things to which it cannot apply as it stands: `k:Instead` of the ontology.

an apple cannot be cooked       'a cooked apple' is heated
a potato never gets dirty       'a clean potato' has been washed
nothing is cold here yet        'a cold mug' is chilled first
all cups are clean already      'put a clean cup on the table' asks for washing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hvr.knowledge.ontology import Ontology
from hvr.language.meaning import Condition, Entity
from hvr.language.taxonomy import Taxonomy
from hvr.values import Value


class Substitute(Value):
    """A condition in place of another.

    Args:
        condition: the part of a condition that is replaced.
        becomes: what stands there instead.
        requires: affordance class that the things must have.
        lacking: affordance class that they must lack; empty for no such class.
        among: of how many of the things the condition must hold already: `all`, `some`, `none`;
            empty for no matter. `all` is about things that are put somewhere.
        note: what to tell the user, after the name of the thing; empty for nothing.
    """

    condition: str
    becomes: str
    requires: str
    lacking: str = ""
    among: str = ""
    note: str = ""


def substitutes(ontology: Ontology) -> tuple[Substitute, ...]:
    """Return the substitutes of an ontology, in the order of their names."""

    def one(name: str, prop: str) -> str:
        values = ontology.annotation(name, prop)
        return str(values[0]).removeprefix("k:") if values else ""

    return tuple(
        Substitute(
            one(name, "condition"),
            one(name, "becomes"),
            one(name, "requires"),
            one(name, "lacking"),
            one(name, "among"),
            one(name, "note"),
        )
        for name in sorted(ontology.instances("Instead"))
    )


def possible(
    entity: Entity,
    classes: Sequence[str],
    taxonomy: Taxonomy,
    among: Callable[[str], str],
) -> tuple[Entity, list[str]]:
    """Return an entity with conditions that things of its classes can meet, and notes."""
    if entity.liquid:
        return entity, []
    found = [instead(c, classes, taxonomy, among) for c in entity.conditions]
    return (
        entity.replace(conditions=tuple(condition for condition, _ in found)),
        [note for _, note in found if note],
    )


def instead(
    condition: Condition,
    classes: Sequence[str],
    taxonomy: Taxonomy,
    among: Callable[[str], str],
) -> tuple[Condition, str]:
    """Return what a condition asks of things of some classes, and a note; both as they are where
    nothing stands in their place.

    Args:
        condition: what a word asks.
        classes: of the things.
        taxonomy: the class hierarchy.
        among: of how many of the things a condition holds already.
    """
    for other in substitutes(taxonomy.ontology):
        if other.condition not in condition.template:
            continue
        if other.condition in other.becomes and other.becomes in condition.template:
            continue  # it asks for that already
        if condition.requires not in {None, other.lacking, other.requires}:
            continue  # 'toast the mug' asks for more than cooking
        if not all(taxonomy.is_a(c, other.requires) for c in classes):
            continue
        if other.lacking and any(taxonomy.is_a(c, other.lacking) for c in classes):
            continue
        if other.among and other.among != among(condition.template):
            continue
        if other.among == "all" and not condition.moved:
            continue
        template = condition.template.replace(other.condition, other.becomes)
        note = f"{taxonomy.label(classes[0])}: {other.note}" if other.note else ""
        return condition.replace(template=template, requires=other.requires), note
    return condition, ""
