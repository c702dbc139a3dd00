"""Faulty worlds: one message that names the place."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hvr.knowledge.world_file import find_world
from tests.conftest import Hvr

NO_OBSERVATION = """
from hvr.worlds.facts.environment import PddlEnvironment


class Mute(PddlEnvironment):
    def observe(self):
        return None


def open_it(setup):
    return Mute(setup.domain, setup.problem)
"""


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    return Path(shutil.copytree(find_world("blocksworld"), tmp_path / "blocks"))


def add(world: Path, line: str) -> None:
    file = world / "world.toml"
    file.write_text(file.read_text().replace("\n", f"\n{line}\n", 1))


def test_entries_that_lead_to_nothing_are_all_named(hvr_: Hvr, blocks: Path) -> None:
    add(blocks, 'task_files = ["tasks/*.toml"]')
    add(blocks, 'prompts = "sayings"')
    ended = hvr_("world", "check", blocks)
    assert ended.code == 1
    assert f"{blocks}/world.toml:3: task_files: no file matches 'tasks/*.toml'" in ended.out
    assert f"{blocks}/world.toml:2: prompts: no folder named {blocks}/sayings" in ended.out


@pytest.mark.slow
def test_a_task_of_a_world_is_named_by_itself(hvr_: Hvr, blocks: Path) -> None:
    assert hvr_("solve", "--world", blocks, "one-tower", "--quiet").code == 0
    two = hvr_("solve", "--world", blocks, "one-tower", "tower")
    assert two.code == 2 and "one-tower and tower" in two.err
    none = hvr_("solve", "--world", blocks, "two-towers")
    assert none.code == 2 and "one-tower" in none.err


@pytest.mark.slow
def test_a_problem_of_another_domain_is_named_and_planned_for(hvr_: Hvr, blocks: Path) -> None:
    (problem, *_) = sorted((blocks / "problems").iterdir())
    text = problem.read_text()
    problem.write_text(re.sub(r"\(:domain [^)]*\)", "(:domain another)", text))
    ended = hvr_("world", "check", blocks)
    assert ended.code == 1
    assert re.search(rf"{problem}:\d+: the problem is for the domain another, not ", ended.out)
    files = ("solve", blocks / "domain.pddl", problem, "--planner", "downward", "--quiet")
    assert hvr_(*files).code == 0


@pytest.mark.parametrize("pattern", ["{folder}/*.pddl", "**/harbour*.pddl"])
def test_patterns_may_be_absolute_and_recursive(hvr_: Hvr, tmp_path: Path, pattern: str) -> None:
    world = Path(shutil.copytree(find_world("logistics"), tmp_path / "made"))
    pattern = pattern.format(folder=world / "problems")
    file = world / "world.toml"
    file.write_text(file.read_text().replace("problems/*.pddl", pattern))
    assert hvr_("world", "check", world).code == 0
    assert hvr_("solve", "--world", world, "--problem", "harbour", "--quiet").code == 0


@pytest.mark.parametrize("code", ["raise SystemExit(0)", "import no_such_module", "def ("])
def test_an_environment_that_cannot_be_imported_is_named_with_its_line(
    hvr_: Hvr, blocks: Path, code: str
) -> None:
    add(blocks, '# the environment\nenvironment = "mute:open_it"')
    (blocks / "mute.py").write_text(code)
    ended = hvr_("world", "check", blocks, "--run")
    assert ended.code == 1
    assert f"{blocks}/world.toml:3: the environment mute:open_it cannot be imported" in ended.out


def test_what_an_environment_does_wrong_names_it(hvr_: Hvr, blocks: Path) -> None:
    add(blocks, 'environment = "mute:open_it"')
    (blocks / "mute.py").write_text(NO_OBSERVATION)
    ended = hvr_("solve", "--world", blocks, "one-tower", "--execute", "--quiet")
    assert ended.code == 2
    wrong = "expected an Observation from the environment, found NoneType"
    assert f"{blocks}/world.toml: mute:open_it: {wrong}" in ended.err


def test_worlds_without_scenes_say_so(hvr_: Hvr, blocks: Path) -> None:
    assert "no scene in the world" in hvr_("scenes", "--world", blocks).err
    assert "has no tasks in scenes" in hvr_("tasks", "--world", blocks).err
