"""A simulator that does not start, does not answer, or ends: one clear error, no leftovers."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("ai2thor", reason="ai2thor is not installed")

from hvr.doors.cli.main import run
from hvr.doors.stand_in import command
from hvr.errors import HvrError, MissingExtraError
from hvr.worlds.thor import SimulatorError, Thor, ThorOptions
from hvr.worlds.thor.environment import RetryingEnvironment

# The client itself leaves its log open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

PROCESS = Path(__file__).with_name("thor_process.py")


def behaving(how: str = "", **options: object) -> ThorOptions:
    words = [sys.executable, str(PROCESS), *([how] if how else [])]
    return ThorOptions(executable=shlex.join(words), **{"timeout": 600.0, **options})  # type: ignore[arg-type]


def children() -> set[str]:
    """Return the process IDs of this process's children, including zombies."""
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No process and no pipe outlives a test."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    before, threads = children(), set(threading.enumerate())
    yield
    assert not list((tmp_path / "tmp").iterdir())
    assert children() <= before
    assert not [t for t in set(threading.enumerate()) - threads if t.name.startswith("Thread-")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (behaving("exit:hello"), ["exit code 3", "during the start", "no graphics device"]),
        (behaving("signal:hello"), ["exit code 139", "during the start"]),
        (behaving("exit:Initialize"), ["exit code 3", "during the start"]),
        (behaving("hang:hello", start_timeout=0.3), ["in time", "start_timeout 0.3 s"]),
        (behaving("hang:Initialize", timeout=0.3), ["in time", "timeout 0.3 s"]),
        (behaving("exit:hello", server="http"), ["exit code 3", "during the start"]),
        (
            behaving("hang:hello", server="http", start_timeout=0.3),
            ["in time", "start_timeout 0.3 s"],
        ),
        (ThorOptions(executable="/no/such/program"), ["/no/such/program", "executable"]),
        (ThorOptions(executable=str(PROCESS)), ["thor_process.py", "not an executable program"]),
        (ThorOptions(executable="'open quote"), ["open quote"]),
    ],
    ids=lambda value: value.executable[-12:] + value.server if hasattr(value, "server") else "",
)
def test_a_start_that_fails(options: ThorOptions, words: list[str]) -> None:
    with pytest.raises(SimulatorError) as failed:
        Thor("FloorPlan1", options)
    assert all(word in str(failed.value) for word in words), str(failed.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "timeout", "words"),
    [
        ("exit", 600.0, ["ended (exit code 3)", "during Pass", "unity.log", "hvr doctor thor"]),
        ("signal", 600.0, ["ended (exit code 139)", "during Pass"]),
        ("hang", 3.0, ["did not answer in time during Pass", "timeout 3 s"]),
        ("drip", 3.0, ["did not answer in time during Pass", "timeout 3 s"]),
        ("flood", 3.0, ["during Pass"]),
        ("garbage", 600.0, ["failed during Pass", "unity.log"]),
        ("wrong-number", 600.0, ["failed during Pass", "Sequence id"]),
    ],
)
def test_an_action_that_fails_for_good(how: str, timeout: float, words: list[str]) -> None:
    with Thor("FloorPlan1", behaving(f"{how}:Pass", timeout=timeout)) as env:
        assert env.step("RotateRight")
        with pytest.raises(SimulatorError) as failed:
            env.step("Pass")
        assert all(word in str(failed.value) for word in words), str(failed.value)
        with pytest.raises(SimulatorError) as again:  # the next step gives the same error
            env.step("RotateRight")
        assert str(again.value) == str(failed.value)
        with pytest.raises(SimulatorError):
            env.reset()


@pytest.mark.slow
def test_a_process_that_does_not_read_is_an_error_in_time() -> None:
    with Thor("FloorPlan1", behaving("deaf:Pass", timeout=2.0)) as env:
        assert env.step("Pass")
        began = time.monotonic()
        with pytest.raises(SimulatorError, match="did not answer in time during RotateRight"):
            env.step("RotateRight", note="x" * 500_000)
        assert time.monotonic() - began < 30


@pytest.mark.slow
@pytest.mark.parametrize("server", ["fifo", "http"])
def test_a_frozen_stand_in_is_an_error_in_time(server: str) -> None:
    options = ThorOptions(executable=command(), server=server, timeout=2.0)
    before = children()
    with Thor("FloorPlan1", options) as env:
        assert env.step("RotateRight")
        (supervisor,) = children() - before
        (stand_in,) = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
        os.kill(int(stand_in), signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(SimulatorError, match="did not answer in time during RotateLeft"):
            env.step("RotateLeft")
        assert time.monotonic() - began < 30


def test_second_tries_do_not_hide_it() -> None:
    env = RetryingEnvironment(Thor("FloorPlan1", behaving("exit:PickupObject")))
    with pytest.raises(SimulatorError, match="PickupObject"):
        env.step(action="PickupObject", objectId="Mug|1")
    env.stop()


@pytest.mark.slow
def test_the_picture_from_above_is_kept_first_and_last(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow comes with ai2thor")
    with Thor("FloorPlan1", behaving("cameras"), tmp_path) as env:
        assert not (tmp_path / "thor").exists(), "nothing before the first action"
        env.step("RotateRight")
        env.step("GetReachablePositions")
        env.step({"action": "LookDown"})
        assert env.top_view().tolist()[0][0] == [255, 0, 0]
    kept = sorted(p.name for p in (tmp_path / "thor").iterdir())
    assert kept == [
        "0000-before.png", "0001-RotateRight.png", "0002-LookDown.png", "steps.jsonl",
        "top-first.png", "top-last.png",
    ]  # fmt: skip
    with image.open(tmp_path / "thor" / "top-first.png") as picture:
        assert picture.size == (300, 300)
        assert picture.getpixel((150, 150)) == (255, 0, 0)
    with (
        image.open(tmp_path / "thor" / "0001-RotateRight.png") as one,
        image.open(tmp_path / "thor" / "0002-LookDown.png") as two,
    ):
        assert one.getpixel((0, 0)) != two.getpixel((0, 0))


def test_without_build_or_display_the_advice_comes_at_once(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError) as failed:
        Thor("FloorPlan1", ThorOptions())
    assert "download_only" in str(failed.value)
    assert "option executable" in str(failed.value)
    assert failed.value.field == "thor"
    assert not (tmp_path / ".ai2thor").exists()


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hvr.worlds.thor.installation._version", lambda: "")
    with pytest.raises(MissingExtraError, match=r"\.\[thor\]"):
        Thor("FloorPlan1", behaving())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--env", "thor", "--thor-executable", "/no/such"], ["/no/such"]),
        (["--env", "thor", "--thor", "colour=red"], ["colour"]),
        (["--thor", "width=300"], ["--env thor"]),
        (["--env", "habitat"], ["habitat", "kitchen, thor"]),
    ],
)
def test_hvr_plan_says_it_in_one_line_and_leaves_nothing(
    more: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["hvr", "plan", "make coffee", *more])
    with pytest.raises(SystemExit) as ending:
        run()
    assert ending.value.code == HvrError.exit_code
    output = capsys.readouterr().err
    assert all(word in output for word in words)
    assert "Traceback" not in output
    assert [p.name for p in tmp_path.iterdir()] == ["tmp"]
