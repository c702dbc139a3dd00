"""What has happened to things, from executed AI2-THOR steps.

No camera shows that a plate was washed or a potato chilled. These marks are kept from the
moment of the action on, as ALFRED does: what was in the basin when the faucet was turned on
counts as washed, what was in the microwave when it was turned on as microwaved, what was in
the fridge when it was closed as chilled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

from hvr.scene_graph import SceneGraph, SceneObject

Mark: TypeAlias = tuple[str, str]
"""Name of an object and PDDL name of a mark: `("plate-1", "washed")`."""


def marks(
    step: Mapping[str, Any],
    before: SceneGraph,
    after: SceneGraph,
    marked: Collection[Mark] = (),
) -> set[Mark]:
    """Return the marks that a successful step sets.

    Args:
        step: the action as sent, with hvr's names for ids:
            `{"action": "ToggleObjectOn", "objectId": "faucet-1"}`. Pouring is
            `FillObjectWithLiquid` on the vessel that is poured into.
        before: the scene before the step.
        after: the scene after it.
        marked: the marks that there are already.
    """
    rule = _RULES.get(str(step.get("action", "")))
    target = str(step.get("objectId", ""))
    if rule is None or target not in after.objects:
        return set()
    new = set(rule(target, before, after, marked))
    heated = {name for name, mark in new if mark in _HEATING}
    return new | {(name, "warm_liquid") for name in _warmed(heated, before, after)}


def cleared_marks(
    step: Mapping[str, Any], before: SceneGraph | None = None, after: SceneGraph | None = None
) -> set[Mark]:
    """Return the marks that a successful step takes away.

    The liquid of a vessel is warm no more when it is poured out or put into the fridge, be it
    on a tray or in a bowl there.

    Args:
        step: as for `marks`.
        before: the scene before the step; needed to see what was put away.
        after: the scene after it.
    """
    target = str(step.get("objectId", ""))
    if step.get("action") == "EmptyLiquidFromObject":
        return {(target, "warm_liquid")}
    put = before.held if before is not None and step.get("action") == "PutObject" else None
    if put is not None and after is not None and put in after.objects:
        place = _parent(after, put)
        around = _parent(after, place.name) if place is not None else None
        if any(p is not None and p.object_type == "Fridge" for p in (place, around)):
            return {(name, "warm_liquid") for name in (put, *_direct(after, put))}
    return set()


def _parent(scene: SceneGraph, name: str) -> SceneObject | None:
    """Return what an object is directly on or in."""
    parents = scene.objects[name].parents
    return scene.objects.get(parents[0]) if parents else None


def _warmed(heated: Collection[str], before: SceneGraph, after: SceneGraph) -> Iterator[str]:
    """Yield vessels whose liquid has just become warm: heated while full, or filled with coffee."""
    for name, seen in after.objects.items():
        filled = seen.attributes.get("isFilledWithLiquid")
        if name in heated and filled:
            yield name
        elif filled and seen.attributes.get("fillLiquid") == "coffee":
            earlier = before.objects.get(name)
            if earlier is None or not earlier.attributes.get("isFilledWithLiquid"):
                yield name


def contents(scene: SceneGraph, receptacle: str) -> set[str]:
    """Return names of what is in or on a receptacle, and in or on something that is."""
    direct = _direct(scene, receptacle)
    return direct | {inner for d in direct for inner in _direct(scene, d)}


def _direct(scene: SceneGraph, receptacle: str) -> set[str]:
    return {o.name for o in scene.objects.values() if o.parents[:1] == (receptacle,)}


def _turned_on(
    name: str, _before: SceneGraph, after: SceneGraph, _marked: Collection[Mark]
) -> Iterator[Mark]:
    kind = after.objects[name].object_type
    if after.objects[name].attributes.get("isToggled") is False:
        return  # reported as done, and seen not to be
    if kind == "Microwave":
        yield from ((n, "microwaved") for n in contents(after, name))
    elif kind == "Toaster":
        yield from ((n, "toasted") for n in contents(after, name))
    elif kind == "StoveBurner":
        yield from ((n, "stove_heated") for n in contents(after, name))
    else:
        mark = {"Faucet": "washed", "StoveKnob": "stove_heated"}.get(kind)
        for control, controlled in after.controls:
            if control == name and mark is not None:
                yield from ((n, mark) for n in contents(after, controlled))


def _closed(
    name: str, _before: SceneGraph, after: SceneGraph, _marked: Collection[Mark]
) -> Iterator[Mark]:
    seen = after.objects[name]
    if seen.object_type == "Fridge" and not seen.attributes.get("isOpen"):
        yield from ((n, "chilled") for n in contents(after, name))


def _put(
    _target: str, before: SceneGraph, after: SceneGraph, _marked: Collection[Mark]
) -> Iterator[Mark]:
    put = before.held
    if put is None or put not in after.objects:
        return
    for place in after.objects[put].parents[:1]:
        mark = _running(place, after)
        if mark is not None:
            yield put, mark
            yield from ((n, mark) for n in _direct(after, put))
        # Into a pan that stands on a lit burner.
        below = after.objects[place].parents[:1] if place in after.objects else ()
        if any(_running(b, after) == "stove_heated" for b in below):
            yield put, "stove_heated"


def _running(name: str, scene: SceneGraph) -> str | None:
    """Return the mark that a place gives to what is put there now."""
    place = scene.objects.get(name)
    if place is None:
        return None
    if place.object_type == "SinkBasin":
        faucets = (f for f, basin in scene.controls if basin == name)
        return "washed" if any(_is_on(scene, f) for f in faucets) else None
    mark = {"StoveBurner": "stove_heated", "Toaster": "toasted"}.get(place.object_type)
    return mark if _is_on(scene, name) else None


def _is_on(scene: SceneGraph, name: str) -> bool:
    return name in scene.objects and bool(scene.objects[name].attributes.get("isToggled"))


def _filled(
    name: str, before: SceneGraph, _after: SceneGraph, marked: Collection[Mark]
) -> Iterator[Mark]:
    if (before.held, "warm_liquid") in marked:
        yield name, "warm_liquid"


_HEATING = frozenset({"microwaved", "stove_heated", "toasted"})
_Rule: TypeAlias = Callable[[str, SceneGraph, SceneGraph, Collection[Mark]], Iterator[Mark]]
_RULES: Mapping[str, _Rule] = {
    "ToggleObjectOn": _turned_on,
    "CloseObject": _closed,
    "PutObject": _put,
    "FillObjectWithLiquid": _filled,
}
