"""Tool schemas: parameters, results, effects and descriptions of tools."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hvr.base.printable import one_line, short
from hvr.errors import UsageError

# Schema -------------------------------------------------------------------------------------------


class Effect(Enum):
    """The effect of a call on the world."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"
    """It writes, and existing data is lost."""
    UNKNOWN = "unknown"
    """Nothing is known; treated as writing and possibly destructive."""


@dataclass(frozen=True)
class ToolParameter:
    """A value that a tool takes or gives.

    Args:
        name: Name in the schema. A nested value of a result has a path with dots, and `[]` after
            the name of a list: `flights[].id`.
        type: JSON Schema types joined by `|`; empty if unknown.
        required: Whether a call needs a value, or a result always has one.
        choices: Allowed values as JSON; empty if not restricted.
        or_null: Whether a call must send the parameter but may send null.
        items: JSON Schema type of the items of a list; empty if unknown.
        resource: Kind of entity that has this property, as named by a `$ref`, class or path
            collection. Alternatives are joined by `|`; empty if unknown.
    """

    name: str
    type: str = ""
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    or_null: bool = False
    resource: str = ""
    items: str = ""

    @property
    def is_list(self) -> bool:
        """Whether the value may be a list."""
        return "array" in self.type.split("|")

    @property
    def leaf(self) -> str:
        """The last component of the name, without list markers."""
        return self.name.rpartition(".")[2].replace("[]", "")


@dataclass(frozen=True)
class ToolSchema:
    """A tool as described by its schema.

    Args:
        takes: Parameters, in the schema's order.
        gives: Values of the result; empty if unknown.
        idempotent: Whether repeating a call has no further effect; None if unknown.
    """

    name: str
    description: str = ""
    takes: tuple[ToolParameter, ...] = ()
    gives: tuple[ToolParameter, ...] = ()
    effect: Effect = Effect.UNKNOWN
    idempotent: bool | None = None


@dataclass(frozen=True)
class Catalogue:
    """Tools with unique names.

    Args:
        left_out: One error message per tool with an invalid description.

    Raises:
        UsageError: Two tools have the same name.
    """

    tools: tuple[ToolSchema, ...]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = Counter(tool.name for tool in self.tools)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise UsageError(
                f"tool {quoted(twice[0])} is duplicated: each tool needs a unique name"
            )


def quoted(name: object) -> str:
    """Return a name for messages: in quotes, on one line and shortened."""
    return f"'{short(one_line(str(name)), 80)}'"


# Effects ------------------------------------------------------------------------------------------
# Names and descriptions can only make a tool more dangerous: no tool counts as read-only because
# of its name.

_DESTROYING = frozenset(
    (
        "abort cancel clear delete deprovision destroy discard drop erase evict expunge kill "
        "overwrite purge remove reset revoke rollback terminate trash truncate undo uninstall "
        "wipe withdraw"
    ).split()
)
"""Verbs of destructive calls."""

_WRITING = frozenset(
    (
        "accept add apply approve append assign book borrow buy change close commit copy create "
        "deploy disable edit enable execute grant insert install invite issue launch lend lock "
        "merge modify move open order patch pay place post publish push put redirect refund "
        "register rename renew replace reply reserve restart return run save schedule sell send "
        "set share sign start stop submit subscribe transfer unlock update upgrade upload write"
    ).split()
)
"""Verbs of calls that write without losing data."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def effect_of_hints(hints: Mapping[str, Any], *, trusted: bool) -> Effect:
    """Return the effect stated by a tool's MCP annotations.

    According to the protocol, a tool without `readOnlyHint` may be destructive unless
    `destructiveHint` is false.

    Args:
        trusted: Whether the server is trusted; otherwise its hints can only warn.
    """
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True:
        return Effect.READS if trusted else Effect.UNKNOWN
    if hints.get("destructiveHint") is True:
        return Effect.DESTROYS
    if hints.get("destructiveHint") is False and trusted:
        return Effect.WRITES
    return Effect.UNKNOWN


def effect_of_method(method: str) -> Effect:
    """Return the effect of an HTTP method (RFC 9110, section 9.2)."""
    if method.lower() in ("get", "head", "options", "trace"):
        return Effect.READS
    return Effect.DESTROYS if method.lower() == "delete" else Effect.WRITES


def escalated_effect(effect: Effect, name: str, description: str = "") -> Effect:
    """Return an effect, made destructive if the tool's name or description suggests it.

    Args:
        description: Description of the tool, whose first two words count.
    """
    words = _words(name)
    first_words = _words(" ".join(description.split()[:2]))
    if effect is Effect.READS:
        # Readers may mention deleted objects, as `list_deleted_files` does, so only the verb
        # counts.
        words, first_words = words[:1], first_words[:1]
    return Effect.DESTROYS if {*words, *first_words} & _DESTROYING else effect


def guessed_effect(name: str, description: str = "") -> Effect:
    """Return the effect that a name suggests; use it only to ask the user."""
    worst = escalated_effect(Effect.UNKNOWN, name, description)
    if worst is not Effect.UNKNOWN:
        return worst
    verbs = {*_words(name)[:1], *_words(" ".join(description.split()[:1]))}
    return Effect.WRITES if verbs & _WRITING else Effect.READS


def _words(text: str) -> list[str]:
    return [_infinitive(word) for word in map(str.lower, _WORD.findall(text))]


def _infinitive(word: str) -> str:
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((form for form in forms if form in _DESTROYING | _WRITING), word)


# Descriptions -------------------------------------------------------------------------------------

MIN_SHARED_DESCRIPTIONS = 3
"""Number of descriptions that share a sentence from which the sentence is dropped as generic."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+")


def own_descriptions(descriptions: Sequence[str]) -> list[str]:
    """Return the descriptions of a catalogue without the sentences that many of them share.

    Schema generators often repeat a sentence about the whole service. A description with nothing
    else stays unchanged.
    """
    parts = [_ENDS.split(text.strip()) for text in descriptions]
    counts = Counter(part for some in parts for part in set(some))
    own = [
        " ".join(part for part in some if counts[part] < MIN_SHARED_DESCRIPTIONS) for some in parts
    ]
    return [short or text for short, text in zip(own, descriptions, strict=True)]
