"""What judged dialogues say of a request that was read in words, beside what was read.

It is one opinion among others. What may be done is computed: the calls of a proven plan, or
nothing. So the opinion can hold calls back, say that no tool is of use, or tell which of the tools
that came into question is meant; it can neither bring in a call nor a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hvr.navigation.asked import ToolErrand
from hvr.navigation.decision import NextMove
from hvr.navigation.reading import CLEAR, WordReading
from hvr.navigation.turns.judge import TurnDecision
from hvr.tools.catalogue.schema import quoted

NEEDED = 0.5
"""The chance from which a tool is taken to be needed."""


@dataclass(frozen=True)
class WeighedRequest:
    """A request as it was read, and as judged dialogues see it.

    Args:
        errand: what is wanted; None if that is not clear.
        why: a sentence or two for people.
        move: what is decided without a plan: answer, or find; None where the plan decides.
        doubted: whether what was read has to be confirmed before anything is called.
        opinion: what judged dialogues say; None without them.
    """

    errand: ToolErrand | None
    why: str
    move: NextMove | None = None
    doubted: bool = False
    opinion: TurnDecision | None = None


def weighed(read: WordReading, opinion: TurnDecision | None, errand: ToolErrand) -> WeighedRequest:
    """Return a request with what judged dialogues say of it.

    Args:
        read: what was read of it.
        opinion: what they say; None without them.
        errand: what the request says, without what it wants.
    """
    if opinion is None:
        return WeighedRequest(read.errand, read.why)
    told = ", ".join(f"{move.value} {opinion.chances[move]:.0%}" for move in opinion.admissible)
    said = f"Judged dialogues say: {told}. {opinion.why}"
    calls = {NextMove.CALL, NextMove.ASK} & set(opinion.admissible)
    if read.errand is not None:
        # The plan decides between a call and a question; that neither is due is a doubt.
        return WeighedRequest(read.errand, f"{read.why} {said}", None, not calls, opinion)
    if opinion.move in (NextMove.ANSWER, NextMove.FIND):
        return WeighedRequest(None, said, opinion.move, opinion=opinion)
    meant = _meant(opinion)
    if meant not in read.tools:
        return WeighedRequest(None, f"{read.why} {said}", opinion=opinion)
    why = f"The request is read as: {quoted(meant)}. {said}"
    return WeighedRequest(replace(errand, done=(meant,)), why, opinion=opinion)


def _meant(opinion: TurnDecision) -> str:
    """Return the tool that is needed, if it is clear that one is, and which."""
    if not opinion.needed:
        return ""
    (first, chance), *others = opinion.needed
    clear = all(other * CLEAR <= chance for _, other in others)
    return first if chance >= NEEDED and clear else ""
