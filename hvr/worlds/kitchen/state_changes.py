"""State changes of objects: cutting, breaking, cooking, filling, heating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hvr.worlds.kitchen.placement import fallen, landing
from hvr.worlds.kitchen.state import SHATTERS, KitchenObject, KitchenObjects, KitchenState
from hvr.worlds.kitchen.visibility import (
    ActionFailedError,
    Args,
    Context,
    Result,
    Room,
    is_visible,
    target,
)
from hvr.worlds.scenes import Box, ObjectSpec, Vec

# Actions ------------------------------------------------------------------------------------------

LIQUIDS = frozenset({"water", "coffee", "wine"})
"""The liquids of FillObjectWithLiquid."""


def slice_object(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `SliceObject`: the pieces replace the object."""
    thing = target(world, context, args)
    if thing.object_id == world.held:
        raise ActionFailedError("target object cannot be sliced if it is in the agent's hand")
    if not thing.can("sliceable"):
        raise ActionFailedError(f"{thing.spec.name} Does not have the CanBeSliced property!")
    if thing.inert:
        return world, None
    return cut(world, context, thing), None


def cut(world: KitchenState, context: Context, thing: KitchenObject) -> KitchenState:
    """Return the state after an object's pieces replace it; unchanged if its type has no pieces."""
    kind = context.room.facts.pieces_of(thing.object_type)
    if kind is None:
        return world
    piece_type, count = kind
    size = _piece_size(context, thing, piece_type, count)
    b = thing.box
    along_x = b.x1 - b.x0 >= b.z1 - b.z0
    pieces = []
    for k in range(count):
        share = (k + 0.5) / count
        center = (
            b.x0 + share * (b.x1 - b.x0) if along_x else (b.x0 + b.x1) / 2,
            b.y0 + size[1] / 2,
            (b.z0 + b.z1) / 2 if along_x else b.z0 + share * (b.z1 - b.z0),
        )
        pieces.append(_piece(context, thing, piece_type, k, center, size))
    spent = thing.but(
        is_sliced=True,
        is_broken=thing.is_broken or thing.object_type == "Egg",
        inert=True,
        parents=(),
    )
    return world.changed(spent, *pieces)


def _piece_size(context: Context, thing: KitchenObject, piece_type: str, count: int) -> Vec:
    w, h, d = thing.box.size
    if piece_type == "EggCracked":
        return context.room.facts.types[piece_type].size
    if w >= d:
        return (max(0.02, w / count), h, d)
    return (w, h, max(0.02, d / count))


def _piece(
    context: Context, source: KitchenObject, piece_type: str, k: int, center: Vec, size: Vec
) -> KitchenObject:
    facts = context.room.facts.types[piece_type]
    properties = facts.properties
    middle = (round(center[0], 4), round(center[1], 4), round(center[2], 4))
    box = Box.around(middle, size)
    spec = ObjectSpec(
        object_id=f"{source.object_id}|{piece_type}_{k + context.profile.first_piece}",
        object_type=piece_type,
        name=f"{piece_type}_{source.spec.name.rpartition('_')[2]}_{k}",
        asset_id="",
        position=middle,
        rotation=source.rotation,
        properties=properties,
        mass=facts.mass,
        materials=facts.materials,
        box=box,
    )
    return KitchenObject(
        spec=spec,
        position=middle,
        rotation=source.rotation,
        box=box,
        parents=source.parents,
        is_cooked=source.is_cooked and "cookable" in properties,
        temperature=source.temperature,
    )


