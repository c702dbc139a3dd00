"""Refusal of impossible requests with the reason, which a failing planner cannot give."""

from __future__ import annotations

from hvr.errors import ImpossibleGoalError, MissingObjectError
from hvr.knowledge.roles import PORTABLE, VESSEL
from hvr.language.meaning import Condition, Entity, SpatialRelation
from hvr.language.object_choice import ObjectChoice
from hvr.language.taxonomy import Manner, asks, literals

_MOST_NAMED = 8


def check(choice: ObjectChoice) -> None:
    """Refuse goals that the ontology shows to be impossible."""
    for number in choice.numbers:
        _check_entity(choice, number)
    for relation in choice.relations:
        if choice.classes[relation.inner] and choice.classes[relation.outer]:
            _check_place(choice, relation)
    _check_means(choice)
    for number in choice.numbers:
        _check_enough(choice, number)


def _check_enough(choice: ObjectChoice, number: int) -> None:
    """Refuse more distinct things than exist: 'the apple here and another one there'."""
    if not choice.entities[number].distinct:
        return
    things = choice.available(number)
    some = [n for n in choice.numbers if choice.entities[n].count != 0]
    alike = [n for n in some if set(choice.available(n)) & set(things)]
    wanted = sum(choice.copies(n) for n in alike)
    if wanted > len(things) and all(choice.available(n) == things for n in alike):
        raise ImpossibleGoalError(
            f"{choice.inventory.scene} has only "
            f"{choice.taxonomy.counted(len(things), choice.classes[number][:1])}, not {wanted}"
        )


def _check_entity(choice: ObjectChoice, number: int) -> None:
    entity, taxonomy = choice.entities[number], choice.taxonomy
    classes = choice.classes[number]
    for object_class in classes if entity.count == 0 else classes[:1]:
        for condition in entity.conditions:
            wanted = condition.requires
            if wanted and not taxonomy.is_a(object_class, wanted):
                raise _lacking(choice, condition.word, object_class, wanted)
            _check_states(choice, condition, object_class)
            _check_method(choice, condition, object_class)
        if entity.liquid and not taxonomy.plays(object_class, VESSEL):
            vessel = taxonomy.roles.class_of(VESSEL) or VESSEL
            raise ImpossibleGoalError(
                f"{taxonomy.a_label(object_class)} cannot hold {entity.liquid}: it lacks the "
                f"affordance {vessel}; these have it: {_able(choice, vessel)}"
            )


def _check_states(choice: ObjectChoice, condition: Condition, object_class: str) -> None:
    """Refuse a state that a class does not support, unless `_check_method` explains it better."""
    methods = choice.taxonomy.methods
    placed = {m.achieves for m in methods.means if m.goes_into}
    for predicate, affordance in methods.requirements.items():
        wanted = predicate not in placed and asks(condition.template, predicate)
        if wanted and not choice.taxonomy.is_a(object_class, affordance):
            raise _lacking(choice, condition.word, object_class, affordance)


def _lacking(
    choice: ObjectChoice, word: str, object_class: str, affordance: str
) -> ImpossibleGoalError:
    taxonomy = choice.taxonomy
    return ImpossibleGoalError(
        f"{_cannot(word, taxonomy.label(object_class))}: {taxonomy.a_label(object_class)} lacks "
        f"the affordance {affordance} ({taxonomy.label(affordance)}); these have it: "
        f"{_able(choice, affordance)}"
    )


def _cannot(word: str, label: str) -> str:
    return f"the {label} cannot {word}" if word.startswith("be ") else f"cannot {word} the {label}"


def _able(choice: ObjectChoice, affordance: str) -> str:
    known = choice.taxonomy.ontology.has_class(affordance)
    able = choice.taxonomy.concrete(affordance) if known else ()
    classes = [c for c in able if choice.inventory.of(c)]
    labels = [choice.taxonomy.label(c) for c in classes]
    more = ", …" if len(labels) > _MOST_NAMED else ""
    return (", ".join(labels[:_MOST_NAMED]) + more) or "nothing here"


def _check_method(choice: ObjectChoice, condition: Condition, object_class: str) -> None:
    """Reject a condition that requires an appliance in which the class cannot be put."""
    taxonomy = choice.taxonomy
    places = taxonomy.places(object_class)
    label, a_label = taxonomy.label(object_class), taxonomy.a_label(object_class)
    for means in taxonomy.methods.means:
        if not means.goes_into or not asks(condition.template, means.achieves):
            continue
        if not places & set(means.goes_into) and not _is_liquid(choice, object_class, means):
            into = " or ".join(taxonomy.a_label(c) for c in means.goes_into)
            usual = f"this way: {a_label} does not go into {into}"
            why = means.why_not.format(a_label) if means.why_not else usual
            raise ImpossibleGoalError(f"{_cannot(condition.word, label)} {why}")


def _is_liquid(choice: ObjectChoice, object_class: str, means: Manner) -> bool:
    vessels = choice.taxonomy.methods.vessels_with(means)
    return any(
        e.liquid and object_class in choice.classes[n] and vessels & set(e.classes)
        for n, e in enumerate(choice.entities)
    )


def _check_place(choice: ObjectChoice, relation: SpatialRelation) -> None:
    taxonomy = choice.taxonomy
    inner, outer = choice.classes[relation.inner], choice.classes[relation.outer]
    # For 'all', every class must fit; otherwise one that fits is enough and is chosen.
    every = choice.entities[relation.inner].count == 0
    misfits = [i for i in inner if not any(choice.fits(i, o) for o in outer)]
    if not misfits or (not every and len(misfits) < len(inner)):
        return
    label, a_label = taxonomy.label(misfits[0]), taxonomy.a_label(misfits[0])
    portable = taxonomy.roles.class_of(PORTABLE)
    if portable is None or not taxonomy.is_a(misfits[0], portable):
        needed = f"{portable} ({taxonomy.label(portable)})" if portable else PORTABLE
        raise ImpossibleGoalError(
            f"cannot move the {label}: {a_label} lacks the affordance {needed}"
        )
    places = sorted(
        taxonomy.label(p) for p in taxonomy.places(misfits[0]) if choice.inventory.of(p)
    )
    raise ImpossibleGoalError(
        f"{a_label} cannot be put on or in {taxonomy.a_label(outer[0])}; it can be put on or in: "
        f"{', '.join(dict.fromkeys(places)) or 'nothing here'}"
    )


def _subject(entity: Entity, name: str) -> str:
    return name if entity.liquid == name else repr(entity.text)


def _check_means(choice: ObjectChoice) -> None:
    needs = {m.achieves: m.needs for m in choice.taxonomy.methods.means if m.needs}
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
                    needs[name],
                    f"{labels}, needed for {_subject(entity, name)}",
                )
