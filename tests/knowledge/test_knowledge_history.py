from __future__ import annotations

from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.triples import cleared_marks, contents, marks
from tests.knowledge.knowledge_kitchen import with_


def step(action: str, target: str) -> dict[str, str]:
    return {"action": action, "objectId": target}


def test_contents_of_two_levels(scene: SceneGraph) -> None:
    assert contents(scene, "fridge-1") == {"bowl-1", "egg-1"}
    assert contents(scene, "stoveburner-1") == {"pan-1", "potato-1"}


def test_washing(scene: SceneGraph) -> None:
    full = with_(scene, "bowl-1", parents=("sinkbasin-1",))
    wet = {("bowl-1", "washed"), ("egg-1", "washed")}
    assert marks(step("ToggleObjectOn", "faucet-1"), full, full) == wet
    assert marks(step("ToggleObjectOff", "faucet-1"), full, full) == set()


def test_washing_by_putting_under_running_water(scene: SceneGraph) -> None:
    running = with_(scene, "faucet-1", isToggled=True)
    before = with_(running, "bowl-1", parents=()).replace(held="bowl-1")
    after = with_(running, "bowl-1", parents=("sinkbasin-1",))
    put = step("PutObject", "sinkbasin-1")
    assert marks(put, before, after) == {("bowl-1", "washed"), ("egg-1", "washed")}
    dry = with_(after, "faucet-1", isToggled=False)
    assert marks(put, before, dry) == set()


def test_a_thing_that_ended_elsewhere_is_not_washed(scene: SceneGraph) -> None:
    running = with_(scene, "faucet-1", isToggled=True)
    before = with_(running, "mug-1", parents=()).replace(held="mug-1")
    after = with_(running, "mug-1", parents=("countertop-1",))
    assert marks(step("PutObject", "sinkbasin-1"), before, after) == set()


def test_heating(scene: SceneGraph) -> None:
    stove = {("pan-1", "stove_heated"), ("potato-1", "stove_heated")}
    assert marks(step("ToggleObjectOn", "stoveknob-1"), scene, scene) == stove
    assert marks(step("ToggleObjectOn", "stoveburner-1"), scene, scene) == stove
    full = with_(scene, "bowl-1", parents=("microwave-1",))
    micro = {("bowl-1", "microwaved"), ("egg-1", "microwaved")}
    assert marks(step("ToggleObjectOn", "microwave-1"), full, full) == micro
    toast = with_(scene, "bread-1", parents=("toaster-1",))
    assert marks(step("ToggleObjectOn", "toaster-1"), toast, toast) == {("bread-1", "toasted")}


def test_putting_onto_and_into_what_is_hot(scene: SceneGraph) -> None:
    lit = with_(scene, "stoveburner-1", isToggled=True)
    before = with_(lit, "potato-1", parents=()).replace(held="potato-1")
    found = marks(step("PutObject", "pan-1"), before, lit)
    assert found == {("potato-1", "stove_heated")}
    before = with_(lit, "pan-1", parents=()).replace(held="pan-1")
    found = marks(step("PutObject", "stoveburner-1"), before, lit)
    assert found == {("pan-1", "stove_heated"), ("potato-1", "stove_heated")}


def test_chilling(scene: SceneGraph) -> None:
    cold = {("bowl-1", "chilled"), ("egg-1", "chilled")}
    assert marks(step("CloseObject", "fridge-1"), scene, scene) == cold
    assert marks(step("CloseObject", "microwave-1"), scene, scene) == set()


def test_pouring_something_hot(scene: SceneGraph) -> None:
    fill = {"action": "FillObjectWithLiquid", "objectId": "mug-1", "fillLiquid": "water"}
    held = scene.replace(held="kettle-1")
    assert marks(fill, held, held) == set()
    warm = {("kettle-1", "warm_liquid")}
    assert marks(fill, held, held, warm) == {("mug-1", "warm_liquid")}
    assert marks(fill, scene, scene, warm) == set()


def test_emptying() -> None:
    assert cleared_marks(step("EmptyLiquidFromObject", "mug-1")) == {("mug-1", "warm_liquid")}
    assert cleared_marks(step("ToggleObjectOn", "mug-1")) == set()


def test_what_gets_cold_is_no_longer_warm(scene: SceneGraph) -> None:
    before = with_(scene, "mug-1", parents=()).replace(held="mug-1")
    cool = {("mug-1", "warm_liquid")}
    put = with_(scene, "mug-1", parents=("fridge-1",))
    assert cleared_marks(step("PutObject", "fridge-1"), before, put) == cool
    put = with_(scene, "mug-1", parents=("bowl-1",))
    assert cleared_marks(step("PutObject", "bowl-1"), before, put) == cool
    put = with_(scene, "mug-1", parents=("countertop-1",))
    assert cleared_marks(step("PutObject", "countertop-1"), before, put) == set()


def test_other_steps_leave_no_mark(scene: SceneGraph) -> None:
    assert marks({"action": "MoveAhead"}, scene, scene) == set()
    assert marks(step("ToggleObjectOn", "coffeemachine-1"), scene, scene) == set()
    assert marks(step("ToggleObjectOn", "nothing-1"), scene, scene) == set()
    assert marks(step("PutObject", "countertop-1"), scene, scene) == set()
