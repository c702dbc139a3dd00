"""Names in the documents exist, and their examples work."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyoxigraph import RdfFormat, parse

from hvr.doors.cli.main import Command
from hvr.errors import HvrError
from hvr.knowledge.terms import PREFIXES
from tests.command_line import commands
from tests.documentation.pages import PAGES, ROOT, Block, Page, can, read_page
from tests.documentation.pages import main as tell
from tests.documentation.reader import Reader, matches, missing
from tests.documentation.reading import UnreadableError, calls, check_hvr, check_line, parser_of

READ = [read_page(path) for path in PAGES]
KINDS = ("sh", "console", "text", "python", "json", "toml", "yaml", "turtle")
"""Languages of blocks: shell, output, Python, data."""
MOST_LINES = 400
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(
    r"(?<![\w./-])(?:hvr|tests|benchmarks|tools|studies|domains|ontology|examples)/[\w./-]*\w/?(?![\w*<])"
)
_MODULE = re.compile(r"(?<![\w./\"-])(?:hvr|studies)(?:\.[A-Za-z_]\w*)+(?![\w/])")
_FENCED = re.compile(r"^( *)```\w*\n.*?^\1```$", re.MULTILINE | re.DOTALL)
# Libraries of the extras warn on import.
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
    """Return whether a dotted name is a module or an attribute of one."""
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


# examples work


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are written for bash")
@pytest.mark.parametrize("page", [page for page in READ if page.runs], ids=lambda page: page.name)
def test_what_a_page_shows_works_from_top_to_bottom(page: Page, tmp_path: Path) -> None:
    package = missing(page)
    if package:
        pytest.skip(f"{package} is not installed")
    with Reader(page, tmp_path) as reader:
        reader.read()


def test_the_blocks_are_of_kinds_that_are_looked_at() -> None:
    for page in READ:
        for block in page.blocks:
            # Other blocks show parts of files and messages.
            bare = page.name.startswith(("docs/reference/rules.md", "docs/results/"))
            assert block.kind in KINDS or (bare and block.kind in ("", "pddl")), block.place


def test_few_lines_are_marked_and_the_count_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [c for page in READ for c in page.commands if not c.measures]
    assert len([c for c in commands if can(c.needs)]) >= 0.9 * len(commands)
    python = [block for page in READ for block in page.python]
    assert python and not [block.place for block in python if block.needs]
    tell()
    told = capsys.readouterr().out
    print(told)
    assert f"{len(python)} Python blocks: {len(python)} run, 0 marked" in told


@pytest.mark.skipif(not (ROOT / ".ci/run").exists(), reason="a source package has no CI")
@pytest.mark.skipif(shutil.which("bash") is None, reason="CI is a script for bash")
def test_ci_finds_the_test_command_in_the_readme() -> None:
    finding = next(line for line in text(ROOT / ".ci/run").splitlines() if "awk" in line)
    script = f'''cd "$1"; {finding}; printf %s "$command"'''
    told = subprocess.run(
        ["bash", "-c", script, "-", ROOT], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("python3 -m venv") and told.stdout.endswith("pytest"), told


@pytest.mark.slow
def test_the_examples_of_docstrings_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = [file for file in (ROOT / "hvr").rglob("*.py") if ">>> " in text(file)]
    assert files
    for file in files:
        parts = file.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        done = doctest.testmod(module)
        assert done.attempted and not done.failed, file


# marked lines are valid


MARKED = {c.text: c for page in READ for c in page.commands if not can(c.needs)}


@pytest.mark.slow
@pytest.mark.parametrize("line", MARKED, ids=lambda line: MARKED[line].place)
def test_a_marked_line_has_options_that_its_program_knows(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        check_line(line, monkeypatch)
    except ImportError as error:
        if (error.name or "").startswith(("hvr", "studies", "benchmarks", "tools")):
            raise
        pytest.skip(f"{error.name} is not installed")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("hvr plan --taks T1", "no option named --taks"),
        ("hvr paln", "no command of hvr"),
        ("hvr plan x && hvr validate", ""),
        ("VAL=v python benchmarks/cold_start.py --runs 5", ""),
        ("python benchmarks/cold_start.py --runs five", "refuses"),
        ("python benchmarks/cold_start.py --rums 5", "has no"),
        ("python benchmarks/cold_stat.py", "No such file"),
        ("pip install -q -c constraints.txt 'hvr[llm,nothing]'", "no extras {'nothing'}"),
        ("pip install -c constraint.txt .", "no file constraint.txt"),
        ("nothing --at all", "no program"),
    ],
)
def test_a_line_that_could_not_be_run_is_found(
    line: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not says:
        check_line(line, monkeypatch)
        return
    with pytest.raises((UnreadableError, HvrError, OSError), match=re.escape(says)):
        check_line(line, monkeypatch)


def test_hvr_is_installed_from_a_checkout_as_long_as_it_has_no_release() -> None:
    files = (*PAGES, *(ROOT / "hvr").rglob("*.py"), *(ROOT / "docs").rglob("*.py"))
    named = re.compile(r"pip install(?: -\S+(?: \S+\.txt)?)* [\"']?hvr\b")
    assert not [file for file in files if named.search(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "words", [w for w, called in commands() if isinstance(called, Command)], ids=" ".join
)
def test_the_examples_of_a_help_have_options_that_exist(words: tuple[str, ...]) -> None:
    about = parser_of(words).epilog or ""
    examples = re.findall(r"^  (hvr .+?)(?: {2,}\(.*\))?$", about, re.MULTILINE)
    assert examples or "examples:" not in about
    for example in examples:
        for program, *rest in calls(example):
            if program == "hvr":
                check_hvr(rest)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_options_that_are_named_in_passing_exist(page: Path) -> None:
    for span in re.findall(r"(?<!`)`hvr ([a-z][^`]*)`(?!`)", _FENCED.sub("", text(page))):
        words = span.replace("\n", " ").split()
        options = [w.partition("=")[0].rstrip(",") for w in words if w.startswith("--")]
        if options:
            known = parser_of(words)._option_string_actions
            assert set(options) <= set(known), span


# data


def read_data(kind: str, code: str) -> object:
    """Parse a block of data, if it is complete."""
    match kind:
        case "json":
            return json.loads(code)
        case "toml":
            return tomllib.loads(code)
        case "yaml":
            return yaml.safe_load(code)
        case "turtle":
            prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
            return list(parse(prefixes + code, format=RdfFormat.TURTLE))
    return None


DATA = [block for page in READ for block in page.blocks if block.kind in KINDS[4:]]


@pytest.mark.parametrize("block", DATA, ids=lambda block: block.place)
def test_blocks_of_data_can_be_read(block: Block) -> None:
    for key, value in entries(read_data(block.kind, block.code)):
        if isinstance(value, str) and value.startswith("hvr "):
            check_hvr(shlex.split(value)[1:])
        if key == "hooks":
            offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
            assert {hook["id"] for hook in value} <= {hook["id"] for hook in offered}
        if key == "with" and "sarif_file" not in value:
            action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
            assert set(value) <= set(action["inputs"])


def entries(value: object, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all nested values with their keys."""
    yield key, value
    if isinstance(value, dict):
        for name, part in value.items():
            yield from entries(part, str(name))
    elif isinstance(value, list):
        for part in value:
            yield from entries(part)


