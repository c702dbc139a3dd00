"""Tool schemas: what tools take and give, their effects and their descriptions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hvr.base.printable import one_line, short
from hvr.errors import UsageError

# Schema -------------------------------------------------------------------------------------------
# Tools with what they take and give, whatever format described them.


class Effect(Enum):
    """What a call does to the world beside giving a result."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"
    """It writes, and something that was there is gone."""
    UNKNOWN = "unknown"
    """Nothing is said: it counts as one that writes, and may destroy."""


@dataclass(frozen=True)
class ToolParameter:
    """Something that a tool takes or gives.

    Args:
        name: as in the schema; of a result within others their names, joined by dots, with `[]`
            after that of a list: `flights[].id`.
        type: JSON Schema's name of its type; several joined by `|`; empty if the schema has none.
        description: what the schema says of it.
        required: whether a call needs a value for it; of results, whether it is always there.
        choices: the only values that it can have, as JSON; empty if there is no such list.
        or_null: whether a call must give it, and null will do where there is no value.
        items: JSON Schema's name of the type of what is in a list; empty if the schema has none.
        resource: The kind of thing whose property it is, as the schema names it: a `$ref`, a class,
            a collection of the path. Several joined by `|`; empty if the schema does not say.
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
    def leaf(self) -> str:
        """The last part of its name, without marks of lists."""
        return self.name.rpartition(".")[2].replace("[]", "")


@dataclass(frozen=True)
class ToolSchema:
    """A tool as its schema describes it.

    Args:
        name: what calls name it by.
        description: what it does.
        takes: its parameters, in the schema's order.
        gives: what its result has; empty if the schema does not say.
        effect: whether it changes anything.
        idempotent: whether a second equal call changes nothing more; None if that is not known.
    """

    name: str
    description: str = ""
    takes: tuple[ToolParameter, ...] = ()
    gives: tuple[ToolParameter, ...] = ()
    effect: Effect = Effect.UNKNOWN
    idempotent: bool | None = None


@dataclass(frozen=True)
class Catalogue:
    """Tools, each name once.

    Args:
        tools: in the order of the files.
        left_out: One error message per tool that a source describes wrongly.

    Raises:
        UsageError: two tools have one name.
    """

    tools: tuple[ToolSchema, ...]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = Counter(tool.name for tool in self.tools)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise UsageError(
                f"tool {quoted(twice[0])} is there twice: give each tool a name of its own"
            )


def quoted(name: object) -> str:
    """Return a name from a file as messages show it: on one line, in quotes, not too long."""
    return f"'{short(one_line(str(name)), 80)}'"


# Effects ------------------------------------------------------------------------------------------
# What a tool does to the world, by its hints, its HTTP method, its name and its description.
#
# Names and descriptions only ever make a tool more dangerous: none is taken for a reader because of
# what it is called.

_DESTROYING = frozenset(
    (
        "abort cancel clear delete deprovision destroy discard drop erase evict expunge kill "
        "overwrite purge remove reset revoke rollback terminate trash truncate undo uninstall "
        "wipe withdraw"
    ).split()
)
"""Verbs of calls after which something is gone."""

_WRITING = frozenset(
    (
        "accept add apply approve append assign book borrow buy change close commit copy create "
        "deploy disable edit enable execute grant insert install invite issue launch lend lock "
        "merge modify move open order patch pay place post publish push put redirect refund "
        "register rename renew replace reply reserve restart return run save schedule sell send "
        "set share sign start stop submit subscribe transfer unlock update upgrade upload write"
    ).split()
)
"""Verbs of calls that change something and leave what was there."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def effect_of_hints(hints: Mapping[str, Any], *, trusted: bool) -> Effect:
    """Return the effect that MCP's annotations of a tool say.

    A tool that is not said to only read may destroy, unless `destructiveHint` says otherwise:
    so the protocol has it.

    Args:
        hints: The annotations, as the server sent them.
        trusted: Whether the server is trusted. The hints of another can only warn.
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
    """Return the effect of a tool, made more dangerous where its name or description is.

    Args:
        effect: What hints, methods or formats say.
        name: The tool's name.
        description: What it does; its first words count.
    """
    words = _words(name)
    told = _words(" ".join(description.split()[:2]))
    if effect is Effect.READS:
        # A reader may be about what is gone, as `list_deleted_files`: only its verb counts.
        words, told = words[:1], told[:1]
    return Effect.DESTROYS if {*words, *told} & _DESTROYING else effect


def guessed_effect(name: str, description: str = "") -> Effect:
    """Return the effect that a name suggests, to be put to the user and never to be relied on."""
    worst = escalated_effect(Effect.UNKNOWN, name, description)
    if worst is not Effect.UNKNOWN:
        return worst
    verbs = {*_words(name)[:1], *_words(" ".join(description.split()[:1]))}
    return Effect.WRITES if verbs & _WRITING else Effect.READS


def _words(text: str) -> list[str]:
    return list(_base(text))


def _base(text: str) -> Iterator[str]:
    for word in map(str.lower, _WORD.findall(text)):
        known = _DESTROYING | _WRITING
        forms = (word, word.removesuffix("s"), word.removesuffix("es"))
        yield next((form for form in forms if form in known), word)


# Descriptions -------------------------------------------------------------------------------------
# What a description says of its own tool, without what it shares with those of many others.

MIN_SHARED_DESCRIPTIONS = 3
"""Descriptions that have a sentence from which on it tells none of their tools from others."""

_ENDS = re.compile(r"(?<=[.!?:;])\s+")


def own_descriptions(descriptions: Sequence[str]) -> list[str]:
    """Return the descriptions of one catalogue without the sentences that many of them share.

    Generators of schemas put a sentence on the whole service before each tool's own. A
    description of which nothing would be left stays as it is.

    Args:
        descriptions: of the tools of one catalogue, in any order.
    """
    parts = [_ENDS.split(text.strip()) for text in descriptions]
    counts = Counter(part for some in parts for part in set(some))
    own = [
        " ".join(part for part in some if counts[part] < MIN_SHARED_DESCRIPTIONS) for some in parts
    ]
    return [short or text for short, text in zip(own, descriptions, strict=True)]
