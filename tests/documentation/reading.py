"""Check the options of lines that do not run, with the parser of their program."""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from hvr.doors.cli.arguments import ArgumentParser
from hvr.doors.cli.main import Group, command_parser, resolve
from tests.documentation.pages import ROOT

_ASSIGNMENT = re.compile(r"\w+=")
_OPERATORS = frozenset({"&&", "||", "|", ";", "&"})
# Programs whose options are not checked.
_FOREIGN = frozenset({".", "cd", "cp", "export", "oxigraph", "pytest", "ray"})


class UnreadableError(AssertionError):
    """A line that its program would refuse."""


def calls(line: str) -> Iterator[Sequence[str]]:
    """Yield the words of each program call in a shell line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    redirected = False
    for word in [*lexer, ";"]:
        if redirected or set(word) <= set("<>"):
            redirected = not redirected
        elif word in _OPERATORS:
            if words:
                yield words
            words = []
        elif words or not _ASSIGNMENT.match(word):
            words.append(word)


def check_line(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check each program call of a line.

    Raises:
        UnreadableError: A program would refuse its arguments.
        HvrError: hvr refuses the options.
    """
    for program, *words in calls(line):
        name = Path(program).name
        if name == "hvr":
            check_hvr(words)
        elif name == "pip" and words[:1] == ["install"]:
            _check_extras(words)
        elif name in ("python", "python3") and words[0].endswith(".py"):
            _check_script(words, monkeypatch)
        elif (name or program) not in _FOREIGN and words[:2] != ["-m", "venv"]:
            raise UnreadableError(f"{program} is no program that hvr's pages know: {line}")


def check_hvr(words: Sequence[str]) -> None:
    """Parse the words after `hvr` like the command line.

    Raises:
        UnreadableError: The words call no command.
        HvrError: The arguments are invalid.
    """
    parser_of(words).read(resolve(words).rest)


def parser_of(words: Sequence[str]) -> ArgumentParser:
    """Return the parser of the command that the words after `hvr` call.

    Raises:
        UnreadableError: The words call no command.
    """
    call = resolve(words)
    if isinstance(call.called, Group):
        raise UnreadableError(f"no command of hvr: {words}")
    return command_parser(call, call.called)


def _check_extras(words: Sequence[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = re.findall(r"\[([\w,]+)\]", " ".join(words))
    unknown = {*",".join(asked).split(",")} - {"", *project["optional-dependencies"]}
    if unknown:
        raise UnreadableError(f"hvr has no extras {unknown}")
    for option, value in pairwise(words):
        if option == "-c" and not (ROOT / value).exists():
            raise UnreadableError(f"there is no file {value}")


class _ReadError(Exception):
    """Raised once the arguments of a script have been parsed."""


def _check_script(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / words[0]
    if "argparse" not in script.read_text(encoding="utf-8"):
        if len(words) > 1:
            raise UnreadableError(f"{words[0]} takes no arguments")
        return

    def parse(parser: argparse.ArgumentParser, args: Sequence[str] | None = None) -> None:
        _, surplus = parser.parse_known_args(args)
        raise _ReadError(*surplus)

    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", [str(script), *words[1:]])
        patch.setattr(argparse.ArgumentParser, "parse_args", parse)
        patch.syspath_prepend(str(script.parent))
        try:
            runpy.run_path(str(script), run_name="__main__")
        except _ReadError as read:
            if read.args:
                raise UnreadableError(f"{words[0]} has no {read.args}") from None
        except SystemExit:
            raise UnreadableError(f"{words[0]} refuses {words[1:]}") from None
        else:
            raise UnreadableError(f"{words[0]} reads no arguments")
