"""The `hvr` command line: the table of commands, dispatch, and errors as messages and exit codes.

Exit codes: 0 success; 1 a negative answer (invalid plan, goal not reached, impossible request); 2
unusable input (bad option, unknown name, bad file, wrong key); 3 an internal error; 4 no answer
(something that hvr needs failed, and trying again may help); 130 interrupted; 143 terminated.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from hvr.doors.cli import process
from hvr.doors.cli.arguments import HELP, ArgumentParser, asks_for_help
from hvr.doors.cli.process import saved_note, signals_as_exceptions
from hvr.errors import HvrError, UsageError
from hvr.values import Value

_OBJECTS = 10_000
_ANSWERS = (0, 1)
_NOT_ANSWERED = 4


# The table of commands -------------------------------------------------------------------------
# A command is registered here; help, hints and completion are generated from this table.


class Command(Value):
    """A command, whose module is imported only when the command runs.

    For the command `list`, the module contains `add_list_arguments(parser)` and `run_list(args)`,
    which returns the exit code.
    """

    name: str
    help: str
    module: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.description = self.help  # a command may replace it by a longer text
        self._function("add_{}_arguments")(parser)

    def run(self, args: argparse.Namespace) -> int:
        code: int = self._function("run_{}")(args)
        return code

    def _function(self, pattern: str) -> Any:
        name = pattern.format(self.name.replace("-", "_"))
        return getattr(import_module(f"hvr.doors.cli.{self.module}"), name)


class Group(Value):
    """Commands under a common name; `usual` names the default command, if any."""

    name: str
    help: str
    commands: tuple[Command | Group, ...]
    usual: str = ""


HVR = Group("hvr", "Household robot plans, proven before they run and watched while they run.", (
    Command("plan", "Plan a request, prove the plan, execute it step by step, and save the run.",
            "plan"),
    Command("chat", "Talk with the robot in one scene: requests, questions, corrections, undo.",
            "chat"),
    Command("solve", "Find and prove a plan for any PDDL domain and problem.", "solve"),
    Group("world", "Create, check and show worlds: folders with a domain, words and an "
          "environment.", (
        Command("new", "Create a world from a PDDL domain.", "world"),
        Command("check", "List every mismatch of a world's domain, words, tasks and environment.",
                "world"),
        Command("show", "Show the contents of a world: types, facts, actions, objects.", "world"),
    )),
    Command("problems", "Generate graded planning problems for training, with proven lengths.",
            "world"),
    Group("export", "Write chat examples that teach a language model to plan.", (
        Command("sft", "Write chat examples for fine-tuning, with proven answers.", "export"),
    )),
    Command("validate", "Validate PDDL plans; report at which step and why a plan fails.",
            "validate"),
    Command("check", "Check that a certificate of hvr validate proves its verdict.",
            "certificates"),
    Command("judge", "Judge a plan step by step: redundant and missing steps, with proofs.",
            "judge"),
    Command("lint", "Find suspicious parts of a PDDL domain and problem.", "lint"),
    Command("mcp", "Serve validation, repair and planning to agents, as an MCP server.", "servers"),
    Command("convert", "Convert hierarchical plans to other formats, and runs to HDDL.", "export"),
    Command("tasks", "List the tasks T1 to T24 of the kitchen, with suitable scenes.", "world"),
    Command("scenes", "List the scenes of all worlds.", "world"),
    Command("show", "Show a saved run: its plans, its steps, and all deviations.", "plan"),
    Group("kg", "Query, show, export and check the knowledge graph of a run or a scene.", (
        Command("query", "Run a SPARQL query.", "kg"),
        Command("show", "Show everything known about one object.", "kg"),
        Command("export", "Write the graph as Turtle.", "kg"),
        Command("runs", "List the runs whose graphs are on a server, newest first.", "kg"),
        Command("publish", "Upload the graph of a run to a server.", "kg"),
        Command("check", "Check the ontology for contradictions, optionally with the facts of a "
                "run or a scene.", "kg"),
    )),
    Group("llm", "Check that a language model answers; sum up the usage of a run.", (
        Command("check", "Check whether a model answers.", "doctor"),
        Command("usage", "Sum up the calls, tokens, cost and time of a transcript by purpose.",
                "doctor"),
    )),
    Group("library", "List, show, merge, export, import and cluster the macro actions that hvr "
          "has learnt.", (
        Command("list", "List the macro actions.", "library"),
        Command("show", "Show one macro action: conditions, block, where it was learnt, and its "
                "cluster.", "library"),
        Command("merge", "Merge other libraries into this one, without loss or duplicates.",
                "library"),
        Command("import", "Import a library that was exported elsewhere.", "library"),
        Command("export", "Write a copy of the library, as Turtle or (if named .json) as JSON.",
                "library"),
        Command("clusters", "Show clusters of equivalent macro actions, across agents.", "library"),
    )),
    Group("bench", "Plan tasks with models under several settings, and measure the plans.", (
        Command("run", "Plan tasks with models under several settings, and measure the plans.",
                "bench"),
        Command("show", "Show the results of a bench, finished or not, without running anything.",
                "bench"),
    ), usual="run"),
    Group("doctor", "Check what hvr can use on this machine.", (
        Command("machine", "Show what hvr can use on this machine, and what is broken.", "doctor"),
        Command("thor", "Check whether AI2-THOR can run on this machine. Nothing is downloaded or "
                "started.", "doctor"),
    ), usual="machine"),
    Group("scene", "Draw a scene, or serve one to AI2-THOR's Python client.", (
        Command("show", "Draw the floor plan of a scene with its objects.", "scene"),
        Command("serve", "Stand in for Unity: serve hvr's kitchen to AI2-THOR's Python client.",
                "scene"),
    )),
    Group("verify", "Score how well a plan matches its request, with risky steps and links.", (
        Command("plan", "Score a plan; exit code 1 if it scores below the threshold.", "verify"),
        Command("train", "Train a verifier on correct plans that use your tools.", "verify"),
        Command("correct", "Correct plans at their risky steps and links.", "verify"),
        Command("evaluate", "Measure how well a verifier separates correct plans from mutated "
                "ones.", "verify"),
    ), usual="plan"),
    Group("tools", "Plan and run requests in tool worlds; find the tools for a plan's "
          "steps.", (
        Command("plan", "Show the next move for a request to tools, and the cheapest chain of "
                "calls.", "tools.plan"),
        Command("run", "Carry out a request by calling tools, with monitoring and repair.",
                "tools.run"),
        Command("guard", "Guard an agent's tools, as an MCP server in front of the tools' server.",
                "tools.guard"),
        Command("import", "Read tools from function schemas, MCP, OpenAPI or Python, and match "
                "their parameters.", "tools.graph"),
        Command("graph", "Draw the graph of tools and parameters, with success rates of calls.",
                "tools.graph"),
        Command("learn", "Learn from judged dialogues when to call, find, ask or answer.",
                "tools.graph"),
        Command("serve-stats", "Serve success rates, links and removed tools, as page and JSON.",
                "tools.graph"),
        Command("retrieve", "Print the tools for the steps of a plan, in order.",
                "tools.retrieval"),
        Command("train", "Train a retriever on correct plans.", "tools.retrieval"),
        Command("evaluate", "Compare plans with the correct ones: node F1, link F1, both "
                "accuracies.", "tools.retrieval"),
    )),
    Command("studio", "Open hvr in a browser: edit, step through, repair and replay.", "servers"),
    Command("serve", "Serve hvr's operations over HTTP: validate, lint, plan, repair, judge, jobs.",
            "servers"),
    Command("lsp", "Support PDDL, HDDL and plans in an editor, as a language server.",
            "servers"),
    Command("completion", "Print a script that completes commands and options in a shell.",
            "completion"),
))  # fmt: skip
"""All commands."""


# Dispatch ----------------------------------------------------------------------------------------


class Call(Value):
    """A resolved command line.

    Attributes:
        words: The words that name the command.
        rest: The arguments after them.
        group: The group, if the command is its default.
    """

    words: tuple[str, ...]
    called: Command | Group
    rest: tuple[str, ...]
    group: Group | None = None


def run() -> None:
    """Run the command line of this process, and exit."""
    # Imports create many objects but hardly any garbage.
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
    """Run a command line, print its errors, and return the exit code."""
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
        from hvr.base.registry import explained

        missing = explained(error)
        if missing is None:
            return _unforeseen(given, error)
        return _refused(given, missing, str(missing), missing.exit_code)
    except BaseException as error:  # libraries may call sys.exit, or panic in Rust
        if isinstance(error.__cause__, KeyboardInterrupt):
            # Python 3.11 wraps an interrupt that arrives while a class is created.
            raise error.__cause__ from None
        return _unforeseen(given, error)


def _unforeseen(given: Sequence[str], error: BaseException) -> int:
    from hvr.doors.cli import crash_reports

    message, status = crash_reports.describe_crash(error, given)
    return _refused(given, error, message, status)


def resolve(given: Sequence[str]) -> Call:
    """Resolve a command line to a command, to a group's default command, or to a group."""
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
    parser = ArgumentParser(" ".join(call.words))
    command.add_arguments(parser)
    if call.group is not None:
        parser.epilog = f"{parser.epilog or ''}\n{_commands(call.group)}"
    return parser


def _about_group(call: Call, group: Group) -> int:
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
        from hvr.base.printable import nearest

        kind = "option" if first.startswith("-") else "command"
        known = [*HELP, *(() if kind == "option" else (one.name for one in group.commands))]
        near = nearest(first, (*known, "--version") if group is HVR else known)
        hint = f"; did you mean {near!r}?" if near else ""
        raise UsageError(f"{name}: no {kind} named {first!r}{hint} ({name} --help lists all)")
    return 0 if first else 2


def _commands(group: Group) -> str:
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
    process.flush_streams()
    trouble = process.write_error()
    if trouble is None or code not in _ANSWERS:
        return code
    print(f"error: standard output cannot be written: {trouble.strerror}", file=sys.stderr)
    return _NOT_ANSWERED
