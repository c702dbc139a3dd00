"""Effects of tools set by the user stay in the world's file."""

from __future__ import annotations

import builtins
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.doors.cli.tools.guard import ask_effects
from hvr.errors import DataFileError
from hvr.knowledge.world_file import WorldFile
from hvr.tools.calling.worlds import open_tools, remember_effects
from hvr.tools.catalogue.schema import Effect

DESK = '''
def get_book(title: str) -> str:
    """Get a book."""
    return title

def delete_book(title: str) -> str:
    """Delete a book."""
    return title

def lend_book(title: str) -> str:
    """Lend a book."""
    return title

def tidy() -> str:
    """Tidy."""
    return ""
'''

FORMS = (
    '[tools]\nmodule = "desk"\n',
    '# mine\n[tools]  # here\nreads = [\n  "get_book",  # safe\n]\nmodule = "desk"\n\n'
    '[tasks.a]\ndone = ["tidy"]\n',
    '[tasks.a]\ndone = ["tidy"]\n[tools]\nmodule = "desk"\nreads = ["tidy"]\nwrites = []',
)


def world(folder: Path, text: str = FORMS[0]) -> WorldFile:
    folder.mkdir(exist_ok=True)
    (folder / "desk.py").write_text(DESK)
    (folder / "world.toml").write_text(text)
    return WorldFile(folder)


@pytest.mark.slow
@given(
    st.sampled_from(FORMS),
    st.dictionaries(
        st.text(max_size=8), st.sampled_from([Effect.READS, Effect.WRITES, Effect.DESTROYS])
    ),
)
def test_the_file_says_what_was_said_and_all_that_it_said_before(
    tmp_path_factory: pytest.TempPathFactory, text: str, effects: dict[str, Effect]
) -> None:
    opened = world(tmp_path_factory.mktemp("w"), text)
    before = tomllib.loads(text)
    remember_effects(opened, effects)
    after = tomllib.loads(opened.file.read_text())
    for effect in ("reads", "writes", "destroys"):
        old = before["tools"].get(effect, [])
        said = {name for name, one in effects.items() if one.value == effect}
        assert set(after["tools"].pop(effect, [])) == said | set(old)
        before["tools"].pop(effect, None)
    assert after == before
    said = opened.file.read_text()
    assert all(mark in said for mark in ("# mine", "# here") if mark in text)


@pytest.mark.parametrize("text", ['tools = { module = "desk" }\n', 'tools.module = "desk"\n'])
def test_a_file_without_a_place_stays_as_it_is(tmp_path: Path, text: str) -> None:
    opened = world(tmp_path / "w", text)
    with pytest.raises(DataFileError, match=r'add these lines below \[tools\]: reads = \["a"\]'):
        remember_effects(opened, {"a": Effect.READS})
    assert opened.file.read_text() == text


def effects(folder: Path) -> dict[str, Effect]:
    tools = open_tools(WorldFile(folder))
    try:
        return {tool.name: tool.effect for tool in tools.catalogue.tools}
    finally:
        tools.close()


def test_the_world_goes_before_names(tmp_path: Path) -> None:
    folder = world(
        tmp_path / "w", f'{FORMS[0]}writes = ["delete_book"]\nreads = ["get_book"]\n'
    ).folder
    found = effects(folder)
    assert found["delete_book"] is Effect.WRITES
    assert (found["get_book"], found["tidy"]) == (Effect.READS, Effect.WRITES)
    with pytest.raises(DataFileError, match="reads and writes"):
        effects(world(folder, f'{FORMS[0]}writes = ["tidy"]\nreads = ["tidy"]\n').folder)


def test_unknown_tools_are_asked_about_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = world(tmp_path / "w").folder
    assert effects(folder)["get_book"] is Effect.UNKNOWN
    answers: Iterator[str] = iter(["e", "r", "d", "y"])
    monkeypatch.setattr(builtins, "input", lambda _: next(answers))
    tools = open_tools(WorldFile(folder)).catalogue.tools
    assert ask_effects(WorldFile(folder), tools)
    found = effects(folder)
    assert found == {
        "get_book": Effect.READS,
        "delete_book": Effect.DESTROYS,
        "lend_book": Effect.WRITES,
        "tidy": Effect.DESTROYS,
    }
    tools = open_tools(WorldFile(folder)).catalogue.tools
    assert not ask_effects(WorldFile(folder), tools) and next(answers, None) is None
