"""BabyAI's levels: missions are read, explored and reached from the agent's view alone."""

import sys
from typing import Any

import pytest

from hvr.base.files import data_path
from hvr.errors import (
    AmbiguousError,
    HvrError,
    ImpossibleGoalError,
    LanguageError,
    MissingExtraError,
    UsageError,
)
from hvr.execution.events import StepDone
from hvr.execution.facts.revealing import PosedRun, described_stages
from hvr.language.grammar import Reader
from hvr.worlds.facts.environment import Observation
from hvr.worlds.facts.folder import WorldFolder

FOLDER = WorldFolder(data_path("worlds") / "babyai")


@pytest.fixture(scope="module")
def reader() -> Reader:
    assert FOLDER.ontology is not None
    return Reader(FOLDER.ontology, FOLDER.domain)


@pytest.mark.parametrize(
    ("mission", "stages"),
    [
        ("go to the red ball", ["(exists (?x1 - ball) (and (red ?x1) (visited ?x1)))"]),
        (
            "pick up the blue ball, then open a grey door",
            [
                "(exists (?x1 - ball) (and (blue ?x1) (picked-up ?x1)))",
                "(exists (?x1 - door) (and (grey ?x1) (opened ?x1)))",
            ],
        ),
        (
            "put the ball on your left next to the ball behind you",
            [
                "(exists (?x1 - ball ?x2 - ball) (and (left-of-start ?x1) (behind-start ?x2) "
                "(put-next-to ?x1 ?x2)))"
            ],
        ),
        (
            "open the door and go to the box after you pick up a key and go to a ball",
            [
                "(and (exists (?x1 - key) (and (picked-up ?x1))) "
                "(exists (?x1 - ball) (and (visited ?x1))))",
                "(and (exists (?x1 - door) (and (opened ?x1))) "
                "(exists (?x1 - box) (and (visited ?x1))))",
            ],
        ),
        (
            "pick up a red object",
            ["(exists (?x1 - (either ball box key)) (and (red ?x1) (picked-up ?x1)))"],
        ),
        (
            "go to the red ball and pick up the blue ball",
            [
                "(and (exists (?x1 - ball) (and (red ?x1) (visited ?x1))) "
                "(exists (?x1 - ball) (and (blue ?x1) (picked-up ?x1))))"
            ],
        ),
    ],
)
def test_missions_become_goals_by_description(
    mission: str, stages: list[str], reader: Reader
) -> None:
    assert [stage.text for stage in described_stages(mission, reader)] == stages


@pytest.mark.parametrize(
    ("request_", "error", "says"),
    [
        ("pick up every ball", LanguageError, "one thing at a time"),
        ("pick up the door", ImpossibleGoalError, "the robot cannot pick up a door"),
        ("do not open a door", LanguageError, "door"),
        ("put the ball next to it", LanguageError, "it"),
        ("juggle the ball", LanguageError, "juggle"),
    ],
)
def test_what_cannot_be_read_is_refused(
    request_: str, error: type[HvrError], says: str, reader: Reader
) -> None:
    with pytest.raises((error, AmbiguousError), match=says):
        described_stages(request_, reader)


@pytest.fixture
def minigrid() -> None:
    pytest.importorskip("minigrid", reason="the extra minigrid is not installed")


