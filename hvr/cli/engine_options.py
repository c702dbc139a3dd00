"""Options that say where cells of work are done."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.engines.registry import EngineChoice

_SECTION = "tool.hvr.engine"
_SETTINGS = ("name", "address")


def add_engine_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, when: str = ""
) -> None:
    """Add `--engine` and `--address`; `--jobs` is the command's own.

    Args:
        parser: takes the options.
        when: words of the help about when they are of use.
    """
    parser.add_argument("--engine", metavar="NAME", help=(
        f"{when}where the work is done: here, processes, or ray (the extra ray) (default: "
        "HVR_ENGINE, then name in [tool.hvr.engine] of pyproject.toml, then processes if --jobs is "
        "above 1)"
    ))  # fmt: skip
    parser.add_argument("--address", help=(
        f"{when}of a Ray cluster, such as auto or ray://HOST:10001 (default: address in "
        "[tool.hvr.engine]; else a cluster of this machine is started)"))  # fmt: skip


def engine_choice(args: argparse.Namespace) -> EngineChoice:
    """Return which engine is meant: options, environment, pyproject.toml, in this order.

    Raises:
        UsageError: a name is unknown, or a setting cannot be used.
        DataFileError: pyproject.toml cannot be read.
    """
    from hvr.cli.process import prepare_worker
    from hvr.engines.registry import EngineChoice

    name, address = _named(args)
    return EngineChoice(name, args.jobs, address, prepare_worker)


def other_engine(args: argparse.Namespace) -> EngineChoice | None:
    """Return which engine is meant, or None where that is this process; see `engine_choice`."""
    name, address = _named(args)
    if name in (None, "here") and address is None and (name == "here" or args.jobs == 1):
        return None
    return engine_choice(args)


def _named(args: argparse.Namespace) -> tuple[str | None, str | None]:
    section = _section(Path.cwd())
    named = args.engine or os.environ.get("HVR_ENGINE")
    name = named or section.get("name")
    return name, args.address or (section.get("address") if name == section.get("name") else None)


def _section(folder: Path) -> dict[str, str]:
    """Return the settings of the nearest pyproject.toml."""
    from hvr.texts import read_toml

    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if not file.is_file():
            continue
        found = read_toml(file).get("tool", {}).get("hvr", {}).get("engine", {})
        if not isinstance(found, dict):
            raise UsageError(f"{file}: [{_SECTION}] has to be a table")
        for key, value in found.items():
            if key not in _SETTINGS or not isinstance(value, str):
                raise UsageError(
                    f"{file}: [{_SECTION}] has name and address, which are texts, not {key!r}"
                )
        return found
    return {}
