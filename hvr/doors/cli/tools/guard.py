"""`hvr tools guard`: an MCP server between an agent and its tools."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.files import user_folder, writing
from hvr.base.printable import one_line, short
from hvr.doors.cli.arguments import add_path, seconds, whole_number
from hvr.doors.cli.output import on_terminal
from hvr.errors import UsageError
from hvr.tools.catalogue.schema import Effect, ToolSchema, guessed_effect

if TYPE_CHECKING:
    from hvr.knowledge.world_file import WorldFile
    from hvr.tools.calling.calls import ToolEnvironment
    from hvr.tools.calling.guard import ProposedCall


_DESCRIPTION = """\
Guard the tools that an agent calls, as an MCP server in front of the tools' server. Reading calls
pass. A writing call needs values that the user stated, the user's approval, and an entry in a
ledger; it is never repeated silently. The agent is told the reason and what to ask.
"""

_EPILOG = """\
examples:
  hvr tools guard -- python server.py
  hvr tools guard --url http://127.0.0.1:8000/mcp --budget 50 --dry-run
  hvr tools guard --world ./library --http 8123

in the configuration of an agent:
  {"mcpServers": {"library": {"command": "hvr",
                              "args": ["tools", "guard", "--", "python", "server.py"]}}}
"""


def add_guard_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="*",
        help="program and arguments of the MCP server behind the guard, after --",
    )
    parser.add_argument("--url", help="address of a running MCP server (streamable HTTP)")
    parser.add_argument(
        "--world",
        metavar="FOLDER",
        help="a tool world behind the guard; its world.toml says which tools are read-only",
    )
    parser.add_argument(
        "--trusted",
        action="store_true",
        help="trust the server's hints about which tools are read-only",
    )
    parser.add_argument(
        "--reads",
        metavar="TOOL",
        action="append",
        default=[],
        help="a read-only tool; may be repeated",
    )
    parser.add_argument(
        "--http",
        metavar="PORT",
        type=whole_number,
        help="serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of stdio",
    )
    parser.add_argument(
        "--budget",
        metavar="CALLS",
        type=whole_number,
        default=100,
        help="maximum number of calls to tools (default: 100)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds,
        default=30.0,
        help="time limit of one answer of the server (default: 30)",
    )
    _add_policy_options(parser)


def _add_policy_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="allow only read-only calls")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow writing calls without asking if the user stated each value",
    )
    parser.add_argument(
        "--yes-destructive",
        action="store_true",
        help="like --yes, also for destructive calls and calls of unknown effect",
    )
    add_path(
        parser,
        "--ledger",
        "file that records writing calls (default: one per server in hvr's data folder, or "
        "beside the world's file)",
    )
    parser.add_argument(
        "--session",
        metavar="NAME",
        default="guard",
        help="session of the calls; other sessions may repeat them (default: guard)",
    )
    add_path(parser, "--log", "log of all calls with the source of each argument")


def run_guard(args: argparse.Namespace) -> int:
    from hvr.tools.calling.guard import AgentGuard, CallPolicy, GuardServer, mcp_tools
    from hvr.tools.calling.log import CallLedger
    from hvr.tools.calling.mcp_world import McpTools
    from hvr.tools.catalogue.schema import Effect

    if sum(map(bool, (args.command, args.url, args.world))) != 1:
        raise UsageError(
            "give exactly one server: --url, --world, or a command after '--'", field="command"
        )
    name, tools = _opened(args)
    try:
        warn_malformed_tools(tools.catalogue.left_out)
        raw = tools.inner if isinstance(tools, _Readers) else tools
        mcp = raw if isinstance(raw, McpTools) else None
        shown = mcp.listed if mcp is not None else mcp_tools(tools.catalogue)
        schemas = {one["name"]: one.get("inputSchema", {}) for one in shown}
        path = args.ledger or _ledger(args, name)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        allowed = {Effect.WRITES} if args.yes or args.yes_destructive else set()
        allowed |= {Effect.DESTROYS, Effect.UNKNOWN} if args.yes_destructive else set()
        policy = CallPolicy(args.budget, args.dry_run, args.log)
        guard = AgentGuard(tools, name, schemas, policy, CallLedger(path, args.session), allowed)
        served = GuardServer(guard, shown, lambda: mcp.answer if mcp is not None else None)
        _serve(served, args.http)
    finally:
        tools.close()
    return 0


def _opened(args: argparse.Namespace) -> tuple[str, ToolEnvironment]:
    from hvr.knowledge.world_file import load_world
    from hvr.tools.calling.mcp_world import McpServer, McpTools
    from hvr.tools.calling.worlds import open_tools

    if args.world:
        world = load_world(args.world)
        return world.name, _Readers(open_tools(world), args.reads)
    # Agents pass the server's environment variables to the guard.
    server = McpServer(
        tuple(args.command),
        args.url or "",
        Path.cwd() if args.command else None,
        dict(os.environ) if args.command else {},
        args.seconds,
        args.trusted,
    )
    return " ".join(args.command) or args.url, _Readers(McpTools(server), args.reads)


class _Readers:
    """A tool environment in which the user declares some tools to be read-only."""

    def __init__(self, inner: ToolEnvironment, reads: list[str]) -> None:
        from dataclasses import replace

        from hvr.tools.calling.calls import find_tool
        from hvr.tools.catalogue.schema import Catalogue, Effect, quoted

        self.inner = inner
        for name in reads:
            if find_tool(inner.catalogue, name) is None:
                inner.close()
                raise UsageError(f"no tool named {quoted(name)}", field="reads")
        self.catalogue = Catalogue(
            tuple(
                replace(tool, effect=Effect.READS) if tool.name in reads else tool
                for tool in inner.catalogue.tools
            ),
            inner.catalogue.left_out,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _ledger(args: argparse.Namespace, name: str) -> Path:
    from hvr.knowledge.world_file import load_world

    if args.world:
        return load_world(args.world).folder / LEDGER
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return user_folder("data") / "guard" / f"{digest}.jsonl"


def _serve(served: Any, port: int | None) -> None:
    import asyncio

    from hvr.doors.mcp.server import serve_http, serve_stdio

    server = served.server()
    asyncio.run(serve_stdio(server) if port is None else serve_http(server, port))


# Approval -----------------------------------------------------------------------------------------
# Questions to the user before a call: permission to write, and unknown effects of tools.

_SHOWN = 200
_NAMED = 3
LEDGER = "ledger.jsonl"


@dataclass(frozen=True)
class Approvals:
    """Approvals given by options or, on a terminal, by the user.

    Args:
        writes: Whether writing calls are approved.
        destroys: Whether calls that destroy data or have an unknown effect are approved.
        repeats: Whether to repeat calls that were made before, or may have been.
        terminal: Whether the user can be asked.
        ask: Shows a prompt and returns the user's answer.
    """

    writes: bool = False
    destroys: bool = False
    repeats: bool = False
    terminal: bool = False
    ask: Callable[[str], str] = input

    def __call__(self, proposed: ProposedCall) -> bool | None:
        """Return whether to make a call; None if the user would have to be asked but cannot be."""
        allowed = self.writes if proposed.effect is Effect.WRITES else self.destroys
        if allowed and (self.repeats or proposed.before is None):
            return True
        if not self.terminal:
            return None
        print(proposal_text(proposed))
        question = "Make this call again?" if proposed.before else "Make this call?"
        try:
            return self.ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            return False


def proposal_text(proposed: ProposedCall) -> str:
    """Describe a proposed call with its arguments and where they come from, on several lines."""
    from hvr.tools.calling.calls import ToolCall, leaf_values, place_text, source_of
    from hvr.tools.calling.log import redacted

    arguments = redacted(dict(proposed.call.arguments))
    assert isinstance(arguments, dict)
    effect = "of unknown effect" if proposed.effect is Effect.UNKNOWN else proposed.effect.value
    lines = [f"{proposed.call.tool} ({effect})"]
    for place, value in leaf_values(ToolCall(proposed.call.tool, arguments)):
        source = source_of(place, proposed.sources)
        told = f"{source.kind}: {source.why}" if source.why else f"{source.kind}"
        text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {place_text(place)} = {short(text, _SHOWN)}  ({told})")
    if (before := proposed.before) is not None:
        done = "may have been done" if before.unclear else "was done"
        lines.append(f"  It {done} at {before.time} for: {before.request}")
    return "\n".join(short(one_line(line), 2 * _SHOWN) for line in lines)


def approvals(*, writes: bool, destroys: bool, repeats: bool, silent: bool) -> Approvals:
    """Return the approvals given by options; `destroys` implies `writes`; `silent` never asks."""
    terminal = on_terminal() and not silent
    return Approvals(writes or destroys, destroys, repeats, terminal)


def ledger_path(
    world: WorldFile, tools: ToolEnvironment, chosen: Path | None, folder: Path | None
) -> Path | None:
    """Return the path of the ledger of calls; None to keep it in memory.

    A world whose state can be observed starts anew in each process, so its ledger belongs to the
    run. Any other ledger is stored next to the world file.

    Args:
        chosen: The file named by the user, if any.
        folder: The folder of the run, if the run is saved.
    """
    if chosen is not None:
        return chosen
    if tools.state() is None:
        return world.folder / LEDGER
    return None if folder is None else folder / LEDGER


def warn_malformed_tools(left_out: Sequence[str]) -> None:
    if left_out:
        named = "; ".join(short(one_line(text), _SHOWN) for text in left_out[:_NAMED])
        more = f"; and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        print(f"note: malformed tools were left out: {named}{more}", file=sys.stderr)


def warn_unknown_effects(unknown: list[str]) -> None:
    """Print which tools were not used for queries because their effect is unknown."""
    if unknown:
        names = short(one_line(", ".join(unknown)), _SHOWN)
        print(
            f"note: tools of unknown effect were not used for queries: {names}; list those that "
            "only read as reads = […] in [tools]",
            file=sys.stderr,
        )


# Effects ------------------------------------------------------------------------------------------

_QUESTION = {
    Effect.READS: "only read and change nothing",
    Effect.WRITES: "change something without destroying anything",
    Effect.DESTROYS: "destroy something",
}
_LETTERS = {"r": Effect.READS, "w": Effect.WRITES, "d": Effect.DESTROYS}


def ask_effects(world: WorldFile, tools: Sequence[ToolSchema]) -> bool:
    """Ask the user for unknown effects of tools; return whether any answer was saved.

    Tools are grouped by the effect that their names suggest. The user can confirm a group, or
    answer for each tool.
    """
    from hvr.tools.calling.worlds import remember_effects

    unknown = [tool for tool in tools if tool.effect is Effect.UNKNOWN]
    said: dict[str, Effect] = {}
    for effect, text in _QUESTION.items():
        some = [tool for tool in unknown if guessed_effect(tool.name, tool.description) is effect]
        if not some:
            continue
        print(f"The effect of these tools of {one_line(world.name)} is unknown:")
        for tool in some:
            print(short(one_line(f"  {tool.name}: {tool.description}"), 100))
        answer = input(f"Do they all {text}? [y]es, [n]o (leave open), [e]ach: ").strip().lower()
        if answer in ("y", "yes"):
            said |= {tool.name: effect for tool in some}
        elif answer in ("e", "each"):
            for tool in some:
                letter = input(one_line(f"{tool.name}: [r]eads, [w]rites, [d]estroys, or open: "))
                if (found := _LETTERS.get(letter.strip().lower()[:1])) is not None:
                    said[tool.name] = found
    if said:
        remember_effects(world, said)
    return bool(said)
