"""No code from the current folder, a checked project or a run folder runs without consent."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.errors import UsageError
from hvr.knowledge.world_file import find_world
from tests.command_line import Hvr, environment

TRAP = "from pathlib import Path\nPath({mark!r}).write_text('ran')\n"
"""Code that leaves a mark when imported."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is on the module path as for a script in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def trap(file: Path, more: str = "") -> Path:
    """Write a module that leaves a mark when imported; return the mark's path."""
    mark = file.with_suffix(".mark")
    file.write_text(TRAP.format(mark=str(mark)) + more)
    return mark


def pddl_world(folder: Path, environment: str = "simulator:open") -> Path:
    """Copy a world with a custom environment; return the path of its mark."""
    shutil.copytree(find_world("blocksworld"), folder)
    file = folder / "world.toml"
    file.write_text(f'environment = "{environment}"\n' + file.read_text())
    return trap(folder / "simulator.py", "def open(setup): raise ValueError('opened')\n")


def tool_world(folder: Path) -> Path:
    """Write a tool world with a module; return the path of its mark."""
    folder.mkdir()
    (folder / "world.toml").write_text(
        '[tools]\nmodule = "desk"\nreads = ["look"]\n[tasks.a]\ndone = ["look"]\n'
    )
    return trap(folder / "desk.py", "def look(name: str = 'x') -> str:\n    return name\n")


SOLVE = ("--problem", "one-tower", "--execute", "--quiet")


@pytest.mark.parametrize("name", ["blocksworld", "logistics", "laboratory", "parcels", "kitchen"])
def test_a_folder_never_stands_in_for_a_world_that_hvr_brings(name: str, here: Path) -> None:
    (here / name).mkdir()
    assert find_world(name) != Path(name)
    assert find_world(f"./{name}") == Path(name)


def test_code_of_a_world_runs_only_by_an_explicit_path_or_an_option(hvr_: Hvr, here: Path) -> None:
    mark = pddl_world(here / "ward")
    refused = hvr_("solve", "--world", "ward", *SOLVE)
    assert refused.code == 2 and "./ward" in refused.err and "world.toml:1" in refused.err
    assert not mark.exists()
    for words in (["./ward"], [str(here / "ward")], ["ward", "--trust-project"]):
        ended = hvr_("solve", "--world", *words, *SOLVE)
        assert "opened" in ended.err and mark.exists()
        mark.unlink()


def test_tools_of_a_world_run_only_by_an_explicit_path_or_an_option(hvr_: Hvr, here: Path) -> None:
    mark = tool_world(here / "desk")
    for command in ("run", "plan"):
        refused = hvr_("tools", command, "desk", "a")
        assert refused.code == 2 and "./desk" in refused.err
        assert not mark.exists()
    for words in (["./desk", "a"], ["desk", "a", "--trust-project"]):
        assert hvr_("tools", "run", *words).code == 0 and mark.exists()
        mark.unlink()


@pytest.mark.parametrize("name", ["ward", "./ward"])
def test_check_and_show_look_without_running(name: str, hvr_: Hvr, here: Path) -> None:
    mark = pddl_world(here / "ward")
    checked = hvr_("world", "check", name)
    assert checked.code == 0 and "not run, so not checked: environment" in checked.out
    assert hvr_("world", "show", name).code == 0
    assert not mark.exists()
    run = hvr_("world", "check", name, "--run")
    assert run.code == 1 and "ValueError: opened" in run.out and mark.exists()


def test_tools_are_checked_and_shown_by_their_source(hvr_: Hvr, here: Path) -> None:
    mark = tool_world(here / "desk")
    checked = hvr_("world", "check", "./desk", "--json")
    assert checked.code == 0 and json.loads(checked.out)["not_run"] == "module = 'desk'"
    assert "look(name?)" in hvr_("world", "show", "./desk").out
    assert hvr_("tools", "graph", "./desk", "--out", str(here / "g.html")).code == 0
    assert not mark.exists()
    assert hvr_("world", "check", "./desk", "--run").code == 0 and mark.exists()


