"""Refusing impossible requests with the reason, which a planner that finds no plan cannot give."""

from __future__ import annotations

from hvr.errors import ImpossibleGoalError, MissingObjectError
from hvr.language.choice import ObjectChoice
from hvr.language.literals import asks, literals
from hvr.language.meaning import Condition, Entity, SpatialRelation

_APPLIANCES = (("microwaved", "Microwave"), ("toasted", "Toaster"), ("chilled", "Fridge"))
_MOST_NAMED = 8


def check(choice: ObjectChoice) -> None:
    """Refuse what the ontology already shows to be impossible.

    Raises:
        ImpossibleGoalError: with the affordance, the place or the means that is missing.
    """
    for number in choice.numbers:
        _check_entity(choice, number)
    for relation in choice.relations:
        if choice.classes[relation.inner] and choice.classes[relation.outer]:
            _check_place(choice, relation)
    _check_means(choice)
    for number in choice.numbers:
        _check_enough(choice, number)


def _check_enough(choice: ObjectChoice, number: int) -> None:
    """Refuse another one of which there is none: 'the apple here and another one there'."""
    if not choice.entities[number].distinct:
        return
    things = choice.available(number)
    some = [n for n in choice.numbers if choice.entities[n].count != 0]
    alike = [n for n in some if set(choice.available(n)) & set(things)]
    wanted = sum(choice.copies(n) for n in alike)
    if wanted > len(things) and all(choice.available(n) == things for n in alike):
        raise ImpossibleGoalError(
            f"{choice.inventory.scene} has only {len(things)} {choice.label(number)}, not {wanted}"
        )


def _check_entity(choice: ObjectChoice, number: int) -> None:
    entity, taxonomy = choice.entities[number], choice.taxonomy
    classes = choice.classes[number]
    for object_class in classes if entity.count == 0 else classes[:1]:
        for condition in entity.conditions:
            wanted = condition.requires
            if wanted and not taxonomy.is_a(object_class, wanted):
                raise _lacking(choice, condition.word, object_class, wanted)
            cooked = asks(condition.template, "cooked")
            if cooked and not taxonomy.is_a(object_class, "Cookable"):
                raise _lacking(choice, condition.word, object_class, "Cookable")
            _check_method(choice, condition, object_class)
        if entity.liquid and not taxonomy.is_a(object_class, "Fillable"):
            raise ImpossibleGoalError(
                f"{taxonomy.a_label(object_class)} cannot hold {entity.liquid}: it lacks the "
                f"affordance Fillable; what has it: {_able(choice, 'Fillable')}"
            )


def _lacking(
    choice: ObjectChoice, word: str, object_class: str, affordance: str
) -> ImpossibleGoalError:
    taxonomy = choice.taxonomy
    return ImpossibleGoalError(
        f"{_cannot(word, taxonomy.label(object_class))}: {taxonomy.a_label(object_class)} lacks "
        f"the affordance {affordance} ({taxonomy.label(affordance)}); what has it: "
        f"{_able(choice, affordance)}"
    )


def _cannot(word: str, label: str) -> str:
    """Return that something cannot be done, or that a thing cannot be so: 'be cooked'."""
    return f"the {label} cannot {word}" if word.startswith("be ") else f"cannot {word} the {label}"


def _able(choice: ObjectChoice, affordance: str) -> str:
    """Return the kinds of things in the scene that have an affordance, as text."""
    classes = [c for c in choice.taxonomy.concrete(affordance) if choice.inventory.of(c)]
    labels = [choice.taxonomy.label(c) for c in classes]
    more = ", …" if len(labels) > _MOST_NAMED else ""
    return (", ".join(labels[:_MOST_NAMED]) + more) or "nothing here"


def _check_method(choice: ObjectChoice, condition: Condition, object_class: str) -> None:
    """Refuse a condition that asks for an appliance into which things of a class do not go."""
    taxonomy = choice.taxonomy
    places = taxonomy.places(object_class)
    label, a_label = taxonomy.label(object_class), taxonomy.a_label(object_class)
    for mark, appliance in _APPLIANCES:
        if asks(condition.template, mark) and appliance not in places:
            raise ImpossibleGoalError(
                f"{_cannot(condition.word, label)} so: {a_label} does not go into "
                f"{taxonomy.a_label(appliance)}"
            )
    by_stove = asks(condition.template, "stove_heated")
    if (
        by_stove
        and not places & {"StoveBurner", "Pan", "Pot"}
        and not _is_liquid(choice, object_class)
    ):
        raise ImpossibleGoalError(
            f"{_cannot(condition.word, label)} on the stove: {a_label} goes neither on a "
            "burner nor into a pan or pot"
        )


def _is_liquid(choice: ObjectChoice, object_class: str) -> bool:
    return any(
        e.liquid and object_class in choice.classes[n] and "Kettle" in e.classes
        for n, e in enumerate(choice.entities)
    )


def _check_place(choice: ObjectChoice, relation: SpatialRelation) -> None:
    taxonomy = choice.taxonomy
    inner, outer = choice.classes[relation.inner], choice.classes[relation.outer]
    # Of all things every class must fit; else one that does is enough, and it is chosen.
    every = choice.entities[relation.inner].count == 0
    misfits = [i for i in inner if not any(choice.fits(i, o) for o in outer)]
    if not misfits or (not every and len(misfits) < len(inner)):
        return
    label, a_label = taxonomy.label(misfits[0]), taxonomy.a_label(misfits[0])
    if not taxonomy.is_a(misfits[0], "Pickupable"):
        raise ImpossibleGoalError(
            f"cannot move the {label}: {a_label} lacks the affordance Pickupable (can be picked up)"
        )
    places = sorted(taxonomy.label(p) for p in taxonomy.places(misfits[0])
                    if choice.inventory.of(p))  # fmt: skip
    raise ImpossibleGoalError(
        f"{a_label} cannot be put on or in {taxonomy.a_label(outer[0])}; it can be put on or in: "
        f"{', '.join(dict.fromkeys(places)) or 'nothing here'}"
    )


def _subject(entity: Entity, name: str) -> str:
    return name if entity.liquid == name else repr(entity.text)


def _check_means(choice: ObjectChoice) -> None:
    """Refuse conditions and liquids that nothing in the scene brings about."""
    ontology = choice.taxonomy.ontology
    needs = {
        str(ontology.annotation(name, "achieves")[0]): str(
            ontology.annotation(name, "needs")[0]
        ).split()
        for name in sorted(ontology.instances("Means"))
    }
    for number in choice.numbers:
        entity = choice.entities[number]
        wanted = {name for c in entity.conditions for name, holds in literals(c.template) if holds}
        if entity.liquid:
            wanted.add(entity.liquid)
        for name in sorted(wanted & set(needs)):
            if not any(choice.inventory.of(c) for c in needs[name]):
                labels = " or ".join(choice.taxonomy.label(c) for c in needs[name])
                raise MissingObjectError(
                    choice.inventory.scene,
                    tuple(needs[name]),
                    f"{labels}, which is needed for {_subject(entity, name)}",
                )
