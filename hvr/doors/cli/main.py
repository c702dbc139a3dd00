"""The `hvr` command line: dispatch to commands, and errors as messages and exit codes.

Exit codes: 0 success; 1 a negative answer (invalid plan, goal not reached, impossible request); 2
unusable input (bad option, unknown name, bad file, wrong key); 3 an internal error; 4 no answer
(something that hvr needs failed, and trying again may help); 130 interrupted; 143 terminated.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from hvr.doors.cli import HVR, Command, Group, process
from hvr.doors.cli.arguments import HELP, ArgumentParser, asks_for_help
from hvr.doors.cli.process import saved_note, signals_as_exceptions
from hvr.errors import HvrError, UsageError
from hvr.values import Value

_OBJECTS = 10_000
_ANSWERS = (0, 1)
_NOT_ANSWERED = 4


class Call(Value):
    """A resolved command line.

    `words` name the command and `rest` follows them. `group` is set if the command is the default
    of a group.
    """

    words: tuple[str, ...]
    called: Command | Group
    rest: tuple[str, ...]
    group: Group | None = None


def run() -> None:
    """Run the command line of this process, and exit."""
    # Imports create many objects and hardly any garbage.
    gc.set_threshold(_OBJECTS)
    own = False
    try:
        own = process.prepare()
        _protect_output()
        with signals_as_exceptions() if own else nullcontext():
            code = _delivered(main(sys.argv[1:]))
    except KeyboardInterrupt as signalled:
        code = process.ended_by(signalled)
    if own:
        process.finish()
    sys.exit(code)


def main(given: Sequence[str]) -> int:
    """Run a command line and return the exit code; print errors."""
    parser: ArgumentParser | None = None
    try:
        call = resolve(given)
        if isinstance(call.called, Group):
            return _about_group(call, call.called)
        command = call.called
        parser = command_parser(call, command)
        if asks_for_help(call.rest):
            parser.print_help()
            return 0
        arguments = parser.read(call.rest)
        gc.enable()
        return command.run(arguments)
    except HvrError as error:
        message = str(error) if parser is None else parser.with_flags(error)
        return _refused(given, error, message, error.exit_code)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        from hvr.base.extras import explained

        missing = explained(error)
        if missing is None:
            return _unforeseen(given, error)
        return _refused(given, missing, str(missing), missing.exit_code)
    except BaseException as error:  # libraries may call sys.exit, or panic in Rust
        return _unforeseen(given, error)


def _unforeseen(given: Sequence[str], error: BaseException) -> int:
    from hvr.doors.cli import crash_reports

    message, status = crash_reports.describe_crash(error, given)
    return _refused(given, error, message, status)


def resolve(given: Sequence[str]) -> Call:
    """Return the command of a command line, or the group if it names no command."""
    words: tuple[str, ...] = (HVR.name,)
    rest = tuple(given)
    called: Command | Group = HVR
    while isinstance(called, Group):
        group, names = called, {command.name: command for command in called.commands}
        if rest and rest[0] in names:
            called = names[rest[0]]
            words, rest = (*words, rest[0]), rest[1:]
        elif group.usual:
            return Call(words, names[group.usual], rest, group)
        else:
            break
    return Call(words, called, rest)


def command_parser(call: Call, command: Command) -> ArgumentParser:
    """Return the parser of a command."""
    parser = ArgumentParser(" ".join(call.words))
    command.add_arguments(parser)
    if call.group is not None:
        parser.epilog = f"{parser.epilog or ''}\n{_commands(call.group)}"
    return parser


def _about_group(call: Call, group: Group) -> int:
    """Print the help of a group, or the version."""
    name = " ".join(call.words)
    first = call.rest[0] if call.rest else ""
    if first == "--version" and group is HVR:
        import hvr

        print(f"hvr {hvr.__version__}")
    elif not first or (first.startswith("-") and asks_for_help(call.rest)):
        more = "\n\nhvr --version prints the version." if group is HVR else ""
        page = (
            f"usage: {name} COMMAND [OPTIONS]\n\n{group.help}\n\n{_commands(group)}\n"
            f"{name} COMMAND --help shows a command's options and examples, such as\n"
            f"  {name} {group.commands[0].name} --help{more}"
        )
        print(page, file=sys.stdout if first else sys.stderr)
    else:
        from hvr.pddl.diagnostics import nearest

        kind = "option" if first.startswith("-") else "command"
        known = [*HELP, *(() if kind == "option" else (one.name for one in group.commands))]
        near = nearest(first, (*known, "--version") if group is HVR else known)
        hint = f"; did you mean {near!r}?" if near else ""
        raise UsageError(f"{name}: no {kind} named {first!r}{hint} ({name} --help lists all)")
    return 0 if first else 2


def _commands(group: Group) -> str:
    """Return the list of a group's commands as help text."""
    import textwrap

    from hvr.doors.cli.arguments import columns

    width = max(len(command.name) for command in group.commands) + 4
    lines = ["commands:"]
    for command in group.commands:
        text = command.help
        if command.name == group.usual:
            text = text.removesuffix(".") + " (the default command)."
        first, *more = textwrap.wrap(text, columns() - width)
        lines.append(f"  {command.name}".ljust(width) + first)
        lines += [" " * width + line for line in more]
    return "\n".join(lines) + "\n"


def _protect_output() -> None:
    from hvr.base.printable import protect_output

    protect_output()


def _refused(given: Sequence[str], error: BaseException, message: str, code: int) -> int:
    """Print an error and where a run is saved; return the exit code."""
    from hvr.base.printable import block

    folder = getattr(error, "folder", None)
    message += saved_note(error)
    if "--json" in given:
        import json

        process.use_utf8()
        where = {} if folder is None else {"folder": str(folder)}
        readings = getattr(error, "readings", ())
        ways = {"readings": list(readings)} if readings else {}
        print(json.dumps({"error": message, "exit_code": code, **ways, **where}))
    print(f"error: {block(message)}", file=sys.stderr)
    return code


def _delivered(code: int) -> int:
    """Return the exit code of a command, or 4 if its answer could not be written."""
    process.flush_streams()
    trouble = process.write_error()
    if trouble is None or code not in _ANSWERS:
        return code
    print(f"error: standard output cannot be written: {trouble.strerror}", file=sys.stderr)
    return _NOT_ANSWERED
