"""What a file is: a domain, a problem, a plan, something like a plan, or nothing of these."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from hvr.values import Value

SNIFFED = 65536
"""How many bytes of a file are looked at."""
_DEFINITION = re.compile(
    r"(?:\s|;[^\r\n]*+)*+\(\s*define\s*\(\s*(domain|problem)\s+([^\s()]*)", re.IGNORECASE
)


class Kind(StrEnum):
    """What a file is."""

    DOMAIN = "domain"
    PROBLEM = "problem"
    PLAN = "plan"
    DOUBTFUL = "doubtful"
    """It has steps, and something else besides."""
    PACKED = "packed"
    """It is called like a plan, and compressed."""
    BROKEN = "broken"
    """It is called like a model, and defines neither a domain nor a problem."""
    OTHER = "other"


class Seen(Value):
    """A file and what it is.

    Attributes:
        file: its name.
        kind: what it is.
        name: how a domain or a problem calls itself, in lower case.
        domain: the domain that a problem says it belongs to, in lower case.
        why: The reason for the kind `OTHER`.
    """

    file: str
    kind: Kind
    name: str = ""
    domain: str = ""
    why: str = ""


def is_skipped(file: str, patterns: Sequence[str]) -> bool:
    """Say whether one of some patterns fits a file: its path, or its name."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    path = Path(file)
    texts = (path.as_posix(), path.name, os.path.normpath(file).replace(os.sep, "/"))
    return any(fnmatchcase(text, pattern) for pattern in patterns for text in texts)


def definition(file: str) -> Seen | None:
    """Return what a file defines; None where that is neither a domain nor a problem."""
    text = beginning(file)
    return None if text is None else definition_in(file, text)


def beginning(file: str) -> str | None:
    """Return the beginning of a file; None if it cannot be read, or is a pipe."""
    path = Path(file)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as opened:
            return _text(opened.read(SNIFFED))
    except (OSError, ValueError):
        return None


def definition_in(file: str, text: str) -> Seen | None:
    """Return what the beginning of a file defines."""
    match = _DEFINITION.match(text)
    if match is None:
        return None
    name = match[2].lower()
    if match[1].lower() == "domain":
        return Seen(file, Kind.DOMAIN, name)
    of = re.search(r"^[^;\n]*?\(\s*:domain\s+([^\s()]+)", text, re.IGNORECASE | re.MULTILINE)
    return Seen(file, Kind.PROBLEM, name, of[1].lower() if of else "")


def ending(file: str) -> str:
    """Return the end of a file that `beginning` has read."""
    with Path(file).open("rb") as opened:
        opened.seek(0, os.SEEK_END)
        opened.seek(max(0, opened.tell() - SNIFFED))
        return _text(opened.read())


def _text(data: bytes) -> str:
    for bom, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")
