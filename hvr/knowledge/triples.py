"""Conversion of scene graphs and executed steps to triples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeAlias

from pyoxigraph import Literal, NamedNode, Quad

from hvr.errors import SceneError, StoreError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.knowledge.terms import (
    EVENT,
    FALSE,
    RDF_TYPE,
    TRUE,
    Triple,
    date_time,
    k,
    obj,
    short,
    value,
)
from hvr.values import Value

# Scene --------------------------------------------------------------------------------------------

ROBOT = obj("robot")

Pairs = Iterable[tuple[str, str]]
_Flags: TypeAlias = tuple[tuple[NamedNode, tuple[str, ...]], ...]


class SceneReader:
    """Converts scene graphs to triples, using the annotations of an ontology.

    In methods, `known` maps the names of objects to their classes, including superclasses.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._flags = {
            p: tuple(str(f) for f in ontology.annotation(p, "thorField"))
            for p in ontology.subjects("thorField")
            if ontology.domain_of(p) and p not in ("temperature", "containsLiquid")
        }
        self._flags_of: dict[frozenset[str], _Flags] = {}
        self._shattering = frozenset(ontology.subjects("shatters"))
        self._temperatures = self._by_thor_value("Temperature")
        self._liquids = self._by_thor_value("Liquid")
        usual = ontology.annotation("containsLiquid", "usualValue")
        self._usual_liquid = str(usual[0]) if usual else ""
        self._switches = tuple(
            (prop, ontology.domain_of(prop), ontology.range_of(prop))
            for prop in ontology.subjects("joinsSwitch")
        )
        """Properties that relate a switch to its device, with the classes of both."""
        self.place_properties = ("on", "in", "holding", "handEmpty")
        self.state_properties = ("isPresent", "containsLiquid", "temperature", *self._flags)

    def class_of(self, o: SceneObject) -> str | None:
        return self.ontology.class_of_thor_type(o.object_type)

    def types(self, o: SceneObject) -> frozenset[str]:
        """Return the direct classes of an object, derived from its type and fields.

        Raises:
            SceneError: The ontology does not know its type.
        """
        cls = self.class_of(o)
        if cls is None:
            raise SceneError(f"{o.name}: the ontology has no class for type {o.object_type!r}")
        own = (
            a
            for a in self.ontology.sometimes(cls)
            if any(
                o.attributes.get(str(f)) is True for f in self.ontology.annotation(a, "thorField")
            )
        )
        return frozenset({cls, *own})

    def known(self, scene: SceneGraph) -> list[SceneObject]:
        return [o for o in scene.objects.values() if self.class_of(o) is not None]

    def static(self, o: SceneObject, scene: str) -> Iterator[Triple]:
        """Yield the triples of an object that never change: types, names, scene."""
        node = obj(o.name)
        for cls in self.types(o):
            yield node, RDF_TYPE, k(cls)
        yield node, k("name"), Literal(o.name)
        if o.object_id:
            yield node, k("thorId"), Literal(o.object_id)
        if scene:
            yield node, k("inScene"), obj(scene)

    def pieces(
        self, scene: SceneGraph, pieces: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[SceneObject, str]]:
        """Yield the pieces into which objects can be cut, each with the name of the whole object.

        Raises:
            SceneError: A piece is assigned to an object that is not in the scene or cannot be cut.
        """
        for source, names in pieces.items():
            whole = scene.objects.get(source)
            if whole is None:
                raise SceneError(f"pieces are declared for {source!r}, which is not in the scene")
            cls = self.class_of(whole)
            made = self.ontology.annotation(cls, "slicesInto") if cls else ()
            if not made:
                raise SceneError(f"{source} is a {whole.object_type}, which cannot be cut")
            kind = str(self.ontology.annotation(str(made[0]), "thorType")[0])
            for name in names:
                yield (
                    SceneObject(name, kind, "")
                    if name not in scene.objects
                    else (scene.objects[name]),
                    source,
                )

    def belongings(
        self, scene: SceneGraph, known: Mapping[str, frozenset[str]]
    ) -> Iterator[Triple]:
        """Yield triples that relate controls to their devices, and say that they are `k:beside`."""
        for control, controlled in scene.controls:
            classes = known.get(control, frozenset())
            if controlled not in known:
                continue
            a, b = obj(control), obj(controlled)
            joins = (
                prop
                for prop, switch, switched in self._switches
                if switch in classes and switched in known[controlled]
            )
            for prop in joins:
                yield a, k(prop), b
                yield a, k("beside"), b

    def observed(self, scene: SceneGraph, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        yield from self.states(self.known(scene), known)
        yield from self.places(scene, known)

    def states(
        self, objects: Iterable[SceneObject], known: Mapping[str, frozenset[str]]
    ) -> Iterator[Triple]:
        for o in objects:
            if o.name in known:
                yield from self._state(o, known[o.name])

    def places(self, scene: SceneGraph, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        """Yield the places of objects, and what the robot holds."""
        held = scene.held if scene.held in known else None
        if held is not None:
            yield ROBOT, k("holding"), obj(held)
        yield ROBOT, k("handEmpty"), TRUE if scene.held is None else FALSE
        for o in scene.objects.values():
            if o.parents and o.name != held and o.name in known:
                yield from self._place(o, known)

    def is_present(self, o: SceneObject, classes: frozenset[str]) -> bool:
        if o.attributes.get("isSliced"):
            return False
        shatters = not self._shattering.isdisjoint(classes)
        return not (shatters and o.attributes.get("isBroken"))

    def _state(self, o: SceneObject, classes: frozenset[str]) -> Iterator[Triple]:
        node = obj(o.name)
        yield node, k("isPresent"), TRUE if self.is_present(o, classes) else FALSE
        flags = self._flags_of.get(classes)
        if flags is None:
            flags = self._flags_of[classes] = tuple(
                (k(prop), fields)
                for prop, fields in self._flags.items()
                if self.ontology.domain_of(prop) in classes
            )
        for prop, fields in flags:
            true = any(o.attributes.get(f) for f in fields)
            yield node, prop, TRUE if true else FALSE
        temperature = self._temperatures.get(str(o.attributes.get("temperature", "")))
        if temperature is not None:
            yield node, k("temperature"), k(temperature)
        full = "Fillable" in classes and o.attributes.get("isFilledWithLiquid")
        if full and (liquid := self._liquid(o, classes)):
            yield node, k("containsLiquid"), k(liquid)

    def _liquid(self, o: SceneObject, classes: frozenset[str]) -> str:
        liquid = self._liquids.get(str(o.attributes.get("fillLiquid") or "").lower())
        if liquid is not None:
            return liquid
        usual = (str(v) for c in classes for v in self.ontology.annotation(c, "defaultLiquid"))
        return next(usual, None) or self._usual_liquid

    def _place(self, o: SceneObject, known: Mapping[str, frozenset[str]]) -> Iterator[Triple]:
        for parent in o.parents:
            classes = known.get(parent, frozenset())
            if "SurfaceReceptacle" in classes:
                yield obj(o.name), k("on"), obj(parent)
                return
            if "ContainerReceptacle" in classes:
                yield obj(o.name), k("in"), obj(parent)
                return

    def _by_thor_value(self, cls: str) -> dict[str, str]:
        return {
            str(v): name
            for name in self.ontology.instances(cls)
            for v in self.ontology.annotation(name, "thorValue")
        }


# Events -------------------------------------------------------------------------------------------

Statement: TypeAlias = tuple[str, str, str | bool]
"""Subject, property and value: `("mug-1", "on", "plate-2")`, `("mug-1", "isDirty", True)`."""


NO_ROOM = ("No valid positions to place object found", "is full right now", "is already full")
"""Fragments of AI2-THOR's messages about a receptacle without room."""


class Change(Value):
    """The changes that an observation made to the graph: statements now true or false, sorted."""

    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class FailureNote(Value):
    """A deviation from the domain, as stored in the graph.

    Args:
        side: `pre` or `post`, depending on whether a precondition or an effect was violated.
        literals: PDDL literals that should have held.
    """

    kind: str
    side: str
    literals: tuple[str, ...] = ()
    explanation: str = ""
    objects: tuple[str, ...] = ()


class ActionEvent(Value):
    """An executed step.

    Args:
        action: PDDL name of the action, such as `put_on`.
        time: Time in ISO 8601; if empty, the current time.
    """

    step: int
    action: str
    args: tuple[str, ...] = ()
    success: bool = True
    error: str = ""
    time: str = ""
    change: Change = Change()
    failures: tuple[FailureNote, ...] = ()


def statements_of(triples: Iterable[Triple]) -> tuple[Statement, ...]:
    plain = []
    for s, p, o in triples:
        v = value(o)
        plain.append((short(s), short(p), v if isinstance(v, bool) else str(v)))
    return tuple(sorted(plain, key=lambda t: (t[0], t[1], str(t[2]))))


def event_quads(event: ActionEvent, sequence: int, ontology: Ontology) -> Iterator[Quad]:
    """Yield the quads that record an event, including the graphs of its additions and removals.

    Raises:
        StoreError: The time is not ISO 8601, or the action is unknown.
    """
    node = NamedNode(f"{EVENT}{sequence}")
    cls = next(
        (
            c
            for c in ontology.subjects("pddlAction")
            if event.action in ontology.annotation(c, "pddlAction")
        ),
        None,
    )
    if cls is None:
        raise StoreError(f"the ontology has no class for the action {event.action!r}")
    try:
        moment = datetime.fromisoformat(event.time) if event.time else datetime.now(UTC)
    except ValueError as error:
        raise StoreError(f"event time {event.time!r} is not ISO 8601") from error
    facts: list[Triple] = [
        (node, RDF_TYPE, k(cls)),
        (node, k("sequence"), Literal(sequence)),
        (node, k("step"), Literal(event.step)),
        (node, k("time"), date_time(moment.isoformat())),
        (node, k("outcome"), k("success" if event.success else "failure")),
        (node, k("performedBy"), ROBOT),
    ]
    facts += [(node, k(f"argument{i}"), obj(a)) for i, a in enumerate(event.args, start=1)]
    if event.error:
        facts.append((node, k("error"), Literal(event.error)))
    for name, changed in (("added", event.change.added), ("removed", event.change.removed)):
        if changed:
            graph = NamedNode(f"{EVENT}{sequence}-{name}")
            facts.append((node, k(name), graph))
            for subject, prop, v in changed:
                yield Quad(obj(subject), k(prop), _node(v, prop), graph)
    nodes = {node}
    for number, failure in enumerate(event.failures, start=1):
        failed = NamedNode(f"{EVENT}{sequence}-failure-{number}")
        nodes.add(failed)
        facts += _failure_facts(failure, failed, event.step)
        facts.append((failed, k("failureOf"), node))
    for triple in ontology.rules.entail(facts):
        # Domain and range entail the arguments' types, which are already stored.
        if triple[0] in nodes:
            yield Quad(*triple)  # type: ignore[arg-type]


def notice_quads(
    failures: Sequence[FailureNote], step: int, sequence: int, ontology: Ontology
) -> Iterator[Quad]:
    """Yield the quads that record failures noticed after a step but not caused by it."""
    facts: list[Triple] = []
    nodes: set[NamedNode] = set()
    for number, failure in enumerate(failures, start=1):
        node = NamedNode(f"{EVENT}{sequence}-failure-{number}")
        nodes.add(node)
        facts += [*_failure_facts(failure, node, step), (node, k("sequence"), Literal(sequence))]
    for triple in ontology.rules.entail(facts):
        if triple[0] in nodes:
            yield Quad(*triple)  # type: ignore[arg-type]


def _failure_facts(failure: FailureNote, node: NamedNode, step: int) -> list[Triple]:
    facts: list[Triple] = [
        (node, RDF_TYPE, k("Failure")),
        (node, k("step"), Literal(step)),
        (node, k("failureKind"), Literal(failure.kind)),
        (node, k("violatedSide"), Literal(failure.side)),
        (node, k("explanation"), Literal(failure.explanation)),
    ]
    facts += [(node, k("violated"), Literal(literal)) for literal in failure.literals]
    facts += [(node, k("about"), obj(name)) for name in failure.objects]
    return facts


def _node(v: str | bool, prop: str) -> NamedNode | Literal:
    if isinstance(v, bool):
        return Literal(v)
    return k(v) if prop in ("temperature", "containsLiquid") else obj(v)


# History ------------------------------------------------------------------------------------------
# History marks of objects, derived from executed AI2-THOR steps.
#
# No camera shows that a plate was washed or a potato chilled. As in ALFRED, such marks persist once
# the action has happened. Objects in a place get the mark when the place is switched on or closed,
# and so do objects put into a running place. The ontology's individuals of `k:MarkRule` map places
# to marks.

Mark: TypeAlias = tuple[str, str]
"""Name of an object, and PDDL name of a mark: `("plate-1", "washed")`."""

_ON = "switched on"
_CLOSED = "closed"
_THERE = "put there while on"
_WITHIN = "put into what is there while on"


def marks(
    step: Mapping[str, Any],
    before: SceneGraph,
    after: SceneGraph,
    marked: Collection[Mark] = (),
    ontology: Ontology | None = None,
) -> set[Mark]:
    """Return the marks that a successful step sets.

    Args:
        step: The action sent to AI2-THOR, with hvr's names as ids, such as `{"action":
            "ToggleObjectOn", "objectId": "faucet-1"}`. For pouring, it is `FillObjectWithLiquid` on
            the target vessel.
        before: The scene before the step.
        after: The scene after the step.
        marked: The marks that objects have before the step.
        ontology: The ontology with the rules; None for hvr's own.
    """
    event = _EVENTS.get(str(step.get("action", "")))
    target = str(step.get("objectId", ""))
    if event is None or target not in after.objects:
        return set()
    rules = _rules(load_ontology() if ontology is None else ontology)
    new = set(event(rules, _Moment(target, before, after, marked)))
    for liquid in rules.liquids:
        new |= {(name, liquid.mark) for name in _filled_with(liquid, new, before, after)}
    return new


def cleared_marks(
    step: Mapping[str, Any],
    before: SceneGraph | None = None,
    after: SceneGraph | None = None,
    ontology: Ontology | None = None,
) -> set[Mark]:
    """Return the marks that a successful step clears; see `marks` for the arguments.

    A mark of a vessel's contents ends when the vessel is emptied, or when it is put into a place
    that ends the mark, even on a tray or in a bowl. If `before` and `after` are missing, only
    emptying is recognised.
    """
    target = str(step.get("objectId", ""))
    rules = _rules(load_ontology() if ontology is None else ontology)
    if step.get("action") == "EmptyLiquidFromObject":
        return {(target, liquid.mark) for liquid in rules.liquids}
    put = before.held if before is not None and step.get("action") == "PutObject" else None
    if put is None or after is None or put not in after.objects:
        return set()
    place = _parent(after, put)
    around = _parent(after, place.name) if place is not None else None
    kinds = {p.object_type for p in (place, around) if p is not None}
    lost = [liquid.mark for liquid in rules.liquids if not kinds.isdisjoint(liquid.ends_in)]
    return {(name, mark) for mark in lost for name in (put, *_direct(after, put))}


def contents(scene: SceneGraph, receptacle: str) -> set[str]:
    """Return the names of the objects in or on a receptacle, up to two levels deep."""
    direct = _direct(scene, receptacle)
    return direct | {inner for d in direct for inner in _direct(scene, d)}


class _Rule(Value):
    """A rule that marks the objects at places of certain types, for example as washed.

    `switches` are types of controls that switch a place on; `itself` means that it needs no
    control.
    """

    mark: str
    places: frozenset[str]
    switches: frozenset[str]
    events: frozenset[str]
    itself: bool


class _LiquidMark(Value):
    """A mark of a vessel's contents, with its causes and the places that end it."""

    mark: str
    heated: frozenset[str]
    liquids: frozenset[str]
    ends_in: frozenset[str]


class _Rules(Value):
    places: tuple[_Rule, ...]
    liquids: tuple[_LiquidMark, ...]


class _Moment(Value):
    target: str
    before: SceneGraph
    after: SceneGraph
    marked: Collection[Mark]


@lru_cache(maxsize=8)
def _rules(ontology: Ontology) -> _Rules:
    def predicates(terms: Collection[Any]) -> frozenset[str]:
        return frozenset(p for t in terms for p in ontology.predicates(str(t)))

    def types(classes: Collection[Any]) -> frozenset[str]:
        below = {b for c in classes for b in ontology.subclasses(str(c), reflexive=True)}
        return frozenset(str(v) for b in below for v in ontology.annotation(b, "thorType"))

    places = []
    for rule in ontology.instances("MarkRule"):
        at = ontology.annotation(rule, "givenAt")
        places += [
            _Rule(
                mark,
                types(at),
                types(ontology.annotation(rule, "switchedBy")),
                frozenset(map(str, ontology.annotation(rule, "givenWhen"))),
                any(ontology.is_a(str(c), "Switchable") for c in at),
            )
            for mark in predicates(ontology.annotation(rule, "gives"))
        ]
    liquids = [
        _LiquidMark(
            mark,
            predicates(ontology.annotation(term, "comesWithMark")),
            frozenset(
                str(v)
                for liquid in ontology.annotation(term, "comesWithFilling")
                for v in ontology.annotation(str(liquid), "thorValue")
            ),
            types(ontology.annotation(term, "endsIn")),
        )
        for term in ontology.subjects("comesWithMark")
        for mark in predicates([term])
    ]
    return _Rules(tuple(places), tuple(liquids))


def _switched_on(rules: _Rules, now: _Moment) -> Iterator[Mark]:
    seen = now.after.objects[now.target]
    if seen.attributes.get("isToggled") is False:
        return  # reported as successful, but still off
    for rule in rules.places:
        if _ON not in rule.events:
            continue
        places = [now.target] if seen.object_type in rule.places else []
        if seen.object_type in rule.switches:
            places += [place for switch, place in now.after.controls if switch == now.target]
        yield from ((n, rule.mark) for place in places for n in contents(now.after, place))


def _closed(rules: _Rules, now: _Moment) -> Iterator[Mark]:
    seen = now.after.objects[now.target]
    if seen.attributes.get("isOpen"):
        return
    for rule in rules.places:
        if _CLOSED in rule.events and seen.object_type in rule.places:
            yield from ((n, rule.mark) for n in contents(now.after, now.target))


def _put(rules: _Rules, now: _Moment) -> Iterator[Mark]:
    put, after = now.before.held, now.after
    if put is None or put not in after.objects:
        return
    place = _parent(after, put)
    below = _parent(after, place.name) if place is not None else None
    for rule in rules.places:
        if _THERE in rule.events and _runs(rule, place, after):
            yield put, rule.mark
            yield from ((n, rule.mark) for n in _direct(after, put))
        # into a pan on a lit burner
        if _WITHIN in rule.events and _runs(rule, below, after):
            yield put, rule.mark


def _filled(rules: _Rules, now: _Moment) -> Iterator[Mark]:
    for liquid in rules.liquids:
        if (now.before.held, liquid.mark) in now.marked:
            yield now.target, liquid.mark


def _filled_with(
    liquid: _LiquidMark, new: Collection[Mark], before: SceneGraph, after: SceneGraph
) -> Iterator[str]:
    heated = {name for name, mark in new if mark in liquid.heated}
    for name, seen in after.objects.items():
        full = seen.attributes.get("isFilledWithLiquid")
        if name in heated and full:
            yield name
        elif full and seen.attributes.get("fillLiquid") in liquid.liquids:
            earlier = before.objects.get(name)
            if earlier is None or not earlier.attributes.get("isFilledWithLiquid"):
                yield name


def _runs(rule: _Rule, place: SceneObject | None, scene: SceneGraph) -> bool:
    if place is None or place.object_type not in rule.places:
        return False
    if rule.itself:
        return _is_on(scene, place.name)
    return any(_is_on(scene, a) for a, b in scene.controls if b == place.name)


def _is_on(scene: SceneGraph, name: str) -> bool:
    return name in scene.objects and bool(scene.objects[name].attributes.get("isToggled"))


def _parent(scene: SceneGraph, name: str) -> SceneObject | None:
    parents = scene.objects[name].parents
    return scene.objects.get(parents[0]) if parents else None


def _direct(scene: SceneGraph, receptacle: str) -> set[str]:
    return {o.name for o in scene.objects.values() if o.parents[:1] == (receptacle,)}


_EVENTS: Mapping[str, Callable[[_Rules, _Moment], Iterator[Mark]]] = {
    "ToggleObjectOn": _switched_on,
    "CloseObject": _closed,
    "PutObject": _put,
    "FillObjectWithLiquid": _filled,
}