# the page parser


def test_a_page_is_read_as_a_reader_reads_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    read = read_page(page, tmp_path)
    assert read.extras == ("gnn", "llm")
    first, *_, last = read.commands
    assert (first.place, first.needs, first.code) == ("page.md:4", "", 0)
    assert [c.text.splitlines()[0] for c in read.commands] == [
        "hvr plan x  # comment", "cat > a <<'END'", "hvr kg query 'a", "a \\",
        "b  # good; exit code 1",
        "c  # needs that", "pip install .", "one", "two   # exit code 2",
    ]  # fmt: skip
    assert [c.code for c in read.commands] == [0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert [c.needs for c in read.commands][5:7] == ["that", "the network"]
    assert (read.commands[-2].shown, last.shown) == ("  shown\n…", None)
    assert [block.file for block in read.blocks if block.file] == ["x.toml"]
    assert read.python[0].code == "if x:\n    y()\n"


PAGE = """<!-- extras: gnn, llm -->

```sh
hvr plan x  # comment
# only a comment

cat > a <<'END'
it's
END
hvr kg query 'a
b'
a \\
  --option
b  # good; exit code 1
c  # needs that
```

<!-- needs: the network -->
```sh
pip install .
```

<!-- file: x.toml -->
```toml
a = 1
```

1. An item:

   ```python
   if x:
       y()
   ```

```console
$ one
  shown
…
$ two   # exit code 2
```
"""


@pytest.mark.parametrize(
    ("shown", "printed", "whole", "good"),
    [
        ("a\nb", "a  \nb\n", True, True),
        ("a\n…\nb", "a\n1\n2\nb\n", True, True),
        ("a\n…", "b\na\n", True, False),
        ("b", "a\nb\nc\n", False, True),
        ("in 0.05 s, 3 steps", "in 12.3 s, 3 steps", True, True),
        ("in 0.05 s, 3 steps", "in 0.05 s, 4 steps", True, False),
        ("runs/20261122-010836-x", "runs/20250101-235959-x", True, True),
        ("  a", "a", True, False),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(
    shown: str, printed: str, whole: bool, good: bool
) -> None:
    assert matches(shown, printed, whole=whole) is good


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are written for bash")
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("```sh\nfalse\n```", "should end with 0"),
        ("```sh\ntrue   # exit code 3\n```", "should end with 3"),
        ("```sh\nexit 3\n```", "ended the shell"),
        ("```sh\nif\n```", "syntax error"),
        ("```console\n$ echo a\nb\n```", "should print"),
        ("```sh\nhvr plan 'make a pizza'\n```", "unknown word"),
        ("```python\nimport os\nos._exit(0)\n```", "ended Python"),
        ("```python\n1 / 0\n```", "ZeroDivisionError"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```", "printed was"),
    ],
)
def test_a_page_that_shows_what_does_not_work_is_found(
    code: str, says: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(code + "\n", encoding="utf-8")
    read = read_page(page, tmp_path)
    with Reader(read, tmp_path) as reader, pytest.raises(AssertionError, match=says):
        reader.read()


# generated pages


def test_pages_can_be_read_at_one_sitting() -> None:
    for page in PAGES:
        # The operations page is generated from declared types, for looking things up.
        if not {"results", "operations.md"} & set(page.parts):
            assert len(text(page).splitlines()) <= MOST_LINES, name(page)


def test_every_page_is_on_the_shelves() -> None:
    shelves = text(ROOT / "docs" / "README.md") + text(ROOT / "docs" / "results" / "README.md")
    targets = {Path(target).name for target in _LINK.findall(shelves)}
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name != "README.md":
            assert page.name in targets, name(page)


def test_pages_start_with_something_to_run() -> None:
    for page in PAGES:
        if page.name == "architecture.md":
            continue
        top = "\n".join(text(page).splitlines()[:25])
        assert re.search(r"^```(sh|console|python)$", top, re.MULTILINE), name(page)