def _posed(level: str, seed: int, text: str | None = None) -> tuple[Any, PosedRun]:
    env: Any = FOLDER.open_here(FOLDER.posed_problem(level), seed, level)
    return env, PosedRun(FOLDER, env, level, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "level",
    [
        "BabyAI-GoToObj-v0",
        "BabyAI-PickupLoc-v0",
        "BabyAI-PutNextLocal-v0",
        "BabyAI-OpenDoorsOrderN4-v0",
        "BabyAI-UnlockPickup-v0",
        "BabyAI-BlockedUnlockPickup-v0",
        "BabyAI-KeyInBox-v0",
        "BabyAI-PutNextS5N2Carrying-v0",
        "BabyAI-MiniBossLevel-v0",
    ],
)
@pytest.mark.usefixtures("minigrid")
def test_levels_are_reached_by_their_own_reward(level: str) -> None:
    env, posed = _posed(level, 5)
    run = posed.run()
    assert env.outcome() is True
    assert run.finished.reached
    assert not run.unseen
    # The first view of levels that start with something in the hand shows it on the floor.
    assert not run.finished.failures or "Carrying" in level


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
@pytest.mark.parametrize(
    ("level", "seed", "view"),
    [
        ("BabyAI-SynthS5R2-v0", 3000, 7),  # a box put next to the key would block it
        ("BabyAI-SynthS5R2-v0", 3002, 7),  # a full room
        ("BabyAI-OpenDoorLoc-v0", 3004, 7),  # the wall in front goes on where it is not seen yet
        ("BabyAI-MiniBossLevel-v0", 4001, 5),  # a ball goes next to the key in the hand
    ],
)
def test_narrow_rooms_and_sides_out_of_view(level: str, seed: int, view: int) -> None:
    import gymnasium

    env: Any = FOLDER.open_here(FOLDER.posed_problem(level), seed, level)
    env.replace_level(gymnasium.make(level, disable_env_checker=True, agent_view_size=view))
    assert PosedRun(FOLDER, env, level).run().finished.reached
    assert env.outcome() is True and env.steps < 60


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_nothing_of_the_hidden_level_enters() -> None:
    """Differences that the agent cannot see leave no trace in hvr's input."""
    level = "BabyAI-GoToObjMazeS4-v0"
    env, posed = _posed(level, 3)
    before = env.observe()
    grid = env._level.unwrapped.grid
    seen = {(x, y) for x in range(grid.width) for y in range(grid.height)}
    start = env._level.unwrapped
    for x, y in sorted(seen):
        if not start.in_view(x, y) and grid.get(x, y) is not None:
            grid.set(x, y, None)
    assert env.observe() == before
    assert posed.request == start.mission


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_a_door_that_others_close_is_noticed_and_opened_again() -> None:
    env, posed = _posed("BabyAI-UnlockPickup-v0", 1)
    level = env._level.unwrapped
    noticed: list[str] = []

    def listen(event: object) -> None:
        if isinstance(event, StepDone):
            noticed.extend(f.kind.value for f in event.failures)
            if event.action.name == "unlock":
                door = next(c for c in level.grid.grid if c is not None and c.type == "door")
                door.is_open = False

    posed.run(listen=listen)
    assert env.outcome() is True


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_a_request_of_ones_own_is_done_but_not_judged() -> None:
    _, posed = _posed("BabyAI-GoToLocal-v0", 0, "go to a key and go to a ball")
    run = posed.run()
    assert run.finished.reached
    assert run.unseen == ("visited",)


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_what_is_nowhere_is_not_found() -> None:
    env, posed = _posed("BabyAI-GoToObjS4-v0", 0, "go to a purple door")
    run = posed.run()
    assert not run.finished.reached
    assert "every reachable place was observed" in run.finished.reason
    assert env.outcome() is None


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_plans_name_what_they_count_on() -> None:
    _, posed = _posed("BabyAI-BossLevel-v0", 3)
    plans = list(posed.plans())
    assert len(plans) == len(posed.stages)
    assert any("unseen" in name for name in posed.assumed(plans))


@pytest.mark.usefixtures("minigrid")
def test_an_unknown_level_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean 'BabyAI-GoToObj-v0'"):
        _posed("BabyAI-GoToOb-v0", 0)


@pytest.mark.usefixtures("minigrid")
def test_observations_say_what_is_only_supposed() -> None:
    env, _ = _posed("BabyAI-GoToObj-v0", 0)
    seen = env.observe()
    assert isinstance(seen, Observation)
    assert seen.objects is not None
    assert all(name.startswith("unseen") for name in seen.supposed)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.\[minigrid\]'"):
        FOLDER.open_here(FOLDER.posed_problem("x"), 0, "x")
