"""Atomic writes, and the user's folders."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest

from hvr.base.files import append_json_line, unwritable, user_folder, write_whole
from hvr.base.texts import read_log
from hvr.errors import DataFileError, StoreError


def test_text_and_bytes_are_written(tmp_path: Path) -> None:
    write_whole(tmp_path / "text", "kött\n")
    write_whole(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == "kött\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert {p.name for p in tmp_path.iterdir()} == {"text", "bytes"}


def test_half_a_surrogate_pair_is_escaped(tmp_path: Path) -> None:
    write_whole(tmp_path / "text", "a\ud800b")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "a\\ud800b"


def test_a_failed_write_leaves_the_old_content_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DataFileError, match="file: cannot be written: No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_missing_folder_is_an_error_with_path_and_reason(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="none/file: cannot be written: No such file"):
        write_whole(tmp_path / "none" / "file", "text")


def test_a_loop_of_links_is_an_error_with_path_and_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataFileError, match=r"loop: cannot be written: .*[Ss]ym"):
        write_whole(loop, "new")
    assert loop.is_symlink()


def test_threads_that_write_at_once_leave_the_content_of_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = [str(n) * 10_000 for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: write_whole(path, text), texts))
    assert path.read_text() in texts
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither")
def test_links_permissions_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    write_whole(path, "old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    write_whole(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("platform", "variable", "kind", "under"),
    [
        ("linux", "XDG_DATA_HOME", "data", ".local/share/hvr"),
        ("linux", "XDG_CACHE_HOME", "cache", ".cache/hvr"),
        ("win32", "APPDATA", "data", "AppData/Roaming/hvr"),
        ("win32", "LOCALAPPDATA", "cache", "AppData/Local/hvr"),
        ("darwin", "", "data", "Library/Application Support/hvr"),
        ("darwin", "", "cache", "Library/Caches/hvr"),
    ],
)
def test_each_system_has_its_folders_for_a_user(
    platform: str,
    variable: str,
    kind: Literal["data", "cache"],
    under: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable:
        monkeypatch.delenv(variable, raising=False)
    assert user_folder(kind) == tmp_path / under
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "other"))
        assert user_folder(kind) == tmp_path / "other" / "hvr"


def test_a_line_is_added_after_whatever_a_crash_left(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append_json_line(path, {"a": "\u2028\ud800"})
    append_json_line(path, {"b": "x" * 100})
    whole = path.read_bytes()
    assert whole.count(b"\n") == 2
    first = whole.index(b"\n") + 1
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        append_json_line(path, ["last"])
        values = [value for _, value in read_log(path)]
        kept = sum(end >= size for size in (first - 1, len(whole) - 1))
        assert values == [*[{"a": "\u2028\ud800"}, {"b": "x" * 100}][:kept], ["last"]]


def test_a_long_rest_of_a_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b'{"a": 1}\n{"b": "' + b"x" * 200_000)
    append_json_line(path, {"c": 2})
    assert path.read_bytes() == b'{"a": 1}\n{"c": 2}\n'


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, 4), (errno.EDQUOT, 4), (errno.EFBIG, 4), (errno.EIO, 4),
        (errno.EACCES, 2), (errno.EPERM, 2), (errno.EROFS, 2), (errno.ENOENT, 2),
        (errno.EISDIR, 2), (errno.ENOTDIR, 2), (errno.ENAMETOOLONG, 2),
    ],
)  # fmt: skip
def test_a_full_disk_is_told_from_a_wrong_name(number: int, code: int) -> None:
    error = unwritable("file", OSError(number, os.strerror(number)))
    assert (error.exit_code, str(error)) == (
        code,
        f"file: cannot be written: {os.strerror(number)}",
    )
    # Stores in other languages only report words.
    store = unwritable("graph", OSError(f"IO error: {os.strerror(number)}"), kind=StoreError)
    assert isinstance(store, StoreError) and store.exit_code == code


def test_a_full_disk_under_a_database_is_told_from_a_file_that_is_none(tmp_path: Path) -> None:
    def refusal(path: Path, *statements: str) -> DataFileError:
        base = sqlite3.connect(path)
        try:
            for statement in statements:
                base.execute(statement)
        except sqlite3.Error as error:
            return unwritable(path, error)
        finally:
            base.close()
        raise AssertionError("nothing was refused")

    pages = ("PRAGMA max_page_count = 2", "CREATE TABLE a (b)", "CREATE TABLE c (d)")
    assert refusal(tmp_path / "full", *pages).exit_code == 4
    (tmp_path / "text").write_text("no database at all" * 100)
    assert refusal(tmp_path / "text", "SELECT * FROM a").exit_code == 2
