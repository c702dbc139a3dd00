"""A small hand-made kitchen, so that these tests need no environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hvr.knowledge.scene_graph import SceneGraph, SceneObject

PIECES = {"bread-1": ["breadsliced-1", "breadsliced-2"], "egg-1": ["eggcracked-1"]}


def thing(name: str, kind: str, *parents: str, **attributes: Any) -> SceneObject:
    """Return an object with an ID derived from its name."""
    return SceneObject(name, kind, f"{kind}|{name}", attributes, parents)


def scene_of(*things: SceneObject, held: str | None = None) -> SceneGraph:
    return SceneGraph(
        "FloorPlan99",
        {t.name: t for t in things},
        held,
        (("stoveknob-1", "stoveburner-1"), ("faucet-1", "sinkbasin-1")),
    )


THINGS = (
    thing("countertop-1", "CounterTop", receptacle=True),
    thing("sink-1", "Sink", receptacle=False),
    thing("sinkbasin-1", "SinkBasin", receptacle=True),
    thing("faucet-1", "Faucet", toggleable=True),
    thing("stoveburner-1", "StoveBurner", receptacle=True),
    thing("stoveknob-1", "StoveKnob", toggleable=True),
    thing("fridge-1", "Fridge", receptacle=True, openable=True, isColdSource=True),
    thing("microwave-1", "Microwave", receptacle=True, openable=True, toggleable=True),
    thing("toaster-1", "Toaster", receptacle=True, toggleable=True),
    thing("coffeemachine-1", "CoffeeMachine", receptacle=True, toggleable=True),
    thing("mug-1", "Mug", "countertop-1", isDirty=True, temperature="RoomTemp"),
    thing("bowl-1", "Bowl", "fridge-1", breakable=False),
    thing("bowl-2", "Bowl", "countertop-1", breakable=True),
    thing("egg-1", "Egg", "bowl-1", "fridge-1", temperature="Cold"),
    thing("bread-1", "Bread", "countertop-1"),
    thing("pan-1", "Pan", "stoveburner-1"),
    thing("potato-1", "Potato", "pan-1", "stoveburner-1"),
    thing("knife-1", "Knife", "countertop-1"),
    thing("winebottle-1", "WineBottle", "countertop-1", isFilledWithLiquid=True),
    thing("kettle-1", "Kettle", "countertop-1", isFilledWithLiquid=True),
    thing("ottoman-1", "Ottoman"),
)


def with_(scene: SceneGraph, name: str, **changes: Any) -> SceneGraph:
    """Return the scene with fields of one object changed; unknown fields are attributes."""
    old = scene.objects[name]
    fields = {f: changes.pop(f) for f in ("parents",) if f in changes}
    new = replace(old, attributes={**old.attributes, **changes}, **fields)
    return scene.replace(objects={**scene.objects, name: new})
