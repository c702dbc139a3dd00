"""`hvr completion`: shell scripts generated from the table of commands and their parsers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hvr.doors.cli.arguments import ArgumentParser
from hvr.doors.cli.main import HVR, Command, Group
from hvr.values import Value

# Shells -------------------------------------------------------------------------------------------
# The values of options without choices are completed as files.


class Option(Value):
    names: tuple[str, ...]
    help: str
    takes_value: bool = False
    choices: tuple[str, ...] = ()


class Place(Value):
    """A position on a command line, after the words in `path`, and what can follow it."""

    path: str
    commands: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]


_BASH = """\
# bash completion for hvr, written by `hvr completion bash`.
_hvr() {
    local at=hvr current=${COMP_WORDS[COMP_CWORD]} words='' commands='' options='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${COMP_WORDS[i]}" in
            %(paths)s) at="$at ${COMP_WORDS[i]}" ;;
        esac
    done
    COMPREPLY=()
    case "$at ${COMP_WORDS[COMP_CWORD - 1]}" in
%(choices)s
        %(values)s) return ;;
        *)
            case $at in
%(places)s
            esac
            if [[ $current == -* ]]; then words=$options; else words=$commands; fi
            ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _hvr hvr
"""

_ZSH = """\
#compdef hvr
# zsh completion for hvr, written by `hvr completion zsh`.
_hvr() {
    local at=hvr word
    local -a commands options
    for word in ${words[2,CURRENT-1]}; do
        case "$at $word" in
            %(paths)s) at="$at $word" ;;
        esac
    done
    case "$at ${words[CURRENT-1]}" in
%(choices)s
        %(values)s) _files; return ;;
    esac
    case $at in
%(places)s
    esac
    if [[ ${words[CURRENT]} == -* ]]; then
        _describe -o option options
    elif (( $#commands )); then
        _describe command commands || _files
    else
        _files
    fi
}
if [[ $funcstack[1] == _hvr ]]; then _hvr "$@"; else compdef _hvr hvr; fi
"""

_FISH = """\
# fish completion for hvr, written by `hvr completion fish`.
function __hvr_at
    set -l at hvr
    set -l given (commandline -opc)
    set -e given[1]
    for word in $given
        switch "$at $word"
            case %(paths)s
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
%(places)s
"""


def bash(places: Sequence[Place]) -> str:
    return _BASH % {
        "paths": _alternatives(place.path for place in places[1:]),
        "choices": "\n".join(
            f"        {_alternatives(names)}) words={_quoted(' '.join(choices))} ;;"
            for names, choices in _choices(places)
        ),
        "values": _alternatives(_free(places)),
        "places": "\n".join(
            f"                {_quoted(place.path)})\n"
            f"                    commands={_listed(place.commands)}\n"
            f"                    options={_listed(_names(place))} ;;"
            for place in places
        ),
    }


def zsh(places: Sequence[Place]) -> str:
    def described(items: Iterable[tuple[str, str]]) -> str:
        return " ".join(_quoted(f"{name}:{text}") for name, text in items)

    return _ZSH % {
        "paths": _alternatives(place.path for place in places[1:]),
        "choices": "\n".join(
            f"        {_alternatives(names)}) compadd {' '.join(choices)}; return ;;"
            for names, choices in _choices(places)
        ),
        "values": _alternatives(_free(places)),
        "places": "\n".join(
            f"        {_quoted(place.path)})\n"
            f"            commands=({described(place.commands)})\n"
            f"            options=({described(_names(place))}) ;;"
            for place in places
        ),
    }


def fish(places: Sequence[Place]) -> str:
    lines = []
    for place in places:
        where = f"complete -c hvr -n {_quoted(f'__hvr_at {place.path}')}"
        lines += [f"{where} -f -a {n} -d {_fish_quoted(text)}" for n, text in place.commands]
        for option in place.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = " -r" if option.takes_value else ""
            value = f" -x -a {_fish_quoted(' '.join(option.choices))}" if option.choices else value
            lines.append(f"{where} {names}{value} -d {_fish_quoted(option.help)}")
    paths = " ".join(_quoted(place.path) for place in places[1:])
    return _FISH % {"paths": paths, "places": "\n".join(lines)}


SHELLS: Mapping[str, Callable[[Sequence[Place]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""Functions that generate completion scripts, by shell."""


def _choices(places: Sequence[Place]) -> list[tuple[list[str], tuple[str, ...]]]:
    return [
        ([f"{place.path} {name}" for name in option.names], option.choices)
        for place in places
        for option in place.options
        if option.choices
    ]


def _free(places: Sequence[Place]) -> list[str]:
    return [
        f"{place.path} {name}"
        for place in places
        for option in place.options
        if option.takes_value and not option.choices
        for name in option.names
    ]


def _names(place: Place) -> list[tuple[str, str]]:
    return [(name, option.help) for option in place.options for name in option.names]


def _listed(items: Iterable[tuple[str, str]]) -> str:
    return _quoted(" ".join(name for name, _ in items))


def _alternatives(texts: Iterable[str]) -> str:
    return " | ".join(map(_quoted, texts))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_EPILOG = """\
examples:
  hvr completion bash > ~/.local/share/bash-completion/completions/hvr
  hvr completion zsh > ~/.zfunc/_hvr     (a folder of $fpath)
  hvr completion fish > ~/.config/fish/completions/hvr.fish
"""


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "shell", metavar="SHELL", choices=tuple(SHELLS), help=(f"one of {', '.join(SHELLS)}")
    )


def run_completion(args: argparse.Namespace) -> int:
    print(SHELLS[args.shell](tuple(places(HVR, HVR.name))), end="")
    return 0


def places(group: Group, path: str) -> Iterator[Place]:
    """Yield the position after a group's name, and the positions after each of its commands."""
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
    parser = ArgumentParser(path)
    command.add_arguments(parser)
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
