"""Options that say where cells of work are done."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.doors.cli.trust import add_trust
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.base.engines.registry import EngineChoice

_SECTION = "tool.hvr.engine"
_SETTINGS = ("name", "address")
_OWN = (None, "here", "processes")
"""Engines that a project may choose: no code of others, and nothing leaves the machine."""


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
        f"{when}of a Ray cluster, such as auto or ray://HOST:10001, which needs ray[client] "
        "(default: address in [tool.hvr.engine]; else one is started here)"))  # fmt: skip
    add_trust(parser)


def engine_choice(args: argparse.Namespace) -> EngineChoice:
    """Return which engine is meant: options, environment, pyproject.toml, in this order.

    Raises:
        UsageError: a name is unknown, or a setting cannot be used.
        DataFileError: pyproject.toml cannot be read.
    """
    from hvr.base.engines.registry import EngineChoice
    from hvr.doors.cli.process import prepare_worker

    name, address = _named(args)
    return EngineChoice(name, args.jobs, address, prepare_worker)


def other_engine(args: argparse.Namespace) -> EngineChoice | None:
    """Return which engine is meant, or None where that is this process; see `engine_choice`."""
    name, address = _named(args)
    if name in (None, "here") and address is None and (name == "here" or args.jobs == 1):
        return None
    return engine_choice(args)


def _named(args: argparse.Namespace) -> tuple[str | None, str | None]:
    section, file = _section(Path.cwd())
    name = args.engine or os.environ.get("HVR_ENGINE") or section.get("name")
    address = section.get("address") if name == section.get("name") else None
    if not args.trust_project:
        if name not in (args.engine, os.environ.get("HVR_ENGINE"), *_OWN):
            _ignored(file, f"name = {name!r}", f"--engine {name}")
            return None, args.address
        if address is not None and args.address is None:
            _ignored(file, f"address = {address!r}", f"--address {address}")
            address = None
    return name, args.address or address


def _ignored(file: Path | None, setting: str, option: str) -> None:
    from hvr.base.printable import one_line

    said = f"{file}: {setting} of [{_SECTION}] is not used: a project may not say what code runs, "
    said += f"or where; give {option}, or --trust-project"
    print(f"note: {one_line(said)}", file=sys.stderr)


def _section(folder: Path) -> tuple[dict[str, str], Path | None]:
    """Return the settings of the nearest pyproject.toml, and the file."""
    from hvr.base.texts import read_toml

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
        return found, file
    return {}, None
