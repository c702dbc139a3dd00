"""The command line in tests: its commands and their outcomes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hvr
from hvr.doors.cli.arguments import ArgumentParser
from hvr.doors.cli.main import HVR, Command, Group, command_parser, resolve
from hvr.doors.cli.process import Outlet
from tests import warm

SOURCES = Path(hvr.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Hvr = Callable[..., Ended]
"""Runs the command line in this process: the fixture `hvr_`."""


def commands(group: Group = HVR, *words: str) -> Iterator[tuple[tuple[str, ...], Command | Group]]:
    """Yield all commands and groups of a group with their words."""
    for command in group.commands:
        yield (*words, command.name), command
        if isinstance(command, Group):
            yield from commands(command, *words, command.name)


ALL = tuple(commands())
COMMANDS = tuple(words for words, command in ALL if isinstance(command, Command))


def parser_of(words: tuple[str, ...]) -> ArgumentParser:
    call = resolve(words)
    assert isinstance(call.called, Command)
    return command_parser(call, call.called)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that runs this checkout's hvr."""
    old = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(SOURCES), *([old] if old else ())])
    return {**os.environ, "PYTHONPATH": path, "GITHUB_ACTIONS": "", **more}


def outlet(number: int, encoding: str) -> io.TextIOWrapper:
    """Return standard output over an open descriptor, configured as in an hvr process."""
    raw = Outlet(number, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace")


def process(*args: object, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as a process; keywords set its streams and environment."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300, **more}
    env = environment(**given.pop("environ", {}))
    return warm.run([sys.executable, "-m", "hvr", *map(str, args)], check=False, env=env, **given)
