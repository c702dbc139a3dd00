"""Goals written by a model: JSON schema, vocabulary and prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.base.printable import nearest
from hvr.base.texts import squeezed, words
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import (
    CONTAINER,
    CONTAINS,
    FILLED,
    FITS,
    LIQUID,
    PORTABLE,
    SURFACE,
    VESSEL,
)
from hvr.knowledge.retrieval.context import (
    default_end_states,
    dishes,
    kind_context,
    known_dishes,
    meanings,
    notes,
    object_context,
    preferences,
)
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import wording_of
from hvr.language.taxonomy import Taxonomy, literals
from hvr.pddl import Domain
from hvr.pddl.formulas import Atom, changes_of
from hvr.pddl.model import Predicate
from hvr.planning.search.navigation import find_navigation
from hvr.policies.llm.schemas import array, goal_or_reason, reason_in
from hvr.values import cached_property

# Answer -------------------------------------------------------------------------------------------
#
#     {"things": [{"name": "m", "kinds": ["Mug"]}],
#      "stages": [[{"predicate": "contains", "args": ["m", "coffee"]},
#                  {"predicate": "on", "args": ["m", "DiningTable"]}]]}
#
# An argument of a literal is the name of a thing, an object of the scene (`mug-2`), a liquid, or a
# kind, which stands for one thing of that kind. The schema constrains only the form: it is better
# to send back an unknown word with the known ones than to reject it by the schema.

MAX_THINGS = 40
MAX_STAGES = 12
MAX_GOAL_LITERALS = 80
"""Size limits of a goal; an answer that exceeds them is probably a plan."""

_TEXT = {"type": "string", "maxLength": 80}
_LITERAL = {
    "type": "object",
    "properties": {
        "predicate": _TEXT,
        "args": {"type": "array", "items": _TEXT, "maxItems": 3},
        "holds": {"type": "boolean"},
    },
    "required": ["predicate", "args"],
    "additionalProperties": False,
}
_LITERALS = {"type": "array", "items": _LITERAL, "maxItems": MAX_GOAL_LITERALS}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "things": {
            "type": "array",
            "maxItems": MAX_THINGS,
            "items": {
                "type": "object",
                "properties": {
                    "name": _TEXT,
                    "kinds": {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 20},
                    "every": {"type": "boolean"},
                    "apart": {"type": "boolean"},
                    "where": _LITERALS,
                },
                "required": ["name", "kinds"],
                "additionalProperties": False,
            },
        },
        "stages": {"type": "array", "items": _LITERALS, "maxItems": MAX_STAGES},
        "always": _LITERALS,
        "once": _LITERALS,
        "never_two": {"type": "array", "items": _TEXT, "maxItems": 5},
        "left_out": {
            "type": "array",
            "items": {"type": "string", "maxLength": 200},
            "maxItems": 10,
        },
        "cannot": {"type": "string", "maxLength": 400},
    },
    "required": ["stages"],
    "additionalProperties": False,
}
"""JSON schema of the answer."""


ACCEPTED: Mapping[str, Any] = {
    **SCHEMA,
    "properties": {
        **SCHEMA["properties"],
        "stages": goal_or_reason(SCHEMA["properties"]["stages"], 400),
    },
}
"""JSON schema of the answers that hvr accepts: those of `schema_of`, but with arbitrary names and
without `minItems`, so that hvr can ask for corrections.
"""


def schema_of(words: GoalVocabulary) -> dict[str, Any]:
    """Return the schema of a goal that may use only a scene's predicates, kinds and objects.

    An answer may also be a reason for not giving a goal.
    """
    kinds = {"type": "string", "enum": sorted(words.present)}
    known = [*sorted(words.present), *words.inventory.classes, *words.liquids]
    named = {"type": "string", "pattern": "^[a-z][a-z0-9]{0,11}$"}
    schema: dict[str, Any] = json.loads(json.dumps(SCHEMA))
    literal = {
        "type": "object",
        "properties": {
            "predicate": {"type": "string", "enum": list(words.listed)},
            "args": {
                "type": "array",
                "items": {"anyOf": [named, {"type": "string", "enum": known}]},
                "minItems": 1,
                "maxItems": max(len(p.parameters) for p in words.listed.values()),
            },
            "holds": {"type": "boolean"},
        },
        "required": ["predicate", "args"],
        "additionalProperties": False,
    }
    literals = {"type": "array", "items": {"$ref": "#/$defs/fact"}, "maxItems": MAX_GOAL_LITERALS}
    parts = schema["properties"]
    thing = parts["things"]["items"]["properties"]
    thing["name"], thing["kinds"]["items"], thing["where"] = named, kinds, literals
    stage = {**literals, "minItems": 1}
    parts["stages"] = goal_or_reason(array(stage, MAX_STAGES, 1), parts.pop("cannot")["maxLength"])
    parts["always"], parts["once"] = literals, literals
    parts["left_out"]["items"]["minLength"] = 1
    parts["never_two"]["items"] = {"type": "string", "enum": list(words.predicates)}
    return {**schema, "$defs": {"fact": literal}}


@dataclass(frozen=True)
class GoalLiteral:
    """A literal of a goal; `holds` is False for a negative literal."""

    predicate: str
    args: tuple[str, ...]
    holds: bool = True

    def __str__(self) -> str:
        atom = f"({' '.join((self.predicate, *self.args))})"
        return atom if self.holds else f"(not {atom})"


@dataclass(frozen=True)
class WrittenThing:
    """A name that a goal declares for one object or for all objects of some kinds.

    Args:
        kinds: Acceptable kinds, in order of preference.
        every: Whether the name stands for all objects of the kinds rather than for one of them.
        apart: Whether the object must differ from the objects of all other names, as portable
            objects always must.
        where: Literals that must hold initially for the objects that the name stands for.
    """

    name: str
    kinds: tuple[str, ...]
    every: bool = False
    apart: bool = False
    where: tuple[GoalLiteral, ...] = ()


@dataclass(frozen=True)
class GoalAnswer:
    """A goal as the model wrote it.

    Args:
        stages: Literals to achieve, one group per stage.
        always: Literals that must hold throughout the plan.
        once: Literals that may become true at most once.
        never_two: Predicates that must never hold for two objects at the same time.
        left_out: Parts of the request that the goal does not express, according to the model.
        cannot: The model's reason for not giving a goal; empty if it gives one.
    """

    things: tuple[WrittenThing, ...]
    stages: tuple[tuple[GoalLiteral, ...], ...]
    always: tuple[GoalLiteral, ...] = ()
    once: tuple[GoalLiteral, ...] = ()
    never_two: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    cannot: str = ""


def parse_goal_answer(data: Mapping[str, Any]) -> GoalAnswer:
    """Parse an answer that satisfies the schema."""
    reason = reason_in(data["stages"])
    return GoalAnswer(
        things=tuple(
            WrittenThing(
                thing["name"].strip(),
                tuple(kind.strip() for kind in thing["kinds"]),
                thing.get("every", False),
                thing.get("apart", False),
                _literals(thing.get("where", ())),
            )
            for thing in data.get("things", ())
        ),
        stages=()
        if reason
        else tuple(stage for part in data["stages"] if (stage := _literals(part))),
        always=_literals(data.get("always", ())),
        once=_literals(data.get("once", ())),
        never_two=tuple(map(_predicate, data.get("never_two", ()))),
        left_out=tuple(text.strip() for text in data.get("left_out", ()) if text.strip()),
        cannot=reason or data.get("cannot", "").strip(),
    )


def _literals(values: Iterable[Mapping[str, Any]]) -> tuple[GoalLiteral, ...]:
    return tuple(
        GoalLiteral(
            _predicate(value["predicate"]),
            tuple(arg.strip() for arg in value["args"]),
            value.get("holds", True),
        )
        for value in values
    )


def _predicate(text: str) -> str:
    return text.strip(" ()?").lower().replace("-", "_")


# Vocabulary ---------------------------------------------------------------------------------------

_PLACING = ("on", "in")


@dataclass(frozen=True)
class NameMeaning:
    """The objects that a name in a goal can stand for.

    Args:
        classes: Possible object types, in order of preference.
        objects: Possible objects, in order of preference.
        every: Whether the name stands for all of these objects rather than for one of them.
        apart: Whether the object must differ from the objects of all other names with `apart`.
        named: Whether the name is an object's own name.
        liquid: Whether the name is a liquid.
    """

    name: str
    classes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    every: bool = False
    apart: bool = True
    named: bool = False
    liquid: bool = False


class GoalVocabulary:
    """The predicates, kinds, objects and liquids that a goal may use in a scene."""

    def __init__(self, taxonomy: Taxonomy, inventory: Inventory, domain: Domain) -> None:
        self.taxonomy = taxonomy
        self.inventory = inventory
        self.domain = domain

    # Predicates -----------------------------------------------------------------------------

    @cached_property
    def predicates(self) -> dict[str, Predicate]:
        """The predicates that a goal may use: those that actions change, in the domain's order."""
        changed = {
            change.predicate
            for schema in self.domain.actions.values()
            for change in changes_of(schema.effect)
            if isinstance(change, Atom)
        }
        return {n: p for n, p in self.domain.predicates.items() if n in changed}

    @property
    def listed(self) -> dict[str, Predicate]:
        """Predicates that prompts list: all that have arguments, except the robot's position."""
        navigation = find_navigation(self.domain)
        fleeting = navigation.predicates if navigation else frozenset()
        return {n: p for n, p in self.predicates.items() if n not in fleeting and p.parameters}

    def unknown_predicate(self, name: str) -> str:
        """Return an error message for a predicate that goals cannot use."""
        wording = wording_of(self.taxonomy.ontology).predicates
        plain = name.replace("_", " ")
        for known in self.predicates:
            words = wording.get(known)
            if words and plain in {text.replace("_", " ") for text in words.negation}:
                return (
                    f'there is no predicate {name!r}: write {known!r} with "holds": false instead'
                )
        meant = [k for k, w in wording.items() if k in self.predicates and plain in w.written]
        near = next(iter(meant), "") or nearest(name, self.predicates)
        if name in self.domain.predicates:
            return f"the predicate {name!r} never changes, so it can be no goal"
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(self.listed)}"
        return f"there is no predicate {name!r}: {hint}"

    def liquid_at(self, predicate: str, place: int) -> bool:
        """Return whether the argument `place` (0-based) of a predicate is a liquid."""
        return self._liquid in self.predicates[predicate].parameters[place].types

    @property
    def liquids(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.domain.constants if self._liquid in c.types)

    @property
    def _liquid(self) -> str | None:
        return self.taxonomy.roles.pddl_type(LIQUID)

    # Kinds and objects ----------------------------------------------------------------------

    @cached_property
    def present(self) -> frozenset[str]:
        """The object types of the scene, including pieces of objects that can be cut."""
        return frozenset(self.inventory.classes.values())

    def classes_of(self, kind: str) -> tuple[str, ...]:
        """Return the scene's object types that a word for a kind includes."""
        classes = [c for c in self._known.get(_key(kind), ()) if c in self.present]
        return tuple(dict.fromkeys(classes))

    def unknown_kind(self, kind: str) -> str:
        """Return an error message for a kind that the scene lacks or hvr does not know."""
        known = self._known.get(_key(kind), ())
        if known:
            label = self.taxonomy.label(known[0])
            return f"{self.inventory.scene} has no {label}"
        near = nearest(kind, self.present) or nearest(kind.title(), self.present)
        return f"there is no thing, kind or object {kind!r}" + (
            f": did you mean {near!r}?" if near else ""
        )

    def objects_of(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the scene's objects of some types, in the order of the types.

        If a type of pieces has no objects yet, its objects are the future pieces of one whole.
        """
        found: list[str] = []
        for object_class in classes:
            names = self.inventory.of(object_class)
            there = [n for n in names if self.taxonomy.is_there(self.inventory, n)]
            if not there and (source := self.taxonomy.source(object_class)) is not None:
                whole = next(iter(self.inventory.of(source)), None)
                there = [p for p, s in self.inventory.pairs(self.taxonomy.piece_of) if s == whole]
                there = [p for p in names if p in there]
            found += there
        return tuple(dict.fromkeys(found))

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        ontology = self.taxonomy.ontology
        names: dict[str, list[str]] = {}
        types = list(ontology.object_types)
        groups = sorted(ontology.classes() - set(types))
        for object_class in (*types, *groups):
            concrete = self.taxonomy.concrete(object_class)
            for text in (object_class, *ontology.labels(object_class)):
                names.setdefault(_key(text), []).extend(concrete)
        for one, other in ontology.pairs("namedFor"):
            # By "Sink" a model may mean the sink's basin; affordances decide later.
            names[_key(one)].append(other)
        return {name: tuple(classes) for name, classes in names.items()}

    # What can be true -----------------------------------------------------------------------

    @cached_property
    def requirements(self) -> dict[str, str]:
        """The affordance that the verbs require of each predicate's first argument."""
        ontology = self.taxonomy.ontology
        needs: dict[str, str] = {}
        verbs: list[tuple[list[str], str]] = []
        for verb in ontology.instances("Verb"):
            for text in ontology.annotation(verb, "condition"):
                wanted = [name for name, holds in literals(str(text)) if holds]
                required = [
                    str(c).removeprefix("k:") for c in ontology.annotation(verb, "requires")
                ]
                if required:
                    verbs.append((wanted, required[0]))
        # A verb with a single condition is the most specific source of its requirement.
        for wanted, affordance in sorted(verbs, key=lambda verb: len(verb[0])):
            for name in wanted:
                needs.setdefault(name, affordance)
        roles = self.taxonomy.roles
        held = [*roles.predicates(FILLED), *roles.predicates(CONTAINS)]
        held += [state_of for _, state_of in self.taxonomy.methods.contents]
        if vessel := roles.class_of(VESSEL):
            needs.update(dict.fromkeys(held, vessel))
        if portable := roles.class_of(PORTABLE):
            needs.update(dict.fromkeys(_PLACING, portable))
        return needs

    def can_be(self, predicate: str, object_class: str) -> bool:
        """Return whether a predicate can hold for objects of a type as the first argument."""
        needed = self.requirements.get(predicate)
        return needed is None or self._has(object_class, needed)

    def _has(self, object_class: str, affordance: str) -> bool:
        return self.taxonomy.is_a(object_class, affordance) or affordance in {
            name.removeprefix("k:") for name in self.taxonomy.ontology.sometimes(object_class)
        }

    def fits(self, inner: str, outer: str) -> bool:
        """Return whether objects of type `inner` may be put in or on objects of type `outer`."""
        return (inner, outer) in self._fitting

    @cached_property
    def _fitting(self) -> frozenset[tuple[str, str]]:
        classes, true, roles = self.inventory.classes, self.inventory.true, self.taxonomy.roles
        takes = [*roles.predicates(SURFACE)[:1], *roles.predicates(CONTAINER)[:1]]
        # Objects that fit a sink also fit its basin, but only one of the two accepts objects.
        return frozenset(
            (classes[thing], classes[place])
            for predicate in roles.predicates(FITS)
            for thing, place in self.inventory.pairs(predicate)
            if any(true(name, place) for name in takes)
        )

    def relation(self, outer: str) -> str:
        """Return the predicate for being at a place: `in` for containers, otherwise `on`."""
        return self.taxonomy.relation(outer)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


# Prompt -------------------------------------------------------------------------------------------

_MOST_OBJECTS = 12
_MAKING = frozenset(("make", "serve"))


def prompt_values(request: str, graph: KnowledgeGraph, known: GoalVocabulary) -> Mapping[str, str]:
    """Return the placeholder values that the templates `goal` and `correct_goal` share."""
    ends = ", ".join(default_end_states(graph.ontology))
    return {
        "request": request,
        "predicates": _predicates(known),
        "kinds": kind_context(graph, known.inventory.classes),
        "knowledge": _knowledge(request, graph, known),
        "liquids": ", ".join(known.liquids),
        "ends": f"By itself hvr sees to it that {ends}." if ends else "",
    }


def answer_json(answer: GoalAnswer) -> str:
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


def _predicates(known: GoalVocabulary) -> str:
    wording = wording_of(known.taxonomy.ontology)
    lines = []
    for name, predicate in known.listed.items():
        letters = [
            "l" if known.liquid_at(name, n) else "xy"[n] for n in range(len(predicate.parameters))
        ]
        clause = wording.clause(name, letters)
        lines.append(f"({' '.join((name, *letters))}){f': {clause}' if clause else ''}")
    return "\n".join(lines)


def _knowledge(request: str, graph: KnowledgeGraph, known: GoalVocabulary) -> str:
    ontology = graph.ontology
    meant = dishes(request, ontology)
    listed = [*(f"Here a dish is made of: {line}" for line in meant)]
    if not meant and _makes(request, known):
        listed.append(f"Dishes that are known: {known_dishes(ontology)}")
    listed += [f"Here {line}" for line in meanings(request, ontology)]
    listed += [f"Preferred: {line}" for line in preferences(known.present, ontology)]
    listed += notes(ontology, reader="goal", predicates=known.listed)
    named = _named(request, known)
    if named:
        listed += ["Objects that the request names:", object_context(graph, named)]
    return "\n".join(listed)


def _makes(request: str, known: GoalVocabulary) -> bool:
    ontology = known.taxonomy.ontology
    request_words = set(words(request))
    return any(
        request_words & set(ontology.labels(verb))
        for verb in ontology.instances("Verb")
        if _MAKING & set(map(str, ontology.annotation(verb, "frame")))
    )


def _named(request: str, known: GoalVocabulary) -> tuple[str, ...]:
    text = squeezed(request)
    named = (n for n in known.inventory.classes if squeezed(n) in text)
    return tuple(named)[:_MOST_OBJECTS]
