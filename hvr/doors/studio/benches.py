"""Benches in a folder, as reports of tables and charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import is_locked
from hvr.doors.files import ServedFolder
from hvr.errors import DataFileError

if TYPE_CHECKING:
    from hvr.bench.cells import CellResult

_MOST = 200
_MOST_CAUSES = 12


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
    from hvr.runs.report.sections import report

    bench = BenchFolder(_bench(folder, name))
    manifest, results = bench.manifest(), bench.results()
    if results:
        other = BenchFolder(_bench(folder, earlier)).results() if earlier else None
        deltas = None if other is None else compare(other, results)
        document = bench_report(manifest, results, summarise(results), deltas)
    else:
        document = report(f"hvr bench: {name}", ())
    return {**document, "board": _board(bench.path, manifest, results)}


def _board(
    folder: Path, manifest: Mapping[str, Any], results: Sequence[CellResult]
) -> dict[str, Any]:
    """Return how far a bench has got: cells, cost, time left and failures by cause."""
    start = manifest["starts"][-1] if manifest["starts"] else {}
    total = start.get("cells")
    running = is_locked(folder / "bench.lock")
    scores = [result.scores for result in results if result.scores is not None]
    causes = Counter(result.error_kind for result in results if not result.finished)
    for one in scores:
        causes.update(one.failures)
    costs = [one.spent.cost for one in scores if one.spent.cost is not None]
    left = None
    if running and isinstance(total, int):
        left = _seconds_left(folder, str(start.get("time")), total - len(scores))
    return {
        "running": running,
        "done": len(scores),
        "errors": len(results) - len(scores),
        "total": total,
        "reached": sum(bool(one.success) for one in scores),
        "cost": sum(costs) if costs else None,
        "seconds_left": left,
        "causes": causes.most_common(_MOST_CAUSES),
    }


def _seconds_left(folder: Path, began: str, cells: int) -> float | None:
    """Return the time for the other cells at the mean speed since the start; None if unknown."""
    try:
        start = datetime.fromisoformat(began).timestamp()
    except ValueError:
        return None
    times = [path.stat().st_mtime for path in (folder / "cells").glob("*.json")]
    done = sum(time >= start for time in times)
    return cells * (datetime.now(UTC).timestamp() - start) / done if done else None


def _bench(folder: ServedFolder, name: str) -> Path:
    if name not in find_benches(folder):
        raise DataFileError(f"{name or 'this'} is not a bench in this folder")
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
