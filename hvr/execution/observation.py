"""Observation: outcomes of steps as PDDL atoms, the scene fields behind them, audio events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hvr.knowledge.graph_reader import predicate_rules
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import k
from hvr.pddl.model import Atom, Expression
from hvr.values import Value
from hvr.worlds.thor.types import FLOOR, SILENT

# Fields -------------------------------------------------------------------------------------------
# Which fields of a scene graph, and which sorts of predicates, stand behind PDDL atoms.


@dataclass(frozen=True, eq=False)
class Fields:
    """The attributes of a scene object that predicates stand for, by the ontology's annotations.

    Args:
        flags: the boolean attribute of a predicate: `{"opened": "isOpen"}`.
        values: attribute and value of a predicate: `{"hot": ("temperature", "Hot")}`.
        neutral: the value of such an attribute for which there is no predicate.
        ends: the attribute that has the second argument of a predicate as its value.
    """

    flags: Mapping[str, str]
    values: Mapping[str, tuple[str, str]]
    neutral: Mapping[str, str]
    ends: Mapping[str, str]


class PredicateSorts(Value):
    """Predicates that are not simply seen.

    Args:
        remembered: about the past: no observation shows them, they are kept as a record.
        drifting: they change by themselves, in their own time.
    """

    remembered: frozenset[str] = frozenset()
    drifting: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def fields_of(ontology: Ontology) -> Fields:
    """Return the fields behind the predicates of an ontology."""
    flags, values, ends = {}, {}, {}
    for rule in predicate_rules(ontology).values():
        behind = [str(f) for f in ontology.annotation(rule.prop or rule.term, "thorField")]
        if not behind:
            continue
        if rule.kind == "flag":
            flags[rule.predicate] = behind[0]
        elif rule.kind == "relation":
            ends[rule.predicate] = behind[0]
        elif rule.kind == "value":
            for value in ontology.annotation(rule.term, "thorValue"):
                values[rule.predicate] = (behind[0], str(value))
    spoken = set(values.values())
    neutral = {
        str(field): str(value)
        for name, prop in ontology.pairs("valueOf")
        for field in ontology.annotation(prop, "thorField")
        for value in ontology.annotation(name, "thorValue")
        if (str(field), str(value)) not in spoken
    }
    return Fields(flags, values, neutral, ends)


@lru_cache(maxsize=8)
def sorts_of(ontology: Ontology) -> PredicateSorts:
    """Return which predicates of an ontology are remembered, and which change by themselves."""
    above = ontology.rules.superproperties
    rules = predicate_rules(ontology).values()
    drifting = set(ontology.subjects("changesByItself"))
    return PredicateSorts(
        frozenset(r.predicate for r in rules if k("historyMark") in above.get(k(r.term), ())),
        frozenset(r.predicate for r in rules if drifting & {r.term, r.prop}),
    )


def default_sorts() -> PredicateSorts:
    """Return the sorts of hvr's own ontology."""
    return sorts_of(load_ontology())


# Audio events -------------------------------------------------------------------------------------
# Sounds as labels, made from what an action changed in the whole room.
#
# They stand in for the audio track of a recording: a sound tells what happened to which kind
# of thing, also out of sight, but not to which one of several.


class SoundKind(StrEnum):
    """Kinds of sounds."""

    TURNED_ON = "turned on"
    TURNED_OFF = "turned off"
    BROKEN = "broken"
    POURED = "poured"
    DROPPED = "dropped"


class AudioEvent(Value):
    """One sound.

    Args:
        noise: what kind.
        object_type: AI2-THOR's type of the thing that makes it.
    """

    noise: SoundKind
    object_type: str

    def __str__(self) -> str:
        return f"{self.object_type} {self.noise.value}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"noise": self.noise.value, "object_type": self.object_type}


