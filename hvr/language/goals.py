"""Meaning to goal: entities become variables of one PDDL condition on the world.

Words that contradict each other over time ("open the fridge and then close it") make
stages, reached one after the other; everything else is one condition, which leaves the
planner the order.
"""

from __future__ import annotations

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.roles import AGENT
from hvr.language.checks import check
from hvr.language.choice import ObjectChoice
from hvr.language.demands import HELD, Demand, collect, stages
from hvr.language.forbidding import constraints
from hvr.language.formula import Formula
from hvr.language.meaning import Meaning
from hvr.language.taxonomy import Taxonomy
from hvr.pddl.model import Domain
from hvr.values import Value

__all__ = ["Goal", "Stage", "end_conditions", "end_predicates", "goal_of"]


class Stage(Value):
    """One condition to reach, as PDDL text.

    Args:
        wanted: what was asked for.
        ends: how things shall be left besides, by preference.
        constraints: PDDL trajectory constraints that hold while it is reached, such as
            `(always (not (opened fridge-1)))`.
    """

    wanted: str
    ends: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole condition."""
        return f"(and {' '.join((self.wanted, *self.ends))})"


class Goal(Value):
    """The goal of a request.

    Args:
        stages: conditions to be reached in this order; mostly one.
        notes: what was assumed, one sentence each.
        unread: content words of the request that did not enter the reading, in its order.
        said: each stage in plain words, as its PDDL says it (`hvr.language.saying`).
        reader: who read it where it was not the grammar: `learnt` and the digest of its head.
    """

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    reader: str = "grammar"


def goal_of(meaning: Meaning, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> Goal:
    """Return the goal of a request in a scene.

    Raises:
        ImpossibleGoalError: the scene lacks something, or a thing cannot be what is asked.
    """
    choice = ObjectChoice(meaning, taxonomy, inventory, domain)
    check(choice)
    demands = collect(choice)
    if not demands and choice.already_so:
        # 'close all open drawers' where none is open: the goal holds, and asks for no other end.
        kept = constraints(choice, meaning.bans)
        return Goal((Stage("(and)", constraints=kept),), tuple(choice.notes), meaning.unread)
    if not demands:
        raise ImpossibleGoalError(f"there is nothing to do: {'; '.join(choice.notes) or 'no goal'}")
    split = stages(choice, demands)
    # Each stage is a problem of its own: only names, not variables, mean the same in all of them.
    bound = len(split) > 1
    kept = constraints(choice, meaning.bans)
    goal_stages = tuple(
        Stage(
            Formula(choice, stage, bound=bound).text(),
            tuple(_ends(choice, stage, last=number == len(split))),
            kept,
        )
        for number, stage in enumerate(split, start=1)
    )
    for stage in split:
        held = {d.entity for d in stage if d.holds}
        if sum(choice.copies(number) for number in held) > 1:
            raise ImpossibleGoalError(
                "the robot has one arm and can hold one thing at a time: "
                "say where the others shall be put"
            )
    return Goal(goal_stages, tuple(choice.notes), meaning.unread)


def _ends(choice: ObjectChoice, demands: list[Demand], *, last: bool) -> list[str]:
    """Return the preferences for the end of a task, except where the request says otherwise.

    Before the last stage the hand may hold what the next one needs.
    """
    # Exempt are classes, not objects: with one burner on, the others are not checked either.
    states = {f"({predicate} ?x)" for predicate in end_predicates(choice.taxonomy)}
    exempt = {c for d in demands for c in choice.classes[d.entity] if d.text in states}
    exempt = choice.taxonomy.with_controls(exempt)
    holding = not last or any(d.text == HELD for d in demands)
    return end_conditions(choice.taxonomy, exempt, holding=holding)


def end_conditions(taxonomy: Taxonomy, exempt: set[str], *, holding: bool) -> list[str]:
    """Return PDDL conditions for how a scene is left, from the preferences in the ontology.

    Args:
        taxonomy: has the ontology.
        exempt: classes that the request wants otherwise.
        holding: the request ends with something in the hand.
    """
    ontology = taxonomy.ontology
    conditions = []
    for name, prop in _end_preferences(ontology):
        target = str(ontology.annotation(name, "appliesTo")[0]).removeprefix("k:")
        wanted = str(ontology.annotation(name, "value")[0]).lower() == "true"
        predicate = str(ontology.annotation(prop, "pddlPredicate")[0])
        if taxonomy.plays(target, AGENT):
            if not holding:
                conditions.append(f"({predicate})" if wanted else f"(not ({predicate}))")
            continue
        able = ontology.domain_of(prop)
        for object_class in taxonomy.concrete(target):
            if object_class in exempt or (able and not taxonomy.is_a(object_class, able)):
                continue
            kind = taxonomy.pddl_type(object_class)
            text = f"({predicate} ?{kind})"
            conditions.append(f"(forall (?{kind} - {kind}) {text if wanted else f'(not {text})'})")
    return conditions


def end_predicates(taxonomy: Taxonomy) -> frozenset[str]:
    """Return the predicates that preferences want so or not so when all is done."""
    ontology = taxonomy.ontology
    return frozenset(
        str(predicate) for _, prop in _end_preferences(ontology)
        for predicate in ontology.annotation(prop, "pddlPredicate")
    )  # fmt: skip


def _end_preferences(ontology: Ontology) -> list[tuple[str, str]]:
    """Return the preferences for the end of a task, each with the property that it is about."""
    return [
        (name, str(ontology.annotation(name, "property")[0]).removeprefix("k:"))
        for name in ontology.instances("Preference")
        if ontology.annotation(name, "context") == ("end of task",)
    ]
