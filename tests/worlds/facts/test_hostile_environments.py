"""Environments that hang, lie, crash, flood or answer late end in one timely message."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hvr.knowledge.world_file import find_world
from tests.conftest import Hvr
from tests.survivors import working_in

HOSTILE = """
import os, subprocess, sys, threading, time
from hvr.worlds.facts.environment import Observation, PddlEnvironment


def hang():
    time.sleep(600)


def spin():
    while True:
        pass


def flood():
    while True:
        print("noise " * 2000)


def flood_beside():
    threading.Thread(target=flood).start()
    hang()


def leave():
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    subprocess.Popen(words, start_new_session=True)
    hang()


class Env(PddlEnvironment):
    def METHOD(self, *args):
        BODY
        return super().METHOD(*args)


def open_it(setup):
    return Env(setup.domain, setup.problem)
"""
SHAPES = {
    "hangs": "hang()",
    "spins": "spin()",
    "crashes": "os._exit(7)",
    "is killed": "os.kill(os.getpid(), 11)",
    "raises": "raise OSError('no arm')",
    "floods": "flood()",
    "floods from a thread and hangs": "flood_beside()",
    "leaves a child and hangs": "leave()",
    "asks": "input('where is the block? ')",
    "lies about types": "return 7",
    "exits": "sys.exit('enough')",
}


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    world = Path(shutil.copytree(find_world("blocksworld"), tmp_path / "blocks"))
    file = world / "world.toml"
    file.write_text(file.read_text().replace("\n", '\nenvironment = "bad:open_it"\n', 1))
    return world


def make(world: Path, method: str, body: str) -> None:
    text = HOSTILE.replace("METHOD", method).replace("BODY", body)
    if method == "close":
        text = text.replace("return super().close(*args)", "pass")
    (world / "bad.py").write_text(text)


def left_in(folder: Path) -> list[int]:
    return [pid for pid in working_in(folder) if pid != os.getpid()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "shape"),
    [*(("step", shape) for shape in SHAPES), ("reset", "hangs"), ("observe", "hangs"),
     ("reset", "crashes"), ("observe", "lies about types"), ("__init__", "raises")],
)  # fmt: skip
def test_a_hostile_environment_ends_with_one_line_in_time(
    hvr_: Hvr, blocks: Path, shape: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(blocks, method, SHAPES[shape])
    monkeypatch.chdir(blocks.parent)
    ended = hvr_(
        "solve", "--world", blocks, "one-tower", "--execute", "--quiet", "--env-timeout", "1.5",
        "--save", blocks.parent / "run",
    )  # fmt: skip
    assert ended.code in (2, 4) and ended.out == ""
    (line,) = ended.err.strip().splitlines()
    assert "bad:open_it" in line
    assert len(line) < 600
    assert not left_in(blocks.parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "body", "message"),
    [
        ("reset", SHAPES["hangs"], "did not finish reset within 1 s and was stopped"),
        ("observe", SHAPES["hangs"], "did not finish observe within 1 s and was stopped"),
        (
            "observe",
            SHAPES["floods"],
            "did not finish observe within 1 s and was stopped; last output",
        ),
        ("reset", SHAPES["crashes"], "ended at reset (exit code 7)"),
        ("reset", SHAPES["is killed"], "ended at reset (killed by SIGSEGV)"),
        ("__init__", "time.sleep(600)", "did not finish opening within 1 s"),
        ("observe", "return Observation(iter(int, 1))", "shows more than 1,000,000 facts"),
        ("close", "time.sleep(600)", "did not finish close within 1 s"),
    ],
)
def test_a_check_names_what_an_environment_does(
    hvr_: Hvr, blocks: Path, method: str, body: str, message: str
) -> None:
    make(blocks, method, body)
    for other in list((blocks / "problems").glob("*.pddl"))[1:]:
        other.unlink()
    text = (blocks / "world.toml").read_text().partition("[tasks")[0]
    (blocks / "world.toml").write_text(text)
    # A million facts take more than a second on a busy machine.
    seconds = "1" if "within 1 s" in message else "30"
    ended = hvr_("world", "check", blocks, "--run", "--env-timeout", seconds)
    assert ended.code == 1, ended.out + ended.err
    (line,) = ended.out.strip().splitlines()
    assert message in line and line.startswith(f"{blocks / 'world.toml'}:")


@pytest.mark.slow
def test_what_an_environment_prints_is_no_part_of_the_answer(hvr_: Hvr, blocks: Path) -> None:
    make(blocks, "step", 'print(\'{"value": "no"}\', flush=True)')
    ended = hvr_("solve", "--world", blocks, "one-tower", "--execute", "--json")
    assert ended.code == 0 and json.loads(ended.out)["reached"]


@pytest.mark.slow
def test_a_late_answer_is_waited_for_as_long_as_the_world_says(hvr_: Hvr, blocks: Path) -> None:
    make(blocks, "reset", "time.sleep(1)")
    words = ("solve", "--world", blocks, "one-tower", "--execute", "--quiet")
    file = blocks / "world.toml"
    file.write_text(file.read_text().replace("\n", "\nenv_timeout = 0.5\n", 1))
    ended = hvr_(*words)
    assert ended.code == 4 and "env_timeout in world.toml" in ended.err
    assert hvr_(*words, "--env-timeout", "30").code == 0
    file.write_text(file.read_text().replace("0.5", "-1"))
    assert "env_timeout must be a positive number of seconds" in hvr_(*words).err
