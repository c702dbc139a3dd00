"""Tool graphs in a folder: the files that `hvr tools graph` and `hvr tools run` write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hvr.doors.files import ServedFolder
from hvr.errors import DataFileError, HvrError

_MOST = 200
_FIRST = 65_536
_EVENTS = ("tool", "call", "gone", "look")
_MEMBERS = ("tools", "calls", "passes", "absent", "inputs", "outputs")


def find_graphs(folder: ServedFolder) -> list[str]:
    """Return the names of the files in a folder, and in its folders, that hold a tool graph."""
    found: list[str] = []
    for path in _candidates(folder.path):
        with suppress(OSError):
            with path.open("rb") as file:
                start = file.read(_FIRST).lstrip()
            if _is_graph(start) if path.suffix == ".json" else _is_log(start):
                found.append(path.relative_to(folder.path).as_posix())
        if len(found) == _MOST:
            break
    return found


def read_graph(folder: ServedFolder, name: str) -> dict[str, Any]:
    """Return a tool graph as JSON, from a log of its events or from the graph itself.

    Raises:
        DataFileError: The file cannot be read, or is not a tool graph.
    """
    text = folder.read(name)
    if name.endswith(".json"):
        with suppress(ValueError, RecursionError):
            graph = json.loads(text)
            if isinstance(graph, dict) and all(isinstance(graph.get(m), list) for m in _MEMBERS):
                return graph
        raise DataFileError(f"{name} is not a tool graph; `hvr tools graph --json` writes one")
    from hvr.tools.navigation.graph_log import event_of, graph_record, rebuilt

    lines = text[: text.rfind("\n") + 1].splitlines()
    records = ((number, _record(line, name, number)) for number, line in enumerate(lines, 1))
    try:
        return graph_record(rebuilt(event_of(one, f"{name}: line {n}") for n, one in records))
    except HvrError:
        raise
    except (ValueError, KeyError, RecursionError) as error:
        raise DataFileError(f"{name} is not the log of a tool graph: {error}") from error


def _record(line: str, name: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise DataFileError(f"{name}: line {number} is not JSON") from None


def _candidates(root: Path) -> Iterator[Path]:
    folders = [root]
    for parent in (root, root / "runs"):
        with suppress(OSError):
            inner = (path for path in parent.iterdir() if path.is_dir())
            folders += sorted(path for path in inner if not path.name.startswith("."))
    for folder in dict.fromkeys(folders):
        with suppress(OSError):
            files = (path for path in folder.iterdir() if path.suffix in (".json", ".jsonl"))
            yield from sorted(path for path in files if not path.is_symlink() and path.is_file())


def _is_graph(start: bytes) -> bool:
    return start.startswith(b"{") and start[1:].lstrip().startswith(b'"tools"')


def _is_log(start: bytes) -> bool:
    try:
        event = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and event.get("event") in _EVENTS and "tool" in event
