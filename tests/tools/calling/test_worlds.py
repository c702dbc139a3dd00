"""Folders of tools: world.toml, checked and shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvr.errors import HvrError
from hvr.knowledge.world_file import WorldFile
from hvr.tools.calling.worlds import check_tools, open_tools
from tests.command_line import Hvr

DESK = '''
def look(name: str) -> str:
    """Look something up."""
    return name
'''


def world(folder: Path, text: str) -> WorldFile:
    (folder / "desk.py").write_text(DESK)
    (folder / "world.toml").write_text(text)
    return WorldFile(folder)


def test_a_folder_with_a_module_is_a_world(tmp_path: Path) -> None:
    made = world(tmp_path, '[tools]\nmodule = "desk"\n[tasks.a]\ndone = ["look"]\n')
    assert check_tools(made, run=True) == ()
    assert [tool.name for tool in open_tools(made).catalogue.tools] == ["look"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[tools]\nmodule = "gone"\n', "cannot be imported"),
        ('[tools]\nreads = ["look"]\n', "must name a source"),
        ('[tools]\nmodule = "desk"\nport = 1\n', "unknown entry 'port'"),
        ('[tools]\nmodule = "desk"\nreads = ["gone"]\n', "no tool named 'gone'"),
        ('[tools]\nentry = "desk"\n', "must be module:function"),
        ('[tools]\nbfcl = "TravelAPI"\n', "bfcl must be a list"),
        ('[tools]\nmodule = "desk"\n[tasks.a]\ndone = ["gone"]\n', "no tool named 'gone'"),
        ('[tools]\nmodule = "desk"\n[tasks.a]\nknown = ["gone"]\n', "named 'gone'"),
        ('[tools]\nmodule = "desk"\nmeanings = "gone.toml"\n', "gone.toml"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, said: str) -> None:
    findings = check_tools(world(tmp_path, text), run=True)
    assert len(findings) == 1 and said in findings[0]
    assert findings[0].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('domain = "d.pddl"\n[tools]\nmodule = "desk"\n', "cannot have 'domain'"),
        ('[tools]\nmodule = "desk"\n[tasks.a]\nrequest = "x"\n', "must have done"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(HvrError, match=said):
        world(tmp_path, text)


def test_code_of_a_world_that_raises_is_named(tmp_path: Path) -> None:
    made = world(tmp_path, '[tools]\nmodule = "desk"\n')
    (tmp_path / "desk.py").write_text("raise SystemExit(3)")
    assert "SystemExit" in check_tools(made, run=True)[0]


def test_a_run_leaves_its_folder_and_its_page(hvr_: Hvr, tmp_path: Path) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "run"
    asked = ("tools", "run", "parcels", "redirect", "--yes", "--save", str(folder))
    done = hvr_(*asked, "--html", str(page))
    assert done.code == 0, done.err
    names = {path.name for path in folder.iterdir()}
    assert {
        "task.json",
        "trace.jsonl",
        "plan.pddl",
        "calls.jsonl",
        "ledger.jsonl",
        "run.html",
    } <= names
    assert "redirect_parcel" in page.read_text() and "D-1" in page.read_text()
    assert hvr_("tools", "run", "parcels", "redirect", "--save", str(folder)).code == 2


@pytest.mark.slow
def test_exit_codes_say_what_became_of_it(hvr_: Hvr) -> None:
    assert hvr_("tools", "plan", "parcels", "pick-up").code == 0
    assert hvr_("tools", "plan", "parcels", "--goal", "book_pickup").code == 2
    assert hvr_("tools", "run", "parcels", "too-late", "-q", "--yes-destructive").code == 1
    assert hvr_("tools", "run", "parcels", "too-late", "-q", "--yes").code == 2
    assert hvr_("tools", "run", "parcels", "claim", "--dry-run", "-q").code == 4
    assert hvr_("world", "check", "parcels").code == 0
    assert "list_parcels" in hvr_("world", "show", "parcels").out
    assert "has tools instead of a domain" in hvr_("solve", "--world", "parcels").err


@pytest.mark.slow
def test_a_request_in_words_that_writes_is_confirmed(hvr_: Hvr, tmp_path: Path) -> None:
    words = "I am bob@example.org, and I want to pick up the parcel on Friday."
    refused = hvr_("tools", "run", "parcels", words)
    assert refused.code == 2 and "Confirm the call with --yes" in refused.out
    log = tmp_path / "graph.jsonl"
    done = hvr_("tools", "run", "parcels", words, "--yes", "--graph", str(log))
    assert done.code == 0 and "book_pickup" in log.read_text()
    asked = hvr_("tools", "plan", "parcels", "Please cancel P-1002.", "--graph", str(log))
    assert asked.code == 2 and "'reason'" in asked.out