def test_a_server_of_tools_is_started_only_if_asked(hvr_: Hvr, here: Path) -> None:
    folder = here / "served"
    folder.mkdir()
    mark = trap(folder / "server.py")
    command = json.dumps([sys.executable, "server.py"])
    (folder / "world.toml").write_text(
        f'[tools]\nmcp = {{ command = {command} }}\n[tasks.a]\ndone = ["look"]\n'
    )
    assert hvr_("world", "check", "./served").code == 0
    shown = hvr_("world", "show", "./served")
    assert shown.code == 0 and "not run, so not listed: mcp" in shown.out
    assert hvr_("tools", "run", "served").code == 2
    assert not mark.exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def open(setup):\n    pass\n", ""),
        ("from elsewhere import open\n", ""),
        ("from elsewhere import *\n", ""),
        ("if True:\n    open = print\n", ""),
        ("def closed(setup):\n    open = 1\n", "no function 'open'"),
        ("class Door:\n    def open(self): pass\n", "no function 'open'"),
        ("def open(:\n", "not valid Python"),
    ],
)
def test_the_source_of_an_environment_is_checked(
    source: str, said: str, hvr_: Hvr, here: Path
) -> None:
    pddl_world(here / "ward")
    (here / "ward" / "simulator.py").write_text(source)
    checked = hvr_("world", "check", "./ward")
    assert checked.code == bool(said) and said in checked.out


@pytest.fixture
def project(here: Path) -> Path:
    """A folder with a plan to validate."""
    blocks = Path(__file__).parents[3] / "examples" / "blocks"
    for name in ("domain.pddl", "problem.pddl"):
        shutil.copy(blocks / name, here)
    for name in ("problem.plan", "problem-2.plan"):
        shutil.copy(blocks / "plans" / "short.txt", here / name)
    return here


ENGINE = """
def open_engine(choice):
    from hvr.base.engines.registry import InProcessEngine
    return InProcessEngine()
"""


def test_a_project_cannot_name_the_engine(hvr_: Hvr, project: Path) -> None:
    mark = trap(project / "evil_engine.py", ENGINE)
    setting = '[tool.hvr.engine]\nname = "evil_engine:open_engine"\naddress = "ray://evil:1"\n'
    (project / "pyproject.toml").write_text(setting)
    said = hvr_("validate", ".")
    assert said.code == 0 and "2 valid" in said.out
    assert "evil_engine:open_engine" in said.err and "--trust-project" in said.err
    assert not mark.exists()
    assert hvr_("validate", ".", "--trust-project").code == 0 and mark.exists()


def test_a_project_cannot_say_where_work_goes(hvr_: Hvr, project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.hvr.engine]\nname = "processes"\naddress = "ray://evil:1"\n'
    )
    said = hvr_("validate", ".")
    assert said.code == 0 and "ray://evil:1" in said.err


@pytest.mark.parametrize(
    "setting",
    ['output-file = "../x.txt"', 'format = "text=/tmp/x.txt"', 'format = ["text=a/../../x"]'],
)
def test_a_project_has_reports_written_in_its_folder_only(
    setting: str, hvr_: Hvr, project: Path
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.hvr.validate]\n{setting}\n")
    said = hvr_("validate", ".")
    assert said.code == 2 and "outside the project" in said.err


def test_modules_of_the_current_folder_are_not_imported(project: Path) -> None:
    marks = [trap(project / f"{name}.py") for name in ("tomllib", "difflib", "json", "argparse")]
    words = [sys.executable, "-m", "hvr", "validate", "."]
    done = subprocess.run(words, cwd=project, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not any(mark.exists() for mark in marks)


@pytest.mark.parametrize(
    ("field", "kind"), [("policy", "policy"), ("env", "environment"), ("planner", "planner")]
)
def test_a_run_folder_names_no_code(field: str, kind: str, here: Path) -> None:
    pytest.importorskip("unified_planning", reason="the extra plan is not installed")
    from hvr.runs.request import Options, read_request, request_from_json

    mark = trap(here / "evil_part.py")
    account = read_request("make coffee", None, Options()).to_json()
    assert request_from_json(account, here).text == "make coffee"
    account[field] = "evil_part:Evil"
    with pytest.raises(UsageError, match=f"names the {kind} 'evil_part:Evil'"):
        request_from_json(account, here)
    assert not mark.exists()
    if field == "policy":
        with pytest.raises(UsageError, match="has no 'Evil'"):
            request_from_json(account, here, ("evil_part:Evil",))
        assert mark.exists()