def break_object(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `BreakObject`; breaking the held object empties the hand."""
    thing = target(world, context, args)
    if not thing.can("breakable"):
        raise ActionFailedError(f"{thing.spec.name} does not have the CanBreak property!!")
    if thing.inert or thing.is_broken:
        return world, None
    if thing.object_id == world.held:
        world, thing = _let_go(world, context, thing)
    return shattered(world, context, thing), None


def _let_go(
    world: KitchenState, context: Context, held: KitchenObject
) -> tuple[KitchenState, KitchenObject]:
    x, y, z = world.hand
    onto = landing(world, context.room, x, z, y, held.object_id)
    if onto.object_type == "Floor":
        near = _surface_in_front(world, context)
        if near is not None:
            onto = near
            x = min(max(x, onto.box.x0 + 0.05), onto.box.x1 - 0.05)
            z = min(max(z, onto.box.z0 + 0.05), onto.box.z1 - 0.05)
    rested = fallen(held, onto, x, z)
    return world.moved(held, rested).but(held=None), rested


def _surface_in_front(world: KitchenState, context: Context) -> KitchenObject | None:
    x, _, z = world.hand
    near = [
        (round(t.box.distance(x, z), 4), t.object_id)
        for t in world.things.values()
        if t.object_type in ("CounterTop", "DiningTable", "SideTable", "SinkBasin")
        and is_visible(world, context.room, t.object_id)
    ]
    return world.things[min(near)[1]] if near else None


def shattered(world: KitchenState, context: Context, thing: KitchenObject) -> KitchenState:
    """Return the state after an object is broken; an EggCracked replaces a broken egg."""
    if thing.object_type == "Egg":
        after = cut(world, context, thing.but(is_broken=True))
        return after.changed(after.things[thing.object_id].but(is_sliced=False))
    if thing.object_type not in SHATTERS:
        controlled = [world.things[i] for i in thing.spec.controls or () if i in world.things]
        return world.changed(
            thing.but(is_broken=True, is_toggled=False),
            *(t.but(is_toggled=False) for t in controlled),
        )
    freed = []
    for object_id in world.things.contents.get(thing.object_id, ()):
        inner = world.things[object_id]
        outer = tuple(p for p in inner.parents if p != thing.object_id)
        freed.append(inner.but(parents=outer or thing.parents))
    return world.changed(thing.but(is_broken=True, inert=True, parents=(), liquid=None), *freed)


def cook(world: KitchenState, context: Context, args: Args) -> Result:
    thing = target(world, context, args)
    if not thing.can("cookable"):
        raise ActionFailedError("target object is not cookable")
    if thing.is_cooked:
        raise ActionFailedError(f"{thing.object_id} is already Toasted!")
    return world.changed(thing.but(is_cooked=True)), None


def dirty(world: KitchenState, context: Context, args: Args) -> Result:
    thing = target(world, context, args)
    if not thing.can("dirtyable"):
        raise ActionFailedError(f"{thing.spec.name} does not have CanBeDirty property!")
    if thing.is_dirty:
        raise ActionFailedError(f"{thing.spec.name} is already dirty!")
    return world.changed(thing.but(is_dirty=True)), None


def clean(world: KitchenState, context: Context, args: Args) -> Result:
    thing = target(world, context, args)
    if not thing.can("dirtyable"):
        raise ActionFailedError(f"{thing.spec.name} does not have dirtyable property!")
    if not thing.is_dirty:
        raise ActionFailedError(f"{thing.spec.name} is already Clean!")
    return world.changed(thing.but(is_dirty=False)), None


def fill(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `FillObjectWithLiquid`; coffee makes the object Hot."""
    thing = target(world, context, args)
    liquid = args.get("fillLiquid")
    if not liquid:
        raise ActionFailedError("Missing Liquid string for FillObject action")
    if not thing.can("canFillWithLiquid"):
        raise ActionFailedError(f"{thing.spec.name} does not have CanBeFilled property!")
    name = str(liquid).lower()
    if name not in LIQUIDS:
        raise ActionFailedError(f"{liquid} is not a valid Liquid Type")
    if thing.liquid is not None:
        raise ActionFailedError(f"{thing.spec.name} is already Filled!")
    warm = "Hot" if name == "coffee" else thing.temperature
    return world.changed(thing.but(liquid=name, temperature=warm)), None


def empty(world: KitchenState, context: Context, args: Args) -> Result:
    thing = target(world, context, args)
    if not thing.can("canFillWithLiquid"):
        raise ActionFailedError(f"{thing.spec.name} does not have CanBeFilled property!")
    if thing.liquid is None:
        raise ActionFailedError("object already empty")
    return world.changed(thing.but(liquid=None)), None


def use_up(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `UseUpObject`; it fails for all objects of the packaged scenes."""
    thing = target(world, context, args)
    if not thing.can("canBeUsedUp"):
        raise ActionFailedError(f"{thing.spec.name} does not have CanBeUsedUp property!")
    if thing.is_used_up:
        raise ActionFailedError("object already used up!")
    return world.changed(thing.but(is_used_up=True)), None


# Automatic effects --------------------------------------------------------------------------------
# Cold, heat, running water, coffee and time, applied after every action:
#
# * Everything in a Fridge is Cold, with the door open or closed. This includes FloorPlan28, whose
#   fridge is not marked as a cold source although AI2-THOR reports its contents as Cold.
# * Everything on a lit burner, in a running Microwave or in a running Toaster is Hot, and cooked if
#   it can be. A microwave heats bread slices without toasting them. The contents of a pan on a lit
#   burner are heated with the pan.
# * A running Faucet cleans the contents of the SinkBasin nearest to it and fills empty vessels
#   there with water. AI2-THOR requires contact with the water; here, containment suffices.
# * A running CoffeeMachine fills an empty Mug with hot coffee.
# * An object that has left such a place returns to room temperature after 10 s of simulated time,
#   unless `KitchenSettings` say otherwise.

STEP_TIME = 0.016
"""Simulated duration of most actions in seconds (median of the recorded episodes)."""

PUT_TIME = 0.07
"""Simulated duration of putting an object down in seconds (recorded: 0.04 to 0.15)."""

FALL_TIME = 1.0
"""Simulated duration of dropping or throwing in seconds (recorded: 0.7 and 1.5)."""

_NO_TIMERS: MappingProxyType[str, float] = MappingProxyType({})


def settle(world: KitchenState, room: Room, seconds: float = STEP_TIME) -> KitchenState:
    """Return the state `seconds` later, after automatic effects such as heating."""
    things = world.things
    changed: dict[str, KitchenObject] = {}
    zones: dict[str, str] = {}
    for source in _at_work(things, room):
        for object_id, new, zone in _effects(source, things, changed, room):
            if zone is not None:
                zones[object_id] = zone
            if new is not None:
                changed[object_id] = new
    # Temperatures come last because a later effect may have changed the same object.
    for object_id, temperature in zones.items():
        thing = changed.get(object_id) or things[object_id]
        if thing.temperature != temperature:
            changed[object_id] = thing.but(temperature=temperature)
    time = world.time + seconds
    timers = world.timers
    warm = things.warm
    # Fast path: most steps change no temperature.
    if timers or changed or not warm <= zones.keys():
        timers = _cool(world, changed, zones, time)
    if changed:
        things = things.updated(changed.values())
    return KitchenState(
        things, world.agent, world.held, time, timers, world.steps + 1, world.settings, world.extras
    )


def _at_work(things: KitchenObjects, room: Room) -> list[KitchenObject]:
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
    world: KitchenState, changed: dict[str, KitchenObject], zones: Mapping[str, str], time: float
) -> Mapping[str, float]:
    """Return the times at which objects outside the hot and cold `zones` reach room temperature."""
    # Objects that have returned by now are added to `changed`.
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
    source: KitchenObject, things: KitchenObjects, changed: dict[str, KitchenObject], room: Room
) -> Iterator[tuple[str, KitchenObject | None, str | None]]:
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


def _washed(thing: KitchenObject) -> KitchenObject | None:
    if thing.inert:
        return None
    dirty = thing.is_dirty and thing.can("dirtyable")
    empty = thing.liquid is None and thing.can("canFillWithLiquid")
    if not dirty and not empty:
        return None
    return thing.but(
        is_dirty=False if dirty else thing.is_dirty, liquid="water" if empty else thing.liquid
    )
