"""`hvr completion`: scripts for shells, made of the table of commands and their parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from hvr.doors.cli import HVR, Command, Group
from hvr.doors.cli.arguments import ArgumentParser
from hvr.doors.cli.shells import SHELLS, Option, Place

_DESCRIPTION = """\
Print a script that completes commands and options in a shell.
"""

_EPILOG = """\
examples:
  hvr completion bash > ~/.local/share/bash-completion/completions/hvr
  hvr completion zsh > ~/.zfunc/_hvr     (a folder of $fpath)
  hvr completion fish > ~/.config/fish/completions/hvr.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=(
        f"one of {', '.join(SHELLS)}"))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code."""
    print(SHELLS[args.shell](tuple(places(HVR, HVR.name))), end="")
    return 0


def places(group: Group, path: str) -> Iterator[Place]:
    """Return what may follow the words that name a group or one of its commands."""
    commands = tuple((command.name, command.help) for command in group.commands)
    options = [Option(("--help",), "list the commands")]
    if group is HVR:
        options.append(Option(("--version",), "print the version"))
    for command in group.commands:
        if command.name == group.usual and isinstance(command, Command):
            options = list(_place(command, path).options)
    yield Place(path, commands, tuple(options))
    for command in group.commands:
        below = f"{path} {command.name}"
        if isinstance(command, Group):
            yield from places(command, below)
        else:
            yield _place(command, below)


def _place(command: Command, path: str) -> Place:
    """Return what may follow the words that name a command."""
    parser = ArgumentParser(path)
    import_module(command.module).add_arguments(parser)
    words: list[tuple[str, str]] = []
    options = []
    for action in parser.listed():
        text = (action.help or "") % {**vars(action), "prog": parser.prog}
        choices = tuple(map(str, action.choices or vars(action).get("offered", ())))
        if action.option_strings:
            options.append(Option(tuple(action.option_strings), text, action.nargs != 0, choices))
        else:
            words += [(choice, text) for choice in choices]
    return Place(path, tuple(words), tuple(options))
