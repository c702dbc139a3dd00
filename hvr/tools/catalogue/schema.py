"""Tools with what they take and give, whatever format described them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from hvr.base.printable import one_line, short
from hvr.errors import UsageError


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
