"""History marks of things, derived from executed AI2-THOR steps.

No camera shows that a plate was washed or a potato chilled. As in ALFRED, such marks persist from
the action on: things in a place get the mark when it is switched on or closed, and so do things put
into a running place. The ontology's individuals of `k:MarkRule` map places to marks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.values import Value

Mark: TypeAlias = tuple[str, str]
"""Name of an object and PDDL name of a mark: `("plate-1", "washed")`."""

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
        step: The action as sent, with hvr's names as ids, such as
            `{"action": "ToggleObjectOn", "objectId": "faucet-1"}`. Pouring is
            `FillObjectWithLiquid` on the target vessel.
        marked: Existing marks.
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
    """Return the marks that a successful step clears; for the arguments, see `marks`.

    A mark of a vessel's contents ends when the vessel is emptied or put, even on a tray or in a
    bowl, into a place that ends the mark.
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
    """Return the names of things in or on a receptacle, up to two levels deep."""
    direct = _direct(scene, receptacle)
    return direct | {inner for d in direct for inner in _direct(scene, d)}


class _Rule(Value):
    """A place that gives a mark; without `itself`, the place's switch is separate."""

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
