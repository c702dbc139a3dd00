"""Benches in a folder, as reports of tables and charts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hvr.doors.files import ServedFolder
from hvr.errors import DataFileError

_MOST = 200


def find_benches(folder: ServedFolder) -> list[str]:
    """Return the names of the bench folders among a folder's folders, two levels deep."""
    found = [
        path.relative_to(folder.path).as_posix()
        for path in _folders(folder.path)
        if (path / "manifest.json").is_file() and (path / "cells").is_dir()
    ]
    return sorted(found)[:_MOST]


def bench_document(folder: ServedFolder, name: str, earlier: str = "") -> dict[str, Any]:
    """Return the report of a bench, which may be in progress.

    Args:
        earlier: Name of another bench; the report then has the changes since it.

    Raises:
        DataFileError: A folder is not a bench of the served folder, or is damaged.
    """
    from hvr.bench.export import bench_report
    from hvr.bench.folder import BenchFolder
    from hvr.bench.summary import summarise
    from hvr.bench.tables import compare

    bench = BenchFolder(_bench(folder, name))
    results = bench.results()
    if not results:
        raise DataFileError(f"the bench {name} has no finished cell yet")
    deltas = compare(BenchFolder(_bench(folder, earlier)).results(), results) if earlier else None
    return bench_report(bench.manifest(), results, summarise(results), deltas)


def _bench(folder: ServedFolder, name: str) -> Path:
    if name not in find_benches(folder):
        raise DataFileError(f"{name or 'this'} is not a bench of this folder")
    inside = folder.path / folder.resolved(name)
    for path in (inside / "manifest.json", *(inside / "cells").iterdir()):
        folder.resolved(str(path))  # a link may lead elsewhere
    return inside


def _folders(root: Path) -> Iterator[Path]:
    with suppress(OSError):
        for path in root.iterdir():
            if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                yield path
                with suppress(OSError):
                    inner = (one for one in path.iterdir() if not one.is_symlink())
                    yield from (one for one in inner if one.is_dir())
