"""The robot's belief about the scene, updated by vision, sound and prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import islice, product
from types import MappingProxyType
from typing import Any

from hvr.errors import UndefinedValueError
from hvr.execution.observation import AudioEvent, Fields, SoundKind
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl import Atom as Atom_pddl
from hvr.pddl import GroundAction, State
from hvr.pddl.formulas import Atom, FunctionTerm
from hvr.pddl.state import (
    Conjunction,
    Disjunction,
    NumericTest,
    Rational,
    Values,
    evaluate,
    set_bits,
)
from hvr.worlds.thor.observe import LIDDED, SILENT, Names

# Belief -------------------------------------------------------------------------------------------
# The robot's belief about the scene: visible objects as seen now, all others as last seen.
#
# A belief never contradicts the current view. Objects out of view keep their last known or
# predicted state: a reported success counts as having had the action's effects.


class Sight(StrEnum):
    """The part of an event's metadata that the robot may see."""

    OMNISCIENT = "omniscient"
    """The whole scene, as AI2-THOR's metadata lists it."""
    VISIBLE = "visible"
    """Objects that AI2-THOR calls visible (in view, within 1.5 m, not enclosed), the held object,
    and the contents of compact open receptacles that are visible.
    """
    DOORS = "doors"
    """Everything except the contents of closed receptacles, which are also unknown at the start."""


@dataclass(frozen=True)
class Belief:
    """A believed scene, with the objects that are currently in view.

    Args:
        scene: Every known object in its believed state.
        seen: Names of the objects that are currently in view.
        last_seen: Step in which each object was last seen, 0 before the first step. Objects that
            were never seen are absent.
    """

    scene: SceneGraph
    seen: frozenset[str]
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def initial_belief(scene: SceneGraph, sight: Sight = Sight.OMNISCIENT) -> Belief:
    """Return the robot's belief at the start of a run.

    With `Sight.DOORS`, the robot knows which objects exist, but not where unseen objects are.
    Otherwise it knows the whole room.
    """
    names = frozenset(scene.objects)
    if sight is Sight.DOORS:
        names = not_enclosed(scene)
        unseen = {
            name: replace(o, parents=(), in_reach=False)
            for name, o in scene.objects.items()
            if name not in names
        }
        scene = scene.replace(objects=MappingProxyType({**scene.objects, **unseen}))
    return Belief(scene, names, MappingProxyType(dict.fromkeys(names, 0)))


def not_enclosed(scene: SceneGraph) -> frozenset[str]:
    """Return the names of the objects that are not inside a closed receptacle."""
    return frozenset(name for name in scene.objects if not scene.shut_in(name))


