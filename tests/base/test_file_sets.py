"""Sets of files take effect in one step, whatever happens meanwhile."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.files import digest, file_set_name, read_set, write_set
from hvr.errors import DataFileError
from tests import warm
from tests.killing import failures, kills

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")

Set = dict[str, bytes]
FIRST: Set = {"data": b"first" * 1000, "more": b"x", "folder": b"in a folder"}
SECOND: Set = {"data": b"second" * 2000, "more": b"x", "other": b"y" * 9}


def write(folder: Path, values: Set) -> None:
    parts, names = {}, {}
    for stem, data in values.items():
        inside = "/a/b" if stem == "folder" else ".bin"
        names[stem] = file_set_name(stem, digest(data), inside)
        parts[names[stem]] = data
    write_set(folder / "head.json", json.dumps(names), parts, ("data", "more", "folder", "other"))


def read(folder: Path) -> Set:
    def once() -> Set:
        try:
            names = json.loads((folder / "head.json").read_bytes())
            return {stem: (folder / name).read_bytes() for stem, name in names.items()}
        except OSError as error:
            raise DataFileError(str(error)) from error

    return read_set(folder / "head.json", once)


def listed(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.suffix != ".lock"}


def test_what_is_written_is_read_and_nothing_else_stays(tmp_path: Path) -> None:
    with pytest.raises(DataFileError):
        read(tmp_path / "none")
    alone = tmp_path / "alone"
    write(alone, SECOND)
    folder = tmp_path / "new" / "folder"
    write(folder, FIRST)
    (folder / "data-of-mine").write_text("mine", encoding="utf-8")
    (folder / "folder").mkdir()
    assert read(folder) == FIRST
    write(folder, SECOND)
    assert read(folder) == SECOND
    assert listed(folder) == listed(alone) | {"data-of-mine", "folder"}


@pytest.mark.slow
@posix
@given(
    sets=st.lists(
        st.dictionaries(
            st.sampled_from(["data", "more", "folder", "other"]), st.binary(max_size=3), max_size=3
        ),
        min_size=1, max_size=3,
    ),
    at=st.integers(0, 30),
)  # fmt: skip
def test_any_sets_that_fail_to_be_written_at_any_step(
    sets: list[Set], at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("sets")
    write(folder, sets[0])
    for values in sets[1:]:
        now = read(folder)
        tried = failures(folder, partial(write, folder, values))
        for _, error in zip(range(at), tried, strict=False):
            now = now if error else values
            assert read(folder) == now
    write(folder, sets[-1])
    assert read(folder) == sets[-1]


@pytest.mark.slow
@posix
def test_a_kill_at_any_step_leaves_one_of_both(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    write(folder, FIRST)
    seen = []
    for number in kills(folder, lambda: write(folder, SECOND)):
        seen.append(read(folder))
        assert seen[-1] in (FIRST, SECOND), number
        write(folder, FIRST)
        assert read(folder) == FIRST
    assert FIRST in seen and seen[-1] == SECOND
    write(tmp_path / "fresh", FIRST)
    assert listed(folder) == listed(tmp_path / "fresh"), "what the killed left has been removed"


@posix
def test_a_failure_at_any_step_leaves_the_earlier_one_and_nothing_more(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    write(folder, FIRST)
    before = listed(folder)
    failed = 0
    for error in failures(folder, lambda: write(folder, SECOND)):
        if error is None:
            break
        assert isinstance(error, DataFileError) and error.exit_code == 4, error
        assert read(folder) == FIRST
        failed += 1
    assert failed > 5
    assert read(folder) == SECOND
    write(folder, FIRST)
    assert listed(folder) == before


@pytest.mark.slow
@posix
def test_writers_and_readers_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.base.test_file_sets import *\n"
        "for _ in range(25): write(Path(sys.argv[1]), (FIRST, SECOND)[int(sys.argv[2])])"
    )
    write(tmp_path, FIRST)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    writers = [
        warm.Popen([sys.executable, "-c", code, str(tmp_path), str(n % 2)], env=environment)
        for n in range(3)
    ]
    while any(writer.poll() is None for writer in writers):
        try:
            assert read(tmp_path) in (FIRST, SECOND)
        except DataFileError:  # only for a reader slower than three consecutive writers
            continue
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert read(tmp_path) in (FIRST, SECOND)


# --- all stored files ---

_WRITING = frozenset(("write_text", "write_bytes", "save_file", "savez", "copyfile"))
_SUSPECT = re.compile(r"open\(|FileIO\(|\b(" + "|".join(_WRITING) + r")\(")
_ALLOWED = {
    "hvr/base/files.py": "the one place",
    "hvr/knowledge/journal.py": "transactions with an end",
    "hvr/planning/search/fast_downward.py": "a temporary folder",
    "hvr/planning/search/unified.py": "a temporary folder",
    "hvr/planning/solving/portfolio.py": "a temporary folder",
    "hvr/worlds/facts/isolated.py": "a pipe",
    "hvr/doors/cli/crash_reports.py": "a report of what broke everything else",
    "hvr/worlds/thor/client.py": "a pipe",
    "hvr/doors/worker.py": "a pipe",
    "hvr/doors/http/jobs.py": "lines of events, appended one by one",
    "hvr/doors/lsp/actions.py": "copies in a temporary folder",
}


def writes(source: str) -> list[int]:
    """Return the lines that write a file in place."""
    found: list[int] = []
    if not _SUSPECT.search(source):
        return found
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        opens = name in ("open", "fdopen", "FileIO") and any(
            isinstance(a, ast.Constant) and isinstance(a.value, str) and set(a.value) & set("wax+")
            and len(a.value) <= 3
            for a in [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
        )  # fmt: skip
        if opens or name in _WRITING:
            found.append(node.lineno)
    return found


@pytest.mark.slow
def test_all_that_hvr_keeps_is_written_whole() -> None:
    found = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "hvr").rglob("*.py")
        if (lines := writes(path.read_text(encoding="utf-8")))
    }
    allowed = {str(Path(name)) for name in _ALLOWED}
    assert found.keys() <= allowed, "use hvr.base.files.write_whole or hvr.base.files.write_set"
    assert found.keys() == allowed, "some of these write no more"


@pytest.mark.parametrize(
    "line", ["p.write_text('x')", "p.open('w')", "open(p, mode='ab')", "save_file(x, y)"]
)
def test_writing_in_place_is_seen(line: str) -> None:
    assert writes(f"x = 1\n{line}") == [2]
