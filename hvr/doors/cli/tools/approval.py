"""Questions to the user before a call: permission to write, and unknown effects of tools."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import one_line, short
from hvr.doors.cli.output import on_terminal
from hvr.tools.catalogue.schema import Effect, ToolSchema, guessed_effect

if TYPE_CHECKING:
    from hvr.knowledge.world_file import WorldFile
    from hvr.tools.calling.environment import ToolEnvironment
    from hvr.tools.calling.guard import ProposedCall


# Approval -----------------------------------------------------------------------------------------

_SHOWN = 200
_NAMED = 3
LEDGER = "ledger.jsonl"


@dataclass(frozen=True)
class Approvals:
    """Approvals given by options, and by the user on a terminal.

    Args:
        writes: Whether writing calls are approved.
        destroys: Whether calls that destroy or have an unknown effect are approved.
        repeats: Whether to repeat calls that were or may have been done.
        terminal: Whether the user can be asked on the terminal.
        ask: Shows a prompt and returns the answer.
    """

    writes: bool = False
    destroys: bool = False
    repeats: bool = False
    terminal: bool = False
    ask: Callable[[str], str] = input

    def __call__(self, proposed: ProposedCall) -> bool | None:
        """Return whether to make a call; None if there is no terminal to ask on."""
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
    """Return a proposed call with its arguments and their sources, on several lines."""
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
    """Return the approvals given by options; `silent` forbids questions."""
    terminal = on_terminal() and not silent
    return Approvals(writes or destroys, destroys, repeats, terminal)


def ledger_path(
    world: WorldFile, tools: ToolEnvironment, chosen: Path | None, folder: Path | None
) -> Path | None:
    """Return the path of the ledger; None to keep it in memory.

    A world that shows its state starts anew in each process, so its ledger belongs to the run. Any
    other ledger lies beside the world file.

    Args:
        world: The world.
        tools: The world's tools.
        chosen: The file that the user names, if any.
        folder: The folder of the run, if it is saved.
    """
    if chosen is not None:
        return chosen
    if tools.state() is None:
        return world.folder / LEDGER
    return None if folder is None else folder / LEDGER


def warn_malformed_tools(left_out: Sequence[str]) -> None:
    """Print the tools that were left out because of malformed descriptions."""
    if left_out:
        named = "; ".join(short(one_line(text), _SHOWN) for text in left_out[:_NAMED])
        more = f"; and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        print(f"note: malformed tools were left out: {named}{more}", file=sys.stderr)


def warn_unknown_effects(unknown: list[str]) -> None:
    """Print the tools that were not used for queries because their effect is unknown."""
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
    """Ask on the terminal for the unknown effects of tools, and save the answers.

    Tools are grouped by the effect that their names suggest. The user can confirm a whole group,
    or answer for each tool.

    Args:
        world: The world, whose file stores the answers.
        tools: The world's tools.

    Returns:
        Whether any answer was saved.

    Raises:
        DataFileError: The answers cannot be saved.
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
