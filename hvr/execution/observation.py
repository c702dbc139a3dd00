"""Observation: the outcome of a step as PDDL atoms, scene attributes and sounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import lru_cache
from types import MappingProxyType

from hvr.knowledge.graph_reader import predicate_rules
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import k
from hvr.pddl.formulas import Atom, Expression
from hvr.values import Value
from hvr.worlds.thor.observe import FLOOR, SILENT

# Fields -------------------------------------------------------------------------------------------
# The attributes of scene objects, and the kinds of predicates, behind PDDL atoms.


@dataclass(frozen=True, eq=False)
class Fields:
    """The scene object attributes that predicates represent, as annotated in the ontology.

    Args:
        flags: Boolean attribute of each predicate, such as `{"opened": "isOpen"}`.
        values: Attribute and value of each predicate, such as `{"hot": ("temperature", "Hot")}`.
        neutral: For each attribute in `values`, the value that no predicate represents.
        ends: For each binary predicate, the attribute with its second argument.
    """

    flags: Mapping[str, str]
    values: Mapping[str, tuple[str, str]]
    neutral: Mapping[str, str]
    ends: Mapping[str, str]


class PredicateSorts(Value):
    """Predicates that observations do not reveal directly.

    Args:
        remembered: Predicates about the past; they are recorded because no observation shows them.
        drifting: Predicates that change by themselves over time.
    """

    remembered: frozenset[str] = frozenset()
    drifting: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def fields_of(ontology: Ontology) -> Fields:
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
    above = ontology.rules.superproperties
    rules = predicate_rules(ontology).values()
    drifting = set(ontology.subjects("changesByItself"))
    return PredicateSorts(
        frozenset(r.predicate for r in rules if k("historyMark") in above.get(k(r.term), ())),
        frozenset(r.predicate for r in rules if drifting & {r.term, r.prop}),
    )


def default_sorts() -> PredicateSorts:
    return sorts_of(load_ontology())


# Audio events -------------------------------------------------------------------------------------
# Sounds as labels, derived from an action's changes in the whole room.
#
# They replace the audio track of a recording: a sound reveals a change to some object of a type,
# even out of sight, but not to which one.


class SoundKind(StrEnum):
    TURNED_ON = "turned on"
    TURNED_OFF = "turned off"
    BROKEN = "broken"
    POURED = "poured"
    DROPPED = "dropped"


class AudioEvent(Value):
    """A sound that the robot hears, made by an object of an AI2-THOR type."""

    noise: SoundKind
    object_type: str

    json_shape = "*"

    def __str__(self) -> str:
        return f"{self.object_type} {self.noise.value}"


def audio_events(before: SceneGraph, after: SceneGraph) -> tuple[AudioEvent, ...]:
    """Return the sounds that the changes between two scenes make, in the order of the objects.

    * turned on, turned off: an appliance, burner, faucet or light was switched
    * broken: an object broke
    * poured: a vessel was filled or emptied
    * dropped: an object landed on the floor
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
    """Truth value of an atom according to an observation."""

    TRUE = "true"
    FALSE = "false"
    NOT_SEEN = "not seen"


class Expected(Value):
    """The predicted states before and after a step, and the predicates that the step can change."""

    before: frozenset[Atom]
    after: frozenset[Atom]
    effects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Observed:
    """The state after a step: observed facts, and beliefs about objects out of view.

    Args:
        atoms: Fluent atoms that hold: observed if seen, believed if not.
        scene: Scene graph from which the atoms were read.
        seen: Names of the objects seen now; None means all.
        whole: Receptacles whose whole contents are seen now.
        last_seen: Last step before this one in which each object was seen.
        success: Whether the environment reported success.
        gained: New atoms about objects outside the plan.
        lost: Atoms about objects outside the plan that no longer hold.
        unmet: Precondition literals of a failed action that do not hold in `atoms`.
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
        """Return whether an atom is observed to be true, observed to be false, or not seen.

        The state and place of an object are observed if the object is in view, or if the receptacle
        in question is in view with its whole contents. The held object, the objects in reach and
        remembered facts are always known.
        """
        known = atom.predicate in ("holding", "near") or atom.predicate in self.sorts.remembered
        if self.seen is not None and not known and atom.args:
            looked_into = len(atom.args) > 1 and atom.args[1] in self.whole
            if atom.args[0] not in self.seen and not looked_into:
                return Truth.NOT_SEEN
        return Truth.TRUE if atom in self.atoms or atom in self.gained else Truth.FALSE
