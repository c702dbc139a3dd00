"""Effects nobody asks for: cold, heat, running water, coffee, and time.

They are applied after every action:

* Everything in a Fridge is Cold, door open or closed; also in FloorPlan28, whose fridge is
  not marked as a cold source, though AI2-THOR reports what is in it as Cold.
* Everything on a lit burner, in a running Microwave or in a running Toaster is Hot, and
  cooked if it can be; a microwave heats bread slices without toasting them. What lies in a
  pan on a lit burner is heated with the pan.
* A running Faucet cleans what lies in the SinkBasin nearest to it and fills what is empty
  there with water. AI2-THOR asks for contact with the water; here it is containment.
* A running CoffeeMachine fills an empty Mug with hot coffee.
* What left such a place is at room temperature again 10 s of simulated time later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from hvr.envs.kitchen.room import Room
from hvr.envs.kitchen.world import Thing, Things, World

DECAY_TIME = 10.0
"""Simulated seconds until what left a hot or cold place is at room temperature."""

STEP_TIME = 0.04
"""Simulated seconds that one action takes (recorded episodes show 0.01 to 0.3)."""

_NO_TIMERS: MappingProxyType[str, float] = MappingProxyType({})


def settle(world: World, room: Room) -> World:
    """The world after the automatic effects and one step of time."""
    things = world.things
    changed: dict[str, Thing] = {}
    zones: dict[str, str] = {}
    for source_id in room.sources:
        for object_id, new, zone in _effects(things[source_id], things, changed, room):
            if zone is not None:
                zones[object_id] = zone
            if new is not None:
                changed[object_id] = new
    for object_id, temperature in zones.items():
        thing = changed.get(object_id) or things[object_id]
        if thing.temperature != temperature:
            changed[object_id] = replace(thing, temperature=temperature)
    time = world.time + STEP_TIME
    timers: dict[str, float] = {}
    for object_id, before in [*things.items(), *changed.items()]:
        thing = changed.get(object_id) or before
        if thing.temperature == "RoomTemp" or object_id in zones:
            continue
        ends = world.timers.get(object_id, time + DECAY_TIME)
        if time >= ends:
            changed[object_id] = replace(thing, temperature="RoomTemp")
        else:
            timers[object_id] = ends
    return replace(
        world,
        things=things.updated(changed.values()) if changed else things,
        time=time,
        timers=MappingProxyType(timers) if timers else _NO_TIMERS,
        steps=world.steps + 1,
    )


def _effects(
    source: Thing, things: Things, changed: dict[str, Thing], room: Room
) -> Iterator[tuple[str, Thing | None, str | None]]:
    kind = source.object_type
    if kind == "Fridge":
        for object_id in things.deep_contents(source.object_id):
            yield object_id, None, "Cold"
        return
    if not source.is_toggled or source.is_broken:
        return
    if kind == "Faucet":
        for basin in room.basins.get(source.object_id, ()):
            for object_id in things.deep_contents(basin):
                yield object_id, _washed(changed.get(object_id) or things[object_id]), None
    elif kind == "CoffeeMachine":
        for object_id in things.contents.get(source.object_id, ()):
            thing = changed.get(object_id) or things[object_id]
            if thing.object_type == "Mug" and thing.liquid is None and not thing.inert:
                yield object_id, replace(thing, liquid="coffee", temperature="Hot"), None
    else:
        for object_id in things.deep_contents(source.object_id):
            thing = changed.get(object_id) or things[object_id]
            toasts = kind != "Microwave" or thing.object_type != "BreadSliced"
            cooks = toasts and thing.can("cookable") and not thing.is_cooked
            yield object_id, replace(thing, is_cooked=True) if cooks else None, "Hot"


def _washed(thing: Thing) -> Thing | None:
    if thing.inert:
        return None
    dirty = thing.is_dirty and thing.can("dirtyable")
    empty = thing.liquid is None and thing.can("canFillWithLiquid")
    if not dirty and not empty:
        return None
    return replace(
        thing,
        is_dirty=False if dirty else thing.is_dirty,
        liquid="water" if empty else thing.liquid,
    )
