"""Imports follow the order of rooms in docs/explanation/architecture.md."""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tools.measure_house import (
    Module,
    children,
    foreign_imports,
    functions_of,
    homonyms_of,
    imports_of,
    modules_of,
    room_of,
    rooms_of,
    targets,
    upward_imports,
)

REPOSITORY = Path(__file__).parents[1]
NOT_INSTALLED = ("benchmarks", "studies", "tests", "tools")
# An ambiguous name costs a reader more than a longer one.
MOST_HOMONYMS = 3
LONGEST_FUNCTION = 60
LONGEST_MODULE = 700
MOST_PARAMETERS = 7
MOST_UNFORMATTED = 20


@pytest.fixture(scope="module")
def modules() -> tuple[Module, ...]:
    return modules_of(REPOSITORY)


@pytest.fixture(scope="module")
def rooms() -> tuple[str, ...]:
    rooms = rooms_of(REPOSITORY)
    assert rooms, "docs/explanation/architecture.md has no table in which each row names one room"
    return rooms


def test_the_table_names_each_room_once(
    modules: tuple[Module, ...], rooms: tuple[str, ...]
) -> None:
    assert sorted(rooms) == sorted(children(modules))


def test_a_newcomer_sees_few_names_at_the_top(rooms: tuple[str, ...]) -> None:
    assert len(rooms) <= 18


@pytest.mark.slow
def test_a_room_imports_only_from_rooms_above_it(
    modules: tuple[Module, ...], rooms: tuple[str, ...]
) -> None:
    assert upward_imports(modules, rooms) == []


def test_the_package_imports_nothing_that_is_not_installed_with_it(
    modules: tuple[Module, ...],
) -> None:
    assert foreign_imports(modules, NOT_INSTALLED) == []


def test_few_classes_share_a_name(modules: tuple[Module, ...]) -> None:
    homonyms = homonyms_of(modules)
    assert len(homonyms) <= MOST_HOMONYMS, homonyms


@pytest.mark.slow
def test_no_function_is_longer_than_a_screen(modules: tuple[Module, ...]) -> None:
    functions = (function for module in modules for function in functions_of(module))
    assert [f for f in functions if f.lines > LONGEST_FUNCTION] == []


@pytest.mark.slow
def test_functions_have_few_parameters(modules: tuple[Module, ...]) -> None:
    library = (module for module in modules if not module.path.startswith("hvr/doors/cli/"))
    functions = (function for module in library for function in functions_of(module))
    assert [f for f in functions if f.parameters > MOST_PARAMETERS] == []


def test_no_module_is_long(modules: tuple[Module, ...]) -> None:
    assert [m.path for m in modules if m.lines > LONGEST_MODULE] == []


def test_the_formatter_decides(modules: tuple[Module, ...]) -> None:
    assert sum(module.source.count("# fmt: skip") for module in modules) < MOST_UNFORMATTED


@pytest.mark.slow
def test_rooms_import_each_other_without_a_cycle(
    modules: tuple[Module, ...], rooms: tuple[str, ...]
) -> None:
    paths = {module.name: module.path for module in modules}
    graph: dict[str | None, set[str | None]] = {}
    for module in modules:
        inside = graph.setdefault(room_of(module.path, rooms), set())
        inside |= {
            room_of(path, rooms) for found in imports_of(module) for path in targets(found, paths)
        } - {room_of(module.path, rooms)}
    graph.pop(None, None)
    TopologicalSorter(graph).prepare()


_ROOMS = ("hvr/errors.py", "hvr/low/", "hvr/high/")


def _house(**sources: str) -> tuple[Module, ...]:
    empty = {"low/__init__": "", "low/door": "", "high/__init__": "", "high/roof": ""}
    texts = {"__init__": "__version__ = '1'", "errors": ""} | empty | sources
    return tuple(Module(f"hvr/{name}.py", text) for name, text in texts.items())


@pytest.mark.parametrize(
    "text",
    [
        "from hvr.high.roof import tile",
        "from hvr.high import roof",
        "from hvr import high",
        "import hvr.high.roof as r",
        "from ..high import roof",
        "from ..high.roof import tile",
        "def f():\n    from hvr.high.roof import tile",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from hvr.high import roof",
        "import hvr\n\ndef f():\n    return hvr.plan()",
        "from hvr import plan",
    ],
)
def test_an_upward_import_is_seen_wherever_it_stands(text: str) -> None:
    (wrong,) = upward_imports(_house(**{"low/door": text}), _ROOMS)
    assert wrong.startswith("hvr/low/door.py:")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("high/roof", "from hvr.low.door import knob\nfrom ..low import door\nfrom . import wall"),
        ("low/door", "import hvr\nVERSION = hvr.__version__"),
        ("low/door", "from hvr import __version__, errors\nfrom .. import errors as e"),
        ("low/__init__", "from .door import knob\nfrom hvr.low import door"),
        ("__init__", "from hvr.high.roof import tile"),
        ("low/door", "import highlands\nfrom hvrx.high import roof"),
    ],
)
def test_what_leads_down_or_out_is_no_upward_import(place: str, text: str) -> None:
    assert upward_imports(_house(**{place: text}), _ROOMS) == []


def test_a_folder_of_the_repository_is_foreign() -> None:
    house = _house(**{"low/door": "from tests.conftest import hvr_\nimport hvr.tools"})
    assert foreign_imports(house, NOT_INSTALLED) == ["hvr/low/door.py:1 imports tests.conftest"]


@pytest.mark.slow
def test_homonyms_are_public_and_in_two_modules() -> None:
    text = "class A: ...\nclass _B: ...\ndef f():\n    class C: ...\n"
    assert homonyms_of(_house(**{"low/door": text, "high/roof": text + "class D: ..."})) == {
        "A": ["hvr/low/door.py", "hvr/high/roof.py"]
    }
