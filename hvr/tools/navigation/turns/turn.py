"""Turns of a dialogue, and what was decided in them, as values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hvr.tools.catalogue.descriptions import own_descriptions
from hvr.tools.catalogue.schema import ToolSchema
from hvr.tools.navigation.decision import NextMove

MOVES = (NextMove.CALL, NextMove.FIND, NextMove.ASK, NextMove.ANSWER)
"""The moves that are told apart."""

_ENDS = re.compile(r"(?<=[.!?])\s+|;\s+|,\s+(?:and|then)\s+|\s+and then\s+")


@dataclass(frozen=True)
class OfferedTool:
    """A tool as requests are compared with it.

    Args:
        schema: what it takes and gives.
        service: what it is part of; empty if that is not known.
        about: what its description says of it alone; empty for the whole description.
    """

    schema: ToolSchema
    service: str = ""
    about: str = ""

    @property
    def text(self) -> str:
        """Its name in words, and what it does."""
        return f"{self.schema.name.replace('_', ' ')}. {self.about or self.schema.description}"


def offered(schemas: Sequence[ToolSchema], services: Sequence[str] = ()) -> list[OfferedTool]:
    """Return the tools of one catalogue without what many descriptions share.

    Args:
        schemas: of the tools.
        services: what each is part of; not known if empty.
    """
    about = own_descriptions([schema.description for schema in schemas])
    return [
        OfferedTool(schema, service, own)
        for schema, service, own in zip(
            schemas, services or [""] * len(schemas), about, strict=True
        )
    ]


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
