"""Judged dialogues as an opinion on a request that was read in words without a model.

Only the calls of a proven plan are made. The opinion can hold them back, say that no tool serves,
or pick the tool that is meant from those that came into question. It adds neither tools nor values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.turns.judge import TurnDecision
from hvr.tools.navigation.words.read_request import ReadRequest

NEEDED = 0.5
"""The least probability at which a tool counts as needed."""
CLEAR = 1.25
"""The least ratio between the probabilities of the first tool and the next one."""


@dataclass(frozen=True)
class WeighedRequest:
    """A request as it was read, with the opinion of judged dialogues.

    Args:
        read: The reading. Where its words leave the move open, the opinion decides it.
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
        # The plan decides between a call and a question; the opinion may find neither likely.
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
