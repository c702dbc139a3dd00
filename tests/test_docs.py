"""What the documents name exists, and what they show works."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
         *sorted((ROOT / "docs").rglob("*.md"))]  # fmt: skip
MOST_LINES = 400
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(
    r"(?<![\w./-])(?:hvr|tests|benchmarks|tools|studies|domains|ontology)/[\w./-]*\w/?(?![\w*<])"
)
_MODULE = re.compile(r"(?<![\w./\"-])(?:hvr|studies)(?:\.[A-Za-z_]\w*)+(?![\w/])")
_PYTHON = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Libraries of the extras warn while they are imported.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(text(page)):
        path, _, _ = target.partition("#")
        if path and "://" not in path:
            assert (page.parent / path).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    for path in _PATH.findall(text(page)):
        # Only an installed hvr has its data inside the package.
        assert path == "hvr/data/" or (ROOT / path).exists(), path


def known(dotted: str) -> bool:
    """Whether a dotted name is a module, or something that a module has."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:end])
        if place.is_dir() or place.with_suffix(".py").exists():
            break
    else:
        return False
    value: object = importlib.import_module(".".join(parts[:end]))
    for part in parts[end:]:
        if not hasattr(value, part) and part not in getattr(value, "__annotations__", {}):
            return False
        value = getattr(value, part, None)
    return True


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_modules_that_are_named_exist(page: Path) -> None:
    for dotted in set(_MODULE.findall(text(page))):
        if dotted.rpartition(".")[2] not in ("md", "py", "yml"):
            try:
                assert known(dotted), dotted
            except ImportError as error:
                pytest.skip(f"{error.name} is not installed")


def snippets() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, (_, code) in enumerate(_PYTHON.findall(text(page)), 1):
            yield f"{name(page)}-{number}", dedent(code)


SNIPPETS = dict(snippets())


@pytest.mark.parametrize("which", SNIPPETS)
def test_python_of_the_documents_compiles_and_its_imports_work(which: str) -> None:
    tree = ast.parse(SNIPPETS[which])
    for node in ast.walk(tree):
        try:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("hvr", "studies")
            ):
                module = importlib.import_module(node.module or "")
                for alias in node.names:
                    assert hasattr(module, alias.name), f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("hvr"):
                        importlib.import_module(alias.name)
        except ImportError as error:
            if (error.name or "").startswith(("hvr", "studies")):
                raise
            pytest.skip(f"{error.name} is not installed")


def test_pages_can_be_read_at_one_sitting() -> None:
    for page in PAGES:
        if not {"results", "rules"} & set(page.parts):
            assert len(text(page).splitlines()) <= MOST_LINES, name(page)


def test_every_page_is_on_the_shelves() -> None:
    shelves = text(ROOT / "docs" / "README.md") + text(ROOT / "docs" / "results" / "README.md")
    targets = {Path(target).name for target in _LINK.findall(shelves)}
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name != "README.md" and "rules" not in page.parts:
            assert page.name in targets, name(page)


@pytest.mark.slow
def test_the_tutorial_does_what_it_shows(tmp_path: Path) -> None:
    commands, shown = [], []
    for kind, block in _FENCED.findall(text(ROOT / "docs" / "tutorial.md")):
        if kind == "sh":
            commands.append(block)
        elif kind == "text":
            shown.append(block)
    shell = f'hvr() {{ "{sys.executable}" -m hvr "$@"; }}\nexec 2>&1\n' + "".join(commands)
    ended = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}, check=True,
    )  # fmt: skip
    assert "Traceback" not in ended.stdout
    for block in shown:
        pattern = re.escape(block).replace("…", ".*?")
        assert re.search(pattern, ended.stdout, re.DOTALL), f"{block}\n---\n{ended.stdout}"


def test_pages_start_with_something_to_run() -> None:
    for page in PAGES:
        if page.parent == ROOT / "docs" / "rules" or page.name == "architecture.md":
            continue
        top = "\n".join(text(page).splitlines()[:25])
        assert re.search(r"^```(sh|console|python)$", top, re.MULTILINE), name(page)