def audio_events(before: SceneGraph, after: SceneGraph) -> tuple[AudioEvent, ...]:
    """Return the sounds of what happened between two moments, in the order of the objects.

    * turned on, turned off: an appliance, burner, faucet or light that was switched;
    * broken: a thing that broke;
    * poured: a vessel that was filled or emptied;
    * dropped: a thing that came to lie on the floor.
    """
    heard: dict[AudioEvent, None] = {}
    for name, now in after.objects.items():
        then = before.objects.get(name)
        if then is None or (then.attributes == now.attributes and then.parents == now.parents):
            continue
        kind = now.object_type
        if _changed(then, now, "isToggled") and kind not in SILENT:
            on = bool(now.attributes.get("isToggled"))
            heard[AudioEvent(SoundKind.TURNED_ON if on else SoundKind.TURNED_OFF, kind)] = None
        if _changed(then, now, "isBroken") and now.attributes.get("isBroken"):
            heard[AudioEvent(SoundKind.BROKEN, kind)] = None
        if _changed(then, now, "isFilledWithLiquid"):
            heard[AudioEvent(SoundKind.POURED, kind)] = None
        if then.parents != now.parents and _on_floor(after, now) and not _on_floor(before, then):
            heard[AudioEvent(SoundKind.DROPPED, kind)] = None
    return tuple(heard)


def _changed(then: SceneObject, now: SceneObject, field: str) -> bool:
    return bool(then.attributes.get(field)) != bool(now.attributes.get(field))


def _on_floor(scene: SceneGraph, o: SceneObject) -> bool:
    below = scene.objects.get(o.parents[0]) if o.parents else None
    return below is not None and below.object_type == FLOOR


# Observation --------------------------------------------------------------------------------------
# The expected and the observed outcome of a step, as PDDL atoms.


class Truth(Enum):
    """The verdict of an observation on an atom."""

    TRUE = "true"
    FALSE = "false"
    NOT_SEEN = "not seen"


class Expected(Value):
    """The states before and after a step, as the domain predicts them.

    Args:
        before: the fluent atoms believed before the action.
        after: those that should hold after it.
        effects: names of the predicates that the action's schema can change.
    """

    before: frozenset[Atom]
    after: frozenset[Atom]
    effects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Observed:
    """The state after a step, as far as it can be seen.

    Args:
        atoms: the fluent atoms that hold, by what is seen, and by belief where nothing is.
        scene: the scene graph that they were read from.
        seen: names of the objects seen now; None means all.
        whole: receptacles whose whole content is seen now.
        last_seen: step in which each object had last been seen before this one.
        sounds: what was heard.
        success: the environment reported success.
        error: its message if not.
        gained: atoms about objects that the plan does not name which became true.
        lost: likewise, which became false.
        sorts: which predicates are remembered or change by themselves.
        unmet: if it did not succeed, the literals of the action's precondition that do not hold
            in `atoms`.
    """

    atoms: frozenset[Atom]
    scene: SceneGraph
    seen: frozenset[str] | None = None
    whole: frozenset[str] = frozenset()
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sounds: tuple[AudioEvent, ...] = ()
    success: bool = True
    error: str = ""
    unmet: tuple[Expression, ...] = ()
    gained: frozenset[Atom] = frozenset()
    lost: frozenset[Atom] = frozenset()
    sorts: PredicateSorts = field(default_factory=default_sorts)

    def value(self, atom: Atom) -> Truth:
        """Return whether an atom is true or false by what is seen now, or not seen.

        An object's state and place are seen with it, and that something is not in a
        receptacle also where all of the receptacle's content is seen. What is in the hand is
        always felt, and what is in reach always known; what once happened to a thing is
        remembered.
        """
        known = atom.predicate in ("holding", "near") or atom.predicate in self.sorts.remembered
        if self.seen is not None and not known and atom.args:
            looked_into = len(atom.args) > 1 and atom.args[1] in self.whole
            if atom.args[0] not in self.seen and not looked_into:
                return Truth.NOT_SEEN
        return Truth.TRUE if atom in self.atoms or atom in self.gained else Truth.FALSE
