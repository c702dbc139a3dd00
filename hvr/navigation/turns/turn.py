"""Turns of a dialogue, and what was decided in them, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvr.navigation.decision import NextMove
from hvr.tools.catalogue.schema import ToolSchema

MOVES = (NextMove.CALL, NextMove.FIND, NextMove.ASK, NextMove.ANSWER)
"""The moves that are told apart."""

_ENDS = re.compile(r"(?<=[.!?])\s+|;\s+|,\s+(?:and|then)\s+|\s+and then\s+")
_ABOUT = re.compile(r"^.*?Tool description:\s*", re.DOTALL)


@dataclass(frozen=True)
class OfferedTool:
    """A tool as requests are compared with it.

    Args:
        schema: what it takes and gives.
        service: what it is part of; empty if that is not known.
    """

    schema: ToolSchema
    service: str = ""

    @property
    def text(self) -> str:
        """Its name in words, and what it does."""
        return f"{self.schema.name.replace('_', ' ')}. {_ABOUT.sub('', self.schema.description)}"


@dataclass(frozen=True)
class Turn:
    """What is known when the next move is decided.

    Args:
        text: what the user says; empty where only the tools have changed.
        at_hand: the tools that may be called.
        outside: other tools that are known.
        earlier: what the user said in earlier turns.
        idle: whether the turn before ended without a call: it waits for an answer, or for a tool.
    """

    text: str
    at_hand: tuple[OfferedTool, ...]
    outside: tuple[OfferedTool, ...]
    earlier: tuple[str, ...] = ()
    idle: bool = False

    @property
    def request(self) -> str:
        """What is to be done: what the user says, or said last if only the tools have changed."""
        return self.text or (self.earlier[-1] if self.earlier else "")


@dataclass(frozen=True)
class JudgedTurn:
    """A turn with what was right in it.

    Args:
        turn: it.
        move: one of `MOVES`.
        used: names of the tools that were called.
        dialogue: of which it is; what is learnt from a dialogue is not used on it.
    """

    turn: Turn
    move: NextMove
    used: frozenset[str] = frozenset()
    dialogue: str = ""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, parted also where one thing comes after another."""
    return [part for part in map(str.strip, _ENDS.split(text)) if len(part) > 3] or [text]
