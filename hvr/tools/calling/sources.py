"""Which sources of tools the table `[tools]` of a `world.toml` names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from hvr.errors import DataFileError
from hvr.knowledge.world_file import WorldFile, line_of

SOURCES = ("module", "bfcl", "tau2", "mcp", "openapi", "entry")


@dataclass(frozen=True)
class ToolSource:
    """A source of tools.

    Args:
        kind: One of `SOURCES`.
        value: The entry's value in the world's file.
        label: A name that no other source of the world has.
    """

    kind: str
    value: Any
    label: str


def read_sources(world: WorldFile) -> tuple[ToolSource, ...]:
    """Return the sources of a world, in the order of its file.

    Raises:
        DataFileError: there is none, or an entry is wrong.
    """
    found: list[ToolSource] = []
    labels: set[str] = set()
    for kind, entry in _entries(world):
        named, value = _label(kind, entry)
        numbered = (f"{named}{number}" for number in count(2))
        label = named if named not in labels else next(n for n in numbered if n not in labels)
        labels.add(label)
        found.append(ToolSource(kind, value, label))
    if not found:
        raise wrong_entry(world, f"[tools] names one of {', '.join(SOURCES)}", "[tools]")
    return tuple(found)


def wrong_entry(world: WorldFile, text: str, word: str) -> DataFileError:
    """Return the error about an entry of a world's file, with the line that a word stands in."""
    return DataFileError(f"{world.file}:{line_of(world.file, word)}: {text}")


def _entries(world: WorldFile) -> Iterator[tuple[str, Any]]:
    for kind, value in world.tools.items():
        if kind not in SOURCES:
            continue
        if kind == "bfcl" or not isinstance(value, list):  # BFCL's classes share their state
            yield kind, value
        elif value:
            yield from ((kind, one) for one in value)
        else:
            raise wrong_entry(world, f"{kind} is an empty list", kind)


def _label(kind: str, value: Any) -> tuple[str, Any]:
    """Return a source's name, the given one or one made of its value, and the value without it."""
    if isinstance(value, dict):
        value = dict(value)
        if isinstance(value.get("name"), str) and value["name"].strip():
            return value.pop("name"), value
        command = value.get("command") or [""]
        where = value.get("file") or value.get("url") or command[-1]
        host = urlsplit(where).hostname if isinstance(where, str) and "://" in where else None
        return host or PurePath(str(where)).stem or kind, value
    if kind == "openapi":
        return PurePath(str(value)).stem, value
    return (kind if kind == "bfcl" else str(value).partition(":")[0]), value
