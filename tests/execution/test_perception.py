"""Beliefs, audio events, and suspected sensor errors."""

from __future__ import annotations

import random
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.execution.belief import Belief, Sight, belief_after_sounds, seen_objects, update_belief
from hvr.execution.observation import AudioEvent, SoundKind, audio_events
from hvr.execution.perception import NoiseFilter, Sensors, View, votes_needed
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.faults import NoisySensor
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.thor.observe import Names, scene_graph
from tests.execution.execution_worlds import just_before, run, the

NAMES = ("mug-1", "apple-1", "fridge-1", "table-1")
objects = st.fixed_dictionaries(
    {
        name: st.builds(
            lambda name, on, parent: SceneObject(
                name,
                name.split("-")[0].title(),
                name,
                MappingProxyType(
                    {"isToggled": on, "isOpen": on, "receptacle": True, "openable": True}
                ),
                (parent,) if parent and parent != name else (),
            ),
            st.just(name),
            st.booleans(),
            st.sampled_from(["", "fridge-1", "table-1"]),
        )
        for name in NAMES
    }
)
scenes = st.builds(lambda o: SceneGraph("FloorPlan1", o), objects)


@pytest.mark.slow
@given(scenes, scenes, st.frozensets(st.sampled_from(NAMES)), st.integers(1, 9))
def test_a_belief_never_contradicts_what_is_seen(
    believed: SceneGraph, there: SceneGraph, visible: frozenset[str], step: int
) -> None:
    seen, whole = seen_objects(there, visible, {"table-1"})
    assert visible <= seen and whole <= seen and "table-1" not in whole
    earlier = Belief(believed, frozenset(), dict.fromkeys(NAMES, 0))
    now = update_belief(earlier, believed, there, seen, whole, step, (0.0, 0.0, 0.0))
    for name in NAMES:
        assert now.last_seen[name] == (step if name in seen else 0)
        if name in seen:
            assert now.scene.objects[name] == there.objects[name]
            continue
        assert now.scene.objects[name].attributes == believed.objects[name].attributes
        assert not set(now.scene.objects[name].parents) & whole, "it would be seen there"


@pytest.mark.slow
@given(scenes, scenes, st.sampled_from([0.0, 0.05, 0.15]))
def test_the_filter_takes_a_steady_surprise_and_keeps_what_is_as_expected(
    expected: SceneGraph, there: SceneGraph, told: float
) -> None:
    same, looks = NoiseFilter(told).settle(expected, View(expected), lambda: View(expected))
    assert same.scene.objects == expected.objects and looks == (told > 0)
    taken, _ = NoiseFilter(told).settle(expected, View(there), lambda: View(there))
    assert taken.scene.objects == there.objects


@pytest.mark.slow
@given(scenes, scenes, st.sampled_from(NAMES))
def test_one_wrong_look_is_not_believed(expected: SceneGraph, there: SceneGraph, name: str) -> None:
    first = expected.replace(objects={**expected.objects, name: there.objects[name]})
    taken, _ = NoiseFilter().settle(expected, View(first), lambda: View(expected))
    assert dict(taken.scene.objects[name].attributes) == dict(expected.objects[name].attributes)
    assert taken.scene.objects[name].parents == expected.objects[name].parents
    missed = expected.replace(objects={n: o for n, o in expected.objects.items() if n != name})
    taken, _ = NoiseFilter().settle(expected, View(missed), lambda: View(expected))
    assert taken.scene.objects == expected.objects


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.05, 0.15])
def test_the_error_rate_is_estimated_from_looks_that_disagree(share: float) -> None:
    there = Kitchen("FloorPlan1")
    scene = scene_graph(there.last_event.metadata, Names.from_metadata(there.last_event.metadata))
    sensor, filtered = NoisySensor(share, seed=3), NoiseFilter()
    for _ in range(20):
        view, _ = filtered.settle(scene, View(sensor(scene)), lambda: View(sensor(scene)))
        assert view.scene.objects == scene.objects and view.scene.held == scene.held
    for kind in ("isOpen", "isDirty", "there"):
        assert filtered.rate(kind) == pytest.approx(share, abs=0.025)
    assert filtered.rate("parents") < 0.01
    assert NoiseFilter(0.3).rate("isOpen") > 0.3 - 1e-9, "the known share is a lower limit"


def test_votes_follow_from_the_error_rate() -> None:
    assert votes_needed(0.0) == 1
    assert votes_needed(0.05) == 5
    rates = [0.001, 0.01, 0.05, 0.1, 0.2]
    assert [votes_needed(r) for r in rates] == sorted(votes_needed(r) for r in rates)


