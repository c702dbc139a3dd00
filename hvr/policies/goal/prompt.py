"""What a prompt for a goal tells: predicates, kinds, and what the graph knows of the request."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.context import kind_context, object_context
from hvr.knowledge.retrieval.knowledge import (
    dishes,
    known_dishes,
    left_as,
    meanings,
    notes,
    preferences,
)
from hvr.knowledge.retrieval.words import squeezed, words
from hvr.knowledge.wording import wording_of
from hvr.policies.goal.answer import GoalAnswer, GoalLiteral
from hvr.policies.goal.words import GoalWords

_MOST_OBJECTS = 12
_MAKING = frozenset(("make", "serve"))


def values(request: str, graph: KnowledgeGraph, known: GoalWords) -> Mapping[str, str]:
    """Return the values of the templates `goal` and `correct_goal`, but for the latter's own.

    Args:
        request: the request.
        graph: the world.
        known: the words of goals in it.
    """
    ends = ", ".join(left_as(graph.ontology))
    return {
        "request": request,
        "predicates": _predicates(known),
        "kinds": kind_context(graph, known.inventory.classes),
        "knowledge": _knowledge(request, graph, known),
        "liquids": ", ".join(known.liquids),
        "ends": f"By itself hvr sees to it that {ends}." if ends else "",
    }


def written(answer: GoalAnswer) -> str:
    """Return an answer as JSON, as the prompt of a correction shows it."""
    things = [
        {
            "name": thing.name,
            "kinds": list(thing.kinds),
            **({"every": True} if thing.every else {}),
            **({"apart": True} if thing.apart else {}),
            **({"where": [_literal(x) for x in thing.where]} if thing.where else {}),
        }
        for thing in answer.things
    ]
    whole = {
        "things": things,
        "stages": [[_literal(x) for x in stage] for stage in answer.stages],
        **({"always": [_literal(x) for x in answer.always]} if answer.always else {}),
        **({"once": [_literal(x) for x in answer.once]} if answer.once else {}),
        **({"never_two": list(answer.never_two)} if answer.never_two else {}),
        **({"cannot": answer.cannot} if answer.cannot else {}),
    }
    return json.dumps(whole, ensure_ascii=False)


def _literal(literal: GoalLiteral) -> dict[str, object]:
    value: dict[str, object] = {"predicate": literal.predicate, "args": list(literal.args)}
    return value if literal.holds else {**value, "holds": False}


def _predicates(known: GoalWords) -> str:
    wording = wording_of(known.taxonomy.ontology)
    lines = []
    for name, predicate in known.told.items():
        letters = [
            "l" if known.liquid_at(name, n) else "xy"[n] for n in range(len(predicate.parameters))
        ]
        said = wording.clause(name, letters)
        lines.append(f"({' '.join((name, *letters))}){f': {said}' if said else ''}")
    return "\n".join(lines)


def _knowledge(request: str, graph: KnowledgeGraph, known: GoalWords) -> str:
    """Return what the ontology knows of the words of a request, and the objects it names."""
    ontology = graph.ontology
    meant = dishes(request, ontology)
    told = [*(f"Here a dish is made of: {line}" for line in meant)]
    if not meant and _makes(request, known):
        told.append(f"Dishes that are known: {known_dishes(ontology)}")
    told += [f"Here {line}" for line in meanings(request, ontology)]
    told += [f"Preferred: {line}" for line in preferences(known.present, ontology)]
    told += notes(ontology, reader="goal", predicates=known.told)
    named = _named(request, known)
    if named:
        told += ["Objects that the request names:", object_context(graph, named)]
    return "\n".join(told)


def _makes(request: str, known: GoalWords) -> bool:
    """Whether a request has something made, by its verbs."""
    ontology = known.taxonomy.ontology
    spoken = set(words(request))
    return any(
        spoken & set(ontology.labels(verb))
        for verb in ontology.instances("Verb")
        if _MAKING & set(map(str, ontology.annotation(verb, "frame")))
    )


def _named(request: str, known: GoalWords) -> tuple[str, ...]:
    """Return the objects that a request names by number: `cabinet-3`, "cabinet 3"."""
    text = squeezed(request)
    named = (n for n in known.inventory.classes if squeezed(n) in text)
    return tuple(named)[:_MOST_OBJECTS]
