"""What the user says of the effects of tools, kept in the file of their world."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hvr.base.files import write_whole
from hvr.base.locks import only_writer
from hvr.errors import DataFileError
from hvr.knowledge.world_file import WorldFile
from hvr.tools.calling.worlds import EFFECTS
from hvr.tools.catalogue.schema import Effect

_TABLE = re.compile(r"^\s*\[\s*tools\s*\]\s*(#.*)?$")
_HEADER = re.compile(r"^\s*\[")


def remember_effects(world: WorldFile, effects: Mapping[str, Effect]) -> None:
    """Add what tools do to the table `[tools]` of a world, all of it or nothing.

    The rest of the file stays as it is, comments among it.

    Args:
        world: The world.
        effects: What each tool does, by its name; none is `UNKNOWN`.

    Raises:
        DataFileError: The file cannot be written, or its form leaves no place for the entries.
    """
    with only_writer(world.file):
        try:
            text = world.file.read_text(encoding="utf-8")
            wanted = tomllib.loads(text)
        except (OSError, ValueError) as error:
            raise DataFileError(f"{world.file}: cannot be read again: {error}") from None
        lines = text.splitlines(keepends=True)
        for effect in EFFECTS:
            names = [name for name, one in effects.items() if one is effect]
            old = wanted.get("tools", {}).get(effect.value, [])
            added = [name for name in names if name not in old]
            if added:
                wanted["tools"][effect.value] = [*old, *added]
                lines = _with_entry(lines, effect.value, [*old, *added])
        changed = "".join(lines)
        if not _says(changed, wanted):
            listed = "; ".join(
                f"{effect.value} = {json.dumps(wanted['tools'].get(effect.value, []))}"
                for effect in EFFECTS
            )
            raise DataFileError(
                f"{world.file}: the effects of tools cannot be added here: write below [tools] "
                f"yourself {listed}"
            )
        write_whole(world.file, changed, durable=True)


def _with_entry(lines: Sequence[str], key: str, names: Sequence[str]) -> list[str]:
    """Return the lines of a file with an entry of `[tools]` that lists names."""
    # TOML's strings are JSON's, but for one character.
    listed = json.dumps(list(names), ensure_ascii=False).replace("\x7f", "\\u007f")
    entry = f"{key} = {listed}\n"
    start = next((n for n, line in enumerate(lines) if _TABLE.match(line)), None)
    if start is None:
        return list(lines)
    end = next((n for n in range(start + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
    own = re.compile(rf"^\s*{key}\s*=")
    at = next((n for n in range(start + 1, end) if own.match(lines[n])), None)
    if at is None:
        header = lines[start] if lines[start].endswith("\n") else f"{lines[start]}\n"
        return [*lines[:start], header, entry, *lines[start + 1 :]]
    # The list may go over several lines: it ends where it is TOML for the first time.
    for last in range(at + 1, len(lines) + 1):
        if _says("".join(lines[at:last]), None):
            return [*lines[:at], entry, *lines[last:]]
    return list(lines)


def _says(text: str, wanted: Any) -> bool:
    """Say whether a text is TOML with this content; any content will do where that is None."""
    try:
        found = tomllib.loads(text)
    except ValueError:
        return False
    return wanted is None or found == wanted
