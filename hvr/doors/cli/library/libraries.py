"""Which library a command of `hvr library` is about."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console

if TYPE_CHECKING:
    from hvr.planning.library.library import Library


def add_library_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a library."""
    parser.add_argument("--library", metavar="FILE", type=Path, help=(
        "the library, .ttl or .json (default: $HVR_LIBRARY, or library.ttl in the folder for "
        "users' data, ~/.local/share/hvr on Linux)"))  # fmt: skip


def add_agent_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names an agent."""
    parser.add_argument(
        "--agent", help="only what this agent has learnt: single-arm, dual-arm, pusher"
    )


def library_path(library: Path | None) -> Path:
    """Return the file of a library, the usual one if none is named."""
    from hvr.planning.library.store import default_path

    return library if library is not None else default_path()


def read(library: Path | None, agent: str | None = None) -> Library:
    """Return the library, of one agent if one is named. The usual one need not exist yet."""
    from hvr.knowledge.world_file import load_agent
    from hvr.planning.library.store import read_library

    whole = read_library(library_path(library), missing_ok=library is None)
    return whole if agent is None else whole.of_agent(load_agent(agent).name)


def merge_in(more: Library, library: Path | None) -> None:
    """Add to a library and print how many macro actions it has."""
    from hvr.planning.library.store import read_library, update_library

    path = library_path(library)
    before = len(read_library(path, missing_ok=True))
    after = len(update_library(path, more))
    print(f"{path}: {count(after)}, {after - before} of them new")


def count(number: int) -> str:
    """Return a number of macro actions in words."""
    return f"{number} macro action{'' if number == 1 else 's'}"


def print_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table; an id is never cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in header:
        table.add_column(title, no_wrap=title == "id", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console(width=None if sys.stdout.isatty() else 160).print(table)
