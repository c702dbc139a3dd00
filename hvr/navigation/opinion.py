"""Judged dialogues as an opinion on a request that was read in words without a model.

The calls are those of a proven plan. The opinion can hold them back, say that no tool serves, or
tell which of the tools that came into question is meant. It brings in neither a tool nor a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hvr.navigation.decision import NextMove
from hvr.navigation.turns.judge import TurnDecision
from hvr.navigation.words.read_request import ReadRequest

NEEDED = 0.5
"""The least probability at which a tool counts as needed."""
CLEAR = 1.25
"""The least ratio of a tool's probability to that of the next one for it to be the one meant."""


@dataclass(frozen=True)
class WeighedRequest:
    """A request as it was read, with the opinion of judged dialogues.

    Args:
        read: The reading; its move is that of the opinion where the words leave it open.
        doubted: Whether the user has to confirm the reading before anything is called.
        opinion: The opinion; None without judged dialogues.
    """

    read: ReadRequest
    doubted: bool = False
    opinion: TurnDecision | None = None


def weighed(
    read: ReadRequest, opinion: TurnDecision | None, for_tool: Callable[[str], ReadRequest]
) -> WeighedRequest:
    """Return a reading with the opinion of judged dialogues.

    Args:
        read: The reading.
        opinion: The opinion; None without judged dialogues.
        for_tool: Returns the reading in which the request means the tool with a name.
    """
    if opinion is None or read.move in (NextMove.ANSWER, NextMove.FIND):
        return WeighedRequest(read)
    chances = ", ".join(f"{move.value} {opinion.chances[move]:.0%}" for move in opinion.admissible)
    told = f"Judged dialogues say: {chances}. {opinion.why}"
    if read.request is not None:
        # The plan decides between a call and a question; that neither is likely is a doubt.
        doubted = not {NextMove.CALL, NextMove.ASK} & set(opinion.admissible)
        return WeighedRequest(replace(read, why=f"{read.why} {told}"), doubted, opinion)
    if opinion.move in (NextMove.ANSWER, NextMove.FIND):
        held = replace(read, why=told, move=opinion.move, questions=())
        return WeighedRequest(held, opinion=opinion)
    meant = _meant(opinion)
    found = for_tool(meant) if meant in read.tools else read
    return WeighedRequest(replace(found, why=f"{found.why} {told}"), opinion=opinion)


def _meant(opinion: TurnDecision) -> str:
    """Return the tool that is needed; an empty text if none is, or several may be."""
    if not opinion.needed:
        return ""
    (first, chance), *others = opinion.needed
    clear = all(other * CLEAR <= chance for _, other in others)
    return first if chance >= NEEDED and clear else ""