def seen_objects(
    scene: SceneGraph, visible: Collection[str], large: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the objects in view, and the receptacles whose contents are completely in view.

    The held object and the contents of these receptacles count as in view. Receptacles in `large`
    are too long to be seen as a whole.
    """
    seen = set(visible)
    if scene.held is not None:
        seen.add(scene.held)
    whole: set[str] = set()
    todo = [n for n in seen if n in scene.objects]
    inside: dict[str, list[str]] = {}
    for name, o in scene.objects.items():
        for parent in o.parents[:1]:
            inside.setdefault(parent, []).append(name)
    # The contents of a bowl in an open drawer are visible with the drawer, so descend at any depth.
    while todo:
        name = todo.pop()
        attributes = scene.objects[name].attributes
        shut = attributes.get("openable") and not attributes.get("isOpen")
        shut = shut and scene.objects[name].object_type not in LIDDED
        if not attributes.get("receptacle") or shut or name in large or name in whole:
            continue
        whole.add(name)
        new = [n for n in inside.get(name, ()) if n not in seen]
        seen.update(new)
        todo += inside.get(name, ())
    return frozenset(seen), frozenset(whole)


def update_belief(
    earlier: Belief,
    predicted: SceneGraph,
    observed: SceneGraph,
    seen: frozenset[str],
    whole: frozenset[str],
    step: int,
    robot: tuple[float, float, float],
) -> Belief:
    """Return the belief after an action: seen objects as observed, unseen objects as predicted.

    An unseen object loses its known place if it was believed to be directly in a receptacle of
    `whole`, which would show it, or in the hand.

    Args:
        whole: Receptacles whose contents are completely visible.
        robot: Position of the robot, (x, y, z) in metres.
    """
    objects: dict[str, SceneObject] = {}
    for name, o in observed.objects.items():
        if name in seen:
            objects[name] = o
    for name, o in predicted.objects.items():
        if name in seen:
            continue
        # A fully visible receptacle would show the object if it were still there.
        gone = bool(o.parents) and o.parents[0] in whole
        carried = (
            name == predicted.held
        )  # the hand is always felt, so a held object that is not seen has left it
        objects[name] = replace(
            o,
            parents=() if gone or carried else o.parents,
            in_reach=False,  # unseen objects cannot be used from here
            distance=round(math.dist(robot, o.position), 5),
        )
    scene = observed.replace(objects=MappingProxyType(objects))
    last = {**earlier.last_seen, **dict.fromkeys(seen, step)}
    return Belief(scene, seen, MappingProxyType(last))


# Audio events -------------------------------------------------------------------------------------
# Audio events reveal changes out of sight.


def belief_after_sounds(
    predicted: SceneGraph, before: SceneGraph, heard: Iterable[AudioEvent], room: SceneGraph
) -> SceneGraph:
    """Return the predicted scene, corrected by the sounds that were heard.

    If a switch should have made a sound and did not, its old state is kept. A sound that only one
    object in the room can make identifies this object; any other sound only confirms an expected
    change.
    """
    sounds = set(heard)
    objects = dict(predicted.objects)
    sources: dict[str, list[str]] = {}
    for o in room.objects.values():
        sources.setdefault(o.object_type, []).append(o.name)
    partner = dict(room.controls)
    for name, now in predicted.objects.items():
        then = before.objects.get(name)
        on = bool(now.attributes.get("isToggled"))
        if then is None or bool(then.attributes.get("isToggled")) == on:
            continue
        # Knobs are silent: switching a knob sounds like its burner.
        kind = now.object_type
        if kind in SILENT and name in partner and partner[name] in objects:
            kind = objects[partner[name]].object_type
        # Switching makes a sound, so silence means that the switch did not move.
        if AudioEvent(SoundKind.TURNED_ON if on else SoundKind.TURNED_OFF, kind) not in sounds:
            objects[name] = with_attribute(now, "isToggled", not on)
    for sound in sounds:
        names = sources.get(sound.object_type, [])
        if len(names) != 1 or names[0] not in objects:
            continue  # several objects could have made this sound
        o = objects[names[0]]
        if sound.noise in (SoundKind.TURNED_ON, SoundKind.TURNED_OFF):
            objects[o.name] = with_attribute(o, "isToggled", sound.noise is SoundKind.TURNED_ON)
        elif sound.noise is SoundKind.BROKEN:
            objects[o.name] = with_attribute(o, "isBroken", True)
    return predicted.replace(objects=MappingProxyType(objects))


# Prediction ---------------------------------------------------------------------------------------
# The effects of an action, transferred from PDDL atoms to a scene graph.
#
# Needed for objects out of sight, and to tell a noisy sensor's surprising readings from expected
# ones.


def predict(
    scene: SceneGraph, added: Iterable[Atom], deleted: Iterable[Atom], names: Names, fields: Fields
) -> SceneGraph:
    """Return the scene graph after an action with the given effects.

    Predicates that a scene graph cannot express, such as `near`, are ignored.

    Args:
        names: Names of the scene, including the pieces of sliced objects.
    """
    objects = dict(scene.objects)
    held = scene.held
    for atom in deleted:
        held = None if atom.predicate == "holding" and held == atom.args[0] else held
        if atom.args and atom.args[0] in objects:
            objects[atom.args[0]] = _without(objects[atom.args[0]], atom, fields)
    # Create pieces first: other atoms may refer to them.
    for atom in sorted(added, key=lambda a: a.predicate != "present"):
        if not atom.args:
            continue
        name = atom.args[0]
        if name not in objects:
            made = _pieces(name, scene.objects, names) if atom.predicate == "present" else {}
            if name not in made:
                continue
            objects |= made
        if atom.predicate == "holding":
            held = name
            objects[name] = replace(objects[name], parents=())
        else:
            objects[name] = _with(objects[name], atom, fields)
    return scene.replace(objects=MappingProxyType(objects), held=held)


def _with(o: SceneObject, atom: Atom, fields: Fields) -> SceneObject:
    name = atom.predicate
    if name in ("on", "in"):
        return replace(o, parents=(atom.args[1],))
    if name in fields.flags:
        return with_attribute(o, fields.flags[name], True)
    if name in fields.values:
        return with_attribute(o, *fields.values[name])
    if name in fields.ends:
        return with_attribute(o, fields.ends[name], atom.args[1])
    return o


def _without(o: SceneObject, atom: Atom, fields: Fields) -> SceneObject:
    name = atom.predicate
    if name in ("on", "in"):
        return replace(o, parents=()) if o.parents[:1] == atom.args[1:] else o
    if name in fields.flags:
        return with_attribute(o, fields.flags[name], False)
    if name in fields.values:
        field, value = fields.values[name]
        gone = o.attributes.get(field) == value
        return with_attribute(o, field, fields.neutral.get(field)) if gone else o
    if name in fields.ends:
        return with_attribute(o, fields.ends[name], None)
    return o


def with_attribute(o: SceneObject, key: str, value: Any) -> SceneObject:
    return replace(o, attributes=MappingProxyType({**o.attributes, key: value}))


def _pieces(name: str, objects: Mapping[str, SceneObject], names: Names) -> dict[str, SceneObject]:
    # A plan names one piece, but cutting produces all of them at once.
    source = names.source(name) if name in names else None
    whole = objects.get(source) if source is not None else None
    if source is None or whole is None:
        return {}
    kept = {key: whole.attributes.get(key) for key in ("isCooked", "temperature")}
    fields = MappingProxyType({"pickupable": True, **kept})
    return {
        piece: SceneObject(
            piece,
            names.type_of(piece),
            names.object_id(piece),
            fields,
            whole.parents,
            whole.position,
        )
        for piece in names.pieces(source)
    }


# Contradiction ------------------------------------------------------------------------------------
# Hidden beliefs that a refusal contradicts: the smallest changes that explain it.

Revision = frozenset[tuple[Atom_pddl | FunctionTerm, bool | Fraction]]
"""Hidden facts and numbers, each with a value other than the believed one."""

_NOTHING: Revision = frozenset()
_KEPT = 24
"""Maximum number of revisions kept for each part of a condition, the smallest first."""
_MAX_VISITS = 5_000
"""Maximum number of conditions visited in a search, since recursive rules can have exponentially
many proofs.
"""


def contradicted(
    state: State,
    actions: Iterable[GroundAction],
    hidden: Callable[[Atom_pddl | FunctionTerm], bool],
) -> list[Revision]:
    """Return the smallest sets of beliefs whose retraction makes all of the actions inapplicable.

    The result is empty if no set does; if many do, only the first ones are returned.

    Args:
        hidden: Returns whether a fact or numeric fluent is only believed, not observed.
    """
    search = _Search(state, hidden)
    task = state.task
    parts = [search.conjunction(task.precondition(action), False) for action in actions]
    return _all_of(parts)


def revised(
    state: State, changes: Iterable[tuple[Atom_pddl | FunctionTerm, bool | Fraction]]
) -> State:
    task = state.task
    atoms = {a for a in state.atoms() if a.predicate not in task.derived_predicates}
    numbers = state.numbers()
    for what, value in changes:
        if isinstance(what, FunctionTerm):
            numbers[what] = Fraction(value)
        elif value:
            atoms.add(what)
        else:
            atoms.discard(what)
    return task.state_with(atoms, numbers)


class _Search:
    """Finds the changes of hidden facts that make a compiled condition true or false."""

    def __init__(self, state: State, hidden: Callable[[Atom_pddl | FunctionTerm], bool]) -> None:
        self._state, self._task, self._hidden = state, state.task, hidden
        self._visits = 0
        self._open: set[int] = set()  # derived atoms whose rules are being followed

    def conjunction(self, condition: Conjunction, value: bool) -> list[Revision]:
        self._visits += 1
        if self._visits > _MAX_VISITS:
            return []
        parts = self._parts(condition, value)
        return _all_of(parts) if value else _any_of(parts)

    def _parts(self, condition: Conjunction, value: bool) -> Iterator[list[Revision]]:
        for bit in set_bits(condition.positive):
            yield self._literal(bit, value)
        for bit in set_bits(condition.negative):
            yield self._literal(bit, not value)
        for clause in condition.clauses:
            parts = self._options(clause, value)
            yield _any_of(parts) if value else _all_of(parts)
        for test in condition.tests:
            yield self._test(test, value)

    def _options(self, clause: Disjunction, value: bool) -> Iterator[list[Revision]]:
        for bit in set_bits(clause.positive):
            yield self._literal(bit, value)
        for bit in set_bits(clause.negative):
            yield self._literal(bit, not value)
        for part in clause.parts:
            yield self.conjunction(part, value)

    def _literal(self, bit: int, value: bool) -> list[Revision]:
        if bool(self._state.bits >> bit & 1) == value:
            return [_NOTHING]
        atom = self._task.fluent(bit)
        if atom.predicate in self._task.derived_predicates:
            return self._derived(bit, atom, value)
        return [frozenset({(atom, value)})] if self._hidden(atom) else []

    def _derived(self, bit: int, atom: Atom_pddl, value: bool) -> list[Revision]:
        # Derived predicates are least fixpoints: an atom that only supports itself is false.
        if bit in self._open:
            return [] if value else [_NOTHING]
        self._open.add(bit)
        bodies = [
            self._task.condition(
                rule.body, {p.name: a for p, a in zip(rule.parameters, atom.args, strict=True)}
            )
            for rule in self._task.domain.derived
            if rule.predicate == atom.predicate
        ]
        parts = [self.conjunction(body, value) for body in bodies]
        self._open.discard(bit)
        return _any_of(parts) if value else _all_of(parts)

    def _test(self, test: NumericTest, value: bool) -> list[Revision]:
        numbers = self._state.values
        if test.holds(numbers) == value:
            return [_NOTHING]
        found: list[Revision] = []
        for index, number in enumerate(numbers):
            term = self._task.term(index)
            if number is None or not self._hidden(term):
                continue
            try:
                now = self._margin(test, index, number)
                slope = self._margin(test, index, number + 1) - now
            except UndefinedValueError:
                continue
            if not slope:
                continue
            bound = number - now / slope
            nearest = sorted((bound, bound - 1, bound + 1), key=lambda n: abs(n - number))
            for other in nearest:
                if test.holds(_replaced(numbers, index, other)) == value:
                    found.append(frozenset({(term, Fraction(other))}))
                    break
        return found

    def _margin(self, test: NumericTest, index: int, number: Rational) -> Fraction:
        values = _replaced(self._state.values, index, number)
        return Fraction(evaluate(test.left, values)) - Fraction(evaluate(test.right, values))


def _replaced(values: Values, index: int, number: Rational) -> Values:
    return (*values[:index], number, *values[index + 1 :])


def _any_of(parts: Iterable[list[Revision]]) -> list[Revision]:
    return _smallest(one for part in parts for one in part)


def _all_of(parts: Iterable[list[Revision]]) -> list[Revision]:
    found = [_NOTHING]
    for part in parts:
        found = _smallest(one | other for one, other in product(found, part))
    return found


def _smallest(revisions: Iterable[Revision]) -> list[Revision]:
    ordered = sorted(dict.fromkeys(revisions), key=lambda r: (len(r), sorted(map(str, r))))
    return list(islice(ordered, _KEPT))
