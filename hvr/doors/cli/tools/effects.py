"""What tools of unknown effect do: asked once on a terminal, and kept in the world's file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hvr.base.printable import one_line, short
from hvr.tools.catalogue.effects import seems
from hvr.tools.catalogue.schema import Effect, ToolSchema

if TYPE_CHECKING:
    from hvr.knowledge.world_file import WorldFile

_QUESTION = {
    Effect.READS: "only read, and change nothing",
    Effect.WRITES: "change something, and leave what was there",
    Effect.DESTROYS: "destroy something that was there",
}
_LETTERS = {"r": Effect.READS, "w": Effect.WRITES, "d": Effect.DESTROYS}


def ask_effects(world: WorldFile, tools: Sequence[ToolSchema]) -> bool:
    """Ask on the terminal what tools of unknown effect do, and keep the answers.

    Tools are put together by what their names suggest. An answer that is neither yes nor no leads
    to a question for each of them.

    Args:
        world: The world, in whose file the answers are kept.
        tools: Its tools.

    Returns:
        Whether something was kept.

    Raises:
        DataFileError: The answers cannot be kept.
    """
    from hvr.tools.calling.world_effects import remember_effects

    unknown = [tool for tool in tools if tool.effect is Effect.UNKNOWN]
    said: dict[str, Effect] = {}
    for effect, text in _QUESTION.items():
        some = [tool for tool in unknown if seems(tool.name, tool.description) is effect]
        if not some:
            continue
        print(f"Nothing says what these tools of {one_line(world.name)} do:")
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
