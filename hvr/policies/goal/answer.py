"""The answer of a model that is asked for a goal: its schema, and the answer as values.

    {"things": [{"name": "m", "kinds": ["Mug"]}],
     "stages": [[{"predicate": "contains", "args": ["m", "coffee"]},
                 {"predicate": "on", "args": ["m", "DiningTable"]}]]}

What a literal is about is the name of a thing, of an object of the scene (`mug-2`), of a liquid, or
a kind, which then means one thing of this kind. The schema fixes the form alone: a wrong word is
better sent back with what is known than refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_THINGS = 40
MOST_STAGES = 12
MOST_LITERALS = 80
"""What one goal may have; a longer one would be no goal but a plan."""

_TEXT = {"type": "string", "maxLength": 80}
_LITERAL = {
    "type": "object",
    "properties": {
        "predicate": _TEXT,
        "args": {"type": "array", "items": _TEXT, "maxItems": 3},
        "holds": {"type": "boolean"},
    },
    "required": ["predicate", "args"],
    "additionalProperties": False,
}
_LITERALS = {"type": "array", "items": _LITERAL, "maxItems": MOST_LITERALS}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "things": {
            "type": "array",
            "maxItems": MOST_THINGS,
            "items": {
                "type": "object",
                "properties": {
                    "name": _TEXT,
                    "kinds": {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 20},
                    "every": {"type": "boolean"},
                    "apart": {"type": "boolean"},
                    "where": _LITERALS,
                },
                "required": ["name", "kinds"],
                "additionalProperties": False,
            },
        },
        "stages": {"type": "array", "items": _LITERALS, "maxItems": MOST_STAGES},
        "always": _LITERALS,
        "once": _LITERALS,
        "never_two": {"type": "array", "items": _TEXT, "maxItems": 5},
        "left_out": {
            "type": "array",
            "items": {"type": "string", "maxLength": 200},
            "maxItems": 10,
        },
        "cannot": {"type": "string", "maxLength": 400},
    },
    "required": ["stages"],
    "additionalProperties": False,
}
"""JSON schema of the answer."""


@dataclass(frozen=True)
class GoalLiteral:
    """A literal of a goal.

    Args:
        predicate: name of the predicate.
        args: what it is about.
        holds: whether it shall hold, or shall not.
    """

    predicate: str
    args: tuple[str, ...]
    holds: bool = True

    def __str__(self) -> str:
        atom = f"({' '.join((self.predicate, *self.args))})"
        return atom if self.holds else f"(not {atom})"


@dataclass(frozen=True)
class WrittenThing:
    """A thing that a goal speaks of.

    Args:
        name: by which literals mean it.
        kinds: the kinds that it may be of, preferred first.
        every: all such things; else one. A thing that can be moved is none of the others.
        apart: a place that is none of the others, either.
        where: what holds of it now: which of these things are meant.
    """

    name: str
    kinds: tuple[str, ...]
    every: bool = False
    apart: bool = False
    where: tuple[GoalLiteral, ...] = ()


@dataclass(frozen=True)
class GoalAnswer:
    """A goal as the model wrote it.

    Args:
        things: the things that it speaks of.
        stages: what shall hold, one stage after the other.
        always: what shall hold throughout.
        once: what shall become so once at most.
        never_two: predicates that shall never hold of two things at once.
        left_out: what of the request the goal does not say, by the model's own account.
        cannot: why there is no goal; empty where there is one.
    """

    things: tuple[WrittenThing, ...]
    stages: tuple[tuple[GoalLiteral, ...], ...]
    always: tuple[GoalLiteral, ...] = ()
    once: tuple[GoalLiteral, ...] = ()
    never_two: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    cannot: str = ""


def read_goal(data: Mapping[str, Any]) -> GoalAnswer:
    """Return an answer that satisfies the schema as values."""
    return GoalAnswer(
        things=tuple(
            WrittenThing(
                thing["name"].strip(),
                tuple(kind.strip() for kind in thing["kinds"]),
                thing.get("every", False),
                thing.get("apart", False),
                _literals(thing.get("where", ())),
            )
            for thing in data.get("things", ())
        ),
        stages=tuple(stage for part in data["stages"] if (stage := _literals(part))),
        always=_literals(data.get("always", ())),
        once=_literals(data.get("once", ())),
        never_two=tuple(map(_predicate, data.get("never_two", ()))),
        left_out=tuple(text.strip() for text in data.get("left_out", ()) if text.strip()),
        cannot=data.get("cannot", "").strip(),
    )


def _literals(values: Iterable[Mapping[str, Any]]) -> tuple[GoalLiteral, ...]:
    return tuple(
        GoalLiteral(
            _predicate(value["predicate"]),
            tuple(arg.strip() for arg in value["args"]),
            value.get("holds", True),
        )
        for value in values
    )


def _predicate(text: str) -> str:
    return text.strip(" ()?").lower().replace("-", "_")
