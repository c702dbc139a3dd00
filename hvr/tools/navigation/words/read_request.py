"""What was read of a request in words: goal calls, open questions, and how each value was read."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.tools.calling.values import Json
from hvr.tools.navigation.binding import UserQuestion
from hvr.tools.navigation.decision import NextMove
from hvr.tools.navigation.request import ToolRequest


@dataclass(frozen=True)
class ReadValue:
    """A value that the words of a request say.

    Args:
        name: The parameter that takes it, or the property that it constrains; may be empty.
        value: The value.
        text: The words that say it.
        form: The form that it was recognised by, such as "file path" or "choice of the schema".
    """

    name: str
    value: Json
    text: str
    form: str


@dataclass(frozen=True)
class ReadRequest:
    """A request in words as it was read.

    Args:
        request: The goal calls and what is said beside them; None if nothing is to be called yet.
        why: The reading, or the reason to call nothing, in a sentence or two for people.
        tools: The tools that came into question, the likeliest first.
        move: The decision where the words alone settle it: ASK with questions, FIND if no tool
            serves, ANSWER if nothing is to be called. None where the plan decides.
        questions: The questions that only the user can answer. A question about the tool has the
            name "tool", and its choices are the names of tools.
        values: How each value was read.
        unread: The content words that the reading does not account for.
    """

    request: ToolRequest | None
    why: str
    tools: tuple[str, ...] = ()
    move: NextMove | None = None
    questions: tuple[UserQuestion, ...] = ()
    values: tuple[ReadValue, ...] = ()
    unread: tuple[str, ...] = ()
