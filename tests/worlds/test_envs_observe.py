"""The scene graph of an event."""

from __future__ import annotations

from collections.abc import Callable

from hvr.worlds import Event, Kitchen, Names, scene_graph

Act = Callable[..., Event]


def test_scene_graph_of_the_start(kitchen: Kitchen, names: Names) -> None:
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.scene == "FloorPlan1" and graph.held is None
    assert graph.objects["mug-1"].parents == ("countertop-3",)
    assert graph.objects["egg-1"].parents == ("fridge-1",)
    assert graph.objects["egg-1"].attributes["temperature"] == "Cold"
    assert graph.objects["winebottle-1"].attributes["fillLiquid"] == "wine"
    assert graph.objects["fridge-1"].attributes["openable"] is True
    assert graph.objects["toaster-1"].in_reach and not graph.objects["knife-1"].in_reach
    assert ("faucet-1", "sinkbasin-1") in graph.controls
    assert ("stoveknob-3", "stoveburner-4") in graph.controls
    assert len(graph.controls) == 5


def test_held_and_what_it_carries(kitchen: Kitchen, names: Names, act: Act) -> None:
    act("PickupObject", "apple-1")
    act("PutObject", "plate-1")
    act("PickupObject", "plate-1")
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.held == "plate-1" and graph.objects["plate-1"].parents == ()
    assert graph.objects["apple-1"].parents == ("plate-1",)


def test_only_the_direct_parent_counts(kitchen: Kitchen, names: Names, act: Act) -> None:
    act("PickupObject", "apple-1")
    act("PutObject", "garbagecan-1")
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.objects["apple-1"].parents == ("garbagecan-1",)


def test_nested_and_double_parents() -> None:
    kitchen = Kitchen("FloorPlan9")
    names = Names.from_metadata(kitchen.last_event.metadata)
    graph = scene_graph(kitchen.last_event.metadata, names)
    assert graph.objects["mug-1"].parents == ("coffeemachine-1",)
    assert len(graph.objects["pan-1"].parents) == 2


def test_remains_are_inert(kitchen: Kitchen, names: Names, act: Act) -> None:
    act("SliceObject", "bread-1")
    act("BreakObject", "bowl-1")
    graph = scene_graph(kitchen.last_event.metadata, names)
    bread, bowl = graph.objects["bread-1"], graph.objects["bowl-1"]
    assert bread.attributes["isSliced"] and not bread.parents and not bread.in_reach
    assert bowl.attributes["isBroken"] and not bowl.parents
    assert graph.objects["breadsliced-8"].parents == ("countertop-2",)
    assert [o.object_type for o in graph.objects.values()].count("BreadSliced") == 8
