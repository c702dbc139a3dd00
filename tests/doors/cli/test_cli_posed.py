"""`hvr plan` in a world whose environment generates its own requests."""

import json
from pathlib import Path

import pytest

from tests.command_line import Hvr


@pytest.fixture
def minigrid() -> None:
    pytest.importorskip("minigrid", reason="the extra minigrid is not installed")


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_a_level_is_played_and_saved(hvr_: Hvr, tmp_path: Path) -> None:
    ended = hvr_(
        *("plan", "--world", "babyai", "--scene", "BabyAI-GoToObj-v0", "--seed", 1, "--json"),
        *("--save", tmp_path / "run", "--html", tmp_path / "page.html"),
    )
    told = json.loads(ended.out)
    assert (ended.code, told["reached"], told["request"]) == (0, True, "go to the yellow key")
    assert told["reading"] == ["a yellow key has been reached"]
    assert (tmp_path / "page.html").is_file()
    assert (tmp_path / "run" / "plan.pddl").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("minigrid")
def test_a_dry_run_names_what_was_not_seen(hvr_: Hvr, tmp_path: Path) -> None:
    level = ("--world", "babyai", "--scene", "BabyAI-GoToObj-v0", "--seed", 1)
    ended = hvr_("plan", *level, "--dry-run", "--save", tmp_path / "run")
    assert ended.code == 0
    assert "relies on unseen objects: unseen-place-1, unseen-yellow-key" in ended.out


@pytest.mark.usefixtures("minigrid")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--scene", "BabyAI-GoToOb-v0"), "did you mean 'BabyAI-GoToObj-v0'?"),
        (("--task", "T2"), "generates its own requests"),
        (("--sight", "visible"), "generates its own requests"),
        (("pick up a fridge",), "unknown word: 'fridge'"),
    ],
)
def test_bad_input_gives_one_message(
    more: tuple[str, ...], says: str, hvr_: Hvr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hvr_("plan", "--world", "babyai", *more)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
