"""Automatic effects: cold, heat, running water, coffee, and time.

They are applied after every action:

* Everything in a Fridge is Cold, door open or closed; also in FloorPlan28, whose fridge is
  not marked as a cold source, though AI2-THOR reports what is in it as Cold.
* Everything on a lit burner, in a running Microwave or in a running Toaster is Hot, and
  cooked if it can be; a microwave heats bread slices without toasting them. What lies in a
  pan on a lit burner is heated with the pan.
* A running Faucet cleans what lies in the SinkBasin nearest to it and fills what is empty
  there with water. AI2-THOR asks for contact with the water; here it is containment.
* A running CoffeeMachine fills an empty Mug with hot coffee.
* What left such a place is at room temperature again 10 s of simulated time later, unless
  `Settings` say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hvr.worlds.kitchen.room import Room
from hvr.worlds.kitchen.world import KitchenState, Thing, Things

STEP_TIME = 0.016
"""Simulated seconds that most actions take (median of the recorded episodes)."""

PUT_TIME = 0.07
"""Simulated seconds that putting something down takes (recorded: 0.04 to 0.15)."""

FALL_TIME = 1.0
"""Simulated seconds that dropping or throwing takes (recorded: 0.7 and 1.5)."""

_NO_TIMERS: MappingProxyType[str, float] = MappingProxyType({})


def settle(world: KitchenState, room: Room, seconds: float = STEP_TIME) -> KitchenState:
    """Return the world after the automatic effects and the time that one step took."""
    things = world.things
    changed: dict[str, Thing] = {}
    zones: dict[str, str] = {}
    for source in _at_work(things, room):
        for object_id, new, zone in _effects(source, things, changed, room):
            if zone is not None:
                zones[object_id] = zone
            if new is not None:
                changed[object_id] = new
    # After all effects, as a later one may have changed the same object.
    for object_id, temperature in zones.items():
        thing = changed.get(object_id) or things[object_id]
        if thing.temperature != temperature:
            changed[object_id] = thing.but(temperature=temperature)
    time = world.time + seconds
    timers = world.timers
    warm = things.warm
    # Most steps change no temperature: then there is nothing to wait for.
    if timers or changed or not warm <= zones.keys():
        timers = _cool(world, changed, zones, time)
    if changed:
        things = things.updated(changed.values())
    return KitchenState(
        things, world.agent, world.held, time, timers, world.steps + 1, world.settings
    )


def _at_work(things: Things, room: Room) -> list[Thing]:
    """Return the fridges that hold something and what is switched on, in order of ids."""
    holding = things.contents
    working = []
    for source_id in room.sources:
        source = things.get(source_id)
        if source is not None and (source.is_toggled or source_id in room.cold):
            if source_id in room.cold and source_id not in holding:
                continue
            working.append(source)
    return working


def _cool(
    world: KitchenState, changed: dict[str, Thing], zones: Mapping[str, str], time: float
) -> Mapping[str, float]:
    """Return when each thing outside of every zone will be at room temperature.

    Things that are by now go to `changed`.
    """
    settings = world.settings
    if not settings.decays:
        return _NO_TIMERS
    timers: dict[str, float] = {}
    for object_id in sorted({*world.things.warm, *changed}):
        thing = changed.get(object_id) or world.things[object_id]
        if thing.temperature == "RoomTemp" or object_id in zones:
            continue
        ends = world.timers.get(object_id, time + settings.decay_time)
        if time >= ends:
            changed[object_id] = thing.but(temperature="RoomTemp")
        else:
            timers[object_id] = ends
    return MappingProxyType(timers) if timers else _NO_TIMERS


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
                yield object_id, thing.but(liquid="coffee", temperature="Hot"), None
    else:
        for object_id in things.deep_contents(source.object_id):
            thing = changed.get(object_id) or things[object_id]
            toasts = kind != "Microwave" or thing.object_type != "BreadSliced"
            cooks = toasts and thing.can("cookable") and not thing.is_cooked
            yield object_id, thing.but(is_cooked=True) if cooks else None, "Hot"


def _washed(thing: Thing) -> Thing | None:
    if thing.inert:
        return None
    dirty = thing.is_dirty and thing.can("dirtyable")
    empty = thing.liquid is None and thing.can("canFillWithLiquid")
    if not dirty and not empty:
        return None
    return thing.but(
        is_dirty=False if dirty else thing.is_dirty,
        liquid="water" if empty else thing.liquid,
    )
