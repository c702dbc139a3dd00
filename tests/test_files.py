"""Writing whole or not at all, and the folders of a user."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest

from hvr.errors import DataFileError
from hvr.files import user_folder, write_whole


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