class Flipping:
    """A sensor that misreads 5 % of switches and doors."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.errors = 0

    def __call__(self, scene: SceneGraph) -> SceneGraph:
        read = {}
        for name, o in scene.objects.items():
            seen = dict(o.attributes)
            for field, can in (("isToggled", "toggleable"), ("isOpen", "openable")):
                if seen.get(can) and self.chance.random() < 0.05:
                    self.errors += 1
                    seen[field] = not seen.get(field)
            read[name] = replace(o, attributes=MappingProxyType(seen))
        return scene.replace(objects=MappingProxyType(read))


@pytest.mark.slow
def test_a_noisy_sensor_gives_no_false_alarm_and_hides_no_failure() -> None:
    sensor = Flipping(1)
    ran = run("make coffee", sensors=Sensors(error_rate=0.05, sense=sensor))
    assert ran.finished.reached and ran.failures == []
    assert sensor.errors > 10 and sum(s.looks for s in ran.steps) > len(ran.steps)

    def switch_off(kitchen: Kitchen) -> None:
        kitchen.step("OpenObject", objectId=the(kitchen, "Microwave"), forceAction=True)

    sensor = Flipping(2)
    ran = run(
        "make coffee",
        just_before("PutObject", switch_off),
        sensors=Sensors(error_rate=0.05, sense=sensor),
    )
    assert [f.objects for f in ran.failures] == [("microwave-1",)]


@pytest.mark.slow
@pytest.mark.parametrize("sight", list(Sight))
def test_noise_that_the_robot_was_not_told_of_gives_no_false_alarm(sight: Sight) -> None:
    ran = run("make coffee", sensors=Sensors(sight, sense=NoisySensor(0.1, seed=1)))
    assert ran.finished.reached and ran.failures == []


def room(**state: bool) -> SceneGraph:
    found = {
        name.replace("_", "-"): SceneObject(
            name.replace("_", "-"),
            {"m": "Microwave", "k": "StoveKnob", "b": "StoveBurner"}[name[0]],
            name,
            MappingProxyType({"isToggled": on}),
        )
        for name, on in state.items()
    }
    return SceneGraph("FloorPlan1", found, controls=(("k-1", "b-1"), ("k-2", "b-2")))


def test_sounds_are_what_changed_by_type() -> None:
    before = room(m_1=False, k_1=False, b_1=False)
    after = room(m_1=True, k_1=True, b_1=True)
    assert audio_events(before, after) == (
        AudioEvent(SoundKind.TURNED_ON, "Microwave"),
        AudioEvent(SoundKind.TURNED_ON, "StoveBurner"),
    )
    assert audio_events(before, before) == ()


def test_what_was_not_heard_was_not_switched() -> None:
    before, after = room(m_1=False), room(m_1=True)
    on = lambda scene: scene.objects["m-1"].attributes["isToggled"]  # noqa: E731
    assert not on(belief_after_sounds(after, before, (), before))
    assert on(belief_after_sounds(after, before, audio_events(before, after), before))
    assert on(belief_after_sounds(before, before, audio_events(before, after), before)), (
        "there is only one"
    )


def test_a_sound_of_one_of_several_tells_only_of_what_was_expected() -> None:
    before = room(k_1=False, b_1=False, k_2=False, b_2=False)
    expected = room(k_1=True, b_1=True, k_2=False, b_2=False)
    heard = belief_after_sounds(
        expected, before, [AudioEvent(SoundKind.TURNED_ON, "StoveBurner")], before
    )
    assert heard.objects == expected.objects
    unheard = belief_after_sounds(expected, before, (), before)
    assert not any(o.attributes["isToggled"] for o in unheard.objects.values())
    odd = belief_after_sounds(
        before, before, [AudioEvent(SoundKind.TURNED_ON, "StoveBurner")], before
    )
    assert odd.objects == before.objects


@pytest.mark.slow
@pytest.mark.parametrize("sight", list(Sight))
def test_effects_out_of_sight_are_believed_until_seen(sight: Sight) -> None:
    ran = run("heat the potato in the microwave", sensors=Sensors(sight))
    assert ran.finished.reached and ran.failures == []
    not_seen = [a for s in ran.steps for a in s.not_seen]
    if sight is Sight.OMNISCIENT:
        assert not_seen == []
    else:
        assert any(a.predicate == "hot" for a in not_seen)
